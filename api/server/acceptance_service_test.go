package server_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/internal/symbols"
	"github.com/readthru/readthru/page"
)

var serviceRows = []acceptance{
	{"B44 detect_urls classifies", func(t *testing.T) {
		t.Helper()
		got, failure := rpc[[]page.Detected](t, newWorld(t, nil).listen(t), "LLM.detect_urls",
			"https://github.com/acme/tool and https://a.test/docs/x")
		want := []page.Detected{
			{URL: "https://github.com/acme/tool", Type: page.GitHubRepo, Display: "acme/tool"},
			{URL: "https://a.test/docs/x", Type: page.Documentation, Display: "a.test/docs/x"},
		}
		if diff := cmp.Diff(want, got); diff != "" || failure != nil {
			t.Errorf("%+v (-want +got):\n%s", failure, diff)
		}
	}},
	{"B9 B44 detect_and_fetch answers for all URLs of a text", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		var text strings.Builder
		for i := range 6 {
			fmt.Fprintf(&text, "https://example.com/p/%d, ", i)
		}
		got, failure := rpc[[]server.URLResult](t, w.listen(t), "LLM.detect_and_fetch",
			text.String()+"https://example.com/p/gone")
		if failure != nil || len(got) != 7 || got[6].Content.Error == nil {
			t.Fatalf("%+v, %+v", got, failure)
		}
		for i, r := range got[:6] {
			if r.Content.Title != fmt.Sprint("Page ", i) || r.Content.Content == "" {
				t.Errorf("answer %d: %+v", i, r.Content)
			}
		}
	}},
	{"B38 get_url_content is an error if never fetched", func(t *testing.T) {
		t.Helper()
		_, failure := rpc[page.Page](t, newWorld(t, nil).listen(t), "LLM.get_url_content", p1)
		if failure == nil || failure.Code != -32000 || failure.Data == nil || failure.Data.URL != p1 ||
			failure.Data.Error == nil || failure.Data.Error.Kind != "not_fetched" {
			t.Errorf("%+v", failure)
		}
	}},
	{"B38 get_url_content is the content if fetched", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		p := w.got(t, api.FetchRequest{URL: p1})
		if _, err := w.store.ClearResponses(); err != nil { // the set alone has it
			t.Fatal(err)
		}
		if got, failure := rpc[page.Page](t, w.listen(t), "LLM.get_url_content", p1); failure != nil ||
			got.Content != p.Content || got.Title != p.Title {
			t.Errorf("%+v, %+v", got, failure)
		}
	}},
	{"B38 get_url_content falls back to the cache", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		addr := w.listen(t)
		p := w.got(t, api.FetchRequest{URL: p1, Session: "another"})
		if got, failure := rpc[page.Page](t, addr, "LLM.get_url_content", p1); failure != nil || got.Content != p.Content ||
			w.asked.Load() != 1 {
			t.Errorf("%+v, %+v, origin asked %d times", got, failure, w.asked.Load())
		}
	}},
	{"B40 invalidate removes from cache and set", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		w.got(t, api.FetchRequest{URL: p1})
		w.got(t, api.FetchRequest{URL: p2})
		if gone, err := w.client.Uncache(t.Context(), api.Selection{URL: p1}); err != nil || gone.Removed != 1 ||
			gone.Fetched != 1 {
			t.Errorf("%v, %+v", err, gone)
		}
		if w.held(t, p1) != "" || w.held(t, p2) == "" {
			t.Error("the one is there, or the other is not")
		}
		if again := w.got(t, api.FetchRequest{URL: p1}); again.FromCache {
			t.Error("the next fetch came from the cache")
		}
	}},
	{"B41 clear removes all of both", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		w.got(t, api.FetchRequest{URL: p1})
		w.got(t, api.FetchRequest{URL: p2, Session: "another"})
		if gone, err := w.client.ClearCache(t.Context()); err != nil || gone.Removed != 2 || gone.Fetched != 2 {
			t.Errorf("%v, %+v", err, gone)
		}
		if slices.Concat(urlsOf(t, w.client, ""), urlsOf(t, w.client, "another")) != nil || w.held(t, p1) != "" {
			t.Error("something is left")
		}
		if list, err := w.client.Pages(t.Context(), api.PageQuery{}); err != nil || len(list.Pages) != 2 {
			t.Errorf("%v, %+v, want the pages kept (rule B32)", err, list)
		}
	}},
	{"B39 remove_fetched removes from the set only", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		addr := w.listen(t)
		w.got(t, api.FetchRequest{URL: p1})
		for _, want := range []bool{true, false} {
			if got, failure := rpc[struct{ Found bool }](t, addr, "LLM.remove_fetched_url", p1); failure != nil ||
				got.Found != want {
				t.Errorf("found %v, %+v, want %v", got.Found, failure, want)
			}
		}
		if again := w.got(t, api.FetchRequest{URL: p1}); !again.FromCache {
			t.Error("the cache did not keep it")
		}
	}},
	{"B42 get_fetched_urls is empty at first, and after remove_fetched and clear_fetched", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		if got := urlsOf(t, w.client, ""); got != nil {
			t.Errorf("at first: %v", got)
		}
		for _, raw := range []string{p1, p2, "https://example.com/p/3"} {
			w.got(t, api.FetchRequest{URL: raw})
		}
		if _, err := w.client.Forget(t.Context(), "", p1); err != nil ||
			!slices.Equal(urlsOf(t, w.client, ""), []string{"2", "3"}) {
			t.Errorf("after remove_fetched: %v, %v", err, urlsOf(t, w.client, ""))
		}
		if gone, err := w.client.ForgetAll(t.Context(), ""); err != nil || gone.Removed != 2 ||
			urlsOf(t, w.client, "") != nil {
			t.Errorf("after clear_fetched: %v, %+v, %v", err, gone, urlsOf(t, w.client, ""))
		}
	}},
	{"B43 format_url_context joins with a separator, leaves out excluded URLs and errors", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		for _, raw := range []string{p1, p2, "https://example.com/p/3"} {
			w.got(t, api.FetchRequest{URL: raw})
		}
		got, err := w.client.ContextText(t.Context(),
			api.ContextQuery{
				URLs:    []string{"https://example.com/p/3", "https://example.com/p/never", p2, p1, p1},
				Exclude: []string{p2}, MaxChars: 8,
			})
		want := "URL: https://example.com/p/3\nTitle: Page 3\n\n# Page 3...\n\n---\n\nURL: https://example.com/p/1\nTitle: Page 1\n\n# Page 1..."
		if err != nil || got.Text != want || !slices.Equal(got.LeftOut, []string{"https://example.com/p/never"}) ||
			!slices.Equal(got.URLs, []string{"https://example.com/p/3", p1}) {
			t.Errorf("%v, %+v", err, got)
		}
	}},
	{"B5 B7 fetch uses the cache", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		addr := w.listen(t)
		for _, tt := range []struct{ useCache, cached bool }{{true, false}, {true, true}, {false, false}} {
			if got, failure := rpc[server.URLResult](t, addr, "LLM.fetch_url", p1, tt.useCache); failure != nil ||
				got.Cached != tt.cached {
				t.Errorf("use_cache %v: cached %v, %+v, want %v", tt.useCache, got.Cached, failure, tt.cached)
			}
		}
		if w.asked.Load() != 2 {
			t.Errorf("the origin was asked %d times, want 2", w.asked.Load())
		}
	}},
	{"B16 B17 web page fetch", func(t *testing.T) {
		t.Helper()
		got, failure := rpc[server.URLResult](t, newWorldOver(t, manyPages, nil, nil).listen(t), "LLM.fetch_url", p1)
		if failure != nil || got.Content.Type != page.Web || got.Content.Title != "Page 1" ||
			!strings.HasPrefix(got.Content.Content, "# Page 1\n") {
			t.Errorf("%+v, %+v", got.Content, failure)
		}
	}},
	{"X6 errors are not cached", func(t *testing.T) {
		t.Helper()
		var works atomic.Bool
		w := newWorldOver(t, func(rw http.ResponseWriter, r *http.Request) bool {
			if !works.Load() {
				http.Error(rw, "later", http.StatusBadGateway)
				return true
			}
			return manyPages(rw, r)
		}, nil, nil)
		addr := w.listen(t)
		_, failure := rpc[server.URLResult](t, addr, "LLM.fetch_url", p1)
		if failure == nil || failure.Code != -32000 || failure.Message != "HTTP 502 fetching "+p1 ||
			failure.Data.Error.Kind != "http" {
			t.Fatalf("%+v", failure)
		}
		if w.held(t, p1) != "" || urlsOf(t, w.client, "") != nil {
			t.Error("the error is kept")
		}
		works.Store(true)
		if got, failure := rpc[server.URLResult](t, addr, "LLM.fetch_url", p1, false); failure != nil || got.Cached ||
			got.Content.Title != "Page 1" {
			t.Errorf("afterwards: %+v, %+v", got, failure)
		}
	}},
	{"B20 B24 the summary of a model is attached", func(t *testing.T) {
		t.Helper()
		var asked atomic.Int64
		w := newWorldOver(t, manyPages, nil, withModel(t, &asked))
		p := w.got(t, api.FetchRequest{URL: p1, Summary: "auto", Hint: "compare it with others"})
		if p.Summary != modelSays || p.SummaryType != "evaluation" || p.Info.LLMModel != "m" || p.Info.LLMTotalTokens != 15 ||
			asked.Load() != 1 {
			t.Errorf("%q, %s, %+v, model asked %d times", p.Summary, p.SummaryType, p.Info, asked.Load())
		}
		if list, err := w.client.Context(t.Context(), "", p1); err != nil || list.Pages[0].Summary != modelSays {
			t.Errorf("in the set: %v, %+v", err, list)
		}
	}},
	{"B24 without a model the summary is an extract, and says so", func(t *testing.T) {
		t.Helper()
		p := newWorldOver(t, manyPages, nil, nil).got(t, api.FetchRequest{URL: p1, Summary: "brief"})
		if !strings.Contains(p.Summary, "A cache keeps what an origin said") ||
			!slices.Contains(p.Warnings, summary.WarnExtractive) {
			t.Errorf("%q, %v", p.Summary, p.Warnings)
		}
	}},
	{"B8 three URLs per message", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		got, err := w.client.DetectAndFetch(t.Context(),
			api.DetectRequest{Text: p1 + " " + p2 + " https://example.com/p/3 https://example.com/p/4"})
		if err != nil || len(got.Pages) != 3 || got.Left != 1 || w.asked.Load() != 3 {
			t.Errorf("%v, %d pages, %d left, origin asked %d times", err, len(got.Pages), got.Left, w.asked.Load())
		}
	}},
}

