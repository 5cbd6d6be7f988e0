package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// handshakeTime is how long a client may take from our answer to its CONNECT to the end of its TLS handshake.
const handshakeTime = 10 * time.Second

// recordHandshake is the first byte of a TLS connection (RFC 8446 §5.1).
const recordHandshake = 0x16

// intercept answers the CONNECT, terminates TLS and hands the connection to the server for intercepted ones. A client
// that says something else than TLS is tunnelled; one that says nothing is closed.
func (s *serving) intercept(ctx context.Context, c *connect, conn net.Conn) {
	untrack := s.track(conn)
	defer untrack()
	conn.SetDeadline(time.Now().Add(handshakeTime)) //nolint:errcheck // a closed connection shows below
	if _, err := io.WriteString(conn, established); err != nil {
		hangUp(conn)
		return
	}
	early := takeEarly(conn)
	if len(early) == 0 {
		early = make([]byte, 2048) // a ClientHello with a post-quantum key share is some 1,700 bytes
		n, err := conn.Read(early)
		if n == 0 {
			s.p.log.Debug("connect ended before a byte", "host", c.target(), "error", err)
			hangUp(conn)
			return
		}
		early = early[:n]
	}
	replay := &replayConn{bare(conn), early}
	if early[0] != recordHandshake {
		conn.SetDeadline(time.Time{}) //nolint:errcheck // as above
		s.tunnelAfterAll(ctx, c, replay)
		return
	}
	below := &innerConn{replayConn: replay, connect: c}
	inner := tls.Server(below, s.p.tls)
	if err := inner.HandshakeContext(ctx); err != nil {
		s.handshakeFailed(below, err) // first: a client may come back as soon as it sees the end
		hangUp(conn)
		return
	}
	conn.SetDeadline(time.Time{}) //nolint:errcheck // as above
	state := inner.ConnectionState()
	c.named, c.secured = strings.ToLower(strings.TrimSuffix(state.ServerName, ".")), time.Now()
	var served net.Conn = inner // HTTP/2 needs the *tls.Conn itself
	if state.NegotiatedProtocol != "h2" {
		served = newFramedConn(inner)
	}
	if !s.inner.hand(served) {
		hangUp(conn)
	}
}

// handshakeFailed remembers a client that does not trust our certificate: its next CONNECT to this host is tunnelled.
func (s *serving) handshakeFailed(below *innerConn, err error) {
	c := below.connect
	rejected := below.signed.Load() && rejectsCertificate(err)
	s.p.log.Debug("handshake failed", "host", c.target(), "rejected_ca", rejected, "error", err)
	if rejected && s.p.o.NoteRejectsCA != nil {
		s.p.o.NoteRejectsCA(c.client, c.host)
	}
}

// rejectsCertificate reports whether a handshake that failed after our certificate was sent failed because of it: an
// alert that says so (RFC 8446 §6.2), or a connection closed at that point. In TLS 1.3 OpenSSL's alert comes under keys
// of which crypto/tls knows nothing yet: it shows as a record that cannot be read.
func rejectsCertificate(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		switch op.Op + ": " + strings.TrimPrefix(op.Err.Error(), "tls: ") {
		case "remote error: bad certificate", "remote error: unknown certificate",
			"remote error: unknown certificate authority",
			"local error: bad record MAC":
			return true
		}
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// innerConn is what lies below the TLS of an intercepted connection. It is found again as hello.Conn and
// tls.Conn.NetConn.
type innerConn struct {
	*replayConn
	connect *connect
	signed  atomic.Bool // a certificate of ours was chosen for it
}

// newTLSConfig returns the configuration of all intercepted connections. It is one, so that session tickets resume.
func (p *Proxy) newTLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		// Small records at the start of a connection help a page to begin over a slow line; our line is this machine, or its
		// network, and each record costs a system call.
		DynamicRecordSizingDisabled: true,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			name := hello.ServerName
			below, ok := hello.Conn.(*innerConn)
			if ok && name == "" {
				name = below.connect.host
			}
			leaf, err := p.o.Authority.Leaf(name)
			if err == nil && ok {
				below.signed.Store(true)
			}
			return leaf, err
		},
	}
}

// takeEarly returns what a hijacked connection has read already.
func takeEarly(c net.Conn) []byte {
	if r, ok := c.(*replayConn); ok {
		return r.take()
	}
	return nil
}

// bare returns the connection below a replayConn that has nothing left to give again.
func bare(c net.Conn) net.Conn {
	if r, ok := c.(*replayConn); ok {
		return r.Conn
	}
	return c
}

func (c *connect) targetURL() *url.URL {
	return &url.URL{Scheme: "https", Host: joinAuthority(c.host, c.port, "443")}
}

// handover is a listener whose connections are handed to it.
type handover struct {
	conns  chan net.Conn
	closed chan struct{}
	addr   net.Addr
}

func newHandover(addr net.Addr) *handover {
	return &handover{make(chan net.Conn), make(chan struct{}), addr}
}

// hand gives c to whoever accepts. It is false when the listener was closed; then c is still the caller's.
func (h *handover) hand(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.closed:
		return false
	}
}

// Accept implements [net.Listener].
func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener]. It may be called more than once, by one goroutine at a time.
func (h *handover) Close() error {
	select {
	case <-h.closed:
	default:
		close(h.closed)
	}
	return nil
}

// Addr implements [net.Listener].
func (h *handover) Addr() net.Addr { return h.addr }
