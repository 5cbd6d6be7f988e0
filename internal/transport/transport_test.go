package transport_test

import (
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/internal/transport/transporttest"
)

func get(ctx context.Context, t *testing.T, rt http.RoundTripper, rawURL string) (reply, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, rawURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		return reply{}, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.ProtoMajor, resp.Header}, string(body), err
}

// reply is what a test wants to know of a response beside its content.
type reply struct {
	ProtoMajor int
	Header     http.Header
}

func echo(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) })
}

func TestOwnRequestsNeverShareAPrivateConnection(t *testing.T) {
	addr := transporttest.Serve(t, echo("hello"))
	tr := transporttest.New(t, transport.Options{AllowPrivateProxied: true})
	if _, body, err := get(t.Context(), t, tr, "http://"+addr); err != nil || body != "hello" {
		t.Fatalf("a client's request to a private address gave %q, %v, want hello", body, err)
	}
	own := context.WithoutCancel(transport.OwnPolicy(t.Context()))
	_, _, err := get(own, t, tr, "http://"+addr)
	if e := fetch.Explain(nil, err); err == nil || e.Kind != "blocked" || e.Type != "destination_ip_prohibited" ||
		e.HTTPStatus() != 403 {
		t.Errorf("an own request to it gave %v, want it blocked, though a connection was idle", err)
	}
}

func TestPrivateAddressesNeedPermission(t *testing.T) {
	addr := transporttest.Serve(t, echo("hello"))
	for _, tt := range []struct {
		name  string
		o     transport.Options
		own   bool
		works bool
	}{
		{"client, not allowed", transport.Options{}, false, false},
		{"client, allowed", transport.Options{AllowPrivateProxied: true}, false, true},
		{"own, allowed for clients only", transport.Options{AllowPrivateProxied: true}, true, false},
		{"own, allowed", transport.Options{AllowPrivateOwn: true}, true, true},
		{"own, resolve names it", transport.Options{Resolve: []string{"*:80=" + addr}}, true, true},
		{"our own listener", transport.Options{AllowPrivateProxied: true, Avoid: avoid(addr)}, false, false},
		{
			"our own listener behind resolve",
			transport.Options{Resolve: []string{"*:80=" + addr}, Avoid: avoid(addr)},
			false, false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := "http://" + addr
			if tt.o.Resolve != nil {
				target = "http://site.test/"
			}
			ctx := t.Context()
			if tt.own {
				ctx = transport.OwnPolicy(ctx)
			}
			tr := transporttest.New(t, tt.o)
			if _, _, err := get(ctx, t, tr, target); (err == nil) != tt.works {
				t.Errorf("error %v, want works %v", err, tt.works)
			}
			u, err := url.Parse(target)
			if err != nil {
				t.Fatal(err)
			}
			conn, err := tr.Dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80")))
			if (err == nil) != tt.works {
				t.Errorf("tunnel: error %v, want works %v", err, tt.works)
			}
			if err == nil {
				_ = conn.Close()
			}
		})
	}
}

func avoid(addr string) func() []netip.AddrPort {
	return func() []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort(addr)} }
}

func TestSpellingsOfLoopbackAreRefused(t *testing.T) {
	addr := transporttest.Serve(t, echo("secret"))
	_, port, _ := net.SplitHostPort(addr)
	tr := transporttest.New(t, transport.Options{})
	// as a C library does with odd spellings
	tr.ResolveWith(resolver(t, func(string) [4]byte { return [4]byte{127, 0, 0, 1} }))
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST", "127.1", "0x7f000001", "2130706433", "0", "127.000.000.001",
		"①②⑦.⓪.⓪.①",
		"127。0。0。1",
		"１２７.0.0.1", "ＬＯＣＡＬＨＯＳＴ", "loc\u00adalhost", "[::1]", "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "0.0.0.0", "[::]",
		"localhost.", "127.0.0.1.",
	} {
		req := &http.Request{
			Method: http.MethodGet, URL: &url.URL{Scheme: "http", Host: host + ":" + port, Path: "/"},
			Header: http.Header{},
		}
		resp, err := tr.RoundTrip(req.WithContext(transport.OwnPolicy(t.Context())))
		if err == nil {
			resp.Body.Close()
			t.Errorf("host %q: reached a private address", host)
		}
	}
}

