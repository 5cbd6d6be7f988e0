package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
)

// A watchedConn is a connection to an origin below its TLS, which remembers that its peer has closed it. crypto/tls
// reads on until it gets close_notify, so the end of a TLS connection is a clean one only if the end of the connection
// below was not met before. crypto/tls itself takes both for the same.
type watchedConn struct {
	net.Conn
	ended atomic.Bool
}

// Read notes when the connection below TLS ends.
func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.EOF) {
		c.ended.Store(true)
	}
	return n, err
}

// cutTLS reports whether c is a TLS connection that ended without close_notify.
func cutTLS(c net.Conn) bool {
	t, ok := unchecked(c).(*tls.Conn)
	if !ok {
		return false
	}
	below, ok := unchecked(t.NetConn()).(*watchedConn)
	return ok && below.ended.Load()
}

// errCut is the end of a body that was cut below TLS.
var errCut = fmt.Errorf("the connection was closed without TLS close_notify: %w", io.ErrUnexpectedEOF)

// An exchange is one round trip of a pool, which may take several connections.
type exchange struct {
	conn net.Conn // the last one
	n    int
}

// observe returns a context under which a round trip tells x its connections. net/http repeats a request when a
// connection that was idle fails, on all other idle ones if need be: an origin that resets every request would get it
// dozens of times. The first repetition gets a new connection, because the idle ones are closed.
func (x *exchange) observe(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		x.conn = info.Conn
		if x.n++; x.n > 1 && info.Reused && !speaksHTTP2(info.Conn) {
			_ = info.Conn.Close() // before anything is written to it
		}
	}})
}

// speaksHTTP2 reports whether HTTP/2 was agreed on for a connection to an origin.
func speaksHTTP2(c net.Conn) bool {
	t, ok := c.(*tls.Conn)
	return ok && t.ConnectionState().NegotiatedProtocol == "h2"
}

// repeatable reports whether a request that failed is sent once more (RFC 9110 §9.2.2): the origin ended a connection
// of HTTP/2 that carried it, and it is safe and has no body. net/http repeats such requests of HTTP/1 only. One of
// HTTP/2 that ends takes all its requests along, hundreds at times.
func (x *exchange) repeatable(req *http.Request, err error) bool {
	return err != nil && x.n == 1 && speaksHTTP2(x.conn) && (req.Body == nil || req.Body == http.NoBody) &&
		(req.Method == http.MethodGet || req.Method == http.MethodHead) && req.Context().Err() == nil &&
		(errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) ||
			errors.Is(err, syscall.EPIPE))
}

// end completes the result of the round trip: an error says whether the request was repeated, and a body that ends with
// its connection fails if the end was not a clean one (RFC 9112 §8).
func (x *exchange) end(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		if x.n > 1 {
			err = &retriedError{err}
		}
		return nil, err
	}
	if resp.ProtoMajor == 1 && resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 &&
		resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = &lastBody{resp.Body, x.conn}
	}
	return resp, nil
}

// A lastBody is a body that ends with its connection.
type lastBody struct {
	io.ReadCloser
	conn net.Conn
}

// Read reads a body that ends with its connection. One whose TLS was cut is an error: anybody on the way could have cut
// it (RFC 9112 §9.8).
func (b *lastBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && cutTLS(b.conn) { // a wrapped EOF is no end of a body
		err = errCut
	}
	return n, err
}

// A retriedError is the error of a request that failed on more than one connection.
type retriedError struct{ error }

// Retried tells [cache.Cache] that the request failed on more than one connection.
func (e *retriedError) Retried() bool { return true }

// Unwrap returns the error of the round trip.
func (e *retriedError) Unwrap() error { return e.error }
