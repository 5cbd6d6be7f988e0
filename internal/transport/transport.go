// Package transport sends requests to origins.
//
// A [Transport] is an [http.RoundTripper] that verifies certificates, refuses prohibited addresses, and reads what
// origins send with more care than net/http does. It applies one policy to requests of clients, another to fetches by
// readthru itself or caused by a page ([OwnPolicy]), and a third to endpoints of the operator ([Endpoint]). The context
// of a request names its policy, and requests of different policies never share connections.
//
// A request takes this path: the policy (dial.go), the upstream proxy if there is one (upstream.go), a connection to an
// address that was checked when it was dialled (guard.go, metadata.go), and content that waits for 100 Continue
// (expect.go). The response comes back through what checks how its bytes are framed (strict.go, chunks.go) and whether
// it was cut off (origin_conn.go).
package transport

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/net/http/httpproxy"

	"github.com/readthru/readthru/internal/botauth"
	"github.com/readthru/readthru/internal/httpfield"
)

// Options configures a Transport. The zero value allows only public addresses and uses the system's roots.
type Options struct {
	// Resolve lists addresses to dial instead of others: host:port=addr:port, where host may be *. Connections made
	// through an entry are exempt from the address policy.
	Resolve []string

	CAFile   string // PEM file of extra roots; empty: none
	Upstream string // URL of an http, https or socks5 proxy, with user info; empty: none. The environment is ignored

	// Direct names what is connected to without Upstream, as NO_PROXY does: a host with its subdomains, a domain as
	// .test, an address, a network as 10.0.0.0/8, each with a port or without; * is everything.
	Direct []string

	AllowPrivateOwn     bool // own fetches may reach private addresses
	AllowPrivateProxied bool // clients' requests may reach private addresses

	// Avoid returns our own listeners, which must not be dialled. If nil, nothing is avoided.
	Avoid func() []netip.AddrPort

	Advice    string // follows the error of a connection to an origin that failed; may be empty
	UserAgent string // for own requests without one

	Signer *botauth.Signer // signs own requests over TLS; nil: none

	Log *slog.Logger
}

// Transport sends requests to origins: it verifies certificates and refuses prohibited addresses. It takes the policy
// from a request's context (see [OwnPolicy] and [Endpoint]); requests of different policies never share connections. It
// does not decode content, ignores the environment's proxy variables, and sets no timeout for responses, which callers
// limit by their context.
type Transport struct {
	offline   atomic.Bool
	dialer    *dialer
	tls       *tls.Config
	upstream  *url.URL                         // may be nil
	behind    func(*url.URL) (*url.URL, error) // returns nothing for what TransportOptions.Direct names
	userAgent string
	signer    *botauth.Signer              // may be nil
	looked    *lru.Cache[string, resolved] // lookups of checkBehindUpstream
	pools     [3]*http.Transport           // by policy
}

// New returns a Transport. The error for an invalid option names the option.
func New(o Options) (*Transport, error) {
	looked, _ := lru.New[string, resolved](1024) // fails for sizes below 1 only
	t := &Transport{
		userAgent: o.UserAgent, signer: o.Signer, looked: looked, dialer: &dialer{avoid: o.Avoid, advice: o.Advice},
	}
	t.dialer.private = [3]bool{proxied: o.AllowPrivateProxied, own: o.AllowPrivateOwn, operator: true}
	for _, s := range o.Resolve {
		m, err := parseMapping(s)
		if err != nil {
			return nil, err
		}
		t.dialer.resolve = append(t.dialer.resolve, m)
	}
	if o.Upstream != "" {
		u, err := parseUpstream(o.Upstream)
		if err != nil {
			return nil, err
		}
		t.upstream, t.dialer.upstream = u, hostPort(u)
		t.behind = (&httpproxy.Config{
			HTTPProxy: "http://" + hostPort(u), HTTPSProxy: "http://" + hostPort(u), NoProxy: strings.Join(o.Direct, ","),
		}).ProxyFunc()
	}
	roots, err := rootsWith(o.CAFile)
	if err != nil {
		return nil, err
	}
	t.tls = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, VerifyConnection: refuseWeakKeys}
	for p := range t.pools {
		t.pools[p] = t.pool(policy(p))
	}
	return t, nil
}

// ErrOffline is the error of what needs a connection while the transport is offline.
var ErrOffline = errors.New("readthru is offline")

// SetOffline makes the transport refuse everything that begins from now on, or ends that.
func (t *Transport) SetOffline(offline bool) {
	if t.offline.Swap(offline) != offline && offline {
		t.CloseIdleConnections()
	}
}