// A name that resolves to a public address when asked about and to a private one when dialled gains nothing: the
// address that is dialled is the one that is checked.
func TestRebindingNamesAreRefused(t *testing.T) {
	var asked atomic.Int32
	addr := transporttest.Serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	_, port, _ := net.SplitHostPort(addr)
	var answers atomic.Int32
	tr := transporttest.New(t, transport.Options{})
	tr.ResolveWith(resolver(t, func(string) [4]byte {
		if answers.Add(1) == 1 {
			return [4]byte{8, 8, 8, 8}
		}
		return [4]byte{127, 0, 0, 1}
	}))
	u := &url.URL{Scheme: "http", Host: "rebind.example:" + port}
	if err := tr.Public(t.Context(), u); err != nil {
		t.Fatalf("Public = %v for the first answer, want nil", err)
	}
	_, _, err := get(transport.OwnPolicy(t.Context()), t, tr, u.String())
	if e := fetch.Explain(u, err); err == nil || e.Type != "destination_ip_prohibited" {
		t.Errorf("the second answer gave %v, want it refused", err)
	}
	if asked.Load() != 0 {
		t.Error("the origin on the private address was asked")
	}
}

// resolver asks a name server of the test's own, which answers with one IPv4 address per question.
func resolver(t *testing.T, answer func(name string) [4]byte) *net.Resolver {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) == 0 {
				continue
			}
			m.Response, m.Additionals = true, nil
			if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 0},
					Body:   &dnsmessage.AResource{A: answer(q.Name.String())},
				}}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestCertificatesAreVerified(t *testing.T) {
	ca := transporttest.NewAuthority(t)
	for _, tt := range []struct{ name, url, want, typ string }{
		{"good", "https://site.test/", "", ""},
		{"expired", "https://site.test/", "has expired", "tls_certificate_error"},
		{"wrong name", "https://other.test/", "is for another name than other.test", "tls_certificate_error"},
		{"unknown authority", "https://site.test/", "signed by an unknown authority", "tls_certificate_error"},
		{"self-signed", "https://site.test/", "is self-signed", "tls_certificate_error"},
		{"weak key", "https://site.test/", "RSA key of less than 2048 bits", "tls_certificate_error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := transporttest.Leaf{
				Expired: tt.name == "expired", SelfSigned: tt.name == "self-signed",
				Stranger: tt.name == "unknown authority",
			}
			if tt.name == "weak key" {
				l.Key = weakKey(t)
			}
			addr := ca.Serve(t, l, echo("hello"))
			tr := transporttest.New(t, transport.Options{CAFile: ca.File, Resolve: []string{"*:443=" + addr}})
			resp, body, err := get(t.Context(), t, tr, tt.url)
			if tt.want == "" {
				if err != nil || body != "hello" || resp.ProtoMajor != 2 {
					t.Fatalf("%q, %v, want hello over HTTP/2", body, err)
				}
				return
			}
			u, _ := url.Parse(tt.url)
			e := fetch.Explain(u, err)
			if err == nil || e.Kind != "tls" || e.Type != tt.typ || e.HTTPStatus() != 502 ||
				!strings.Contains(e.Error(), tt.want) {
				t.Errorf("%v (kind %s, type %s), want %q", e, e.Kind, e.Type, tt.want)
			}
			if !strings.HasPrefix(e.Error(), "Connection error fetching "+tt.url+": ") {
				t.Errorf("message %q does not begin as promised", e)
			}
		})
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	ca := transporttest.NewAuthority(t)
	s := httptest.NewUnstartedServer(echo("hello"))
	s.TLS = &tls.Config{
		Certificates: []tls.Certificate{ca.Sign(t, transporttest.Leaf{})}, MinVersion: tls.VersionTLS10,
		MaxVersion: tls.VersionTLS11,
	}
	s.Config.ErrorLog = transporttest.Quiet
	s.StartTLS()
	t.Cleanup(s.Close)
	tr := transporttest.New(t, transport.Options{
		CAFile:  ca.File,
		Resolve: []string{"*:443=" + s.Listener.Addr().String()},
	})
	_, _, err := get(t.Context(), t, tr, "https://site.test/")
	if e := fetch.Explain(nil, err); err == nil || e.Kind != "tls" || !strings.HasPrefix(e.Type, "tls_") {
		t.Errorf("TLS 1.1 gave %v, kind %s, want a TLS error", err, fetch.Explain(nil, err).Kind)
	}
}

func TestTransportKeepsTheOriginsBytesAndTheClientsSilence(t *testing.T) {
	addr := transporttest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ua, ok := r.Header["User-Agent"]; ok {
			t.Errorf("the origin saw User-Agent %q, want none", ua)
		}
		if ae, ok := r.Header["Accept-Encoding"]; ok {
			t.Errorf("the origin saw Accept-Encoding %q, want none", ae)
		}
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, "not decoded")
	}))
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	tr := transporttest.New(t, transport.Options{UserAgent: "readthru/1", Resolve: []string{"site.test:80=" + addr}})
	resp, body, err := get(t.Context(), t, tr, "http://site.test/")
	if err != nil || body != "not decoded" || resp.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("got %q, %v, want the bytes as they were, and no proxy of the environment", body, err)
	}
}

