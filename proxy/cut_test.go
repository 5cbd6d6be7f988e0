package proxy_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
)

// What is cut below TLS is broken off for the client, and neither stored nor made a page (RFC 9112 §8).
func TestWhatIsCutBelowTLSIsBrokenOffAndForgotten(t *testing.T) {
	for _, accept := range []string{"text/html", "*/*"} {
		t.Run(accept, func(t *testing.T) {
			var asked atomic.Int64
			b := newBenchAt(t, origins{"*:443": rawOrigin(t, func(raw net.Conn) {
				ca := originCA(t)
				conn := tls.Server(raw, &tls.Config{
					GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) { return ca.Leaf(hello.ServerName) },
				})
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil {
					return
				}
				asked.Add(1)
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: max-age=600\r\n\r\n"+article)
			})}, 0, nil)
			for range 2 {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://a.test/page", nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Accept", accept)
				resp, err := b.client().Do(req)
				if err != nil {
					continue // the head went with it
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode == http.StatusOK && err == nil {
					t.Errorf("got %d bytes as if they were all: %q", len(body), resp.Header)
				}
			}
			if n := asked.Load(); n != 2 {
				t.Errorf("the origin was asked %d times, want 2", n)
			}
		})
	}
}
