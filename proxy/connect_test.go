package proxy_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/proxy"
)

// untrustedOrigin starts a TLS origin whose certificate is httptest's own.
func untrustedOrigin(t *testing.T, h http.Handler) (addr string) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = (&logBuffer{}).std()
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// tunnelEverything is a rule.
func tunnelEverything(o *proxy.Options) { o.Rules = hostrule.Rules{{Action: "tunnel"}} }

func TestConnectPolicy(t *testing.T) {
	origin := tlsOrigin(t, say)
	names := origins{"*:443": origin, "*:8443": origin}
	b := newBench(t, names, func(o *proxy.Options) {
		o.BlockedDomains = []string{"blocked.test"}
		o.Rules = hostrule.Rules{
			{Host: "path.test", Path: "/private/*", Action: "block"},
			{Host: "rule-block.test", Action: "block"},
			{Host: "tunnel.test", Action: "tunnel"},
			{Host: "api.openai.com", Action: "intercept"},
		}
	})
	for _, tt := range []struct {
		target string
		status int
		ours   bool // the certificate inside is ours
		says   string
	}{
		{"a.test:443", 200, true, ""},
		{"tunnel.test:443", 200, false, ""},
		{"api.anthropic.com:443", 200, false, ""}, // preset
		{"sub.registry.npmjs.org:443", 200, false, ""},
		{"api.openai.com:443", 200, true, ""}, // a rule beats the preset
		{"path.test:443", 200, true, ""},      // judged by path later
		{"blocked.test:443", 200, true, ""},   // judged by form later
		{"docs.stripe.com:443", 200, true, ""},
		{"rule-block.test:443", 403, false, "Blocked"},
		{"a.test:8443", 403, false, "proxy.connect_ports"},
		{"a.test:25", 403, false, "add 25 to proxy.connect_ports"},
		{"a.test:80", 403, false, "proxy.connect_ports"},
	} {
		t.Run(tt.target, func(t *testing.T) {
			c, resp := b.connect(tt.target)
			if resp.StatusCode != tt.status {
				t.Fatalf("status %d, want %d", resp.StatusCode, tt.status)
			}
			if tt.status != 200 {
				body := resp.Body
				if !strings.Contains(body, tt.says) || resp.Header.Get("Content-Type") != "application/problem+json" ||
					!strings.Contains(resp.Header.Get("Proxy-Status"), "readthru; error=") {
					t.Errorf("%q %s", resp.Header, body)
				}
				return
			}
			s := tls.Client(c, &tls.Config{InsecureSkipVerify: true, ServerName: "x.test"})
			if err := s.HandshakeContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			err := s.ConnectionState().PeerCertificates[0].CheckSignatureFrom(b.authority.Certificate())
			if (err == nil) != tt.ours {
				t.Errorf("certificate from %s, want ours %v", s.ConnectionState().PeerCertificates[0].Issuer, tt.ours)
			}
		})
	}
	if s := b.proxy.Stats(); s.Blocked != 4 {
		t.Errorf("%d blocked, want 4", s.Blocked)
	}
}

func TestMalformedAuthoritiesAreAnswered400(t *testing.T) {
	b := newBench(t, nil, nil)
	for _, target := range []string{
		"a.test", "a.test:", "a.test:0", "a.test:65536", "a.test:-1", "a.test:443:443", "a.test:443/x", "[::1",
		"::1:443",
		"a.test:0443", "a.test:+443",
		"a.test:４４３", ":443", "a.test :443", "user@a.test:443", "a%2etest:443", "a.test,b.test:443", "[::1%25lo]:443",
		"[127.0.0.1]:443", "a.test:443?x", "a.test:443#x", `a\b:443`, "..:443", "a..test:443", ".a.test:443",
	} {
		got := raw(t, b.dial(), "CONNECT "+target+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 400 ") {
			t.Errorf("CONNECT %s: %.60q, want 400", target, got)
		}
	}
}

func TestConnectWithContentIsAnswered400(t *testing.T) {
	b := newBench(t, nil, nil)
	got := raw(t, b.dial(), "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc")
	if !strings.HasPrefix(got, "HTTP/1.1 400 ") {
		t.Errorf("%.60q", got)
	}
}

