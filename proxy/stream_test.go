package proxy_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

// both runs f against a plain origin and an intercepted one.
func both(t *testing.T, h http.HandlerFunc, f func(t *testing.T, b *bench, base string)) {
	t.Helper()
	t.Run("plain", func(t *testing.T) {
		f(t, newBench(t, origins{"a.test:80": plainOrigin(t, h)}, nil), "http://a.test")
	})
	t.Run("intercepted", func(t *testing.T) {
		f(t, newBench(t, origins{"a.test:443": tlsOrigin(t, h)}, nil), "https://a.test")
	})
}

func TestExpectContinueIsAnswered(t *testing.T) {
	both(t, say, func(t *testing.T, b *bench, base string) {
		t.Helper()
		client := b.client()
		client.Transport.(*http.Transport).ExpectContinueTimeout = time.Hour // only a 100 lets the body go
		client.Transport.(*http.Transport).ForceAttemptHTTP2 = false
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/x", strings.NewReader("hello"))
		req.Header.Set("Expect", "100-continue")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, _ := io.ReadAll(resp.Body); string(body) != "POST a.test/x hello" {
			t.Errorf("got %q", body)
		}
	})
}

// A chunked stream that is no event stream must not be held back; and events come one by one.
func TestEachPartOfAStreamArrivesBeforeTheNextIsSent(t *testing.T) {
	for _, contentType := range []string{"text/event-stream", "application/x-ndjson", ""} {
		t.Run(contentType, func(t *testing.T) {
			next := make(chan struct{})
			h := func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Type"] = nil
				if contentType != "" {
					w.Header().Set("Content-Type", contentType)
				}
				for i := range 3 {
					_, _ = fmt.Fprintf(w, "data: %d\n", i)
					w.(http.Flusher).Flush()
					select {
					case <-next:
					case <-r.Context().Done():
						return
					}
				}
			}
			both(t, h, func(t *testing.T, b *bench, base string) {
				t.Helper()
				resp, err := visit(t.Context(), b.client(), base+"/events")
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				lines := bufio.NewReader(resp.Body)
				for i := range 3 {
					line, err := lines.ReadString('\n')
					if want := fmt.Sprintf("data: %d\n", i); line != want || err != nil {
						t.Fatalf("got %q, %v, want %q", line, err, want)
					}
					next <- struct{}{}
				}
			})
		})
	}
}

// The head of a stream comes before its first byte does.
func TestHeadOfAStreamDoesNotWaitForItsBody(t *testing.T) {
	release := make(chan struct{})
	both(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-release
		io.WriteString(w, "end")
	}, func(t *testing.T, b *bench, base string) {
		t.Helper()
		resp, err := visit(t.Context(), b.client(), base)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		release <- struct{}{}
		if body, _ := io.ReadAll(resp.Body); string(body) != "end" {
			t.Errorf("got %q", body)
		}
	})
}

func TestEarlyHintsArePassedOn(t *testing.T) {
	both(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</a.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		io.WriteString(w, "page")
	}, func(t *testing.T, b *bench, base string) {
		t.Helper()
		for _, accept := range []string{"*/*", "text/html"} { // by way of a page, and past it
			var hints []string
			ctx := httptrace.WithClientTrace(t.Context(),
				&httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
					hints = append(hints, fmt.Sprint(code, " ", h.Get("Link")))
					return nil
				}})
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, base, http.NoBody)
			req.Header.Set("Accept", accept)
			resp, err := b.client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if len(hints) != 1 || hints[0] != "103 </a.css>; rel=preload" {
				t.Errorf("Accept %s: interim responses %q", accept, hints)
			}
			if resp.Header.Get("Link") != "" {
				t.Errorf("Accept %s: a field of the interim response is in the final one", accept)
			}
		}
	})
}

func TestBodyCutByTheOriginIsCutForTheClient(t *testing.T) {
	for name, answer := range map[string]string{
		"content length": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
		"chunked":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"bad chunk":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			answering := func(c net.Conn) {
				if req := readHead(c); req != nil {
					io.WriteString(c, answer)
				}
			}
			secured := rawOrigin(t, func(c net.Conn) {
				ca := originCA(t)
				s := tls.Server(c, &tls.Config{GetCertificate: func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
					return ca.Leaf(h.ServerName)
				}})
				answering(s)
				_ = s.Close()
			})
			b := newBench(t, origins{"a.test:80": rawOrigin(t, answering), "a.test:443": secured}, nil)
			for _, base := range []string{"http://a.test/", "https://a.test/"} {
				for _, h2 := range []bool{false, true} {
					client := b.client()
					client.Transport.(*http.Transport).ForceAttemptHTTP2 = h2
					resp, err := visit(t.Context(), client, base)
					if err != nil {
						continue // cut before its head was out: visible too
					}
					if body, err := io.ReadAll(resp.Body); err == nil {
						t.Errorf("%s (h2 %v): a whole body of %q", base, h2, body)
					}
					resp.Body.Close()
				}
			}
		})
	}
}

