package proxy

import (
	"net"
	"sync/atomic"
)

// framedConn scans the heads of HTTP/1 requests while net/http reads them, because net/http does not report to its
// handler that a request had both Content-Length and Transfer-Encoding (RFC 9112 §6.1: a smuggling attempt). framedConn
// removes the colon of the second field; net/http then answers 400 and closes the connection. It scans each head that
// begins a connection or follows an idle moment. It may miss the head of a pipelined request; such a request is
// forwarded by its Transfer-Encoding alone.
type framedConn struct {
	net.Conn
	idle atomic.Bool // the next byte begins a head
	scan headScan
	out  gathering
	pace *pace // of the writes to the client

	overTLS bool // then the connection below keeps the pace
}

func newFramedConn(c net.Conn) *framedConn {
	f := &framedConn{Conn: c}
	if below := belowTLS(c); below != nil {
		f.pace, f.overTLS = &below.pace, true
	} else {
		f.pace = new(pace)
	}
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

// framedListener wraps accepted connections in framedConn.
type framedListener struct{ net.Listener }

// Accept implements [net.Listener].
func (l framedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newFramedConn(c), nil
}

// CloseWrite half-closes the underlying connection, or closes it if it cannot be half-closed.
func (c *framedConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return c.Close()
}

// headScan parses a head byte by byte.
type headScan struct {
	inside         bool // before the empty line that ends the head
	started        bool // after the empty lines that may precede the request line
	name           [len("transfer-encoding") + 1]byte
	n              int // length of this line so far, at most len(name)
	colon          bool
	length, coding bool // the field was present
}

// read continues the scan with p. If both fields are present, it overwrites the colon of the second.
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
