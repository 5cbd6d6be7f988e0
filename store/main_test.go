package store_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// TestMain turns the test binary into a writer that waits to be killed when the environment says so, see crash_test.go.
func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		if os.Getenv(crashMode) == "unsynced" {
			writeUnsynced(dir)
		}
		writeUntilKilled(dir)
		return
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(leftByEngine...); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines left:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// leftByEngine excuses the goroutines that the engine leaves behind when it cannot open a damaged directory: nobody
// else can end them.
var leftByEngine []goleak.Option

// openStore opens a store that is closed with the test.
func openStore(tb testing.TB, o store.Options) *store.Store {
	tb.Helper()
	if o.Dir == "" {
		o.Dir = tb.TempDir()
	}
	s, err := store.Open(o)
	if err != nil {
		tb.Fatalf("Open: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return s
}

func closeStore(tb testing.TB, s *store.Store) {
	tb.Helper()
	if err := s.Close(); err != nil {
		tb.Fatalf("Close: %v", err)
	}
}

func flush(tb testing.TB, s *store.Store) {
	tb.Helper()
	if err := s.Flush(); err != nil {
		tb.Fatalf("Flush: %v", err)
	}
}

// response returns a stored response of uri as cache would make it.
func response(uri string) *store.Response {
	now := time.Now()
	return &store.Response{
		URL: uri, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}, "X-Odd": {"caf\xe9"}},
		RequestTime: now, ResponseTime: now, Total: -1,
	}
}

func put(tb testing.TB, s *store.Store, r *store.Response, content string) *store.Response {
	tb.Helper()
	if err := s.PutResponse(r, strings.NewReader(content), nil); err != nil {
		tb.Fatalf("PutResponse(%s): %v", r.URL, err)
	}
	return r
}

func responses(tb testing.TB, s *store.Store, uri string) []*store.Response {
	tb.Helper()
	list, err := s.Responses(uri)
	if err != nil {
		tb.Fatalf("Responses(%s): %v", uri, err)
	}
	return list
}

// bodyOf reads a stored body whole.
func bodyOf(tb testing.TB, s *store.Store, sum store.Sum) string {
	tb.Helper()
	b, err := s.Body(sum)
	if err != nil {
		tb.Fatalf("Body: %v", err)
	}
	defer func() { _ = b.Close() }()
	all, err := io.ReadAll(b)
	if err != nil {
		tb.Fatalf("read body: %v", err)
	}
	return string(all)
}

// newPage returns a page whose content is markdown, as fetch would make it.
func newPage(url, markdown string) (*page.Record, []byte, page.Key) {
	return &page.Record{
			URL: url, NormalizedURL: url, Title: "Title of " + url, ContentHash: markdown, Source: page.Local,
			Tokens: len(markdown) / 4,
		},
		[]byte(markdown), page.KeyOf(url)
}

func putPage(tb testing.TB, s *store.Store, url, markdown string) (*page.Record, bool) {
	tb.Helper()
	p, md, _ := newPage(url, markdown)
	changed, err := s.PutPage(p, md, store.Sum{})
	if err != nil {
		tb.Fatalf("PutPage(%s): %v", url, err)
	}
	return p, changed
}

// logTo returns a logger that writes into buf.
func logTo(buf *bytes.Buffer) *slog.Logger {
	return slog.New(slog.NewTextHandler(buf, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// beside calls read over and over in n goroutines until the test ends.
func beside(t *testing.T, n int, read func()) {
	t.Helper()
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range n {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					read()
				}
			}
		})
	}
	t.Cleanup(func() {
		close(done)
		readers.Wait()
	})
}
