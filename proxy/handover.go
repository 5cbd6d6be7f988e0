package proxy

import (
	"net"
)

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
