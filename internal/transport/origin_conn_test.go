package transport_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/internal/transport/transporttest"
)

// cutter answers one request on each TLS connection with a body that ends with the connection, with close_notify or
// without.
func cutter(t *testing.T, answer string, clean bool) (addr, ca string) {
	t.Helper()
	origin := httptest.NewUnstartedServer(nil)
	origin.StartTLS()
	t.Cleanup(origin.Close)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	wg.Go(func() {
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			conn := tls.Server(raw, &tls.Config{Certificates: origin.TLS.Certificates})
			_, _ = conn.Read(make([]byte, 4096)) // the request
			io.WriteString(conn, answer)
			if clean {
				_ = conn.Close()
			}
			_ = raw.Close()
		}
	})
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: origin.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String(), file
}

// A body that ends with its connection is whole only if TLS was ended, too (RFC 9112 §8). One that states where it
// ends needs no such thing.
func TestABodyCutBelowTLSIsIncomplete(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n"
	for _, tt := range []struct {
		name, answer string
		clean, whole bool
	}{
		{"ends with its connection, cleanly", head + "\r\nhello", true, true},
		{"ends with its connection, cut", head + "\r\nhello", false, false},
		{"empty, cut", head + "\r\n", false, false},
		{"has a length, cut", head + "Content-Length: 5\r\n\r\nhello", false, true},
		{"chunked, cut", head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr, ca := cutter(t, tt.answer, tt.clean)
			tr := transporttest.New(t, transport.Options{AllowPrivateProxied: true, CAFile: ca})
			_, body, err := get(t.Context(), t, tr, "https://"+addr)
			if whole := err == nil; whole != tt.whole {
				t.Fatalf("got %q, %v; whole: want %t", body, err, tt.whole)
			}
			if tt.whole {
				return
			}
			if e := fetch.Explain(nil, err); e.Type != "http_response_incomplete" {
				t.Errorf("explained as %q: %v", e.Type, e)
			}
		})
	}
}

// An origin that resets every request gets it twice, however many idle connections there are.
func TestARequestIsRepeatedOnOneNewConnection(t *testing.T) {
	var asked atomic.Int64
	reset := make(chan struct{})
	arrived := make(chan struct{}, 20)
	origin := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			arrived <- struct{}{}
			<-reset
			return
		}
		asked.Add(1)
		panic(http.ErrAbortHandler)
	}))
	defer origin.Close()
	tr := transporttest.New(t, transport.Options{AllowPrivateProxied: true})
	var wg sync.WaitGroup
	for range cap(arrived) {
		wg.Go(func() {
			if _, _, err := get(t.Context(), t, tr, origin.URL+"/"); err != nil {
				t.Error(err)
			}
		})
	}
	for range cap(arrived) {
		<-arrived
	}
	close(reset)
	wg.Wait()
	_, _, err := get(t.Context(), t, tr, origin.URL+"/reset")
	var retried interface{ Retried() bool }
	if !errors.As(err, &retried) || !retried.Retried() {
		t.Errorf("error = %v, want one that was retried", err)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("the origin got the request %d times, want 2", n)
	}
}

// An origin that ends a connection of HTTP/2 takes all its requests along. Safe ones are sent once more (RFC 9110
// §9.2.2), and only once.
func TestARequestOfHTTP2IsRepeatedWhenItsConnectionEnds(t *testing.T) {
	for _, tt := range []struct {
		name, method, body string
		ends, asked        int64 // how many connections the origin ends, and how often it is asked
		answered           bool
	}{
		{"get", http.MethodGet, "", 1, 2, true},
		{"head", http.MethodHead, "", 1, 2, true},
		{"every connection ends", http.MethodGet, "", 9, 2, false},
		{"post", http.MethodPost, "", 1, 1, false},
		{"get with a body", http.MethodGet, "query", 1, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked atomic.Int64
			origin := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.ProtoMajor != 2 {
					t.Errorf("asked by %s", r.Proto)
				}
				if asked.Add(1) <= tt.ends {
					_ = r.Context().Value(connection{}).(net.Conn).Close()
				}
				io.WriteString(w, "hello")
			}))
			origin.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
				return context.WithValue(ctx, connection{}, c.(*tls.Conn).NetConn())
			}
			origin.EnableHTTP2 = true
			origin.StartTLS()
			defer origin.Close()
			ca := filepath.Join(t.TempDir(), "ca.pem")
			block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: origin.Certificate().Raw})
			if err := os.WriteFile(ca, block, 0o600); err != nil {
				t.Fatal(err)
			}
			tr := transporttest.New(t, transport.Options{AllowPrivateProxied: true, CAFile: ca})
			var body io.Reader
			if tt.body != "" {
				body = strings.NewReader(tt.body)
			}
			req, err := http.NewRequestWithContext(t.Context(), tt.method, origin.URL, body)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := tr.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			if answered := err == nil; answered != tt.answered {
				t.Errorf("answered: %t (%v), want %t", answered, err, tt.answered)
			}
			if n := asked.Load(); n != tt.asked {
				t.Errorf("the origin was asked %d times, want %d", n, tt.asked)
			}
			if retried := errors.As(err, new(interface{ Retried() bool })); retried != (!tt.answered && tt.asked > 1) {
				t.Errorf("error = %v; says that it was retried: %t", err, retried)
			}
		})
	}
}

// connection is the key of an origin's connection, below its TLS.
type connection struct{}
