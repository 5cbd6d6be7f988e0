package proxy

import (
	"errors"
	"os"
	"time"
)

// parkTime is how long a connection is idle until it leaves net/http, which holds two buffers of 4 KB for it and the
// stack on which a handler ran. A goroutine that only waits for the next request costs little for the rest of idleTime.
const parkTime = 5 * time.Second

// idles reports whether the connection of a client may be parked: it waits for the next request, with no byte of it in
// any buffer of net/http. Only the goroutine that reads the connection may ask.
func (c *framedConn) idles() bool {
	f := &c.fast
	return f.table != nil && f.ready.Load() && !f.spoilt.Load() && c.scan.Between()
}

// limited reports whether the limit of the read that waits for the next request is ours (parkTime), not that of
// net/http.
func (c *framedConn) limited() bool { return c.parks || !c.fast.moved.IsZero() }

// leave has net/http give the connection up, so that it is parked: it is called when a read for the next request ends
// with err. If the connection was idle for parkTime, net/http closes it because of that error, and Close parks it.
func (c *framedConn) leave(err error) {
	if c.limited() && errors.Is(err, os.ErrDeadlineExceeded) && c.idles() {
		c.fast.state.CompareAndSwap(waiting, leaving)
	}
}

// park waits for the next request on a connection that has left net/http, without its buffers, and gives the connection
// to a server again. A client that sends nothing for the rest of idleTime is closed.
func (s *serving) park(c *framedConn) {
	defer s.track(c.Conn)()
	c.Conn.SetReadDeadline(time.Now().Add(idleTime - parkTime)) //nolint:errcheck // the next read reports it
	f := &c.fast
	var first [1]byte
	n, _ := c.Conn.Read(first[:])
	if n == 0 {
		hangUp(c.Conn)
		return
	}
	c.idle.Store(false)
	c.parks = false
	f.moved = time.Time{}
	f.held, f.holding = first[0], true
	if !s.inner.hand(c) {
		hangUp(c.Conn)
	}
}
