package proxy_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// library is an origin that serves a page and a download, with ranges and conditions, and notes the fields that name
// parts or validators.
type library struct {
	mu    sync.Mutex
	fresh string // Cache-Control
	date  string // Date, the same for all answers: it is a part of the rendition
	saw   []string
}

func (l *library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range []string{"Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since"} {
		for _, value := range r.Header[name] {
			l.saw = append(l.saw, name+": "+value)
		}
	}
	w.Header().Set("Date", l.date)
	w.Header().Set("Etag", `"o"`)
	if l.fresh != "" {
		w.Header().Set("Cache-Control", l.fresh)
	}
	modified := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	switch r.URL.Path {
	case "/page":
		w.Header().Set("Content-Type", "text/html")
		http.ServeContent(w, r, "", modified, strings.NewReader(article))
	case "/file":
		w.Header().Set("Content-Type", "application/octet-stream")
		http.ServeContent(w, r, "", modified, strings.NewReader("0123456789"))
	}
}

// sent returns the noted fields and forgets them.
func (l *library) sent() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := strings.Join(l.saw, "\n")
	l.saw = nil
	return s
}

// libraries runs f against a page that is fresh in the store, one that is validated each time, and one never stored.
func libraries(t *testing.T, f func(t *testing.T, b *bench, l *library)) {
	t.Helper()
	for _, fresh := range []string{"max-age=600", "no-cache", "no-store"} {
		t.Run(fresh, func(t *testing.T) {
			l := &library{fresh: fresh, date: time.Now().UTC().Format(http.TimeFormat)}
			f(t, newBenchOf(t, l, nil), l)
		})
	}
}

const libraryPage = "http://a.test/page"

func TestAResumedPageIsTheRestOfTheMarkdown(t *testing.T) {
	libraries(t, func(t *testing.T, b *bench, l *library) {
		t.Helper()
		resp, whole := b.get(libraryPage, "Accept: */*")
		tag := resp.Header.Get("Etag")
		l.sent()
		rest := []string{"Accept: */*", "Range: bytes=50-"}
		for name, fields := range map[string][]string{
			"curl -C -": rest, "if the rendition is the same": append(rest, "If-Range: "+tag),
		} {
			got, body := b.get(libraryPage, fields...)
			if got.StatusCode != http.StatusPartialContent || body != whole[50:] || got.Header.Get("Etag") != tag ||
				!strings.HasSuffix(got.Header.Get("Content-Range"), "/"+resp.Header.Get("Content-Length")) ||
				got.Header.Get("Content-Type") != "text/markdown; charset=utf-8" {
				t.Errorf("%s: %d %q %q", name, got.StatusCode, got.Header, body)
			}
		}
		if got, body := b.get(libraryPage, "Accept: */*", "Range: bytes=-5"); body != whole[len(whole)-5:] {
			t.Errorf("the last bytes: %d %q", got.StatusCode, body)
		}
		if got, body := b.get(libraryPage, "Accept: */*", "Range: bytes=99999-"); body != "" ||
			got.StatusCode != http.StatusRequestedRangeNotSatisfiable {
			t.Errorf("beyond the end: %d %q", got.StatusCode, body)
		}
		for name, field := range map[string]string{
			"another rendition":   `If-Range: "rt-00000000000000000000000000000000"`,
			"the origin's tag":    `If-Range: "o"`,
			"the origin's date":   "If-Range: Fri, 02 Jan 2026 03:04:05 GMT",
			"more than one range": "Range: bytes=0-1",
		} {
			if got, body := b.get(libraryPage, append(rest, field)...); got.StatusCode != http.StatusOK || body != whole {
				t.Errorf("%s: %d %q", name, got.StatusCode, body)
			}
		}
		if saw := l.sent(); strings.Contains(saw, "rt-") {
			t.Errorf("the origin saw %s", saw)
		}
		if head, _ := b.do(http.MethodHead, libraryPage, nil, rest...); head.StatusCode != http.StatusOK {
			t.Errorf("HEAD: %d", head.StatusCode)
		}
	})
}

