package proxy_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/proxy"
	"github.com/readthru/readthru/store"
)

// remember gives a proxy a store of its own.
func remember(t *testing.T, o *proxy.Options) *store.Store {
	t.Helper()
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	o.Store = st
	return st
}

// shake makes a handshake with the host behind the proxy at addr, as a client with this User-Agent that trusts roots,
// and returns the answer to its CONNECT and what became of the handshake.
func shake(t *testing.T, addr, host, agent string, roots *x509.CertPool, version uint16) (reply, error) {
	t.Helper()
	b := &bench{t: t, addr: addr}
	c := b.dial()
	defer func() { _ = c.Close() }()
	got := b.ask(c, "CONNECT "+host+":443 HTTP/1.1\r\nHost: "+host+":443\r\nUser-Agent: "+agent+"\r\n\r\n")
	s := tls.Client(c, &tls.Config{RootCAs: roots, ServerName: host, MaxVersion: version})
	err := s.HandshakeContext(t.Context())
	if err != nil {
		_, _ = io.ReadAll(c) // until the proxy closes
	}
	return got, err
}

func originRoots(t *testing.T) *x509.CertPool {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(originCA(t).Certificate())
	return roots
}

func TestAClientThatRejectsOurCertificateIsTunnelledForAWhile(t *testing.T) { // rule AD2
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			var st *store.Store
			b := newBench(t, origins{"*:443": tlsOrigin(t, say)}, func(o *proxy.Options) { st = remember(t, o) })
			roots := originRoots(t)
			got, err := shake(t, b.addr, "pinned.test", "curl", roots, version)
			if err == nil || got.Header.Get("X-Readthru-Tunnel") != "" {
				t.Fatalf("first: %v, %v, want it intercepted", got, err)
			}
			got, err = shake(t, b.addr, "pinned.test", "curl", roots, version)
			if why := got.Header.Get("X-Readthru-Tunnel"); err != nil ||
				!strings.HasPrefix(why, `client-rejected-ca; until="20`) {
				t.Errorf("then: %q, %v, want a tunnel that says why", why, err)
			}
			for _, other := range []struct{ host, agent string }{{"other.test", "curl"}, {"pinned.test", "wget"}} {
				if _, err := shake(t, b.addr, other.host, other.agent, b.roots, version); err != nil {
					t.Errorf("%s at %s: %v, want it intercepted", other.agent, other.host, err)
				}
			}
			h, err := st.Host("pinned.test")
			f, known := h.Fact(store.RejectsCA, "127.0.0.1 curl")
			if left := time.Until(f.Until); err != nil || !known || left <= 9*time.Minute || left > 10*time.Minute {
				t.Errorf("remembered: %+v, %v, want ten minutes", h, err)
			}
			b.stop() // writes the log line of the tunnel
			told := b.proxy.Recent()
			first := told[len(told)-1] // the newest comes first
			if first.Outcome != journal.Failed || first.URL != "pinned.test:443" ||
				first.Method != http.MethodConnect ||
				!strings.HasPrefix(first.Why, "The client rejected our certificate") {
				t.Errorf("the rejection is told as %+v", first)
			}
			log := b.log.String()
			if strings.Count(log, "client rejects our certificate: the host is tunnelled for it") != 1 ||
				!strings.Contains(log, `"tunnel":"client-rejected-ca; until=`) {
				t.Errorf("log:\n%s", log)
			}
		})
	}
}