// goproxy alone loses the early bytes.
func TestTunnelKeepsBytesSentEarlyAndHalfCloses(t *testing.T) {
	origin := rawOrigin(t, func(c net.Conn) {
		all, _ := io.ReadAll(c) // until the client half-closes
		io.WriteString(c, "got "+string(all))
	})
	for name, adjust := range map[string]func(*proxy.Options){"by rule": tunnelEverything, "not TLS after all": nil} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, origins{"a.test:443": origin}, adjust)
			c := b.dial()
			io.WriteString(c, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\nearly") // one write
			r := bufio.NewReader(c)
			resp, err := http.ReadResponse(r, &http.Request{Method: http.MethodConnect})
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("%v %v", resp, err)
			}
			defer resp.Body.Close()
			io.WriteString(c, " and late")
			_ = c.CloseWrite()
			if got, _ := io.ReadAll(r); string(got) != "got early and late" {
				t.Errorf("got %q", got)
			}
			b.stop()
			if s := b.proxy.Stats(); s.Tunnelled != 1 || s.Total != 1 {
				t.Errorf("stats %+v, want one tunnel", s)
			}
			if rec := b.proxy.Recent(); len(rec) != 1 || rec[0].Method != http.MethodConnect || rec[0].BytesIn != 14 ||
				rec[0].BytesOut != 18 {
				t.Errorf("records %+v", rec)
			}
		})
	}
}

func TestOriginThatHalfClosesStillHearsTheClient(t *testing.T) {
	heard := make(chan string, 1)
	b := newBench(t, origins{"a.test:443": rawOrigin(t, func(c net.Conn) {
		io.WriteString(c, "bye")
		_ = c.(*net.TCPConn).CloseWrite()
		all, _ := io.ReadAll(c)
		heard <- string(all)
	})}, tunnelEverything)
	c, _ := b.connect("a.test:443")
	if got, _ := io.ReadAll(c); string(got) != "bye" {
		t.Errorf("got %q", got)
	}
	io.WriteString(c, "wait")
	_ = c.Close()
	if got := <-heard; got != "wait" {
		t.Errorf("the origin heard %q", got)
	}
}

