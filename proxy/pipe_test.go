package proxy_test

import (
	"bufio"
	"context"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// std returns a standard logger that writes to l.
func (l *logBuffer) std() *log.Logger { return log.New(l, "", 0) }

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func contextFor(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

// pipeListener returns a listener without sockets that accepts one connection, and the client's side of it.
func pipeListener() (client <-chan net.Conn, l net.Listener) {
	near, far := net.Pipe()
	accepted := make(chan net.Conn, 1)
	accepted <- far
	given := make(chan net.Conn, 1)
	given <- near
	return given, &pipes{conns: accepted, closed: make(chan struct{})}
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7887} }

func readResponse(s string) (*http.Response, error) {
	return http.ReadResponse(bufio.NewReader(strings.NewReader(s)), nil)
}
