package transport_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/internal/transport/transporttest"
)

// upstream is another proxy: HTTP with CONNECT and absolute requests, or SOCKS5, with a password. Every destination is
// origin.
type upstream struct {
	origin string
	mu     sync.Mutex
	asked  []string
}

func (u *upstream) note(s string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, s)
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte("me:pw")) {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	u.note(r.Method + " " + r.RequestURI)
	if r.Method != http.MethodConnect {
		io.WriteString(w, "through the upstream")
		return
	}
	to, err := new(net.Dialer).DialContext(r.Context(), "tcp", u.origin)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	from, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = to.Close()
		return
	}
	io.WriteString(from, "HTTP/1.1 200 OK\r\n\r\n")
	relay(from, to)
}

func relay(a, b net.Conn) {
	var wg sync.WaitGroup
	for _, pair := range [][2]net.Conn{{a, b}, {b, a}} {
		wg.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			_ = pair[0].Close()
		})
	}
	wg.Wait()
}

// serveSOCKS speaks SOCKS5 (RFC 1928) with a password (RFC 1929) on l until it is closed.
func (u *upstream) serveSOCKS(ctx context.Context, l net.Listener) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		wg.Go(func() {
			defer func() { _ = conn.Close() }()
			if target := u.handshake(conn); target != "" {
				u.note("SOCKS " + target)
				to, err := new(net.Dialer).DialContext(ctx, "tcp", u.origin)
				if err != nil {
					return
				}
				_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
				relay(conn, to)
			}
		})
	}
}

func (*upstream) handshake(conn net.Conn) (target string) {
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(conn, b); err != nil {
			return make([]byte, n)
		}
		return b
	}
	read(int(read(2)[1]))
	_, _ = conn.Write([]byte{5, 2})
	user := string(read(int(read(2)[1])))
	password := string(read(int(read(1)[0])))
	if user != "me" || password != "pw" {
		_, _ = conn.Write([]byte{1, 1})
		return ""
	}
	_, _ = conn.Write([]byte{1, 0})
	if head := read(4); head[3] != 3 {
		return ""
	}
	host := string(read(int(read(1)[0])))
	return net.JoinHostPort(host, itoa(binary.BigEndian.Uint16(read(2))))
}

func itoa(n uint16) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

func TestWhatIsDirectIsNotAskedThroughTheUpstreamProxy(t *testing.T) {
	ca := transporttest.NewAuthority(t)
	origin := ca.Serve(t, transporttest.Leaf{}, echo("straight"))
	up := &upstream{origin: ca.Serve(t, transporttest.Leaf{}, echo("over TLS"))}
	plain := httptest.NewServer(up)
	t.Cleanup(plain.Close)
	_, port, _ := net.SplitHostPort(origin)
	tr := transporttest.New(t, transport.Options{
		CAFile: ca.File, Upstream: "http://me:pw@" + strings.TrimPrefix(plain.URL, "http://"),
		Direct: []string{"site.test:" + port, "169.254.0.0/16", "meta.test"}, AllowPrivateOwn: true,
	})
	tr.ResolveWith(resolver(t, func(name string) [4]byte {
		if name == "meta.test." {
			return [4]byte{169, 254, 169, 254}
		}
		return [4]byte{127, 0, 0, 1}
	}))
	ctx := transport.OwnPolicy(t.Context())
	if _, body, err := get(ctx, t, tr, "https://site.test:"+port+"/"); err != nil || body != "straight" {
		t.Errorf("%q, %v, want the origin's answer", body, err)
	}
	conn, err := tr.Dial(ctx, "tcp", "site.test:"+port)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	for _, raw := range []string{"https://169.254.169.254/", "https://meta.test/"} {
		if _, _, err := get(ctx, t, tr, raw); err == nil || fetch.Explain(nil, err).Type != "destination_ip_prohibited" {
			t.Errorf("%s is direct: %v, want it refused", raw, err)
		}
	}
	if len(up.asked) != 0 {
		t.Errorf("the upstream was asked %v for what is direct", up.asked)
	}
	if _, body, err := get(ctx, t, tr, "https://site.test/"); err != nil || body != "over TLS" {
		t.Errorf("another port: %q, %v, want the answer through the upstream", body, err)
	}
	tr.CloseIdleConnections()
}

