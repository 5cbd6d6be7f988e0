package transport

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"golang.org/x/net/proxy"

	"github.com/readthru/readthru/page"
)

// parseUpstream parses the URL of an upstream proxy: http, https or socks5, optionally with user info.
func parseUpstream(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("upstream proxy %q: not a URL (want http://, https:// or socks5://host:port)",
			page.MaskString(raw))
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
	default:
		return nil, fmt.Errorf("upstream proxy %q: want http://, https:// or socks5://host:port", page.Mask(u))
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("upstream proxy %q: no host", page.Mask(u))
	}
	if u.Port() != "" {
		if err := validPort(u.Port()); err != nil {
			return nil, fmt.Errorf("upstream proxy %q: %w", page.Mask(u), err)
		}
	}
	return u, nil
}

// dialThrough opens a tunnel to addr through the upstream proxy.
func (t *Transport) dialThrough(ctx context.Context, network, addr string) (net.Conn, error) {
	if t.upstream.Scheme == "socks5" || t.upstream.Scheme == "socks5h" {
		var auth *proxy.Auth
		if user := t.upstream.User; user != nil {
			password, _ := user.Password()
			auth = &proxy.Auth{User: user.Username(), Password: password}
		}
		d, err := proxy.SOCKS5(network, hostPort(t.upstream), auth, dialFunc(t.dialUpstream))
		if err != nil {
			return nil, fmt.Errorf("upstream proxy: %w", err)
		}
		return d.(proxy.ContextDialer).DialContext(ctx, network, addr)
	}
	conn, err := t.dialUpstream(ctx, network, hostPort(t.upstream))
	if err != nil {
		return nil, err
	}
	tunnel, err := connect(ctx, conn, t.upstream.User, addr)
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("upstream proxy: %w", err)
	}
	return tunnel, nil
}

// dialUpstream connects to the upstream proxy, over TLS if its URL says https.
func (t *Transport) dialUpstream(ctx context.Context, network, addr string) (net.Conn, error) {
	if t.upstream.Scheme == "https" {
		return t.dialTLS(ctx, proxied, network, addr)
	}
	return t.dialer.dial(ctx, proxied, network, addr)
}

// connect asks the upstream proxy at the other end of conn for a tunnel to addr (RFC 9110 §9.3.6).
func connect(ctx context.Context, conn net.Conn, user *url.Userinfo, addr string) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	req := &http.Request{
		Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr,
		Header: http.Header{"User-Agent": {""}},
	}
	if user != nil {
		password, _ := user.Password()
		req.Header.Set("Proxy-Authorization", "Basic "+
			base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if err := req.Write(conn); err != nil {
		return nil, fmt.Errorf("ask for a tunnel to %s: %w", addr, err)
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, req) //nolint:bodyclose // what follows the head is the tunnel
	if err != nil {
		return nil, fmt.Errorf("ask for a tunnel to %s: %w", addr, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask for a tunnel to %s: it answered %s", addr, resp.Status)
	}
	if !stop() {
		return nil, context.Cause(ctx)
	}
	return &bufferedConn{Conn: conn, r: r}, nil
}

// bufferedConn returns buffered bytes before those of the connection.
type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

// Read implements [net.Conn]: it returns first what the upstream proxy sent behind its answer.
func (c *bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }

// CloseWrite half-closes the connection to the upstream proxy.
func (c *bufferedConn) CloseWrite() error {
	switch conn := c.Conn.(type) {
	case *net.TCPConn:
		return conn.CloseWrite()
	case *tls.Conn:
		return conn.CloseWrite()
	}
	return errors.ErrUnsupported
}

// resolved is the cached result of a lookup; it has no addresses if the lookup failed.
type resolved struct {
	ips   []netip.Addr
	until time.Time
}

// checkBehindUpstream checks a destination that the upstream proxy will resolve: an address, or the addresses to which
// we can resolve a name within half a second. It accepts a name that we cannot resolve, because networks that require
// an upstream proxy often do not resolve external names; the upstream proxy must guard these. The names of metadata
// services are refused whatever they resolve to. Lookups, including failed
// ones, are cached for a minute.
func (t *Transport) checkBehindUpstream(ctx context.Context, p policy, addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("read the address %q: %w", addr, err)
	}
	if namesMetadata(host) {
		return &ProhibitedError{name: host, why: "the name of a cloud metadata service"}
	}
	now := time.Now()
	known, ok := t.looked.Get(host)
	if !ok || now.After(known.until) {
		ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		ips, _ := t.dialer.lookup(ctx, host)
		known = resolved{ips, now.Add(time.Minute)}
		t.looked.Add(host, known)
	}
	n, err := net.DefaultResolver.LookupPort(ctx, "tcp", port)
	if err != nil {
		return fmt.Errorf("read the address %q: %w", addr, err)
	}
	g := guard{allowPrivate: t.dialer.private[p]}
	if t.dialer.avoid != nil {
		g.avoid, g.local = t.dialer.avoid(), localAddrs()
	}
	for _, ip := range known.ips {
		if err := g.check(netip.AddrPortFrom(ip, uint16(n))); err != nil {
			return err
		}
	}
	return nil
}

type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// DialContext implements proxy.ContextDialer.
func (f dialFunc) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return f(ctx, network, addr)
}

// Dial implements proxy.Dialer.
func (f dialFunc) Dial(network, addr string) (net.Conn, error) {
	return f(context.Background(), network, addr)
}

// through reports whether requests to u go through the upstream proxy. What the options name as direct, hosts in
// upstream.resolve and this machine are contacted directly; localhost is a different machine for the upstream proxy.
func (t *Transport) through(u *url.URL) bool {
	if t.upstream == nil || page.Loopback(u.Hostname()) {
		return false
	}
	if _, mapped := t.dialer.mapped(hostPort(u)); mapped {
		return false
	}
	by, err := t.behind(u)
	return by != nil || err != nil
}
