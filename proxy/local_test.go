package proxy_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/proxy"
)

// direct asks the listener itself.
func (b *bench) direct(request string) (reply, string) {
	b.t.Helper()
	got := raw(b.t, b.dial(), request+"Connection: close\r\n\r\n")
	resp, err := readResponse(got)
	if err != nil {
		b.t.Fatalf("%q: %v in %q", request, err, got)
	}
	answer, _ := read(resp)
	return answer, answer.Body
}

func TestOnboardingPageIsServedThroughTheProxyAndAtTheListener(t *testing.T) {
	b := newBench(t, nil, func(o *proxy.Options) { o.AdminURL = "http://127.0.0.1:7888/" })
	for _, get := range []func() (reply, string){
		func() (reply, string) { return b.get("http://readthru.local/") },
		func() (reply, string) { return b.get("https://readthru.local/") },
		func() (reply, string) { return b.direct("GET / HTTP/1.1\r\nHost: " + b.addr + "\r\n") },
	} {
		resp, body := get()
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, "ca.pem") || !strings.Contains(body, b.addr) ||
			!strings.Contains(body, "http://127.0.0.1:7888/") {
			t.Errorf("%d %.200s", resp.StatusCode, body)
		}
		if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") {
			t.Errorf("Content-Security-Policy %q", csp)
		}
	}
}

func TestOnboardingPageNamesFilesAsTheyAreOffered(t *testing.T) {
	b := newBench(t, nil, nil)
	_, page := b.get("http://readthru.local/")
	for path, name := range map[string]string{"/ca.pem": "readthru-ca.pem", "/ca.der": "readthru-ca.crt"} {
		resp, _ := b.get("http://readthru.local" + path)
		if got := resp.Header.Get("Content-Disposition"); got != `attachment; filename="`+name+`"` {
			t.Errorf("%s is offered as %q", path, got)
		}
		if !strings.Contains(page, `<a href="`+path+`" download="`+name+`">`+name) {
			t.Errorf("the page does not link %s as %s", path, name)
		}
	}
	if strings.Contains(page, "<script") {
		t.Error("the page needs scripts")
	}
	const note = "This page came over https"
	if _, secure := b.get("https://readthru.local/"); !strings.Contains(secure, note) || strings.Contains(page, note) {
		t.Error("the page does not know whether it came over https")
	}
}

func TestCertificateAndAutoConfigurationAreServed(t *testing.T) {
	b := newBench(t, nil, nil)
	if _, body := b.get("http://readthru.local/"); strings.Contains(body, filepath.Dir(b.authority.CertFile())) {
		t.Errorf("the page names a directory of this machine: %s", body)
	}
	if _, body := b.get("http://readthru.local/ca.pem"); body != string(b.authority.PEM()) {
		t.Errorf("ca.pem: %q", body)
	}
	resp, body := b.get("http://readthru.local/ca.der")
	if c, err := x509.ParseCertificate([]byte(body)); err != nil || !c.Equal(b.authority.Certificate()) ||
		resp.Header.Get("Content-Type") != "application/x-x509-ca-cert" {
		t.Errorf("ca.der: %v %q", err, resp.Header)
	}
	if _, body := b.get("http://readthru.local/proxy.pac"); !strings.Contains(body, "FindProxyForURL") ||
		!strings.Contains(body, `return "PROXY `+b.addr+`";`) {
		t.Errorf("proxy.pac: %q", body)
	}
	if resp, _ := b.get("http://readthru.local/nothing"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown path: %d", resp.StatusCode)
	}
	if resp, _ := b.do(http.MethodPost, "http://readthru.local/", nil); resp.StatusCode != http.StatusMethodNotAllowed ||
		resp.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", resp.StatusCode)
	}
	if resp, body := b.do(http.MethodHead, "http://readthru.local/ca.pem", nil); resp.StatusCode != http.StatusOK ||
		body != "" || resp.ContentLength != int64(len(b.authority.PEM())) {
		t.Errorf("HEAD: %d %d", resp.StatusCode, resp.ContentLength)
	}
	if bytes.Contains([]byte(b.log.String()), []byte("PRIVATE KEY")) {
		t.Error("the log holds the key")
	}
}

