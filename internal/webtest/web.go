// Package webtest helps tests and measurements of the whole program: it makes origins on loopback that look like the
// web, and the program itself.
package webtest

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// A Web is an origin on loopback, over HTTP and HTTPS.
type Web struct {
	HTTP, HTTPS string // addresses, host:port

	secure net.Listener
	server *http.Server
}

// A Config says how a web answers.
type Config struct {
	Handler http.Handler
	// Certificate returns the certificate for a connection, for example [Authority.LeafFor].
	Certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// ServeTLS, unless nil, serves HTTPS connections in place of Handler. They speak HTTP/2.
	ServeTLS func(net.Conn)
}

// Serve starts a web.
func Serve(ctx context.Context, c Config) (*Web, error) {
	plain, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	secure, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	w := &Web{HTTP: plain.Addr().String(), HTTPS: secure.Addr().String(), secure: secure}
	w.server = &http.Server{
		Handler: c.Handler, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{
			GetCertificate: c.Certificate, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		},
	}
	inFrames := w.server.TLSConfig.Clone() // before the server changes it
	inFrames.NextProtos = []string{"h2"}
	go w.server.Serve(plain) //nolint:errcheck // ends with Close
	if c.ServeTLS == nil {
		go w.server.ServeTLS(secure, "", "") //nolint:errcheck // ends with Close
		return w, nil
	}
	go func() {
		for {
			conn, err := secure.Accept()
			if err != nil {
				return // ends with Close
			}
			go c.ServeTLS(tls.Server(conn, inFrames))
		}
	}()
	return w, nil
}

// Close ends the web and its connections, without a word to its clients.
func (w *Web) Close() {
	_ = w.server.Close() // it only listens
	_ = w.secure.Close() // the server may have closed it
}
