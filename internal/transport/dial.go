package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/readthru/readthru/page"
)

// connectTimeout limits the time to connect to an origin: name lookup, connection and TLS handshake together.
const connectTimeout = 10 * time.Second

// dialer opens guarded connections. It makes a net.Dialer for each one, which is cheap compared with the connection.
type dialer struct {
	resolve  []mapping
	upstream string // host:port of the upstream proxy, which may be private; empty if there is none
	private  [3]bool
	avoid    func() []netip.AddrPort
	advice   string        // see TransportOptions.Advice
	resolver *net.Resolver // if nil, the system's
}

// dial connects to addr (host:port) under the policy. It checks each resolved address at the moment of dialling, so
// that a second lookup cannot substitute another address.
func (d *dialer) dial(ctx context.Context, p policy, network, addr string) (net.Conn, error) {
	g := guard{allowPrivate: d.private[p] || addr == d.upstream}
	if d.avoid != nil {
		g.avoid = d.avoid()
		if slices.ContainsFunc(g.avoid, func(a netip.AddrPort) bool { return a.Addr().IsUnspecified() }) {
			g.local = localAddrs()
		}
	}
	advice := d.advice
	if host, _, err := net.SplitHostPort(addr); p == operator || err == nil && page.Loopback(host) {
		advice = ""
	}
	if m, ok := d.mapped(addr); ok {
		advice = ""
		addr, g.allowPrivate = m.to.String(), true
		if err := (guard{allowPrivate: true, avoid: g.avoid, local: g.local}).check(m.to); err != nil {
			return nil, err
		}
	}
	nd := net.Dialer{
		Timeout:   connectTimeout,
		KeepAlive: 30 * time.Second,
		Resolver:  d.resolver,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("read the address %q: %w", address, err)
			}
			return g.check(to)
		},
	}
	conn, err := nd.DialContext(ctx, network, addr)
	if err != nil && advice != "" {
		err = &AdviceError{advice, err}
	}
	return conn, err
}

// AdviceError is the failure of a connection, with what to do about it.
type AdviceError struct {
	Advice string
	error
}

// Unwrap returns the failure without the advice.
func (a *AdviceError) Unwrap() error { return a.error }

// mapped returns the first entry of upstream.resolve for an address; "*" is every host.
func (d *dialer) mapped(addr string) (mapping, bool) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return mapping{}, false
	}
	for _, m := range d.resolve {
		if m.port == port && (m.host == "*" || strings.EqualFold(m.host, strings.TrimSuffix(host, "."))) {
			return m, true
		}
	}
	return mapping{}, false
}

// mapping is one entry of upstream.resolve: connections to host:port go to an address instead.
type mapping struct {
	host, port string
	to         netip.AddrPort
}

// parseMapping parses an entry of upstream.resolve, by which another address is dialled: host:port=addr:port. The host
// may be *; IPv6 addresses are in brackets.
func parseMapping(s string) (mapping, error) {
	from, to, ok := strings.Cut(s, "=")
	if !ok {
		return mapping{}, fmt.Errorf("resolve entry %q: want host:port=address:port", s)
	}
	host, port, err := net.SplitHostPort(strings.TrimSpace(from))
	if err == nil && host == "" {
		err = errors.New("the host is empty (write * for every host)")
	}
	if err == nil {
		err = validPort(port)
	}
	if err != nil {
		return mapping{}, fmt.Errorf("resolve entry %q: left of the equals sign: %w", s, err)
	}
	addr, err := netip.ParseAddrPort(strings.TrimSpace(to))
	if err == nil && addr.Port() == 0 {
		err = errors.New("the port is 0")
	}
	if err != nil {
		return mapping{},
			fmt.Errorf("resolve entry %q: right of the equals sign: want an IP address and a port: %w", s, err)
	}
	return mapping{host: strings.TrimSuffix(host, "."), port: port, to: addr}, nil
}

// validPort returns an error for a port to dial that is no number from 1 to 65535 in its shortest form.
func validPort(port string) error {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return fmt.Errorf("port %q is not a number from 1 to 65535", port)
	}
	return nil
}

// hostPort returns the address to dial for u, with the scheme's default port if u has none.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		switch u.Scheme {
		case "https":
			port = "443"
		case "socks5", "socks5h":
			port = "1080"
		default:
			port = "80"
		}
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// Dial opens a connection for a tunnel, under the policy of ctx and through the upstream proxy if there is one.
func (t *Transport) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	p := policyOf(ctx)
	if t.offline.Load() {
		return nil, ErrOffline
	}
	if p == operator && ctx.Value(endpointKey{}) != addr {
		return nil, fmt.Errorf("open a tunnel to %s: it is allowed to go to %v only", addr, ctx.Value(endpointKey{}))
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if !t.through(&url.URL{Scheme: "https", Host: addr}) {
		return t.dialer.dial(ctx, p, network, addr)
	}
	if err := t.checkBehindUpstream(ctx, p, addr); err != nil {
		return nil, err
	}
	return t.dialThrough(ctx, network, addr)
}

// dialTLS connects and performs the TLS handshake, both together within connectTimeout.
func (t *Transport) dialTLS(ctx context.Context, p policy, network, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	raw, err := t.dialer.dial(ctx, p, network, addr)
	if err != nil {
		return nil, err
	}
	cfg := t.tls.Clone()
	if cfg.ServerName, _, err = net.SplitHostPort(addr); err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("read the address %q: %w", addr, err)
	}
	cfg.NextProtos = []string{"h2", "http/1.1"}
	if addr == t.dialer.upstream || ctx.Value(http1Key{}) != nil {
		cfg.NextProtos = []string{"http/1.1"} // CONNECT and upgrades are written as HTTP/1.1
	}
	conn := tls.Client(&watchedConn{Conn: raw}, cfg)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, err
	}
	return conn, nil
}

// lookup returns the addresses of a host. The host may be an address.
func (d *dialer) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	r := d.resolver
	if r == nil {
		r = net.DefaultResolver
	}
	return r.LookupNetIP(ctx, "ip", host)
}
