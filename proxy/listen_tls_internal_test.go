package proxy

import (
	"bufio"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/pace"
	"github.com/readthru/readthru/internal/webtest"
)

// writePair writes a new certificate for proxy.test and its key.
func writePair(t *testing.T, a *webtest.Authority, dir string) TLSFiles {
	t.Helper()
	leaf, err := a.Leaf("proxy.test")
	if err != nil {
		t.Fatal(err)
	}
	files := TLSFiles{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	key, err := webtest.EncodeKey(leaf.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		files.Cert: webtest.EncodeCertificate(leaf.Certificate[0]), files.Key: key,
	} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// farListener makes its connections come from another machine.
type farListener struct{ net.Listener }

func (l farListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return farConn{c}, err
}

type farConn struct{ net.Conn }

func (farConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 40000} }

// serveTLS serves HTTP that answers with a text, with TLS by files.
func serveTLS(t *testing.T, files TLSFiles, far bool) (addr string) {
	t.Helper()
	bare, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := bare
	if far {
		l = farListener{bare}
	}
	if l, err = WithTLS(l, files, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	server := &http.Server{
		ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }),
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(pace.Listener(l)) // until Close
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return bare.Addr().String()
}

// fetchTLS asks by TLS.
func fetchTLS(t *testing.T, a *webtest.Authority, addr string) (body string) {
	t.Helper()
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: a.Roots(), ServerName: "proxy.test"}}).DialContext(t.Context(),
		"tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // it was read to its end
	return ask(t, conn)
}

// ask asks for a page and returns what comes.
func ask(t *testing.T, conn net.Conn) string {
	t.Helper()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: proxy.test\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "nothing"
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // it may be closed
	return conn
}

func TestOtherMachinesMustSpeakTLS(t *testing.T) {
	t.Parallel()
	a, err := webtest.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	files := writePair(t, a, t.TempDir())
	for name, far := range map[string]bool{"this machine": false, "another machine": true} {
		addr := serveTLS(t, files, far)
		if got := fetchTLS(t, a, addr); got != "hello" {
			t.Errorf("%s, TLS: %q", name, got)
		}
		want := "hello"
		if far {
			want = "readthru speaks TLS with other machines: use https:// to reach this.\n"
		}
		if got := ask(t, dial(t, addr)); got != want {
			t.Errorf("%s, plain: %q", name, got)
		}
		silent := dial(t, addr) // keeps nobody waiting
		broken := dial(t, addr)
		if _, err := broken.Write([]byte("\x16\x03\x01\x00\x05hello")); err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadAll(broken) // an alert, and the end
		if got := fetchTLS(t, a, addr); got != "hello" {
			t.Errorf("%s, after a broken client: %q", name, got)
		}
		_ = silent.Close()
	}
}

func TestANewCertificateIsUsedUnlessItIsBroken(t *testing.T) {
	t.Parallel()
	a, err := webtest.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := writePair(t, a, dir)
	p, err := openPair(files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now()
	look := func(change func()) *tls.Certificate {
		t.Helper()
		change()
		p.looked, later = time.Time{}, later.Add(time.Hour)
		for _, name := range []string{files.Cert, files.Key} {
			_ = os.Chtimes(name, later, later) // one may be gone
		}
		pair, err := p.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return pair
	}
	first := p.pair
	second := look(func() { writePair(t, a, dir) })
	if second == first {
		t.Error("the new certificate is not used")
	}
	for what, change := range map[string]func(){
		"a key of another certificate": func() {
			other := writePair(t, a, t.TempDir())
			key, err := os.ReadFile(other.Key)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(files.Key, key, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"half a file":    func() { _ = os.Truncate(files.Cert, 100) },
		"a file is gone": func() { _ = os.Remove(files.Cert) },
	} {
		if got := look(change); got != second {
			t.Errorf("%s: another pair is in use", what)
		}
	}
	if third := look(func() { writePair(t, a, dir) }); third == second {
		t.Error("a good pair after broken ones is not used")
	}
}

func TestPairsThatCannotServeAreRefused(t *testing.T) {
	t.Parallel()
	a, err := webtest.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	good, other := writePair(t, a, t.TempDir()), writePair(t, a, t.TempDir())
	for _, c := range []struct {
		files TLSFiles
		at    time.Duration
		want  string
	}{
		{TLSFiles{good.Cert, ""}, 0, "cert and key belong together"},
		{TLSFiles{"", good.Key}, 0, "cert and key belong together"},
		{TLSFiles{good.Cert, other.Key}, 0, "private key does not match public key"},
		{TLSFiles{good.Cert + "x", good.Key}, 0, "no such file"},
		{TLSFiles{good.Key, good.Key}, 0, "failed to find certificate PEM data"},
		{good, 10 * 365 * 24 * time.Hour, "has expired on"},
		{good, -10 * 365 * 24 * time.Hour, "is not valid before"},
	} {
		if _, err := c.files.load(time.Now().Add(c.at)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v at %s: %v, want %q", c.files, c.at, err, c.want)
		}
	}
}
