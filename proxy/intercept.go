package proxy

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"time"
)

// handshakeTime limits the time from our answer to a CONNECT to the end of the client's TLS handshake.
const handshakeTime = 10 * time.Second

// recordHandshake is the first byte of a TLS connection (RFC 8446 §5.1).
const recordHandshake = 0x16

// intercept answers the CONNECT, terminates TLS with a certificate of ours and passes the connection to the server for
// intercepted connections. A client that does not speak TLS is tunnelled. The connection of a client that sends nothing
// is closed.
func (s *serving) intercept(ctx context.Context, c *connect, conn net.Conn) {
	untrack := s.track(conn)
	defer untrack()
	conn.SetDeadline(time.Now().Add(handshakeTime)) //nolint:errcheck // a closed connection shows below
	if _, err := io.WriteString(conn, established("")); err != nil {
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
	replay := &replayConn{unwrap(conn), early}
	if early[0] != recordHandshake {
		conn.SetDeadline(time.Time{}) //nolint:errcheck // as above
		s.tunnelAfterAll(ctx, c, replay)
		return
	}
	below := &innerConn{replayConn: replay, connect: c}
	below.pace.Pause() // the handshake has a deadline of its own
	inner := tls.Server(below, s.p.tlsFor(conn.RemoteAddr()))
	if err := inner.HandshakeContext(ctx); err != nil {
		s.handshakeFailed(below, err) // before hangUp: the client may reconnect as soon as its connection ends
		hangUp(conn)
		return
	}
	conn.SetDeadline(time.Time{}) //nolint:errcheck // as above
	below.pace.Resume()
	state := inner.ConnectionState()
	c.named, c.secured = strings.ToLower(strings.TrimSuffix(state.ServerName, ".")), time.Now()
	c.end, c.fail = nil, nil    // they hold the CONNECT, with the buffers of its server, for as long as c lives
	var served net.Conn = inner // HTTP/2 needs the *tls.Conn itself
	if state.NegotiatedProtocol != "h2" {
		served = s.framed(inner)
	}
	if !s.inner.hand(served) {
		hangUp(conn)
	}
}

// newTLSConfig returns a configuration for the TLS of intercepted connections. They share it so that session tickets
// resume. The certificate is for the name in the ClientHello, else for the target of the CONNECT.
func (p *Proxy) newTLSConfig() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		// Small records at the start of a connection make a page appear sooner over a slow line. Our clients are on this
		// machine or its network, and each record costs a system call.
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

// tlsFor returns the configuration of TLS with an intercepted client at an address. One on this machine is not asked
// for a post-quantum key exchange, which is an eighth of the work of a new connection: no network carries its bytes, to
// be recorded and read later.
func (p *Proxy) tlsFor(client net.Addr) *tls.Config {
	if tcp, ok := client.(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		return p.tlsHere
	}
	return p.tls
}

// takeEarly returns the bytes that were read from a connection that is intercepted, before it was hijacked; nil if
// there are none.
func takeEarly(c net.Conn) []byte {
	if r, ok := c.(*replayConn); ok {
		return r.take()
	}
	return nil
}