// When the ten minutes are over the client is intercepted again: then it rejects once more, or all is well.
func TestAClientThatTrustsUsNowIsInterceptedAgain(t *testing.T) {
	var st *store.Store
	b := newBench(t, origins{"*:443": tlsOrigin(t, say)}, func(o *proxy.Options) { st = remember(t, o) })
	const client = "127.0.0.1"
	for _, host := range []string{"trusts.test", "rejects.test"} {
		if _, _, err := st.Learn(host, store.RejectsCA, client, "", time.Now().Add(-11*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if got := raw(t, b.secure("trusts.test:443", "trusts.test"),
		"GET / HTTP/1.1\r\nHost: trusts.test\r\nConnection: close\r\n\r\n"); !strings.Contains(got, "200 OK") {
		t.Fatalf("%q", got)
	}
	if h, err := st.Host("trusts.test"); err != nil || len(h.Facts) != 0 {
		t.Errorf("remembered: %+v, %v, want nothing", h, err)
	}
	if _, err := shake(t, b.addr, "rejects.test", "", originRoots(t), 0); err == nil {
		t.Fatal("tunnelled after its time")
	}
	h, err := st.Host("rejects.test")
	if f, known := h.Fact(store.RejectsCA, client); err != nil || !known || f.Times != 2 ||
		f.Until.Sub(f.Since) != 20*time.Minute {
		t.Errorf("remembered: %+v, %v, want twenty minutes", h, err)
	}
}

func TestARunsOwnDoorAppliesAndTeachesNoRejection(t *testing.T) {
	var st *store.Store
	b := newBench(t, origins{"*:443": tlsOrigin(t, say)}, func(o *proxy.Options) { st = remember(t, o) })
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.proxy.ServeSession(ctx, l, proxy.Terms{Session: "s1"}) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	door := l.Addr().String()
	if _, _, err := st.Learn("a.test", store.RejectsCA, "127.0.0.1 curl", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	if got, err := shake(t, door, "a.test", "curl", b.roots, 0); err != nil ||
		got.Header.Get("X-Readthru-Tunnel") != "" {
		t.Errorf("the door tunnels: %v, %v", got.Header, err)
	}
	if got, err := shake(t, b.addr, "a.test", "curl", originRoots(t), 0); err != nil {
		t.Errorf("the listener for all does not tunnel: %v, %v", got.Header, err)
	}
	for range 2 {
		if _, err := shake(t, door, "b.test", "curl", originRoots(t), 0); err == nil {
			t.Error("the door tunnels a client that rejected our certificate there")
		}
	}
	if h, err := st.Host("b.test"); err != nil || len(h.Facts) != 0 {
		t.Errorf("learnt at the door: %+v, %v", h, err)
	}
	if all := b.proxy.Sessions(); len(all) != 2 || all[0].Name != "s1" || all[0].Rejected != "b.test" {
		t.Errorf("Sessions = %+v", all)
	}
	if got := b.proxy.Journal().Session("s1").Rejected; got != "b.test" {
		t.Errorf("the session knows of %q, want b.test", got)
	}
}

func TestWhatIsARejection(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config *tls.Config
		leave  func(c net.Conn) // what the client does when it has seen the certificate
		want   bool
	}{
		{
			"closed once after the certificate", &tls.Config{InsecureSkipVerify: true},
			func(c net.Conn) { _ = c.Close() },
			false,
		},
		{
			"OpenSSL's alert under keys not yet known",
			&tls.Config{InsecureSkipVerify: true},
			func(c net.Conn) { io.WriteString(c, "\x17\x03\x03\x00\x13"+strings.Repeat("x", 0x13)) }, true,
		},
		{
			"no version in common",
			&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, //nolint:gosec // an old client
			nil, false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var st *store.Store
			b := newBench(t, origins{"*:443": tlsOrigin(t, say)}, func(o *proxy.Options) { st = remember(t, o) })
			c, _ := b.connect("a.test:443")
			tt.config.ServerName = "a.test"
			if tt.leave != nil {
				tt.config.VerifyConnection = func(tls.ConnectionState) error {
					tt.leave(c)
					return io.ErrClosedPipe
				}
			}
			if err := tls.Client(c, tt.config).HandshakeContext(t.Context()); err == nil {
				t.Fatal("the handshake succeeds")
			}
			_ = c.Close()
			for !strings.Contains(b.log.String(), "handshake failed") {
				runtime.Gosched() // until the proxy has seen it
			}
			b.stop() // waits for the connection
			h, err := st.Host("a.test")
			if _, got := h.Fact(store.RejectsCA, "127.0.0.1"); err != nil || got != tt.want {
				t.Errorf("remembered: %+v, %v, want %t", h, err, tt.want)
			}
		})
	}
}

func TestTheAnswerToAConnectSaysWhyItIsTunnelled(t *testing.T) {
	b := newBench(t, origins{"*:443": tlsOrigin(t, say)}, func(o *proxy.Options) {
		o.Rules = hostrule.Rules{{Host: "ruled.test", Action: "tunnel"}}
	})
	for host, want := range map[string]string{
		"ruled.test": "rule", "pypi.org": `preset; category="package registries"`, "other.test": "",
	} {
		if _, got := b.connect(host + ":443"); got.StatusCode != http.StatusOK ||
			got.Header.Get("X-Readthru-Tunnel") != want {
			t.Errorf("%s: %s %q, want %q", host, got.Status, got.Header.Get("X-Readthru-Tunnel"), want)
		}
	}
}