func TestTrailersPassBothWaysExceptThoseThatFrameOrRoute(t *testing.T) {
	both(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Trailer", "X-Sum, Set-Cookie")
		io.WriteString(w, "body")
		w.(http.Flusher).Flush()
		w.Header().Set("X-Sum", "got "+r.Trailer.Get("X-Up")+r.Trailer.Get("Cookie"))
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set(http.TrailerPrefix+"X-Late", "late")
	}, func(t *testing.T, b *bench, base string) {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, base, struct{ io.Reader }{strings.NewReader("x")})
		req.Trailer = http.Header{"X-Up": {"up"}, "Cookie": {"c=d"}}
		resp, err := b.client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		if got := resp.Trailer.Get("X-Sum"); got != "got up" {
			t.Errorf("X-Sum %q, want %q", got, "got up")
		}
		if got := resp.Trailer.Get("X-Late"); got != "late" {
			t.Errorf("a trailer that was not announced: %q", got)
		}
		if got := resp.Trailer.Get("Set-Cookie"); got != "" {
			t.Errorf("Set-Cookie came as a trailer: %q", got)
		}
	})
}

func TestConnectionCloseAndHTTP10AreObeyed(t *testing.T) {
	addr := plainOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "one")
		w.(http.Flusher).Flush()
		io.WriteString(w, "two")
	})
	secured := tlsOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "one")
		w.(http.Flusher).Flush()
		io.WriteString(w, "two")
	})
	b := newBench(t, origins{"a.test:80": addr, "a.test:443": secured}, nil)
	for _, tt := range []struct{ name, request, not string }{
		{"close", " HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n", "\x00"},
		{"1.0", " HTTP/1.0\r\nHost: a.test\r\n\r\n", "hunked"},
	} {
		if got := raw(t, b.dial(), "GET http://a.test/"+tt.request); !strings.Contains(got, " 200 ") ||
			strings.Contains(got, tt.not) || !strings.Contains(got, "two") {
			t.Errorf("%s, plain: %q", tt.name, got)
		}
		if got := raw(t, b.secure("a.test:443", "a.test"), "GET /"+tt.request); !strings.Contains(got, " 200 ") ||
			strings.Contains(got, tt.not) || !strings.Contains(got, "two") {
			t.Errorf("%s, intercepted: %q", tt.name, got)
		}
	}
}

func TestEndlessHeadIsAnswered431(t *testing.T) {
	b := newBench(t, origins{"a.test:443": tlsOrigin(t, say)}, nil)
	for name, c := range map[string]net.Conn{"plain": b.dial(), "intercepted": b.secure("a.test:443", "a.test")} {
		go func() {
			io.WriteString(c, "GET / HTTP/1.1\r\nHost: a.test\r\nX-Long: ")
			for range 256 {
				if _, err := io.WriteString(c, strings.Repeat("x", 4096)); err != nil {
					return
				}
			}
		}()
		got := make([]byte, 12)
		if _, err := io.ReadFull(c, got); err != nil || !strings.HasSuffix(string(got), " 431") {
			t.Errorf("%s: %q, %v, want 431", name, got, err)
		}
	}
}

func TestContentTypeIsNotGuessed(t *testing.T) {
	both(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		io.WriteString(w, "<html>looks like it")
	}, func(t *testing.T, b *bench, base string) {
		t.Helper()
		resp, _ := b.get(base)
		if ct, ok := resp.Header["Content-Type"]; ok {
			t.Errorf("Content-Type %q was made up", ct)
		}
	})
}

func TestHeadHasTheFieldsOfGetAndNoBody(t *testing.T) {
	both(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "12345")
	}, func(t *testing.T, b *bench, base string) {
		t.Helper()
		resp, body := b.do(http.MethodHead, base, nil)
		if resp.Header.Get("Content-Length") != "12345" || body != "" {
			t.Errorf("Content-Length %q, body %q", resp.Header.Get("Content-Length"), body)
		}
	})
}