// everywhere is a listener on all addresses of a machine, one of which its clients connect to.
type everywhere struct {
	net.Listener
	at string
}

func (l everywhere) Addr() net.Addr {
	port := l.Listener.Addr().(*net.TCPAddr).Port
	return &net.TCPAddr{IP: net.IPv6unspecified, Port: port}
}

func (l everywhere) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return addressed{c, &net.TCPAddr{IP: net.ParseIP(l.at), Port: l.Addr().(*net.TCPAddr).Port}}, err
}

type addressed struct {
	net.Conn
	local net.Addr
}

func (c addressed) LocalAddr() net.Addr { return c.local }

func TestListenerOnAllAddressesNamesTheAddressTheClientUsed(t *testing.T) {
	b := newBench(t, nil, nil)
	for _, at := range []string{"192.0.2.9", "2001:db8::9", "::ffff:192.0.2.9"} {
		inner, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.proxy.Serve(ctx, everywhere{inner, at}) }()
		b.addr = inner.Addr().String()
		ours := (&net.TCPAddr{IP: net.ParseIP(at), Port: inner.Addr().(*net.TCPAddr).Port}).String()
		if _, body := b.get("http://readthru.local/proxy.pac"); !strings.Contains(body, "PROXY "+ours+"\";") {
			t.Errorf("%s: proxy.pac %q", ours, body)
		}
		for _, url := range []string{"http://readthru.local/", "https://readthru.local/"} {
			if _, body := b.get(url); !strings.Contains(body, "curl http://"+ours+"/https://") {
				t.Errorf("%s: %s does not name it", ours, url)
			}
		}
		if resp, body := b.direct("GET / HTTP/1.1\r\nHost: " + ours + "\r\n"); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: its own page: %d %s", ours, resp.StatusCode, body)
		}
		if resp, _ := b.direct("GET / HTTP/1.1\r\nHost: 198.51.100.1" + ours[strings.LastIndexByte(ours, ':'):] +
			"\r\n"); resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: an address that is not ours: %d", ours, resp.StatusCode)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Rebinding of names, and pages of other sites that ask here (security of a listener that any browser can reach).
func TestListenerAnswersOnlyToItsOwnNames(t *testing.T) {
	b := newBench(t, nil, nil)
	port := b.addr[strings.LastIndexByte(b.addr, ':'):]
	for _, tt := range []struct {
		fields string
		want   int
	}{
		{"Host: " + b.addr + "\r\n", 200},
		{"Host: localhost" + port + "\r\n", 200},
		{"Host: LOCALHOST" + port + "\r\n", 200},
		{"Host: [::1]" + port + "\r\n", 200},
		{"Host: readthru.local\r\n", 200},
		{"Host: evil.test\r\n", 403},
		{"Host: evil.test" + port + "\r\n", 403},
		{"Host: 127.0.0.1\r\n", 403},
		{"Host: 127.0.0.1.evil.test" + port + "\r\n", 403},
		{"Host: localhost.evil.test\r\n", 403},
		{"Host: " + b.addr + "\r\nSec-Fetch-Site: cross-site\r\n", 403},
		{"Host: " + b.addr + "\r\nSec-Fetch-Site: same-site\r\n", 403},
		{"Host: " + b.addr + "\r\nSec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n", 403},
		{"Host: " + b.addr + "\r\nOrigin: https://evil.test\r\n", 403},
		{"Host: " + b.addr + "\r\nOrigin: http://" + b.addr + "\r\n", 200},
		{"Host: " + b.addr + "\r\nSec-Fetch-Site: none\r\n", 200},
		{"Host: " + b.addr + "\r\nSec-Fetch-Site: same-origin\r\n", 200},
	} {
		for _, path := range []string{"/", "/ca.pem"} {
			resp, _ := b.direct(fmt.Sprintf("GET %s HTTP/1.1\r\n%s", path, tt.fields))
			if resp.StatusCode != tt.want {
				t.Errorf("%s with %q: %d, want %d", path, tt.fields, resp.StatusCode, tt.want)
			}
			if resp.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s with %q: other sites may read it", path, tt.fields)
			}
		}
	}
}