func TestUpstreamProxies(t *testing.T) {
	ca := transporttest.NewAuthority(t)
	up := &upstream{origin: ca.Serve(t, transporttest.Leaf{}, echo("over TLS"))}
	plain := httptest.NewServer(up)
	t.Cleanup(plain.Close)
	secure := ca.Serve(t, transporttest.Leaf{Name: "localhost"}, up)
	_, port, _ := net.SplitHostPort(secure)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); up.serveSOCKS(t.Context(), l) }()
	t.Cleanup(func() { _ = l.Close(); <-done })
	for _, tt := range []struct{ name, url, asked string }{
		{"http", "http://me:pw@" + strings.TrimPrefix(plain.URL, "http://"), "CONNECT site.test:443"},
		{"https", "https://me:pw@localhost:" + port, "CONNECT site.test:443"},
		{"socks5", "socks5://me:pw@" + l.Addr().String(), "SOCKS site.test:443"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			up.asked = nil
			tr := transporttest.New(t, transport.Options{CAFile: ca.File, Upstream: tt.url})
			tr.ResolveWith(resolver(t, func(name string) [4]byte {
				if name == "inside.test." {
					return [4]byte{10, 0, 0, 1}
				}
				return [4]byte{8, 8, 8, 8}
			}))
			ctx := transport.OwnPolicy(t.Context())
			if _, body, err := get(ctx, t, tr, "https://site.test/"); err != nil || body != "over TLS" {
				t.Fatalf("%q, %v, want the origin's answer", body, err)
			}
			if tt.name == "http" {
				if _, body, err := get(ctx, t, tr, "http://site.test/x"); err != nil || body != "through the upstream" {
					t.Errorf("%q, %v, want the upstream's answer", body, err)
				}
				all, err := http.NewRequestWithContext(ctx, http.MethodOptions, "http://site.test", nil)
				if err != nil {
					t.Fatal(err)
				}
				all.URL.Path = "*"
				resp, err := tr.RoundTrip(all)
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if want := "OPTIONS http://site.test"; up.asked[len(up.asked)-1] != want {
					t.Errorf("the upstream was asked %q for the options of a server, want %q", up.asked, want)
				}
			}
			conn, err := tr.Dial(t.Context(), "tcp", "site.test:443")
			if err != nil {
				t.Fatalf("tunnel: %v", err)
			}
			_ = conn.Close()
			tr.CloseIdleConnections()
			if n := len(up.asked); n < 2 || up.asked[0] != tt.asked || up.asked[n-1] != tt.asked {
				t.Errorf("the upstream was asked %v, want %s first and last", up.asked, tt.asked)
			}
			before := len(up.asked)
			for _, raw := range []string{
				"https://10.0.0.1/", "https://inside.test/", "https://169.254.169.254/",
				"https://[::ffff:10.0.0.1]/", "https://192.0.0.192/", "http://metadata.google.internal/",
				"http://Metadata.Google.Internal./", "http://metadata.tencentyun.com/", "http://ｍetadata.packet.net/",
			} {
				if _, _, err := get(ctx, t, tr, raw); err == nil || fetch.Explain(nil, err).Type != "destination_ip_prohibited" {
					t.Errorf("%s: %v, want it refused before the upstream is asked", raw, err)
				}
			}
			if _, err := tr.Dial(t.Context(), "tcp", "169.254.169.254:80"); err == nil {
				t.Error("a tunnel to a metadata address was opened")
			}
			if len(up.asked) != before {
				t.Errorf("the upstream was asked %v", up.asked[before:])
			}
		})
	}
	t.Run("wrong password", func(t *testing.T) {
		for _, raw := range []string{
			"http://me:no@" + strings.TrimPrefix(plain.URL, "http://"),
			"socks5://me:no@" + l.Addr().String(),
		} {
			tr := transporttest.New(t, transport.Options{CAFile: ca.File, Upstream: raw})
			tr.ResolveWith(resolver(t, func(string) [4]byte { return [4]byte{8, 8, 8, 8} }))
			if _, _, err := get(t.Context(), t, tr, "https://site.test/"); err == nil || strings.Contains(err.Error(), "no@") {
				t.Errorf("%v, want an error without the password", err)
			}
			if conn, err := tr.Dial(t.Context(), "tcp", "site.test:443"); err == nil {
				_ = conn.Close()
				t.Error("a tunnel was opened with a wrong password")
			}
		}
	})
}
