package proxy

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/elazarl/goproxy"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/proxy/strict"
)

// serving is a proxy on one listener.
type serving struct {
	p          *Proxy
	terms      Terms
	addr       net.Addr
	inner      *handover
	dispatcher *goproxy.ProxyHttpServer

	scope  string       // tells answers of this listener from those of others
	giving sync.RWMutex // read-locked while an answer is given again

	draining context.Context // ends with the context of Serve; then nothing is dialled anymore

	mu      sync.Mutex
	open    map[net.Conn]struct{} // hijacked connections, which http.Server does not track; nil once closed
	tracked sync.WaitGroup        // one for each tracked connection, until it is unregistered
}

// track registers a hijacked connection of the listener, which closeAll then closes. The returned function unregisters
// it. After closeAll it closes the connection at once.
func (s *serving) track(c net.Conn) (untrack func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		hangUp(c)
		return func() {}
	}
	c = unwrap(c)
	s.open[c] = struct{}{}
	s.tracked.Add(1)
	return func() {
		s.mu.Lock()
		delete(s.open, c)
		s.mu.Unlock()
		s.tracked.Done()
	}
}

// closeAll closes the tracked connections of the listener and waits until all are unregistered.
func (s *serving) closeAll() {
	s.mu.Lock()
	for c := range s.open {
		hangUp(c)
	}
	s.open = nil
	s.mu.Unlock()
	s.tracked.Wait()
}

// ServeHTTP answers every request of a listener: plain ones, intercepted ones, and those for the proxy itself. Each
// gets a record in the journal, whatever becomes of it.
func (s *serving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	drops := s.p.drops.Load() // before the policy
	x := &exchange{
		incoming: incoming{s: s, p: s.p, policy: s.p.policy.Load(), r: r, began: time.Now(), drops: drops},
		decided:  decided{session: s.terms.Session}, outgoing: outgoing{w: w},
	}
	if l, ok := r.Context().Value(linkKey{}).(link); ok {
		x.inside, x.conn = l.inside, l.conn
	}
	x.begin()
	defer x.end() //nolint:contextcheck // every request gets a record, even a cancelled one
	defer x.contain()
	fault.Begin("proxy: request")
	if r.Method == http.MethodConnect {
		if x.inside != nil {
			x.refuse(strict.BadRequest("CONNECT inside an intercepted connection is not allowed."))
			return
		}
		s.serveConnect(x) //nolint:contextcheck // x has the request, and its context
		return
	}
	s.p.open.Add(1)
	defer s.p.open.Add(-1)
	x.serve() //nolint:contextcheck // x has the request, and its context
}

// server returns an http.Server for connections of a listener. A listener has two: for those of its clients, and for
// those that are handed over (intercepted or parked).
func (s *serving) server() *http.Server {
	return &http.Server{
		Handler:   s,
		ConnState: s.connState,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, linkKey{}, linkOf(c))
		},
		ReadHeaderTimeout: headTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHead - 4096, // net/http adds this much
		// No table of the fields that were sent, which each idle connection would hold to save bytes on a short way.
		HTTP2:    &http.HTTP2Config{MaxEncoderHeaderTableSize: 1},
		ErrorLog: slog.NewLogLogger(s.p.log.Handler(), slog.LevelDebug),
	}
}

// connState is the ConnState callback of both servers. It keeps an answer when its connection becomes idle, and learns
// whether the client of an intercepted connection sent a request, by which it accepts our certificate.
func (s *serving) connState(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateIdle:
		if f, ok := c.(*framedConn); ok {
			f.fast.keep()
			f.fast.ready.Store(true)
			f.idle.Store(true)
		}
	case http.StateActive:
		if inside := linkOf(c).inside; inside != nil && !inside.spoke {
			inside.spoke = true
			s.accepted(inside)
		}
	case http.StateClosed:
		if f, ok := c.(*framedConn); ok {
			f.fast.take(nil)
		}
		if inside := linkOf(c).inside; inside != nil && !inside.spoke {
			s.leftSilently(inside)
		}
	}
}

// handover is a listener for connections that were accepted elsewhere: those whose TLS we have terminated, and those
// that were parked.
type handover struct {
	conns  chan net.Conn
	closed chan struct{}
	addr   net.Addr
}

// newHandover returns a handover that says that it listens at addr.
func newHandover(addr net.Addr) *handover {
	return &handover{make(chan net.Conn), make(chan struct{}), addr}
}

// hand makes c the result of an Accept. It returns false if the listener is closed; the caller then still owns c.
func (h *handover) hand(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.closed:
		return false
	}
}

// Accept implements [net.Listener].
func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener]. It may be called more than once, by one goroutine at a time.
func (h *handover) Close() error {
	select {
	case <-h.closed:
	default:
		close(h.closed)
	}
	return nil
}

// Addr implements [net.Listener].
func (h *handover) Addr() net.Addr { return h.addr }