// keeping returns a maker that keeps the summaries it makes.
func keeping() *summary.Maker {
	var mu sync.Mutex
	kept := map[string][]summary.Summary{}
	return summary.New(summary.Options{
		Kept: func(p *page.Page) []summary.Summary {
			mu.Lock()
			defer mu.Unlock()
			return kept[p.ContentHash]
		},
		Keep: func(p *page.Page, s summary.Summary) error {
			mu.Lock()
			defer mu.Unlock()
			kept[p.ContentHash] = append(kept[p.ContentHash], s)
			return nil
		},
		Content: func(p *page.Page) (string, bool) { return p.Content, p.ContentFormat == "markdown" },
	})
}

var githubRows = []acceptance{
	{"B14 file of main that is on master", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, func(rw http.ResponseWriter, r *http.Request) bool {
			if r.Host != "raw.example.com" || r.URL.Path != "/acme/tool/master/lib/a.go" {
				return false
			}
			rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(rw, "package lib\n\nfunc A() {}\n")
			return true
		}, onExample, nil)
		p := w.got(t, api.FetchRequest{URL: "https://github.com/acme/tool/blob/main/lib/a.go"})
		if !strings.Contains(p.Content, "func A() {}") || p.Title != "a.go" || p.Type != page.GitHubFile || p.GitHub == nil ||
			p.GitHub.Path != "lib/a.go" {
			t.Errorf("%q, %+v", p.Content, p)
		}
	}},
	{"B11 README order md, rst, txt, plain", func(t *testing.T) {
		t.Helper()
		names := []string{"Readme.MD", "readme.rst", "README.txt", "README"}
		for i := range names {
			files := map[string]string{"src/README.md": "Of a folder below.\n"}
			for _, name := range names[i:] {
				files[name] = "This is what " + name + " tells of the tool.\n"
			}
			w := newWorldOver(t, archive(files), onExample, nil)
			p := w.got(t, api.FetchRequest{URL: "https://github.com/acme/tool"})
			if !strings.Contains(p.Readme, "what "+names[i]+" tells") {
				t.Errorf("of %v: %q", names[i:], p.Readme)
			}
		}
	}},
	{"B12 B13 symbol map leaves out hidden folders and node_modules", func(t *testing.T) {
		t.Helper()
		e := symbols.New(symbols.Options{})
		t.Cleanup(func() { _ = e.Close() })
		w := newWorldOver(t, archive(map[string]string{
			"README.md": "# Tool\n", "lib/a.go": "package lib\n\n// Shown is.\nfunc Shown() {}\n",
			".hidden/b.go": "package hidden\n\nfunc Hidden() {}\n", "node_modules/c.go": "package c\n\nfunc Module() {}\n",
		}), func(o *fetch.Options) { onExample(o); o.Symbols = e }, func(o *server.Options) { o.Summary = keeping() })
		p := w.got(t, api.FetchRequest{URL: "https://github.com/acme/tool"})
		if !strings.Contains(p.SymbolMap, "Shown") || strings.Contains(p.SymbolMap, "Hidden") ||
			strings.Contains(p.SymbolMap, "Module") {
			t.Errorf("symbol map: %s", p.SymbolMap)
		}
		if s, err := w.client.Fetch(t.Context(),
			api.FetchRequest{URL: "https://github.com/acme/tool", Summary: "auto"}); err != nil ||
			s.SummaryType != "architecture" || !s.FromCache {
			t.Errorf("%v, summary %s, from cache %v, want that of a repository with symbols (rule B21)", err, s.SummaryType,
				s.FromCache)
		}
		if kept, err := w.client.Page(t.Context(), p.Doc); err != nil || kept.SymbolMap != p.SymbolMap ||
			kept.Readme != p.Readme || kept.Readme == "" || kept.SummaryType != "architecture" {
			t.Errorf("the page from the store: %v, readme %q, map %q, summary %s (rule B33)", err, kept.Readme, kept.SymbolMap,
				kept.SummaryType)
		}
		if hit := w.got(t, api.FetchRequest{URL: "https://github.com/acme/tool"}); !hit.FromCache || hit.Summary == "" {
			t.Errorf("a hit came without the kept summary (rule B6): %+v", hit)
		}
		if gone, err := w.client.Uncache(t.Context(), api.Selection{URL: "https://github.com/acme/tool"}); err != nil ||
			gone.Removed == 0 || gone.Fetched != 1 {
			t.Errorf("invalidate (rule B40): %v, %+v", err, gone)
		}
		if again := w.got(t, api.FetchRequest{URL: "https://github.com/acme/tool"}); again.FromCache {
			t.Error("it came from the cache after it was invalidated (rule B40)")
		}
	}},
	{"B34 a repository as a prompt is its readme and its map", func(t *testing.T) {
		t.Helper()
		e := symbols.New(symbols.Options{})
		t.Cleanup(func() { _ = e.Close() })
		w := newWorldOver(t, archive(map[string]string{
			"README.md": "# Tool\n\nIt does things.\n",
			"a.go":      "package a\n\nfunc Shown() {}\n",
		}), func(o *fetch.Options) { onExample(o); o.Symbols = e }, nil)
		p := w.got(t, api.FetchRequest{URL: "https://github.com/acme/tool", Format: "prompt"})
		if !strings.HasPrefix(p.Content, "URL: https://github.com/acme/tool\nTitle: ") ||
			!strings.Contains(p.Content, "\n\n# Tool\n\nIt does things.\n\n```\n") || !strings.HasSuffix(p.Content, "\n```\n") {
			t.Errorf("%q", p.Content)
		}
	}},
}