func TestRangeAndStatusesWithoutBodyPassAsTheyAre(t *testing.T) {
	both(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/206":
			http.ServeContent(w, r, "a.bin", time.Time{}, strings.NewReader("0123456789"))
		case "/204":
			w.WriteHeader(http.StatusNoContent)
		case "/304":
			w.Header().Set("Etag", `"x"`)
			w.Header().Set("Content-Length", "5") // of what it would have been (RFC 9110 §8.6)
			w.WriteHeader(http.StatusNotModified)
		}
	}, func(t *testing.T, b *bench, base string) {
		t.Helper()
		resp, body := b.get(base+"/206", "Range: bytes=2-4")
		if resp.StatusCode != http.StatusPartialContent || body != "234" ||
			resp.Header.Get("Content-Range") != "bytes 2-4/10" {
			t.Errorf("range: %d %q %q", resp.StatusCode, body, resp.Header.Get("Content-Range"))
		}
		if resp, _ := b.get(base + "/204"); resp.StatusCode != http.StatusNoContent ||
			resp.Header.Get("Content-Length") != "" {
			t.Errorf("204: %d %q", resp.StatusCode, resp.Header)
		}
		if resp, _ := b.get(base+"/304", `If-None-Match: "x"`); resp.StatusCode != http.StatusNotModified ||
			resp.Header.Get("Etag") != `"x"` {
			t.Errorf("304: %d %q", resp.StatusCode, resp.Header)
		}
	})
}

func TestClientThatLeavesReleasesTheOrigin(t *testing.T) {
	released := make(chan struct{})
	both(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		released <- struct{}{}
	}, func(t *testing.T, b *bench, base string) {
		t.Helper()
		resp, err := visit(t.Context(), b.client(), base)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		select {
		case <-released:
		case <-time.After(2 * time.Minute):
			t.Error("the origin still waits")
		}
	})
}

// A stream takes no memory: heap and what is in flight stay small while 256 MiB pass.
func TestLargeBodyStreamsWithAFlatHeap(t *testing.T) {
	const size = 64 << 20
	chunk := make([]byte, 64<<10)
	both(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(size))
		for range size / len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}, func(t *testing.T, b *bench, base string) {
		t.Helper()
		defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC says: what is not collected yet counts
		var before, now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		resp, err := visit(t.Context(), b.client(), base)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var total int64
		var most uint64
		for total < size {
			n, err := io.CopyN(io.Discard, resp.Body, 4<<20)
			total += n
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC() // what is held counts, not how much garbage waits
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
		if grown := int64(most) - int64(before.HeapAlloc); grown > 16<<20 {
			t.Errorf("the heap grew by %d MiB", grown>>20)
		}
	})
}

func TestManyClientsAtOnceGetTheirOwnAnswers(t *testing.T) {
	b := newBench(t, origins{"a.test:80": plainOrigin(t, say), "a.test:443": tlsOrigin(t, say)}, nil)
	client := b.client()
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			base := [2]string{"http://a.test", "https://a.test"}[i%2]
			resp, err := visit(t.Context(), client, fmt.Sprintf("%s/%d", base, i))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if body, _ := io.ReadAll(resp.Body); string(body) != fmt.Sprintf("GET a.test/%d ", i) {
				t.Errorf("%d: %q", i, body)
			}
		})
	}
	wg.Wait()
}

func TestOriginThatCannotBeReachedIsExplained(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	_ = l.Close()
	b := newBench(t, origins{"a.test:80": closed, "a.test:443": closed}, nil)
	for _, base := range []string{"http://a.test/", "https://a.test/"} {
		resp, body := b.get(base)
		if resp.StatusCode != http.StatusBadGateway || resp.Header.Get("Content-Type") != "application/problem+json" ||
			!strings.Contains(resp.Header.Get("Proxy-Status"), "readthru; error=connection_refused") ||
			!strings.Contains(body, "Connection error fetching "+base) {
			t.Errorf("%s: %d %q %s", base, resp.StatusCode, resp.Header, body)
		}
	}
	_, resp := b.connect("a.test:443")
	if resp.StatusCode != http.StatusOK {
		t.Errorf("an intercepted CONNECT is answered %d before the origin is asked", resp.StatusCode)
	}
}

func TestOriginWithABadCertificateIsRefusedInsideTheTunnel(t *testing.T) {
	stranger := http.HandlerFunc(say)
	b := newBench(t, origins{"a.test:443": untrustedOrigin(t, stranger)}, nil)
	resp, body := b.get("https://a.test/")
	if resp.StatusCode != http.StatusBadGateway ||
		!strings.Contains(resp.Header.Get("Proxy-Status"), "tls_certificate_error") || !strings.Contains(body, "a.test") {
		t.Errorf("%d %q %s", resp.StatusCode, resp.Header.Get("Proxy-Status"), body)
	}
}

func TestOriginIsAskedOverHTTP2WhereItSpeaksIt(t *testing.T) {
	b := newBench(t, origins{"a.test:443": tlsOrigin(t,
		func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) })}, nil)
	if _, body := b.get("https://a.test/"); body != "HTTP/2.0" {
		t.Errorf("asked over %s", body)
	}
}
