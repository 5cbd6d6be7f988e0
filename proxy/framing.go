package proxy

import (
	"net"
	"sync/atomic"

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

// CloseWrite half-closes the connection below, or closes it if it cannot be half-closed.
func (c *framedConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return c.Close()
}
