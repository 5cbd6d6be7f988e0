package proxy

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/pace"
	"github.com/readthru/readthru/proxy/strict"
)

// framedConn checks the framing of HTTP/1 requests while net/http reads them, because net/http tolerates what another
// parser may read otherwise (RFC 9112 §2.2, §5, §6, §7). A read that comes to a bad byte ends before it, and the next
// one fails: net/http then answers 400, or ends the body with the error, and closes the connection. Nothing is held
// back.
type framedConn struct {
	net.Conn
	idle  atomic.Bool // the connection was idle since the last read
	parks bool        // the read that waits for the next request ends after parkTime
	scan  strict.Scan
	bad   atomic.Pointer[error] // what was wrong; every read fails from then on
	out   gathering
	pace  *pace.Pace // of the writes to the client
	fast  fast

	paced bool // the connection below keeps the pace
}

// framed wraps a connection of a client for net/http, so that its framing is checked and answers are given again on it.
func (s *serving) framed(c net.Conn) *framedConn {
	f := &framedConn{Conn: c}
	if below := belowTLS(c); below != nil {
		f.pace, f.paced = &below.pace, true
		f.fast.open(s, below.connect)
	} else if k, ok := c.(pace.Keeper); ok {
		f.pace, f.paced = k.Pace(), true
		f.fast.open(s, nil)
	} else {
		f.pace = new(pace.Pace)
		f.fast.open(s, nil)
	}
	return f
}

// Read implements [net.Conn]: it checks the framing of what it reads.
func (c *framedConn) Read(p []byte) (int, error) {
	if bad := c.bad.Load(); bad != nil {
		return 0, *bad
	}
	n, err := c.readUnanswered(p)
	if c.idle.Swap(false) {
		c.scan.Resume()
	}
	good, bad := c.scan.Read(p[:n])
	if bad != nil {
		c.bad.Store(&bad)
		if good == 0 {
			return 0, bad
		}
		return good, nil
	}
	return n, err
}

// framedListener wraps accepted connections in framedConn.
type framedListener struct {
	net.Listener
	s *serving
}

// Accept implements [net.Listener].
func (l framedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.s.framed(c), nil
}

// CloseWrite half-closes the connection whose framing is checked, or closes it if it cannot be half-closed.
func (c *framedConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return c.Close()
}

// SetReadDeadline implements [net.Conn]. One in the past is how net/http ends a read that waits. One for an idle
// connection is when it leaves net/http at the latest.
func (c *framedConn) SetReadDeadline(t time.Time) error {
	if c.idle.Load() && c.idles() {
		c.parks, t = true, time.Now().Add(parkTime)
	}
	err := c.Conn.SetReadDeadline(t)
	f := &c.fast
	f.mu.Lock()
	f.aborted = !t.IsZero() && t.Before(time.Now())
	f.mu.Unlock()
	f.changed.Broadcast()
	return err
}

// Close closes the connection, unless it leaves net/http to be parked. An answer that is being given again may be
// finished first.
func (c *framedConn) Close() error {
	if c.fast.state.CompareAndSwap(leaving, waiting) {
		go fault.Contain("proxy: end parking", func() {
			if fault.Catch("proxy: park a connection", func() error { c.fast.s.park(c); return nil }) != nil {
				_ = c.Conn.Close() // its client must not wait for ever
			}
		})()
		return nil
	}
	if c.fast.state.CompareAndSwap(giving, closing) {
		return c.SetWriteDeadline(time.Now().Add(closeTime)) // which the pace leaves alone
	}
	return c.Conn.Close()
}

// SetWriteDeadline implements [net.Conn], for what is gathered too.
func (c *framedConn) SetWriteDeadline(t time.Time) error {
	if c.paced {
		return c.Conn.SetWriteDeadline(t)
	}
	return c.pace.SetWriteDeadline(c.Conn, t)
}
