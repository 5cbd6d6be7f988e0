package server_test

import (
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/page"
)

// TestURLHandlingIsAccepted goes through what was asked of the handling of URLs, a row a subtest, headed by its rules.
func TestURLHandlingIsAccepted(t *testing.T) {
	for _, group := range []struct {
		name string
		rows []acceptance
	}{
		{"cache", cacheRows},
		{"detection", detectionRows},
		{"classification", classificationRows},
		{"display", displayRows},
		{"choice of summary", choiceRows},
		{"URLContent", contentRows},
		{"extraction", extractionRows},
		{"service", serviceRows},
		{"GitHub", githubRows},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, row := range group.rows {
				t.Run(row.name, row.test)
			}
		})
	}
}

type acceptance struct {
	name string // rules, then what must hold
	test func(*testing.T)
}

// got is the page that a URL gives; it fails the test when it gives none.
func (w *world) got(t *testing.T, r api.FetchRequest) *page.Page {
	t.Helper()
	p, err := w.client.Fetch(t.Context(), r)
	if err != nil || p.Error != nil {
		t.Fatalf("fetch %s: %v, %+v", r.URL, err, p)
	}
	return p
}

// held is what get_url_content answers for the default session; "" where that is an error.
func (w *world) held(t *testing.T, raw string) string {
	t.Helper()
	p, err := w.client.ContextPage(t.Context(), "", raw)
	if err != nil {
		t.Fatal(err)
	}
	if (p.Error == nil) != (p.Content != "") {
		t.Errorf("%s: content %q with error %+v", raw, p.Content, p.Error)
	}
	return p.Content
}

const p1, p2 = "https://example.com/p/1", "https://example.com/p/2"

