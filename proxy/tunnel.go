package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
)

// tunnel dials the target of c and copies between it and the client until both sides are done. If it cannot reach the
// target, it reports that in the answer to the CONNECT.
func (s *serving) tunnel(ctx context.Context, c *connect, client net.Conn) {
	defer hangUp(client)
	defer s.track(client)()
	origin, err := s.p.o.Dial(ctx, "tcp", c.target())
	if err != nil {
		bad := explain(c.targetURL(), err)
		s.p.stats.errors.Add(1)
		c.end(bad.Status, 0, 0, err)
		client.SetWriteDeadline(time.Now().Add(handshakeTime)) //nolint:errcheck // the write below reports the error
		//nolint:bodyclose // the body is in memory; the write fails only if the client has gone
		_ = bad.Response(nil).Write(client)
		return
	}
	if _, err := io.WriteString(client, established(c.verdict.why)); err != nil {
		hangUp(origin)
		c.end(journal.StatusGone, 0, 0, err)
		return
	}
	s.join(c, client, origin)
}

// tunnelAfterAll tunnels a client whose CONNECT was to be intercepted and was answered 200, but whose first byte is not
// TLS. The answer can no longer say that it is a tunnel, or that the target cannot be reached.
func (s *serving) tunnelAfterAll(ctx context.Context, c *connect, client net.Conn) {
	defer hangUp(client)
	c.verdict.why = "not-tls"
	if s.terms.Offline {
		c.end(http.StatusOK, 0, 0, errOffline)
		return
	}
	origin, err := s.p.o.Dial(ctx, "tcp", c.target())
	if err != nil {
		s.p.stats.errors.Add(1)
		c.end(http.StatusOK, 0, 0, err)
		return
	}
	s.join(c, client, origin)
}

// join copies between a tunnel's client and its target until both sides are done, or the user is gone.
func (s *serving) join(c *connect, client, origin net.Conn) {
	s.p.stats.tunnelled.Add(1)
	defer s.track(origin)()
	defer s.p.o.Users.WhenGone(c.user, users.ScopeProxy, func() { hangUp(client, origin) })()
	sent, received, err := pipe(client, origin)
	c.end(http.StatusOK, sent, received, err)
}

// established answers a CONNECT, which opens a tunnel (RFC 9110 §9.3.6). If it is tunnelled, why is the reason.
func established(why string) string {
	if why != "" {
		why = tunnelField + ": " + why + "\r\n"
	}
	return "HTTP/1.1 200 Connection established\r\n" + why + "\r\n"
}

// tunnelField says in the answer to a CONNECT that it is tunnelled, and why: preset, rule or client-rejected-ca, with
// parameters (an item of RFC 9651).
const tunnelField = "X-Readthru-Tunnel"

// pipe copies between two connections, the ends of a tunnel, in both directions until both have ended, and closes the
// connections. When one side ends, pipe half-closes the other side, which may still send. There is no deadline: TCP
// keep-alive detects dead peers. An error in one direction ends both.
func pipe(client, origin io.ReadWriteCloser) (sent, received int64, err error) {
	defer hangUp(client, origin)
	done := make(chan error, 1)
	go fault.Contain("proxy: end a relay", func() {
		err := fault.Catch("proxy: relay an origin", func() (err error) {
			received, err = pump(client, origin)
			return err
		})
		if fault.Is(err) {
			hangUp(client, origin) // neither side must wait for the other
		}
		done <- err
	})()
	sent, err = pump(origin, client)
	if other := <-done; err == nil {
		err = other
	}
	return sent, received, err
}

// pump copies one direction of a tunnel from src to dst until EOF and half-closes dst. On an error it closes both, so
// that the other direction ends.
func pump(dst, src io.ReadWriteCloser) (n int64, err error) {
	if r, ok := src.(*replayConn); ok {
		// Write the early bytes first. Then copy from the bare connection, which the kernel can splice.
		if early := r.take(); len(early) > 0 {
			m, err := dst.Write(early)
			n += int64(m)
			if err != nil {
				hangUp(src, dst)
				return n, err
			}
		}
		src = r.Conn
	}
	if r, ok := dst.(*replayConn); ok {
		dst = r.Conn
	}
	m, err := io.Copy(dst, src)
	n += m
	if err != nil && !errors.Is(err, net.ErrClosed) {
		hangUp(src, dst)
		return n, err
	}
	closeWrite(dst)
	return n, nil
}