// RoundTrip sends req under the policy of its context. The response has no fields in our name ([httpfield.RemoveOurs]).
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, p := req.Context(), policyOf(req.Context())
	if t.offline.Load() {
		closeBody(req)
		return nil, ErrOffline
	}
	if p == operator && ctx.Value(endpointKey{}) != hostPort(req.URL) {
		closeBody(req)
		return nil, fmt.Errorf("send a request to %s: it is allowed to go to %v only", hostPort(req.URL),
			ctx.Value(endpointKey{}))
	}
	if t.through(req.URL) {
		if err := t.checkBehindUpstream(ctx, p, hostPort(req.URL)); err != nil {
			closeBody(req)
			return nil, err
		}
		if req.URL.Scheme == "http" && req.URL.Path == "*" { // the URL of a server has no path (RFC 9112 §3.2.4)
			r := *req
			r.URL = &url.URL{Scheme: "http", Host: req.URL.Host, Opaque: "//" + req.URL.Host}
			req = &r
		}
	}
	if req.Header.Get("Upgrade") != "" {
		req = req.WithContext(context.WithValue(ctx, http1Key{}, true))
	}
	if _, ok := req.Header["User-Agent"]; !ok {
		// Without this net/http would send its own name for a client that sends none.
		agent := ""
		if p != proxied {
			agent = t.userAgent
		}
		r := *req
		if r.Header = req.Header.Clone(); r.Header == nil {
			r.Header = http.Header{}
		}
		r.Header["User-Agent"] = []string{agent}
		req = &r
	}
	signed := t.signer != nil && p == own && req.URL.Scheme == "https"
	if signed {
		req = req.Clone(ctx)
		if err := t.signer.Sign(req, time.Now()); err != nil {
			closeBody(req)
			return nil, err
		}
	}
	req, content := expecting(req)
	var x exchange
	req = req.WithContext(x.observe(watched(req.Context(), req.Method))) //nolint:contextcheck // of the request's
	resp, err := t.pools[p].RoundTrip(req)
	if x.repeatable(req, err) {
		resp, err = t.pools[p].RoundTrip(req)
	}
	content.answered(resp, err)
	if resp, err = x.end(resp, err); err != nil {
		return nil, err
	}
	httpfield.RemoveOurs(resp.Header)
	varies := func(name string) bool { return httpfield.Has(resp.Header, "Vary", name) }
	if signed && slices.ContainsFunc(botauth.Fields, varies) {
		resp.Header.Add("Vary", "*") // the cache does not know the request's signature
	}
	return resp, nil
}

// Public returns an error unless every address of u's host is public. A host that upstream.resolve names counts as
// public, because the operator configured it.
func (t *Transport) Public(ctx context.Context, u *url.URL) error {
	if _, ok := t.dialer.mapped(hostPort(u)); ok {
		return nil
	}
	ips, err := t.dialer.lookup(ctx, u.Hostname())
	if err != nil {
		return err
	}
	for _, ip := range ips {
		if err := CheckPublic(ip); err != nil {
			return err
		}
	}
	return nil
}

// CloseIdleConnections closes the connections that no request uses.
func (t *Transport) CloseIdleConnections() {
	for _, p := range t.pools {
		p.CloseIdleConnections()
	}
}

// pool returns the connections of one address policy. Policies share none: a connection that a client's request may use
// could be to an address that own fetches must not reach.
func (t *Transport) pool(p policy) *http.Transport {
	return &http.Transport{
		Proxy: func(req *http.Request) (*url.URL, error) {
			if t.through(req.URL) {
				return t.upstream, nil
			}
			return nil, nil
		},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := t.dialer.dial(ctx, p, network, addr)
			if err != nil {
				return nil, err
			}
			if t.upstream != nil {
				conn = &watchedConn{Conn: conn} // net/http speaks TLS over it, through the upstream proxy
			}
			return &strictConn{Conn: conn}, nil
		},
		DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := t.dialTLS(ctx, p, network, addr)
			switch {
			case err != nil:
				return nil, err
			case addr == t.dialer.upstream:
				conn = &watchedConn{Conn: conn} // as above
			case speaksHTTP2(conn):
				return conn, nil // net/http looks for the protocol there
			}
			return &strictConn{Conn: conn}, nil
		},
		TLSClientConfig:        t.tls.Clone(), // for origins behind the upstream proxy
		TLSHandshakeTimeout:    connectTimeout,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		DisableCompression:     true, // store and forward the origin's bytes
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        90 * time.Second,
		ExpectContinueTimeout:  continueTimeout,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// rootsWith returns the system's roots and those of a PEM file. If file is empty it returns nil, which means the
// system's roots.
func rootsWith(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read extra roots: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // the machine has no roots: use only those of the file
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read extra roots: %s holds no PEM certificate", file)
	}
	return pool, nil
}

// ErrWeakKey is returned for weak RSA keys, which crypto/tls accepts from 1024 bits.
var ErrWeakKey = errors.New("the certificate has an RSA key of less than 2048 bits")

// refuseWeakKeys returns an error unless a verified chain of certificates has no RSA key under 2048 bits.
func refuseWeakKeys(cs tls.ConnectionState) error {
	weak := func(c *x509.Certificate) bool {
		k, ok := c.PublicKey.(*rsa.PublicKey)
		return ok && k.N.BitLen() < 2048
	}
chains:
	for _, chain := range cs.VerifiedChains {
		for _, c := range chain {
			if weak(c) {
				continue chains
			}
		}
		return nil
	}
	return ErrWeakKey
}

// closeBody closes the content of a request that is not sent, as [http.RoundTripper] demands.
func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}
