package cache_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/store"
)

// benchmarked makes a cache before an origin that answers at once, with the Cache-Control given, and 304 to who has its
// tag.
func benchmarked(b *testing.B, size int, control string) *cache.Cache {
	b.Helper()
	st, err := store.Open(store.Options{Dir: b.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	body := strings.Repeat("x", size)
	c := cache.New(cache.Options{Store: st, Next: roundTripper(func(req *http.Request) (*http.Response, error) {
		h := http.Header{
			"Cache-Control": {control}, "Content-Type": {"text/html; charset=utf-8"}, "Etag": {`"a"`},
			"Vary": {"Accept-Encoding"},
			"Date": {time.Now().UTC().Format(http.TimeFormat)}, "Server": {"x"},
			"Last-Modified": {"Wed, 01 Jan 2020 00:00:00 GMT"},
		}
		if req.Header.Get("If-None-Match") != "" {
			return &http.Response{StatusCode: http.StatusNotModified, Header: h, Body: http.NoBody, Request: req}, nil
		}
		return &http.Response{
			StatusCode: http.StatusOK, Header: h, ContentLength: int64(size),
			Body: io.NopCloser(strings.NewReader(body)), Request: req,
		}, nil
	})})
	b.Cleanup(func() {
		_ = c.Close()
		_ = st.Close()
	})
	return c
}

// asking makes a GET as an agent does.
func asking(b *testing.B, path string) *http.Request {
	b.Helper()
	req, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, "https://a.test/"+path, http.NoBody)
	req.Header = http.Header{
		"Accept": {"text/markdown, text/html;q=0.9, */*;q=0.1"}, "User-Agent": {"agent/1"},
		"Accept-Encoding": {"gzip"},
	}
	return req
}

// fetchOnce sends a request, and reads the answer.
func fetchOnce(b *testing.B, c *cache.Cache, req *http.Request, size int) {
	b.Helper()
	resp, err := c.RoundTrip(req)
	if err != nil {
		b.Error(err)
		return
	}
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != int64(size) {
		b.Error(n, err)
	}
	resp.Body.Close()
}

func BenchmarkHit(b *testing.B) {
	for _, size := range []int{1 << 10, 10 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			c := benchmarked(b, size, "public, max-age=3600")
			req := asking(b, "page")
			fetchOnce(b, c, req, size)
			b.ReportAllocs()
			for b.Loop() {
				fetchOnce(b, c, req, size)
			}
			if s := c.Stats(); s.Misses != 1 {
				b.Fatalf("misses = %d", s.Misses)
			}
		})
	}
}

func BenchmarkValidated(b *testing.B) {
	c := benchmarked(b, 10<<10, "no-cache")
	req := asking(b, "page")
	fetchOnce(b, c, req, 10<<10)
	b.ReportAllocs()
	for b.Loop() {
		fetchOnce(b, c, req, 10<<10)
	}
	if s := c.Stats(); s.Misses != 1 || s.Revalidated == 0 {
		b.Fatalf("%+v", s)
	}
}

func BenchmarkMissAndStore(b *testing.B) {
	c := benchmarked(b, 10<<10, "max-age=3600")
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		fetchOnce(b, c, asking(b, fmt.Sprint(n)), 10<<10)
		n++
	}
	if s := c.Stats(); s.Stored != int64(n) {
		b.Fatalf("%d requests, %+v", n, s)
	}
}

// Twenty clients want the same new page at once: the figures are those of all twenty.
func BenchmarkCollapsed(b *testing.B) {
	c := benchmarked(b, 10<<10, "max-age=3600")
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		var clients sync.WaitGroup
		for range 20 {
			clients.Go(func() { fetchOnce(b, c, asking(b, fmt.Sprint(n)), 10<<10) })
		}
		clients.Wait()
		n++
	}
	if s := c.Stats(); s.Misses > int64(n+n/100+1) { // one that looks and boards while another lands asks once more
		b.Fatalf("%d rounds, %+v", n, s)
	}
}
