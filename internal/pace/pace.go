// Package pace cuts off clients that take nothing of what is written to them: not those that read slowly, nor those
// that are sent nothing.
package pace

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

const (
	// Strike is how long a client may take nothing before that counts.
	Strike = 30 * time.Second
	// Strikes is how often in a row it may count.
	Strikes = 2
)

// A Pace limits the writes to a connection: not how long they take, but for how long the other end takes nothing. The
// zero value is ready to use. Writes are made one at a time.
type Pace struct {
	state  atomic.Int32
	lost   atomic.Bool // somebody else has set a deadline since until was
	until  time.Time   // the connection's present deadline
	missed int         // deadlines in a row without progress
	left   int         // what the kernel held for the client at the last of them; -1 if unknown
}

// The states of a pace.
const (
	kept    int32 = iota
	paused        // somebody else sets the deadlines for a while
	stopped       // for good
)

// Write writes b to c.
func (p *Pace) Write(c net.Conn, b []byte) (n int, err error) {
	p.begin(c)
	for {
		m, err := c.Write(b[n:])
		n += m
		if err == nil || !p.again(c, m > 0, err) {
			return n, err
		}
	}
}

// WriteAll writes buffers to c with one system call, where that is possible.
func (p *Pace) WriteAll(c net.Conn, bufs *net.Buffers) (n int64, err error) {
	p.begin(c)
	for {
		m, err := bufs.WriteTo(c)
		n += m
		if err == nil || !p.again(c, m > 0, err) {
			return n, err
		}
	}
}

// Pause leaves the deadlines to somebody else until Resume.
func (p *Pace) Pause() { p.state.CompareAndSwap(kept, paused) }

// Resume sets the deadlines again.
func (p *Pace) Resume() {
	p.lost.Store(true)
	p.state.CompareAndSwap(paused, kept)
}

// Stop ends the pace of a connection that is no longer used for HTTP.
func (p *Pace) Stop(c net.Conn) {
	p.state.Store(stopped)
	c.SetWriteDeadline(time.Time{}) //nolint:errcheck // a closed connection shows in the next write
}

// SetWriteDeadline sets a write deadline of c for somebody else, for whom the pace pauses until that deadline is
// cleared. To clear one that the pace set does nothing: net/http does it after each request.
func (p *Pace) SetWriteDeadline(c net.Conn, t time.Time) error {
	switch {
	case !t.IsZero():
		p.Pause()
	case p.state.Load() == kept:
		return nil
	default:
		p.Resume()
	}
	return c.SetWriteDeadline(t)
}

// begin sets the deadline of a write. To set one costs more than to look whether the last one is still far.
func (p *Pace) begin(c net.Conn) {
	if p.state.Load() != kept {
		return
	}
	if p.missed, p.left = 0, -1; p.lost.Swap(false) || time.Until(p.until) < Strike*3/4 {
		p.extend(c)
	}
}

func (p *Pace) extend(c net.Conn) {
	p.until = time.Now().Add(Strike)
	c.SetWriteDeadline(p.until) //nolint:errcheck // a closed connection shows in the write
}

// again reports whether a write that ended with err is to go on. took says that it wrote something.
func (p *Pace) again(c net.Conn, took bool, err error) bool {
	if p.state.Load() != kept || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	left := unsent(c)
	if took || left >= 0 && p.left >= 0 && left != p.left {
		p.missed = 0
	} else {
		p.missed++
	}
	p.left = left
	if p.missed == Strikes {
		return false
	}
	p.extend(c)
	return true
}

// Keeper is a connection that keeps a pace itself, below what is written to it.
type Keeper interface {
	net.Conn
	Pace() *Pace
}

// Listener returns l with a pace for each connection that keeps none itself.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept implements [net.Listener].
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if _, ok := c.(Keeper); ok {
		return c, nil
	}
	return &conn{Conn: c}, nil
}

type conn struct {
	net.Conn
	pace Pace
}

// Pace implements [Keeper].
func (c *conn) Pace() *Pace { return &c.pace }

// Write implements [net.Conn].
func (c *conn) Write(b []byte) (int, error) { return c.pace.Write(c.Conn, b) }

// SetWriteDeadline implements [net.Conn].
func (c *conn) SetWriteDeadline(t time.Time) error { return c.pace.SetWriteDeadline(c.Conn, t) }

// CloseWrite half-closes the connection, or closes it if it cannot be half-closed.
func (c *conn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return c.Close()
}
