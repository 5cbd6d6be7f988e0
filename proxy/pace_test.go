package proxy_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/proxy"
)

// memoryNet is a listener whose connections are pipes: synctest can wait on them.
type memoryNet struct {
	conns chan net.Conn
	done  chan struct{}
}

func (n *memoryNet) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

func (n *memoryNet) Close() error {
	close(n.done)
	return nil
}

func (n *memoryNet) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7887} }

func (n *memoryNet) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case n.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A timed body gives one piece after each pause and notes when it was closed.
type timedBody struct {
	pieces int
	size   int
	pause  time.Duration
	closed atomic.Int64 // nanoseconds since began
	began  time.Time
}

func (b *timedBody) Read(p []byte) (int, error) {
	if b.pieces == 0 {
		return 0, io.EOF
	}
	b.pieces--
	time.Sleep(b.pause)
	return min(len(p), b.size), nil
}

func (b *timedBody) Close() error {
	b.closed.Store(int64(time.Since(b.began)))
	return nil
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// inMemory runs test in a synctest bubble with a client of a proxy, by one of the ways to it. All requests are answered
// with body, as contentType.
func inMemory(t *testing.T, way, contentType string, body *timedBody,
	test func(t *testing.T, get func() *http.Response),
) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		authority, err := certs.Open(certs.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		answer := roundTrip(func(r *http.Request) (*http.Response, error) {
			body.began = time.Now()
			return &http.Response{
				StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1,
				Header:        http.Header{"Content-Type": {contentType}},
				ContentLength: -1, Body: body, Request: r,
			}, nil
		})
		p, err := proxy.New(proxy.Options{
			Client: answer, Transport: answer, Authority: authority,
			Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no tunnels") },
		})
		if err != nil {
			t.Fatal(err)
		}
		p.GiveAgain()
		n := &memoryNet{conns: make(chan net.Conn), done: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error)
		go func() { served <- p.Serve(ctx, n) }()
		roots := x509.NewCertPool()
		roots.AddCert(authority.Certificate())
		transport := &http.Transport{
			DialContext: n.dial, Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.test:7887"}),
			TLSClientConfig: &tls.Config{RootCAs: roots, Time: time.Now}, ForceAttemptHTTP2: way == "HTTP/2",
			DisableCompression: true,
		}
		target := "https://a.test/"
		if way == "plain" {
			target = "http://a.test/"
		}
		test(t, func() *http.Response {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			return resp
		})
		transport.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

var ways = []string{"plain", "intercepted", "HTTP/2"}

// A client that takes nothing is cut off, and the origin is let go.
func TestAClientThatTakesNothingIsCutOff(t *testing.T) {
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			body := &timedBody{pieces: 1 << 10, size: 32 << 10}
			inMemory(t, way, "application/octet-stream", body, func(t *testing.T, get func() *http.Response) {
				t.Helper()
				resp := get()
				defer resp.Body.Close()
				least, most := time.Minute, 91*time.Second
				if way == "HTTP/2" { // its connection is read, but the window of the stream stays closed
					least, most = 10*time.Minute, 11*time.Minute
				}
				time.Sleep(most)
				synctest.Wait()
				if after := time.Duration(body.closed.Load()); after < least {
					t.Errorf("the origin was let go after %v, want %v to %v", after, least, most)
				}
				if n, err := io.Copy(io.Discard, resp.Body); err == nil {
					t.Errorf("the client got %d bytes and no error", n)
				}
			})
		})
	}
}

// An earlier answer on the connection changes nothing: net/http clears deadlines after each request.
func TestAClientThatTakesNothingOfASecondAnswerIsCutOff(t *testing.T) {
	for _, way := range ways[:2] { // HTTP/2 has a limit of its own
		t.Run(way, func(t *testing.T) {
			body := &timedBody{pieces: 1, size: 10}
			inMemory(t, way, "application/octet-stream", body, func(t *testing.T, get func() *http.Response) {
				t.Helper()
				first := get()
				if _, err := io.Copy(io.Discard, first.Body); err != nil {
					t.Fatal(err)
				}
				first.Body.Close()
				body.pieces, body.size = 1<<10, 32<<10
				second := get()
				defer second.Body.Close()
				time.Sleep(91 * time.Second)
				synctest.Wait()
				if n, err := io.Copy(io.Discard, second.Body); err == nil {
					t.Errorf("the client got %d bytes and no error", n)
				}
			})
		})
	}
}

// Neither a client that reads slowly nor a stream that is silent for long is cut off.
func TestSlowClientsAndSilentStreamsAreNotCutOff(t *testing.T) {
	for _, way := range ways {
		t.Run(way+", slow", func(t *testing.T) {
			body := &timedBody{pieces: 256, size: 32 << 10}
			inMemory(t, way, "application/octet-stream", body, func(t *testing.T, get func() *http.Response) {
				t.Helper()
				resp := get()
				defer resp.Body.Close()
				piece, total := make([]byte, 32<<10), 0
				for {
					n, err := resp.Body.Read(piece)
					if total += n; err == io.EOF {
						break
					} else if err != nil {
						t.Fatalf("after %d bytes: %v", total, err)
					}
					time.Sleep(25 * time.Second * time.Duration(n) / time.Duration(len(piece)))
				}
				if total != 256*32<<10 {
					t.Errorf("read %d bytes", total)
				}
			})
		})
		t.Run(way+", silent", func(t *testing.T) {
			body := &timedBody{pieces: 10, size: 10, pause: time.Hour}
			inMemory(t, way, "text/event-stream", body, func(t *testing.T, get func() *http.Response) {
				t.Helper()
				resp := get()
				defer resp.Body.Close()
				if n, err := io.Copy(io.Discard, resp.Body); n != 100 || err != nil {
					t.Errorf("read %d bytes, %v; want 100", n, err)
				}
			})
		})
	}
}
