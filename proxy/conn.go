package proxy

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/internal/pace"
)

// innerConn is the connection below the TLS of an intercepted connection, with the CONNECT that it came by. hello.Conn
// and tls.Conn.NetConn return it.
type innerConn struct {
	*replayConn
	connect *connect
	signed  atomic.Bool // our certificate was chosen for it
	pace    pace.Pace
}

// belowTLS returns the connection below the TLS of an intercepted connection; nil for any other connection.
func belowTLS(c net.Conn) *innerConn {
	if t, ok := c.(*tls.Conn); ok {
		below, _ := t.NetConn().(*innerConn)
		return below
	}
	return nil
}

// Write implements [net.Conn], below TLS.
func (c *innerConn) Write(p []byte) (int, error) { return c.pace.Write(c.Conn, p) }

// SetWriteDeadline implements [net.Conn]. A deadline of crypto/tls, for its last alert, stands above the pace.
func (c *innerConn) SetWriteDeadline(t time.Time) error { return c.pace.SetWriteDeadline(c.Conn, t) }

// unwrap returns the connection below c if c is a replayConn, whose early bytes must have been taken, else c: the
// kernel copies between bare connections.
func unwrap(c net.Conn) net.Conn {
	if r, ok := c.(*replayConn); ok {
		return r.Conn
	}
	return c
}

// hangUp closes connections, and servers of them, and ignores the errors: nothing more can be sent on them.
func hangUp(done ...io.Closer) {
	for _, c := range done {
		c.Close()
	}
}

// closeWrite half-closes a connection, one side of a tunnel, for writing: its peer has sent all that it has. It closes
// c if its type cannot be half-closed.
func closeWrite(c io.Closer) {
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		h.CloseWrite() //nolint:errcheck // fails only if the peer has gone
		return
	}
	hangUp(c)
}

// replayConn is a connection of a client from which some bytes were read early, to see what it speaks. Read returns
// them first.
type replayConn struct {
	net.Conn
	early []byte
}

// Read implements [net.Conn]: it returns the early bytes first.
func (c *replayConn) Read(p []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(p, c.early)
		c.early = c.early[n:]
		if len(c.early) == 0 {
			c.early = nil
		}
		return n, nil
	}
	return c.Conn.Read(p)
}

// take returns and removes the early bytes, for a copy that goes past Read.
func (c *replayConn) take() []byte {
	early := c.early
	c.early = nil
	return early
}

// CloseWrite half-closes the connection below, or closes it if it cannot be half-closed.
func (c *replayConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return c.Close()
}

// replayWriter is a ResponseWriter whose hijacked connection returns first the bytes that the server had read beyond
// the request's head. goproxy drops the server's buffer, which may contain bytes that a client sent without waiting for
// the answer.
type replayWriter struct{ http.ResponseWriter }

// Hijack implements [http.Hijacker].
func (w *replayWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if f, ok := conn.(*framedConn); ok {
		conn = f.Conn // no further heads to scan
	}
	early := make([]byte, rw.Reader.Buffered())
	if _, err := io.ReadFull(rw.Reader, early); err != nil {
		hangUp(conn)
		return nil, nil, err
	}
	return &replayConn{conn, early}, rw, nil
}

// link describes the connection that a request came by, in the request's context.
type link struct {
	conn   *framedConn // nil with HTTP/2
	inside *connect    // set inside an intercepted connection
}

// linkKey is the key of a link in the context of a request.
type linkKey struct{}

// linkOf returns the link of a connection as net/http has it, with or without TLS of ours.
func linkOf(c net.Conn) link {
	var l link
	if f, ok := c.(*framedConn); ok {
		l.conn, c = f, f.Conn
	}
	if below := belowTLS(c); below != nil {
		l.inside = below.connect
	}
	return l
}
