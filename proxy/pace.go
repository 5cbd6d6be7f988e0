package proxy

import (
	"errors"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

const (
	// A client that takes nothing of what is written to it for strikes times strikeTime is cut off. One that reads
	// slowly is not, and neither is one that is sent nothing.
	strikeTime = 30 * time.Second
	strikes    = 2

	// streamTime is how long an HTTP/2 client may keep the window of a stream closed.
	streamTime = 10 * time.Minute
	// maxPiece is how much of a body one write to an HTTP/2 stream holds.
	maxPiece = 64 << 10
)

// A pace limits the writes to a client's connection: not how long they take, but for how long the client takes nothing.
// Writes are made one at a time.
type pace struct {
	off    atomic.Bool // somebody else sets the deadlines
	until  time.Time   // the connection's present deadline
	missed int         // deadlines in a row without progress
	left   int         // what the kernel held for the client at the last of them; -1 if unknown
}

// write writes b to c.
func (p *pace) write(c net.Conn, b []byte) (n int, err error) {
	p.begin(c)
	for {
		m, err := c.Write(b[n:])
		n += m
		if err == nil || !p.again(c, m > 0, err) {
			return n, err
		}
	}
}

// writeAll writes buffers to c with one system call, where that is possible.
func (p *pace) writeAll(c net.Conn, bufs *net.Buffers) (n int64, err error) {
	p.begin(c)
	for {
		m, err := bufs.WriteTo(c)
		n += m
		if err == nil || !p.again(c, m > 0, err) {
			return n, err
		}
	}
}

// begin sets the deadline of a write. To set one costs more than to look whether the last one is still far.
func (p *pace) begin(c net.Conn) {
	if p.off.Load() {
		return
	}
	if p.missed, p.left = 0, -1; time.Until(p.until) < strikeTime*3/4 {
		p.extend(c)
	}
}

func (p *pace) extend(c net.Conn) {
	p.until = time.Now().Add(strikeTime)
	c.SetWriteDeadline(p.until) //nolint:errcheck // a closed connection shows in the write
}

// again reports whether a write that ended with err is to go on. took says that it wrote something.
func (p *pace) again(c net.Conn, took bool, err error) bool {
	if p.off.Load() || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	left := unsent(c)
	if took || left >= 0 && p.left >= 0 && left != p.left {
		p.missed = 0
	} else {
		p.missed++
	}
	p.left = left
	if p.missed == strikes {
		return false
	}
	p.extend(c)
	return true
}

// stop ends the pace of a connection that is no longer used for HTTP.
func (p *pace) stop(c net.Conn) {
	p.off.Store(true)
	c.SetWriteDeadline(time.Time{}) //nolint:errcheck // a closed connection shows in the next write
}

// writePieces writes p to an HTTP/2 stream, which it resets if one piece takes too long: a client may read its
// connection and still keep the window of a stream closed.
func writePieces(w http.ResponseWriter, p []byte) (n int, err error) {
	limit := time.AfterFunc(streamTime, func() {
		http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0)) //nolint:errcheck // the client has left
	})
	defer limit.Stop()
	for n < len(p) && err == nil {
		limit.Reset(streamTime)
		var m int
		m, err = w.Write(p[n:min(n+maxPiece, len(p))])
		n += m
	}
	return n, err
}
