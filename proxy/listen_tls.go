package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/internal/pace"
)

// TLSFiles names PEM files: a certificate with its chain, and its key. The zero value names none.
type TLSFiles struct{ Cert, Key string }

// set reports whether a certificate or a key is named.
func (p TLSFiles) set() bool { return p.Cert != "" || p.Key != "" }

// load reads the listener's certificate with its key. It returns an error for a pair that no client could accept at a
// time, because it has expired or is not yet valid.
func (p TLSFiles) load(now time.Time) (*tls.Certificate, error) {
	if p.Cert == "" || p.Key == "" {
		return nil, errors.New("cert and key belong together: one of them is not set")
	}
	pair, err := tls.LoadX509KeyPair(p.Cert, p.Key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", p.Cert, err)
	case now.After(leaf.NotAfter):
		return nil, fmt.Errorf("%s has expired on %s", p.Cert, leaf.NotAfter.Format(time.DateTime))
	case now.Before(leaf.NotBefore):
		return nil, fmt.Errorf("%s is not valid before %s", p.Cert, leaf.NotBefore.Format(time.DateTime))
	}
	return &pair, nil
}

// times returns when the files of the certificate were changed; zero values if they cannot be read.
func (p TLSFiles) times() (t [2]time.Time) {
	for i, name := range []string{p.Cert, p.Key} {
		if info, err := os.Stat(name); err == nil {
			t[i] = info.ModTime()
		}
	}
	return t
}

// lookAgain is how long the files of a listener's certificate are not looked at again.
const lookAgain = time.Second

// servingPair is the certificate that a listener uses, with its key. When its files change they are read again by the
// next handshake; a pair that cannot be used stays unused, and what was in use stays so.
type servingPair struct {
	files TLSFiles
	log   *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	changed [2]time.Time
	looked  time.Time
}

// openPair reads the certificate of a listener for the first time. At that time an error is one of the configuration.
func openPair(files TLSFiles, log *slog.Logger) (*servingPair, error) {
	p := &servingPair{files: files, log: log, changed: files.times(), looked: time.Now()}
	var err error
	p.pair, err = files.load(time.Now())
	return p, err
}

// get returns the listener's certificate for a handshake ([tls.Config].GetCertificate).
func (p *servingPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.looked) < lookAgain {
		return p.pair, nil
	}
	p.looked = now
	changed := p.files.times()
	if changed == p.changed {
		return p.pair, nil
	}
	p.changed = changed
	pair, err := p.files.load(now)
	if err != nil {
		p.log.Error("the new certificate is not used, the one before stays in use", "cert", p.files.Cert, "err", err)
		return p.pair, nil
	}
	p.log.Info("new certificate in use", "cert", p.files.Cert)
	p.pair = pair
	return pair, nil
}

// tlsListener demands TLS of clients on other machines.
type tlsListener struct {
	net.Listener // with a pace for each connection
	config       *tls.Config
}

// WithTLS returns l with TLS for clients of other machines, or l itself if files names none. Programs of this machine
// may do without: what they send leaves it nowhere. The files are read again when they change. The error says why they
// cannot be used.
func WithTLS(l net.Listener, files TLSFiles, log *slog.Logger) (net.Listener, error) {
	if !files.set() {
		return l, nil
	}
	p, err := openPair(files, log)
	if err != nil {
		return nil, err
	}
	return &tlsListener{pace.Listener(l), &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}, GetCertificate: p.get,
	}}, nil
}

// Accept implements [net.Listener]. It does not wait for what the client sends.
func (l *tlsListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &maybeTLS{Conn: c, config: l.config}, nil
}

// maybeTLS is a connection that speaks TLS if the first byte of the client says so. The connection below keeps the pace
// of writes: a deadline in the middle of a record would end TLS.
type maybeTLS struct {
	net.Conn
	config *tls.Config

	first  sync.Once
	failed error // of the first read
	spoken atomic.Pointer[net.Conn]
}

// plainRefused is the answer to a client on another machine that does not speak TLS: it has no TLS to be told by.
const plainRefused = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n" +
	"Content-Type: text/plain\r\nContent-Length: 69\r\n\r\n" +
	"readthru speaks TLS with other machines: use https:// to reach this.\n"

// begin finds out by its first byte what the client speaks. The first Read calls it.
func (c *maybeTLS) begin() {
	first := make([]byte, 1)
	if _, c.failed = io.ReadFull(c.Conn, first); c.failed != nil {
		return
	}
	whole := &replayConn{c.Conn, first}
	var spoken net.Conn = whole
	switch {
	case first[0] == recordHandshake:
		spoken = tls.Server(whole, c.config) // the handshake is made by the first read
	case !fromThisMachine(c.Conn):
		_, _ = io.WriteString(c.Conn, plainRefused) // the client may have gone
		c.failed = errors.New("a client on another machine does not speak TLS")
		return
	}
	c.spoken.Store(&spoken)
}

// fromThisMachine reports whether both ends of a connection are on this machine: the client is on loopback,
// or at the address that it connected to.
func fromThisMachine(c net.Conn) bool {
	local, err := netip.ParseAddrPort(c.LocalAddr().String())
	if err != nil {
		return false
	}
	remote, err := netip.ParseAddrPort(c.RemoteAddr().String())
	return err == nil && (remote.Addr().Unmap().IsLoopback() || remote.Addr().Unmap() == local.Addr().Unmap())
}

// now returns the connection as the client speaks, with or without TLS, or the bare connection before it has said
// anything.
func (c *maybeTLS) now() net.Conn {
	if spoken := c.spoken.Load(); spoken != nil {
		return *spoken
	}
	return c.Conn
}

// Read implements [net.Conn].
func (c *maybeTLS) Read(p []byte) (int, error) {
	c.first.Do(c.begin)
	if c.failed != nil {
		return 0, c.failed
	}
	return c.now().Read(p)
}

// Write implements [net.Conn].
func (c *maybeTLS) Write(p []byte) (int, error) { return c.now().Write(p) }

// Close implements [net.Conn].
func (c *maybeTLS) Close() error { return c.now().Close() }

// CloseWrite half-closes the connection, or closes it if it cannot be half-closed.
func (c *maybeTLS) CloseWrite() error {
	if h, ok := c.now().(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return c.Close()
}

// SetDeadline implements [net.Conn], for reads.
func (c *maybeTLS) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline implements [net.Conn]. It only removes a deadline: the pace sets them.
func (c *maybeTLS) SetWriteDeadline(t time.Time) error {
	if !t.IsZero() {
		return nil
	}
	return c.Conn.SetWriteDeadline(t)
}

// Pace implements [pace.Keeper].
func (c *maybeTLS) Pace() *pace.Pace { return c.Conn.(pace.Keeper).Pace() }
