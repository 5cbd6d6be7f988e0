package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// say answers with what the origin was asked.
func say(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	body, _ := io.ReadAll(r.Body)
	_, _ = fmt.Fprintf(w, "%s %s%s %s", r.Method, r.Host, r.URL.RequestURI(), body)
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
