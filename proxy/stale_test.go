package proxy_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// ailing is an origin of one page that answers 503 when it ails, or breaks off if that is asked for.
type ailing struct{ ails atomic.Bool }

func (a *ailing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	switch {
	case a.ails.Load() && r.URL.Query().Has("cut"):
		w.Header().Set("Content-Length", "100000")
		w.Header().Set("Cache-Control", "max-age=60")
		io.WriteString(w, article)
		return
	case a.ails.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Cache-Control", "max-age=0")
	w.Header().Set("Etag", `"a"`)
	io.WriteString(w, article)
}

func TestAPageOfAnAilingOriginIsStaleWithAWarning(t *testing.T) {
	o := &ailing{}
	b := newBenchOf(t, o, nil)
	for name, fields := range map[string][]string{
		"markdown": {"Accept: */*"}, "HTML": {browserAccept},
		"markdown?cut": {"Accept: */*"}, "HTML?cut": {browserAccept},
	} {
		detail := "stale-if-error"
		if strings.HasSuffix(name, "cut") {
			detail = "disconnected"
		}
		o.ails.Store(false)
		_, good := b.get("http://a.test/"+name, fields...)
		o.ails.Store(true)
		for range 2 {
			resp, body := b.get("http://a.test/"+name, fields...)
			if resp.StatusCode != http.StatusOK || body != good || resp.Header.Get("X-Readthru-Warning") != "stale" ||
				!strings.Contains(resp.Header.Get("Cache-Status"), "detail="+detail) {
				t.Errorf("%s: %d %q %q", name, resp.StatusCode, resp.Header, body)
			}
		}
	}
}

func TestOurOwnErrorsTellWhatTheCacheDid(t *testing.T) {
	closed := newBenchAt(t, origins{"*:80": rawOrigin(t, func(net.Conn) {})}, 0, nil)
	silent := newBenchAt(t, origins{"*:80": rawOrigin(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })},
		100*time.Millisecond, nil)
	for _, tt := range []struct {
		b              *bench
		method, accept string
		status         int
		want           string
	}{
		{closed, http.MethodGet, "*/*", 502, "readthru; fwd=uri-miss"},
		{closed, http.MethodGet, "text/css", 502, "readthru; fwd=uri-miss"},
		{closed, http.MethodPost, "*/*", 502, "readthru; fwd=method"},
		{silent, http.MethodGet, "text/markdown", 504, "readthru; fwd=uri-miss"},
		{silent, http.MethodGet, "text/html", 504, "readthru; fwd=uri-miss"},
	} {
		resp, _ := tt.b.do(tt.method, "http://a.test/", nil, "Accept: "+tt.accept)
		if got := resp.Header.Get("Cache-Status"); resp.StatusCode != tt.status || got != tt.want {
			t.Errorf("%s, %s: %d, Cache-Status %q, want %d, %q", tt.method, tt.accept, resp.StatusCode, got, tt.status, tt.want)
		}
	}
}

// A page is not served from the store when its origin shows a bad certificate, unless the client asks for that; the
// answer names the cause.
func TestACertificateThatTurnsBadIsNotHiddenByAStalePage(t *testing.T) {
	var bad atomic.Bool
	s := httptest.NewUnstartedServer(http.HandlerFunc((&ailing{}).ServeHTTP))
	s.Config.ErrorLog = (&logBuffer{}).std()
	stranger := httptest.NewTLSServer(nil)
	defer stranger.Close()
	ca := originCA(t)
	s.TLS = &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if bad.Load() {
			return &stranger.TLS.Certificates[0], nil
		}
		return ca.Leaf(hello.ServerName)
	}}
	s.StartTLS()
	t.Cleanup(s.Close)
	b := newBenchAt(t, origins{"a.test:443": s.Listener.Addr().String()}, 0, nil)
	_, good := b.get("https://a.test/", "Accept: */*")
	bad.Store(true)
	b.transport.CloseIdleConnections()
	s.CloseClientConnections()
	resp, body := b.get("https://a.test/", "Accept: */*")
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(body, "certificate") ||
		!strings.Contains(resp.Header.Get("Proxy-Status"), "tls_certificate_error") {
		t.Errorf("%d %q %s", resp.StatusCode, resp.Header, body)
	}
	if resp, body := b.get("https://a.test/", "Accept: */*", "Cache-Control: max-stale"); body != good {
		t.Errorf("with consent: %d %s", resp.StatusCode, body)
	}
}
