package fetch_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/fetch"
)

func TestEqualContentGivesEqualBytes(t *testing.T) {
	begun := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, tt := range []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request, n int)
	}{
		{"validated by 304", func(w http.ResponseWriter, r *http.Request, _ int) {
			if r.Header.Get("If-None-Match") == `"a"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			_, _ = io.WriteString(w, article("Harbour"))
		}},
		{"fetched again", func(w http.ResponseWriter, _ *http.Request, _ int) {
			_, _ = io.WriteString(w, article("Harbour"))
		}},
		{"changed around its markdown", func(w http.ResponseWriter, _ *http.Request, n int) {
			_, _ = io.WriteString(w, strings.Replace(article("Harbour"), "<main>", fmt.Sprintf("<!-- %d --><main>", n), 1))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked atomic.Int32
			c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := int(asked.Add(1))
				w.Header().Set("Date", begun.Add(time.Duration(n-1)*time.Hour).Format(http.TimeFormat))
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				w.Header().Set("Cache-Control", "no-cache")
				w.Header().Set("Etag", `"a"`)
				tt.answer(w, r, n)
			}))
			first := c.read(t, "https://site.test/")
			if want := "fetched_at: 2026-05-06T07:08:09Z\n"; !strings.Contains(string(first.Body), want) {
				t.Fatalf("no %q in %q", want, first.Body)
			}
			for range 2 {
				again := c.read(t, "https://site.test/")
				if string(again.Body) != string(first.Body) {
					t.Errorf("body %q, want that of the first answer: %q", again.Body, first.Body)
				}
				if got, want := again.Header.Get("Etag"), first.Header.Get("Etag"); got != want {
					t.Errorf("ETag %s, want %s", got, want)
				}
				if !again.Page.FetchedAt.Equal(begun) {
					t.Errorf("page fetched at %s, want %s", again.Page.FetchedAt, begun)
				}
			}
			if n := asked.Load(); n != 3 {
				t.Errorf("the origin was asked %d times, want 3", n)
			}
		})
	}
}

func TestEntityTagsTellFormsApart(t *testing.T) {
	c := newChain(t, respond(200, article("Harbour"), html, "Cache-Control: max-age=60"))
	seen := map[string]string{}
	for name, r := range map[string]func() string{
		"markdown": func() string { return c.read(t, "https://site.test/").Header.Get("Etag") },
		"text":     func() string { return tagOf(t, c, true, 0) },
		"cut":      func() string { return tagOf(t, c, false, 60) },
	} {
		tag := r()
		if other, ok := seen[tag]; ok || !strings.HasPrefix(tag, `"rt-`) {
			t.Errorf("tag of %s is %s, that of %q, too", name, tag, other)
		}
		seen[tag] = name
	}
}

func tagOf(t *testing.T, c *chain, text bool, limit int) string {
	t.Helper()
	ans, err := c.try(t, fetch.Request{
		URL: parse(t, "https://site.test/"), Header: http.Header{}, Text: text,
		MaxTokens: limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	return ans.Header.Get("Etag")
}

func TestAFailureIsRememberedForAMoment(t *testing.T) { // rule X6
	status := 500
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request,
	) {
		respond(status, article("H"), html)(w, r)
	}))
	for range 2 {
		if _, err := c.own(t, "https://site.test/a"); err == nil {
			t.Fatal("no error, want HTTP 500")
		}
	}
	if n := len(c.origin.asked()); n != 1 {
		t.Errorf("%d origin requests, want 1", n)
	}
	status = 200
	if ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/a"), Own: true, Force: true}); err != nil ||
		ans.Page == nil {
		t.Errorf("%v, want a page: force asks again", err)
	}
	if ans := c.read(t, "https://site.test/a"); ans.Status != 200 {
		t.Errorf("status %d, want a client's own request sent", ans.Status)
	}
}

// A failure that is remembered is one that the next reader would meet, too.
func TestAFailureOfOneReaderIsNotThatOfTheNext(t *testing.T) {
	refuses := func(status int) http.HandlerFunc { return respond(status, "no", "Content-Type: text/plain") }
	page := respond(200, article("H"), html, "Cache-Control: no-cache")
	for name, tt := range map[string]struct {
		then   http.HandlerFunc // after the first request
		first  http.HandlerFunc
		failed fetch.Request // whose URL and Own are set
		next   fetch.Request
		reads  bool // a client reads the page meanwhile
	}{
		"a page that was gone is there again": {first: refuses(410), then: page},
		"one who shows who it is":             {first: refuses(401), then: page, next: fetch.Request{Header: header("Cookie: a=b")}},
		"one who showed who it is": {
			first: refuses(503), then: page, failed: fetch.Request{Header: header("Cookie: a=b")},
		},
		"one with less patience": {
			first:  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			then:   page,
			failed: fetch.Request{Timeout: time.Millisecond},
		},
		"a client has read it since": {first: refuses(503), then: page, reads: true},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && tt.failed.Timeout > 0 {
				t.Skip("short: the cache waits for an answer for ten seconds more")
			}
			var asked atomic.Int64
			c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1) == 1 {
					tt.first(w, r)
				} else {
					tt.then(w, r)
				}
			}))
			tt.failed.URL, tt.failed.Own = parse(t, "https://site.test/a"), true
			tt.next.URL, tt.next.Own = tt.failed.URL, true
			if _, err := c.try(t, tt.failed); err == nil {
				t.Fatal("no error at first")
			}
			if tt.reads {
				c.read(t, "https://site.test/a")
			}
			if ans, err := c.try(t, tt.next); err != nil || ans.Page == nil {
				t.Errorf("%v, want the page", err)
			}
		})
	}
}
