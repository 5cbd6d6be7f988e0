package proxy

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// textOrigin answers everything with a text that is fresh for an hour.
type textOrigin struct{}

func (textOrigin) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, Body: io.NopCloser(strings.NewReader("text")), Request: r,
		ContentLength: 4, Header: http.Header{"Content-Type": {"text/plain"}, "Cache-Control": {"max-age=3600"}},
	}, nil
}

// hit asks twice for a URL and returns how the cache reused the answer.
func hit(ctx context.Context, c *cache.Cache, url string) (reuse *cache.Reuse, err error) {
	for range 2 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return nil, err
		}
		resp, err := c.RoundTrip(req) //nolint:contextcheck // a flight outlives its request
		if err != nil {
			return nil, err
		}
		reuse = cache.OutcomeOf(resp).Reuse
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return nil, err
		}
		resp.Body.Close()
	}
	return reuse, nil
}

// What an answer that is given again leaves behind, of 512 pages in turn: counters, a record, a line of the log. The
// visit is measured with it, as package fetch counts it.
func BenchmarkGivenAgain(b *testing.B) {
	for _, level := range []slog.Level{slog.LevelWarn, slog.LevelInfo} {
		b.Run(level.String(), func(b *testing.B) {
			file, err := os.Create(filepath.Join(b.TempDir(), "log"))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = file.Close() }()
			st, err := store.Open(store.Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = st.Close() }()
			c := cache.New(cache.Options{Store: st, Next: textOrigin{}})
			defer func() { _ = c.Close() }()
			p := &Proxy{
				journal: journal.New(journal.Options{}),
				log:     slog.New(slog.NewJSONHandler(file, &slog.HandlerOptions{Level: level})),
			}
			p.repeatLog.log = p.log
			pages := make([]*given, 512)
			visitors := make([]*store.Visitor, len(pages))
			for n := range pages {
				url := fmt.Sprintf("https://a.test/%d", n)
				reuse, err := hit(b.Context(), c, url)
				if err != nil {
					b.Fatal(err)
				}
				pages[n] = &given{
					p: p, inside: true, page: pageTokens{true, 100, 200}, reuse: reuse,
					rec: &journal.Entry{
						Method: http.MethodGet, URL: url, Status: http.StatusOK, Cache: "hit", Source: "local", BytesOut: 10000,
						Agent: "bench",
					},
				}
				visitors[n] = st.Visitor(page.KeyOf(url), store.Visit{URL: url, Agent: "bench", FromCache: true, Tokens: 100})
			}
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				now := time.Now()
				pages[n%len(pages)].again(now, time.Since(now), nil)
				visitors[n%len(pages)].Visit(now)
			}
			p.repeatLog.flush(context.Background())
		})
	}
}
