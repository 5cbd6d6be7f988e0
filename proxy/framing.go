package proxy

import (
	"net"
	"sync/atomic"
)

// framedConn looks at the heads of HTTP/1 requests as net/http reads them, for the one thing that net/http does not
// tell its handler: that Content-Length and Transfer-Encoding were both there (RFC 9112 §6.1: an attempt to smuggle).
// It takes the colon out of the second of the two, whereupon net/http answers 400 and closes. It looks from the start
// of a connection, and from each moment it is idle again, to the end of the head; a request sent before the one before
// it was answered may pass unseen, and is forwarded by its Transfer-Encoding alone.
type framedConn struct {
	net.Conn
	idle atomic.Bool // a head begins with the next byte
	scan headScan
	out  gathering
}

func newFramedConn(c net.Conn) *framedConn {
	f := &framedConn{Conn: c}
	f.idle.Store(true)
	return f
}

func (c *framedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.idle.Swap(false) {
		c.scan = headScan{inside: true}
	}
	if c.scan.inside {
		c.scan.read(p[:n])
	}
	return n, err
}

// framedListener accepts framed connections.
type framedListener struct{ net.Listener }

// Accept implements [net.Listener].
func (l framedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newFramedConn(c), nil
}

// CloseWrite half-closes the connection below, or closes it.
func (c *framedConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return c.Close()
}

// headScan reads a head byte by byte.
type headScan struct {
	inside         bool // not yet past the empty line
	started        bool // past the empty lines before the request line
	name           [len("transfer-encoding") + 1]byte
	n              int // bytes of this line so far, as far as they matter
	colon          bool
	length, coding bool // the field was there
}

// read goes on with p. Where both fields are there it spoils the second.
func (s *headScan) read(p []byte) {
	for i, c := range p {
		switch {
		case c == '\n':
			if s.n == 0 && s.started {
				s.inside = false
				return
			}
			s.started = s.started || s.n > 0
			s.n, s.colon = 0, false
		case c == '\r' || s.colon:
		case c == ':':
			s.colon = true
			switch string(s.name[:min(s.n, len(s.name))]) {
			case "content-length":
				s.length = true
			case "transfer-encoding":
				s.coding = true
			default:
				continue
			}
			if s.length && s.coding {
				p[i] = ' '
				s.inside = false
				return
			}
		default:
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			if s.n < len(s.name) {
				s.name[s.n] = c
			}
			s.n = min(s.n+1, len(s.name))
		}
	}
}
