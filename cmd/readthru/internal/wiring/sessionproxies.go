package wiring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/releases"
	"github.com/readthru/readthru/proxy"
)

// madeBy names this program in recordings.
var madeBy = "readthru/" + releases.Version

// sessionProxies opens listeners for sessions, since not every client can name its session to a proxy.
type sessionProxies struct {
	core  *Core
	proxy *proxy.Proxy

	mu   sync.Mutex
	open map[string]<-chan struct{} // of the addresses that are served; closed when that ends
}

// Closed implements [people.SessionProxies].
func (d *sessionProxies) Closed(ctx context.Context, addr string) {
	d.mu.Lock()
	closed := d.open[addr]
	d.mu.Unlock()
	if closed == nil {
		return
	}
	select {
	case <-closed:
	case <-ctx.Done():
	}
}

// opened notes that an address is served, until the returned function is called.
func (d *sessionProxies) opened(addr string) (end func()) {
	closed := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[addr] = closed
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.open, addr)
		close(closed)
	}
}

// Record implements [people.SessionProxies].
func (d *sessionProxies) Record(ctx context.Context, session string, offline bool, w io.Writer,
	begun func(addr string),
) error {
	return d.serve(ctx, proxy.Terms{Session: session, Offline: offline}, func(addr string) error {
		return asConflict(d.proxy.Record(ctx, session, madeBy, w, func() { begun(addr) }))
	})
}

// Open implements [people.SessionProxies].
func (d *sessionProxies) Open(ctx context.Context, session string, offline bool, begun func(addr string)) error {
	return d.serve(ctx, proxy.Terms{Session: session, Offline: offline}, func(addr string) error {
		begun(addr)
		<-ctx.Done()
		return nil
	})
}

// serve serves a listener of its own on the terms of a session (whose, offline, recorded) while do runs.
func (d *sessionProxies) serve(ctx context.Context, terms proxy.Terms, do func(addr string) error) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for session %s: %w", terms.Session, err)
	}
	defer d.core.avoidToo(addrPort(l))()
	defer d.opened(l.Addr().String())()
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go fault.Contain("serve: end a session", func() {
		served <- fault.Catch("serve: end a session", func() error { return d.proxy.ServeSession(serving, l, terms) })
	})()
	err = do(l.Addr().String())
	stop()
	return errors.Join(err, <-served)
}

// EndRecording implements [people.SessionProxies].
func (d *sessionProxies) EndRecording(ctx context.Context, session string) error {
	return asConflict(d.proxy.EndRecording(ctx, session))
}

// asConflict returns the error of a session that is recorded already as a problem for the client.
func asConflict(err error) error {
	if errors.Is(err, proxy.ErrRecording) {
		return api.NewError(http.StatusConflict, api.CodeRecording, err.Error())
	}
	return err
}