func TestConditionsOfAMarkdownClientAreAboutTheMarkdown(t *testing.T) {
	libraries(t, func(t *testing.T, b *bench, l *library) {
		t.Helper()
		check := func(name, field string, want int) {
			t.Helper()
			methods := []string{http.MethodGet}
			if l.fresh == "max-age=600" { // else no rendition is at hand for HEAD
				methods = append(methods, http.MethodHead)
			}
			for _, method := range methods {
				got, _ := b.do(method, libraryPage, nil, "Accept: text/markdown", field)
				if got.StatusCode != want || want < 400 && method == http.MethodGet &&
					!strings.HasPrefix(got.Header.Get("Etag"), `"rt-`) {
					t.Errorf("%s: %s %d, Etag %s, want %d", method, name, got.StatusCode, got.Header.Get("Etag"), want)
				}
			}
		}
		const since = "If-Modified-Since: Sat, 03 Jan 2026 00:00:00 GMT"
		got, _ := b.get(libraryPage, "Accept: text/markdown", `If-None-Match: "o"`)
		tag := got.Header.Get("Etag")
		if got.StatusCode != http.StatusOK || !strings.HasPrefix(tag, `"rt-`) {
			t.Fatalf("the origin's tag, on a miss: %d %s", got.StatusCode, tag)
		}
		l.sent()
		check("the rendition's tag", "If-None-Match: "+tag, http.StatusNotModified)
		if saw := l.sent(); strings.Contains(saw, "rt-") {
			t.Errorf("the origin saw %s", saw)
		}
		check("the origin's tag", `If-None-Match: "o"`, http.StatusOK)
		check("a date", since, http.StatusOK)
		check("another If-Match", `If-Match: "rt-0"`, http.StatusPreconditionFailed)
		check("its If-Match", "If-Match: "+tag, http.StatusOK)
		got, _ = b.get(libraryPage, "Accept: text/markdown", "If-None-Match: *")
		if got.StatusCode != http.StatusNotModified || got.Header.Get("Etag") != tag {
			t.Errorf("any tag: %d %s", got.StatusCode, got.Header.Get("Etag"))
		}
	})
}

func TestTagsOfRenditionsAreNotSentForTheOriginsBytes(t *testing.T) {
	libraries(t, func(t *testing.T, b *bench, l *library) {
		t.Helper()
		for name, fields := range map[string][]string{
			"browser": {browserAccept}, "raw": {"X-Readthru-Mode: raw"}, "tool": {"User-Agent: git/2.39"},
		} {
			l.sent()
			got, body := b.get(libraryPage, append(fields, `If-None-Match: "rt-1", "x"`, "Range: bytes=50-",
				`If-Range: "rt-1"`)...)
			if got.StatusCode != http.StatusOK || body != article {
				t.Errorf("%s: %d %q", name, got.StatusCode, body)
			}
			if saw := l.sent(); strings.Contains(saw, "ange") || strings.Contains(saw, "rt-") {
				t.Errorf("%s: the origin saw %s", name, saw)
			}
		}
		if got, _ := b.do(http.MethodPut, libraryPage, strings.NewReader("x"), `If-Match: "rt-1"`); got.StatusCode != http.StatusPreconditionFailed || l.sent() != "" {
			t.Errorf("PUT if the rendition is the same: %d", got.StatusCode)
		}
	})
}

// A markdown client has the origin's own bytes of what is not a page.
func TestRangesAndConditionsOfDownloadsAreTheOrigins(t *testing.T) {
	libraries(t, func(t *testing.T, b *bench, _ *library) {
		t.Helper()
		for _, tt := range []struct {
			field, body string
			status      int
		}{
			{"Range: bytes=3-", "3456789", http.StatusPartialContent},
			{"Range: bytes=20-", "", http.StatusRequestedRangeNotSatisfiable},
			{`If-None-Match: "o"`, "", http.StatusNotModified},
			{"If-Modified-Since: Sat, 03 Jan 2026 00:00:00 GMT", "", http.StatusNotModified},
		} {
			got, body := b.get("http://a.test/file", "Accept: */*", tt.field)
			if got.StatusCode != tt.status || tt.body != "" && body != tt.body || got.Header.Get("Etag") == "" && tt.body != "" {
				t.Errorf("%s: %d %q, want %d", tt.field, got.StatusCode, body, tt.status)
			}
		}
	})
}