func TestOptionsThatCannotBeUsedAreErrors(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		o    transport.Options
		want string
	}{
		{
			"resolve without equals sign",
			transport.Options{Resolve: []string{"site.test:80"}},
			"want host:port=address:port",
		},
		{
			"resolve without port",
			transport.Options{Resolve: []string{"site.test=127.0.0.1:80"}},
			"left of the equals sign",
		},
		{
			"resolve with a bad port",
			transport.Options{Resolve: []string{"site.test:70000=127.0.0.1:80"}},
			"not a number from 1 to 65535",
		},
		{
			"resolve with an empty host",
			transport.Options{Resolve: []string{":80=127.0.0.1:80"}},
			"write * for every host",
		},
		{
			"resolve to a name",
			transport.Options{Resolve: []string{"site.test:80=localhost:80"}},
			"right of the equals sign",
		},
		{"resolve to port 0", transport.Options{Resolve: []string{"site.test:80=127.0.0.1:0"}}, "the port is 0"},
		{"CA file that is not there", transport.Options{CAFile: empty + ".not"}, "no such file"},
		{"CA file without a certificate", transport.Options{CAFile: empty}, "holds no PEM certificate"},
		{
			"upstream of an unknown scheme",
			transport.Options{Upstream: "ftp://user:secret@proxy:1"},
			"want http://, https:// or socks5://",
		},
		{"upstream without host", transport.Options{Upstream: "http://:8080"}, "no host"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := transport.New(tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v tells a password", err)
			}
		})
	}
}

func TestAnEndpointIsReachedAloneAndOnlyThere(t *testing.T) {
	endpoint, other := transporttest.Serve(t, echo("endpoint")), transporttest.Serve(t, echo("other"))
	tr := transporttest.New(t, transport.Options{})
	ctx := transport.Endpoint(t.Context(), &url.URL{Scheme: "http", Host: endpoint})
	if _, body, err := get(ctx, t, tr, "http://"+endpoint); err != nil || body != "endpoint" {
		t.Errorf("the endpoint gave %q, %v, want endpoint", body, err)
	}
	if _, _, err := get(ctx, t, tr, "http://"+other); err == nil {
		t.Error("another private address was reached under the endpoint's permission")
	}
	if _, _, err := get(transport.OwnPolicy(t.Context()), t, tr, "http://"+endpoint); err == nil {
		t.Error("an own request used the endpoint's connection")
	}
}

func TestCancelledRequestsEnd(t *testing.T) {
	release := make(chan struct{})
	addr := transporttest.Serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := get(ctx, t, transporttest.New(t, transport.Options{AllowPrivateProxied: true}), "http://"+addr)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want it cancelled", err)
	}
}

func TestUpgradesAreAskedForOverHTTP1(t *testing.T) {
	ca := transporttest.NewAuthority(t)
	addr := ca.Serve(t, transporttest.Leaf{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Errorf("the upgrade came over %s", r.Proto)
			return
		}
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello")
		_ = conn.Close()
	}))
	tr := transporttest.New(t, transport.Options{CAFile: ca.File, Resolve: []string{"*:443=" + addr}})
	if resp, _, err := get(t.Context(), t, tr, "https://site.test/"); err != nil || resp.ProtoMajor != 2 {
		t.Fatalf("%v, want HTTP/2 for what is no upgrade", err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://site.test/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"x"},
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusSwitchingProtocols ||
		string(b) != "hello" {
		t.Errorf("status %d, %q, %v, want 101 and the bytes after it", resp.StatusCode, b, err)
	}
}

func weakKey(tb testing.TB) crypto.Signer {
	tb.Helper()
	tb.Setenv("GODEBUG", "rsa1024min=0")
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func TestTransportTellsPublicNames(t *testing.T) {
	tr := transporttest.New(t, transport.Options{Resolve: []string{"placed.example:443=127.0.0.1:1"}})
	tr.ResolveWith(resolver(t, func(name string) [4]byte {
		if name == "public.example." {
			return [4]byte{8, 8, 8, 8}
		}
		return [4]byte{10, 0, 0, 1}
	}))
	for host, want := range map[string]bool{
		"placed.example": true, "public.example": true, "private.example": false,
		"127.0.0.1": false, "8.8.8.8": true,
	} {
		if err := tr.Public(t.Context(), &url.URL{Scheme: "https", Host: host}); (err == nil) != want {
			t.Errorf("%s: %v, want public %v", host, err, want)
		}
	}
}
