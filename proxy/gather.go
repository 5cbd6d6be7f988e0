package proxy

import (
	"net"
	"net/http"
	"sync"
)

const (
	// maxHeld is the size of net/http's write buffer: the most that it writes before the rest of the handler's bytes.
	maxHeld = 4096
	// gatherOver is the length of content above which net/http may need two writes. Shorter content shares its buffer with
	// the head.
	gatherOver = 2048
	// maxRecord is the maximal content of a TLS record (RFC 8446 §5.1).
	maxRecord = 16 << 10
)

// gathering is the part of a framedConn that sends a head and its content in one write: one system call costs more than
// the whole rest of an answer from memory. net/http writes its buffer first, with the head and the beginning of the
// content, and then the rest.
type gathering struct {
	armed bool
	held  []byte      // written by the server but not yet sent; a buffer from heads, or nil
	parts [2][]byte   // of bufs
	bufs  net.Buffers // consumed by WriteTo; a field, to save an allocation
}

// gather holds back the next small write of an answer until another follows or release is called. Only the handler
// calls gather and release, and nothing else writes in between: the request has no content, so no interim response is
// due.
func (c *framedConn) gather() { c.out.armed = true }

// release writes the bytes of an answer that were gathered and held back, if any.
func (c *framedConn) release() {
	g := &c.out
	g.armed = false
	if g.held != nil {
		c.send(g.held) //nolint:errcheck // the next write fails too and reports it
		g.drop()
	}
}

// drop returns the buffer of the bytes held back to the pool, so that idle connections hold none.
func (g *gathering) drop() {
	heads.Put((*[maxHeld]byte)(g.held[:maxHeld]))
	g.held = nil
}

// Write implements [net.Conn]: it gathers what is to leave in one write.
func (c *framedConn) Write(p []byte) (int, error) {
	c.fast.sent(p)
	g := &c.out
	switch {
	case !g.armed:
		return c.send(p)
	case g.held == nil && len(p) <= maxHeld:
		head := heads.Get().(*[maxHeld]byte)
		g.held = head[:copy(head[:], p)]
		return len(p), nil
	}
	g.armed = false
	if g.held == nil {
		return c.send(p)
	}
	held := len(g.held)
	n, err := c.writeBehind(p)
	g.drop()
	return max(0, n-held), err
}

// send writes what was gathered in p to the client now, in its pace.
func (c *framedConn) send(p []byte) (int, error) {
	if c.paced {
		return c.Conn.Write(p)
	}
	return c.pace.Write(c.Conn, p)
}

// writeBehind writes the bytes held back and then p. A TCP connection gets both in one gathering system call, without a
// copy. A TLS connection gets as much as fills one record, and then the rest.
func (c *framedConn) writeBehind(p []byte) (n int, err error) {
	g := &c.out
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		g.parts = [2][]byte{g.held, p}
		g.bufs = g.parts[:]
		n, err := c.pace.WriteAll(tcp, &g.bufs)
		g.parts = [2][]byte{}
		return int(n), err
	}
	record := records.Get().(*[maxRecord]byte)
	defer records.Put(record)
	first := copy(record[:], g.held)
	more := copy(record[first:], p)
	n, err = c.send(record[:first+more])
	if err == nil && more < len(p) {
		var m int
		m, err = c.send(p[more:])
		n += m
	}
	return n, err
}

// heads and records are buffers for the bytes held back, and for one TLS record.
var (
	heads   = sync.Pool{New: func() any { return new([maxHeld]byte) }}
	records = sync.Pool{New: func() any { return new([maxRecord]byte) }}
)

// gather makes the head and a content of this length, a short response, leave in one write, where possible. The whole
// content must be in memory. The caller calls release after writing it. With content in the request an interim response
// may be due, so that nothing is held back.
func (x *exchange) gather(length int64) (release func()) {
	if x.conn == nil || length <= gatherOver || x.r.ContentLength != 0 {
		return func() {}
	}
	flusher, ok := x.w.(http.Flusher)
	if !ok {
		return func() {}
	}
	x.conn.gather()
	return func() {
		flusher.Flush() // net/http's buffer joins the bytes held back
		x.conn.release()
	}
}
