package proxy

import (
	"net"
	"sync"
)

const (
	// heldMost is what net/http writes at most before it goes on with the bytes of its handler: the size of its buffer.
	heldMost = 4096
	// gatherOver is the content from which on net/http needs two writes. Below it, head and content share its buffer.
	gatherOver = 2048
	// recordMost is the content of a TLS record (RFC 8446 §5.1).
	recordMost = 16 << 10
)

// gathering is the part of a framedConn that lets a head and the content behind it leave in one write: a system call
// costs more than all that is done to answer from memory. net/http writes its buffer first, which holds the head and
// the beginning of the content, and then the rest.
type gathering struct {
	armed bool
	held  []byte      // written by the server, not yet to the connection; a buffer from heads, or nil
	parts [2][]byte   // of bufs
	bufs  net.Buffers // what WriteTo consumes; here, so that it is not allocated
}

// gather holds the next small write back, until another follows or release is called. Only the handler calls both,
// while nobody else writes: the request has no content, so that no interim response is due.
func (c *framedConn) gather() { c.out.armed = true }

// release writes what is held back, if anything.
func (c *framedConn) release() {
	g := &c.out
	g.armed = false
	if g.held != nil {
		c.Conn.Write(g.held) //nolint:errcheck // the next write fails too, and tells
		g.drop()
	}
}

// drop gives the buffer back: a connection that is idle holds none.
func (g *gathering) drop() {
	heads.Put((*[heldMost]byte)(g.held[:heldMost]))
	g.held = nil
}

// Write implements [net.Conn].
func (c *framedConn) Write(p []byte) (int, error) {
	g := &c.out
	switch {
	case !g.armed:
		return c.Conn.Write(p)
	case g.held == nil && len(p) <= heldMost:
		head := heads.Get().(*[heldMost]byte)
		g.held = head[:copy(head[:], p)]
		return len(p), nil
	}
	g.armed = false
	if g.held == nil {
		return c.Conn.Write(p)
	}
	held := len(g.held)
	n, err := c.writeBehind(p)
	g.drop()
	return max(0, n-held), err
}

// writeBehind writes what is held and p. Where the system can gather, nothing is copied; into TLS goes what fills one
// record.
func (c *framedConn) writeBehind(p []byte) (n int, err error) {
	g := &c.out
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		g.parts = [2][]byte{g.held, p}
		g.bufs = g.parts[:]
		n, err := g.bufs.WriteTo(tcp)
		g.parts = [2][]byte{}
		return int(n), err
	}
	record := records.Get().(*[recordMost]byte)
	defer records.Put(record)
	first := copy(record[:], g.held)
	more := copy(record[first:], p)
	n, err = c.Conn.Write(record[:first+more])
	if err == nil && more < len(p) {
		var m int
		m, err = c.Conn.Write(p[more:])
		n += m
	}
	return n, err
}

var (
	heads   = sync.Pool{New: func() any { return new([heldMost]byte) }}
	records = sync.Pool{New: func() any { return new([recordMost]byte) }}
)
