package proxy

import (
	"context"
	"net"
	"sync"

	"github.com/elazarl/goproxy"
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