var cacheRows = []acceptance{
	{"B28 B29 set and get round trip, a miss gives nothing", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		p := w.got(t, api.FetchRequest{URL: p1})
		if _, err := w.client.Forget(t.Context(), "", p1); err != nil {
			t.Fatal(err)
		}
		if kept, err := w.client.Cached(t.Context(), p1, false); err != nil || !kept.Fresh {
			t.Errorf("%v, %+v, want it fresh", err, kept)
		}
		if got := w.held(t, p1); got != p.Content || p.FetchedAt.IsZero() {
			t.Errorf("%q at %v, want %q", got, p.FetchedAt, p.Content)
		}
		if got := w.held(t, p2); got != "" {
			t.Errorf("a miss gave %q", got)
		}
	}},
	{"B27 B28 expired gives nothing", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, func(rw http.ResponseWriter, r *http.Request) bool {
			rw.Header().Set("Age", "700") // older than it may become
			return manyPages(rw, r)
		}, nil, nil)
		w.got(t, api.FetchRequest{URL: p1})
		if _, err := w.client.Forget(t.Context(), "", p1); err != nil {
			t.Fatal(err)
		}
		if got := w.held(t, p1); got != "" {
			t.Errorf("it gave %q", got)
		}
		if kept, err := w.client.Cached(t.Context(), p1, false); err != nil || len(kept.Entries) != 1 || kept.Fresh {
			t.Errorf("%v, %+v, want it kept for validation, and no answer", err, kept)
		}
	}},
	{"B30 B40 invalidate removes and says whether found", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		addr := w.listen(t)
		w.got(t, api.FetchRequest{URL: p1})
		for _, want := range []bool{true, false} {
			if got, failure := rpc[struct{ Found bool }](t, addr, "LLM.invalidate_url_cache", p1); failure != nil ||
				got.Found != want {
				t.Errorf("found %v, %+v, want %v", got.Found, failure, want)
			}
		}
	}},
	{"B31 B41 clear removes all and counts", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		addr := w.listen(t)
		w.got(t, api.FetchRequest{URL: p1})
		w.got(t, api.FetchRequest{URL: p2})
		for _, want := range []int{2, 0} {
			if got, failure := rpc[struct{ Count int }](t, addr, "LLM.clear_url_cache"); failure != nil || got.Count != want {
				t.Errorf("count %d, %+v, want %d", got.Count, failure, want)
			}
		}
		if w.held(t, p1) != "" || w.held(t, p2) != "" {
			t.Error("something is left")
		}
	}},
	{"B32 cleanup counts expired and corrupt entries removed", func(t *testing.T) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			s := openStore(t, dir)
			for _, uri := range []string{"https://a.test/expired", "https://a.test/corrupt", "https://a.test/good"} {
				retain := time.Now().Add(time.Hour)
				if strings.HasSuffix(uri, "good") {
					retain = time.Now().Add(100 * time.Hour)
				}
				putResponse(t, s, uri, retain)
			}
			closeStore(t, s)
			corrupt(t, dir, "https://a.test/corrupt")
			time.Sleep(3 * time.Hour) // open, it would look for work many times in each second
			s = openStore(t, dir)
			if n, err := s.Sweep(t.Context()); err != nil || n != 2 {
				t.Errorf("%d went, %v, want 2", n, err)
			}
			if list, err := s.Responses("https://a.test/good"); err != nil || len(list) != 1 {
				t.Errorf("what is neither: %v, %v", list, err)
			}
			closeStore(t, s)
		})
	}},
	{"B32 cleanup when asked removes what is stale, though it could be validated", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, func(rw http.ResponseWriter, r *http.Request) bool {
			rw.Header().Set("ETag", `"a"`)
			if strings.HasSuffix(r.URL.Path, "/1") {
				rw.Header().Set("Age", "700") // older than it may become
			}
			return manyPages(rw, r)
		}, nil, nil)
		w.got(t, api.FetchRequest{URL: p1})
		w.got(t, api.FetchRequest{URL: p2})
		for _, want := range []int{1, 0} {
			if n, err := w.client.SweepCache(t.Context()); err != nil || n.Removed != want {
				t.Errorf("%+v went, %v, want %d", n, err, want)
			}
		}
		for uri, want := range map[string]int{p1: 0, p2: 1} {
			if kept, err := w.client.Cached(t.Context(), uri, false); err != nil || len(kept.Entries) != want {
				t.Errorf("%s: %+v stored, %v, want %d", uri, kept, err, want)
			}
		}
		if pages, err := w.client.Pages(t.Context(), api.PageQuery{}); err != nil || len(pages.Pages) != 2 {
			t.Errorf("pages: %+v, %v, want both", pages, err)
		}
	}},
	{"B28 a corrupt entry is cleaned up and gives nothing", func(t *testing.T) {
		t.Helper()
		dir := t.TempDir()
		s := openStore(t, dir)
		putResponse(t, s, p1, time.Now().Add(100*time.Hour))
		closeStore(t, s)
		corrupt(t, dir, p1)
		s = openStore(t, dir)
		if list, err := s.Responses(p1); err != nil || len(list) != 0 || s.Health().Damaged != 1 {
			t.Errorf("%v, %v, %d damaged, want nothing and 1", list, err, s.Health().Damaged)
		}
		closeStore(t, s)
		s = openStore(t, dir)
		if list, err := s.Responses(p1); err != nil || len(list) != 0 || s.Health().Damaged != 0 {
			t.Errorf("%v, %v, %d damaged, want it gone for good", list, err, s.Health().Damaged)
		}
		closeStore(t, s)
	}},
	{"B26 the hash of a URL is deterministic, has 16 digits and differs between URLs", func(t *testing.T) {
		t.Helper()
		one, again, two := page.New(parsed(t, p1)).Doc, page.New(parsed(t, p1)).Doc, page.New(parsed(t, p2)).Doc
		if one != again || one == two || len(one) != 16 || strings.Trim(one, "0123456789abcdef") != "" {
			t.Errorf("%s, %s and %s", one, again, two)
		}
	}},
	{"B25 the directory is made by itself", func(t *testing.T) {
		t.Helper()
		s := openStore(t, path.Join(t.TempDir(), "a", "b"))
		closeStore(t, s)
	}},
	{"B6 a summary is added to a cached entry without fetching the source again", func(t *testing.T) {
		t.Helper()
		var asked atomic.Int64
		w := newWorldOver(t, manyPages, nil, withModel(t, &asked))
		addr := w.listen(t)
		first, failure := rpc[server.URLResult](t, addr, "LLM.fetch_url", p1)
		if failure != nil || first.Cached || first.Summary != "" {
			t.Fatalf("first: %+v, %+v", first, failure)
		}
		for range 2 {
			got, failure := rpc[server.URLResult](t, addr, "LLM.fetch_url", p1, true, true)
			if failure != nil || !got.Cached || got.Summary != modelSays || got.SummaryType != "brief" ||
				got.Content.Content != first.Content.Content {
				t.Errorf("with a summary: %+v, %+v", got, failure)
			}
		}
		if later, failure := rpc[server.URLResult](t, addr, "LLM.fetch_url", p1); failure != nil ||
			later.Summary != modelSays {
			t.Errorf("a hit that has a summary: %+v, %+v", later, failure)
		}
		if w.asked.Load() != 1 || asked.Load() != 1 {
			t.Errorf("the origin was asked %d times and the model %d times, want once each", w.asked.Load(), asked.Load())
		}
	}},
}
