package proxy_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// say answers with what the origin was asked.
func say(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	body, _ := io.ReadAll(r.Body)
	_, _ = fmt.Fprintf(w, "%s %s%s %s", r.Method, r.Host, r.URL.RequestURI(), body)
}

// The last proxy on the way asks with the target * for the options of a server (RFC 9112 §3.2.4), not for those of /.
func TestOptionsOfAServerAreAskedOfIt(t *testing.T) {
	targets := make(chan string, 1)
	h := func(_ http.ResponseWriter, r *http.Request) { targets <- r.RequestURI }
	general := func(s *httptest.Server) { s.Config.DisableGeneralOptionsHandler = true }
	b := newBench(t, origins{"a.test:80": originOf(t, h, general), "a.test:443": tlsOriginOf(t, h, general)}, nil)
	plain := strings.NewReplacer("\n", "\r\n")
	for _, tt := range []struct{ name, head, want string }{
		{"of the server", "OPTIONS http://a.test HTTP/1.1\nHost: a.test", "*"},
		{"of its root", "OPTIONS http://a.test/ HTTP/1.1\nHost: a.test", "/"},
		{"with a query", "OPTIONS http://a.test?x HTTP/1.1\nHost: a.test", "/?x"},
		{"in a tunnel", "OPTIONS * HTTP/1.1\nHost: a.test", "*"},
		{"of the root in a tunnel", "OPTIONS / HTTP/1.1\nHost: a.test", "/"},
	} {
		var c net.Conn = b.dial()
		if strings.Contains(tt.name, "tunnel") {
			c = b.secure("a.test:443", "a.test")
		}
		_, err := io.WriteString(c, plain.Replace(tt.head+"\nConnection: close\n\n"))
		if err != nil {
			t.Fatal(err)
		}
		answer, _ := io.ReadAll(c)
		_ = c.Close()
		if !strings.HasPrefix(string(answer), "HTTP/1.1 200") {
			t.Errorf("%s: %s", tt.name, answer)
			continue
		}
		if got := <-targets; got != tt.want {
			t.Errorf("%s: the origin was asked for %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestPlainRequestReachesTheOriginAndComesBack(t *testing.T) {
	b := newBench(t, origins{"a.test:80": plainOrigin(t, say)}, nil)
	resp, body := b.do(http.MethodPost, "http://a.test/x?y=1", strings.NewReader("hello"))
	if resp.StatusCode != http.StatusOK || body != "POST a.test/x?y=1 hello" {
		t.Errorf("got %d %q", resp.StatusCode, body)
	}
	if !strings.Contains(resp.Header.Get("Via"), "1.1 readthru-") {
		t.Errorf("Via %q", resp.Header.Get("Via"))
	}
}

func TestInterceptedRequestReachesTheOriginAndComesBack(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(protocol, func(t *testing.T) {
			b := newBench(t, origins{"a.test:443": tlsOrigin(t, say)}, nil)
			client := b.client()
			client.Transport.(*http.Transport).ForceAttemptHTTP2 = protocol == "HTTP/2.0"
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://a.test/x", strings.NewReader("hello"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if resp.Proto != protocol || string(body) != "POST a.test/x hello" {
				t.Errorf("got %s %q", resp.Proto, body)
			}
			if issuer := resp.TLS.PeerCertificates[0].Issuer.CommonName; issuer != b.authority.Certificate().Subject.CommonName {
				t.Errorf("the certificate is from %q, not ours", issuer)
			}
			if len(resp.TLS.PeerCertificates) != 1 {
				t.Error("our own certificate is sent along")
			}
		})
	}
}