func TestTunnelToUnreachableTargetIsAnsweredWithTheCause(t *testing.T) {
	l, _ := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	closed := l.Addr().String()
	_ = l.Close()
	b := newBench(t, origins{"a.test:443": closed}, tunnelEverything)
	_, resp := b.connect("a.test:443")
	body := resp.Body
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(body, "Connection error") {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	b.stop()
	if rec := b.proxy.Recent(); len(rec) != 1 || rec[0].Status != http.StatusBadGateway || rec[0].Error == "" {
		t.Errorf("records %+v, want one of status 502", rec)
	}
	if lines := b.log.requests(); len(lines) != 1 || lines[0][proxy.KeyStatus] != 502.0 {
		t.Errorf("lines %v, want one of status 502", lines)
	}
}

func TestNameInTheHandshakeBeatsTheAddressInTheConnect(t *testing.T) {
	origin := tlsOrigin(t, say)
	b := newBench(t, origins{"192.0.2.7:443": origin, "named.test:443": origin}, nil)
	c := b.secure("192.0.2.7:443", "named.test")
	if err := c.ConnectionState().PeerCertificates[0].VerifyHostname("named.test"); err != nil {
		t.Error(err)
	}
	if got := raw(t, c, "GET /x HTTP/1.1\r\nHost: named.test\r\nConnection: close\r\n\r\n"); !strings.Contains(got,
		"GET named.test/x") {
		t.Errorf("%q", got)
	}
	bare := b.secure("192.0.2.7:443", "192.0.2.7") // Go sends no name for an address
	if err := bare.ConnectionState().PeerCertificates[0].VerifyHostname("192.0.2.7"); err != nil {
		t.Error(err)
	}
}

func TestSecondHandshakeResumes(t *testing.T) {
	b := newBench(t, origins{"a.test:443": tlsOrigin(t, say)}, nil)
	cache := tls.NewLRUClientSessionCache(4)
	for i := range 2 {
		c, _ := b.connect("a.test:443")
		s := tls.Client(c, &tls.Config{RootCAs: b.roots, ServerName: "a.test", ClientSessionCache: cache})
		if got := raw(t, s, "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"); !strings.Contains(got,
			"200 OK") {
			t.Fatalf("%q", got)
		}
		if resumed := s.ConnectionState().DidResume; resumed != (i == 1) {
			t.Errorf("handshake %d resumed: %v", i, resumed)
		}
	}
}

func TestTLSBelow12IsRefused(t *testing.T) {
	b := newBench(t, nil, nil)
	c, _ := b.connect("a.test:443")
	s := tls.Client(c, &tls.Config{
		RootCAs: b.roots, ServerName: "a.test", MinVersion: tls.VersionTLS10,
		MaxVersion: tls.VersionTLS11,
	})
	if s.HandshakeContext(t.Context()) == nil {
		t.Error("TLS 1.1 was accepted")
	}
}

func TestInnerRequestForAnotherAuthorityIsMisdirected(t *testing.T) {
	origin := tlsOrigin(t, say)
	b := newBench(t, origins{"*:443": origin}, nil)
	for _, tt := range []struct{ request, want string }{
		{"GET / HTTP/1.1\r\nHost: a.test\r\n", "200"},
		{"GET / HTTP/1.1\r\nHost: A.test:443\r\n", "200"},
		{"GET / HTTP/1.1\r\nHost: other.test\r\n", "421"},
		{"GET / HTTP/1.1\r\nHost: a.test:19000\r\n", "421"},
		{"GET / HTTP/1.1\r\nHost: a.test:443/admin?\r\n", "400"},
		{"GET / HTTP/1.1\r\nHost: user@a.test\r\n", "400"},
		{"GET / HTTP/1.1\r\nHost: a.test,other.test\r\n", "400"},
		{"GET / HTTP/1.1\r\nHost: a.test:0443\r\n", "400"},
		{"GET / HTTP/1.1\r\nHost: \r\n", "400"},
		{"GET / HTTP/1.1\r\nHost: a.test\r\nHost: other.test\r\n", "400"},
		{"GET https://other.test/ HTTP/1.1\r\nHost: a.test\r\n", "400"},
		{"GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n", "400"},
		{"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n", "400"},
		{"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n", "400"},
	} {
		got := raw(t, b.secure("a.test:443", "a.test"), tt.request+"Connection: close\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 "+tt.want) {
			t.Errorf("%q: %.40q, want %s", tt.request, got, tt.want)
		}
	}
}

func TestRulesAreAskedAgainInsideTheTunnel(t *testing.T) {
	b := newBench(t, origins{"*:443": tlsOrigin(t, say)}, func(o *proxy.Options) {
		o.Rules = hostrule.Rules{{Host: "a.test", Path: "/private/*", Action: "block"}}
	})
	if resp, _ := b.get("https://a.test/public"); resp.StatusCode != http.StatusOK {
		t.Errorf("public: %d", resp.StatusCode)
	}
	resp, body := b.get("https://a.test/private/x")
	if resp.StatusCode != http.StatusForbidden || !strings.Contains(body, `"detail":"Blocked`) {
		t.Errorf("private: %d %s", resp.StatusCode, body)
	}
}

// The bubble's clock runs; no real time passes.
func TestSilentClientsAreClosedAfterTenSeconds(t *testing.T) {
	dir := t.TempDir()
	authority, err := certs.Open(certs.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for name, first := range map[string]string{
		"nothing":                   "",
		"half a head":               "GET http://a.test/ HTTP/1.1\r\nHo",
		"CONNECT and nothing more":  "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n",
		"CONNECT and half a record": "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n\x16\x03\x01\x02",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				refuse := func(r *http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
				p, err := proxy.New(proxy.Options{
					Client: tripper(refuse), Transport: tripper(refuse),
					Dial: (&net.Dialer{}).DialContext, Authority: authority,
				})
				if err != nil {
					t.Fatal(err)
				}
				client, l := pipeListener()
				done := make(chan error)
				ctx, cancel := contextFor(t)
				go func() { done <- p.Serve(ctx, l) }()
				c := <-client
				began := time.Now()
				go io.WriteString(c, first)
				_, _ = io.ReadAll(c)
				if took := time.Since(began); took < 9*time.Second || took > 11*time.Second {
					t.Errorf("closed after %v, want 10s", took)
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
