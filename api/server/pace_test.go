package server_test

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// deadlines is a listener that notes the write deadlines of its connections.
type deadlines struct {
	net.Listener
	last *atomic.Pointer[time.Time]
}

func (d deadlines) Accept() (net.Conn, error) {
	c, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return notingConn{c, d.last}, nil
}

type notingConn struct {
	net.Conn
	last *atomic.Pointer[time.Time]
}

func (c notingConn) SetWriteDeadline(t time.Time) error {
	c.last.Store(&t)
	return c.Conn.SetWriteDeadline(t)
}

func TestAnswersOfTheAdminPortKeepAPace(t *testing.T) {
	w := newWorld(t, nil)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	var last atomic.Pointer[time.Time]
	go func() { served <- w.server.Serve(ctx, deadlines{l, &last}) }()
	if resp := ask(t, l.Addr().String(), "GET", "/healthz", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
	if at := last.Load(); at == nil || at.IsZero() {
		t.Errorf("the answer was written with the deadline %v, want one", at)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
