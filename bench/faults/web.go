package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// web is an origin on loopback that answers for every host name, over HTTP and HTTPS.
type web struct {
	http, https string // addresses
	caFile      string
	root        *x509.Certificate
	key         *ecdsa.PrivateKey
	server      *http.Server

	mu   sync.Mutex
	leaf *tls.Certificate
}

// newWeb starts a web. serveTLS serves HTTPS connections; if it is nil, handler does.
func newWeb(ctx context.Context, dir string, handler http.Handler, serveTLS func(net.Conn)) (*web, error) {
	w := &web{caFile: filepath.Join(dir, "web.pem")}
	var err error
	if w.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	w.root = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a web of faults"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, w.root, w.root, &w.key.PublicKey, w.key)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(w.caFile, text, 0o600); err != nil {
		return nil, err
	}
	if err := w.renew(); err != nil {
		return nil, err
	}
	w.server = &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	plain, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	secure, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w.http, w.https = plain.Addr().String(), secure.Addr().String()
	config := &tls.Config{
		NextProtos: []string{"h2", "http/1.1"}, MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.leaf, nil
		},
	}
	inFrames := config.Clone()
	inFrames.NextProtos = []string{"h2"}
	w.server.TLSConfig = config // the server's from here on
	go w.server.Serve(plain)    //nolint:errcheck // ends with close
	if serveTLS == nil {
		go w.server.ServeTLS(secure, "", "") //nolint:errcheck // ends with close
		return w, nil
	}
	go func() {
		for {
			c, err := secure.Accept()
			if err != nil {
				return
			}
			go serveTLS(tls.Server(c, inFrames))
		}
	}()
	context.AfterFunc(ctx, func() { secure.Close() }) //nolint:errcheck // it only listens
	return w, nil
}

// renew gives the web a new certificate, with a new key, for every name below .test.
func (w *web) renew() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "origin"},
		DNSNames: []string{"*.faults.test"}, NotBefore: w.root.NotBefore, NotAfter: w.root.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, w.root, &key.PublicKey, w.key)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leaf = &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return nil
}

func (w *web) close() { w.server.Close() } //nolint:errcheck // its clients have gone
