package api_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"

	"readthru/api"
	"readthru/convert"
	"readthru/fetch"
	"readthru/llm"
	"readthru/page"
	"readthru/store"
	"readthru/summary"
	"readthru/symbols"
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
	p, err := w.server.Fetch(t.Context(), r)
	if err != nil || p.Error != nil {
		t.Fatalf("fetch %s: %v, %+v", r.URL, err, p)
	}
	return p
}

// held is what get_url_content answers for the default session; "" where that is an error.
func (w *world) held(t *testing.T, raw string) string {
	t.Helper()
	p, err := w.server.URLContent(t.Context(), "", raw)
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
		if _, err := w.server.Forget(t.Context(), "", p1); err != nil {
			t.Fatal(err)
		}
		if kept, err := w.server.Cached(t.Context(), p1); err != nil || !kept.Fresh {
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
		if _, err := w.server.Forget(t.Context(), "", p1); err != nil {
			t.Fatal(err)
		}
		if got := w.held(t, p1); got != "" {
			t.Errorf("it gave %q", got)
		}
		if kept, err := w.server.Cached(t.Context(), p1); err != nil || len(kept.Entries) != 1 || kept.Fresh {
			t.Errorf("%v, %+v, want it kept for validation, and no answer", err, kept)
		}
	}},
	{"B30 B40 invalidate removes and says whether found", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		addr := w.listen(t)
		w.got(t, api.FetchRequest{URL: p1})
		for _, want := range []bool{true, false} {
			if got, failure := rpc[struct{ Found bool }](t, addr, "LLM.invalidate_url_cache", p1); failure != nil || got.Found != want {
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
			s = openStore(t, dir)
			time.Sleep(3 * time.Hour)
			if n, err := s.Sweep(t.Context()); err != nil || n != 2 {
				t.Errorf("%d went, %v, want 2", n, err)
			}
			if list, err := s.Responses("https://a.test/good"); err != nil || len(list) != 1 {
				t.Errorf("what is neither: %v, %v", list, err)
			}
			closeStore(t, s)
		})
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
		first, failure := rpc[api.URLResult](t, addr, "LLM.fetch_url", p1)
		if failure != nil || first.Cached || first.Summary != "" {
			t.Fatalf("first: %+v, %+v", first, failure)
		}
		for range 2 {
			got, failure := rpc[api.URLResult](t, addr, "LLM.fetch_url", p1, true, true)
			if failure != nil || !got.Cached || got.Summary != modelSays || got.SummaryType != "brief" || got.Content.Content != first.Content.Content {
				t.Errorf("with a summary: %+v, %+v", got, failure)
			}
		}
		if later, failure := rpc[api.URLResult](t, addr, "LLM.fetch_url", p1); failure != nil || later.Summary != modelSays {
			t.Errorf("a hit that has a summary: %+v, %+v", later, failure)
		}
		if w.asked.Load() != 1 || asked.Load() != 1 {
			t.Errorf("the origin was asked %d times and the model %d times, want once each", w.asked.Load(), asked.Load())
		}
	}},
}

var detectionRows = []acceptance{
	{"B1 one URL", detects("Read https://a.test/x today", "https://a.test/x")},
	{"B1 several, in the text's order", detects("https://b.test/ before https://a.test/x", "https://b.test/", "https://a.test/x")},
	{"B1 duplicates once", detects("https://a.test/x and https://a.test/x", "https://a.test/x")},
	{"B1 trailing punctuation and comma stripped", detects("https://a.test/x, https://a.test/y. (https://a.test/z)! https://a.test/w?", "https://a.test/x", "https://a.test/y", "https://a.test/z", "https://a.test/w")},
	{"B1 no URL, nothing", detects("nothing to read here")},
	{"B1 http works", detects("http://a.test/x", "http://a.test/x")},
	{"B1 file:// refused", func(t *testing.T) {
		t.Helper()
		detects("file:///etc/passwd")(t)
		w := newWorld(t, nil)
		if _, err := w.server.Fetch(t.Context(), api.FetchRequest{URL: "file:///etc/passwd"}); statusOf(err) != http.StatusBadRequest {
			t.Errorf("a fetch of it: %v, want 400", err)
		}
	}},
	{"B3 raw.githubusercontent.com is a GitHub file", classifies("https://raw.githubusercontent.com/acme/tool/main/lib/a.go", page.GitHubFile, &page.GitHubInfo{Owner: "acme", Repo: "tool", Branch: "main", Path: "lib/a.go"})},
}

var classificationRows = []acceptance{
	{"B2 repository", classifies("https://github.com/acme/tool", page.GitHubRepo, &page.GitHubInfo{Owner: "acme", Repo: "tool"})},
	{"B2 repository with trailing slash", classifies("https://github.com/acme/tool/", page.GitHubRepo, &page.GitHubInfo{Owner: "acme", Repo: "tool"})},
	{"B2 repository with .git", classifies("https://github.com/acme/tool.git", page.GitHubRepo, &page.GitHubInfo{Owner: "acme", Repo: "tool"})},
	{"B2 file", classifies("https://github.com/acme/tool/blob/main/lib/a.go", page.GitHubFile, &page.GitHubInfo{Owner: "acme", Repo: "tool", Branch: "main", Path: "lib/a.go"})},
	{"B2 issue", classifies("https://github.com/acme/tool/issues/42", page.GitHubIssue, &page.GitHubInfo{Owner: "acme", Repo: "tool", IssueNumber: 42})},
	{"B2 pull request", classifies("https://github.com/acme/tool/pull/7", page.GitHubPR, &page.GitHubInfo{Owner: "acme", Repo: "tool", PRNumber: 7})},
	{"B36 repository and clone URL", func(t *testing.T) {
		t.Helper()
		g := page.GitHubInfo{Owner: "acme", Repo: "tool"}
		if g.RepoURL() != "https://github.com/acme/tool" || g.CloneURL() != "https://github.com/acme/tool.git" {
			t.Errorf("%s and %s", g.RepoURL(), g.CloneURL())
		}
	}},
	{"B4 documentation by known hosts", func(t *testing.T) {
		t.Helper()
		classifies("https://docs.python.org/3/library/re.html", page.Documentation, nil)(t)
		classifies("https://developer.mozilla.org/en-US/", page.Documentation, nil)(t)
	}},
	{"B4 documentation on readthedocs", classifies("https://tool.readthedocs.io/en/latest/", page.Documentation, nil)},
	{"B4 documentation by path", func(t *testing.T) {
		t.Helper()
		for _, p := range []string{"/docs/x", "/documentation/x", "/api/x", "/reference/x"} {
			classifies("https://a.test"+p, page.Documentation, nil)(t)
		}
	}},
	{"B2 unknown as fallback", classifies("ftp://a.test/x", page.Unknown, nil)},
	{"B2 web for other HTTP(S) URLs", func(t *testing.T) {
		t.Helper()
		classifies("https://a.test/x", page.Web, nil)(t)
		classifies("http://a.test/", page.Web, nil)(t)
	}},
}

var displayRows = []acceptance{
	{"B45 owner/repo", displays("https://github.com/acme/tool", "acme/tool")},
	{"B45 owner/repo/filename", displays("https://github.com/acme/tool/blob/main/lib/a.go", "acme/tool/a.go")},
	{"B45 owner/repo#N", displays("https://github.com/acme/tool/issues/42", "acme/tool#42")},
	{"B45 owner/repo!N", displays("https://github.com/acme/tool/pull/7", "acme/tool!7")},
	{"B45 hostname/path", displays("https://a.test/x/y", "a.test/x/y")},
	{"B45 long ones cut to 40", displays("https://a.test/"+strings.Repeat("long/", 20), "a.test/long/long/long/long/long/long/...")},
	{"B45 root URL without slash", displays("https://a.test/", "a.test")},
}

var choiceRows = []acceptance{
	{"B21 repository with symbols, ARCHITECTURE", chooses(page.Page{Type: page.GitHubRepo, SymbolMap: "a.go: A"}, "", summary.Architecture)},
	{"B21 repository without, BRIEF", chooses(page.Page{Type: page.GitHubRepo}, "", summary.Brief)},
	{"B21 documentation, USAGE", chooses(page.Page{Type: page.Documentation}, "", summary.Usage)},
	{"B21 generic, BRIEF", chooses(page.Page{Type: page.Web}, "", summary.Brief)},
	{"B22 how to, USAGE", chooses(page.Page{Type: page.Web}, "How to install it?", summary.Usage)},
	{"B22 api, API", chooses(page.Page{Type: page.Web}, "the API of it", summary.API)},
	{"B22 architecture, ARCHITECTURE", chooses(page.Page{Type: page.Web}, "its architecture", summary.Architecture)},
	{"B22 compare, EVALUATION", chooses(page.Page{Type: page.Documentation}, "compare it", summary.Evaluation)},
	{"B22 evaluate, EVALUATION", chooses(page.Page{Type: page.Documentation}, "evaluate it", summary.Evaluation)},
}

var contentRows = []acceptance{
	{"B34 header with URL and title", prompts(page.Page{URL: "https://a.test/x", Title: "T", Content: "text\n"}, "URL: https://a.test/x\nTitle: T\n\ntext\n")},
	{"B34 summary before content", prompts(page.Page{URL: "u", Summary: "short", Readme: "readme", Content: "text"}, "URL: u\n\nshort\n")},
	{"B34 readme as fallback", prompts(page.Page{URL: "u", Readme: "readme", Content: "readme and files"}, "URL: u\n\nreadme\n")},
	{"B34 symbol map in a code block", prompts(page.Page{URL: "u", Content: "text", SymbolMap: "a.go: A `` B"}, "URL: u\n\ntext\n\n```\na.go: A `` B\n```\n")},
	{"B34 no symbol map closes its block", prompts(page.Page{URL: "u", Content: "text", SymbolMap: "```"}, "URL: u\n\ntext\n\n````\n```\n````\n")},
	{"B34 cut at 4000 with ellipsis", func(t *testing.T) {
		t.Helper()
		got := api.Prompt(&page.Page{URL: "u", Content: strings.Repeat("ö", 4001), SymbolMap: strings.Repeat("ü", 4001)}, 0)
		if want := "URL: u\n\n" + strings.Repeat("ö", 4000) + "...\n\n```\n" + strings.Repeat("ü", 4000) + "...\n```\n"; got != want {
			t.Errorf("%d characters", utf8.RuneCountInString(got))
		}
		if got := api.Prompt(&page.Page{URL: "u", Content: strings.Repeat("ö", 4000)}, 0); strings.Contains(got, "...") {
			t.Error("an ellipsis where nothing was cut")
		}
	}},
	{"B33 serialising keeps all fields", func(t *testing.T) {
		t.Helper()
		whole := filled(t, reflect.TypeFor[page.Page]()).Interface().(page.Page)
		b, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		var back page.Page
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole, back); diff != "" || back.GitHub == nil || back.GitHub.PRNumber == 0 {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}},
}

var extractionRows = []acceptance{
	{"B17 title and metadata", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, html("text/html; charset=utf-8", `<!doctype html><html lang="en"><head><title>Of quinces</title><meta name="description" content="How to keep quinces.">
			<meta name="author" content="A. Gardener"><meta property="article:published_time" content="2024-05-06T07:08:09Z"></head>`+quinces), nil, nil)
		p := w.got(t, api.FetchRequest{URL: p1})
		if p.Title != "Of quinces" || p.Description != "How to keep quinces." || p.Meta["author"] != "A. Gardener" || !strings.HasPrefix(p.Meta["date"], "2024-05-06") {
			t.Errorf("%q, %q, %v", p.Title, p.Description, p.Meta)
		}
	}},
	{"B18 scripts and styles stripped, whitespace clean", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, html("text/html; charset=utf-8", `<title>Q</title><style>.x{color:red}</style><script>alert(1)</script>`+strings.ReplaceAll(quinces, " ", "  \t\n ")), nil, nil)
		p := w.got(t, api.FetchRequest{URL: p1})
		for _, bad := range []string{"alert", "color", "  ", "\t", "\n\n\n"} {
			if strings.Contains(p.Content, bad) {
				t.Errorf("%q in %q", bad, p.Content)
			}
		}
		if text := convert.Text(p.Content); !strings.Contains(text, "A quince keeps for months") {
			t.Errorf("text: %q", text)
		}
	}},
	{"B16 charset from HTTP fields", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, html("text/html; charset=iso-8859-1", "<title>Q</title>"+strings.ReplaceAll(quinces, "quince", "Qu\xeette")), nil, nil)
		if p := w.got(t, api.FetchRequest{URL: p1}); !strings.Contains(p.Content, "A Quîtte keeps") {
			t.Errorf("%q", p.Content)
		}
	}},
}

var serviceRows = []acceptance{
	{"B44 detect_urls classifies", func(t *testing.T) {
		t.Helper()
		got, failure := rpc[[]page.Detected](t, newWorld(t, nil).listen(t), "LLM.detect_urls", "https://github.com/acme/tool and https://a.test/docs/x")
		want := []page.Detected{{URL: "https://github.com/acme/tool", Type: page.GitHubRepo, Display: "acme/tool"}, {URL: "https://a.test/docs/x", Type: page.Documentation, Display: "a.test/docs/x"}}
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
		got, failure := rpc[[]api.URLResult](t, w.listen(t), "LLM.detect_and_fetch", text.String()+"https://example.com/p/gone")
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
		if failure == nil || failure.Code != -32000 || failure.Data == nil || failure.Data.URL != p1 || failure.Data.Error == nil || failure.Data.Error.Kind != "not_fetched" {
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
		if got, failure := rpc[page.Page](t, w.listen(t), "LLM.get_url_content", p1); failure != nil || got.Content != p.Content || got.Title != p.Title {
			t.Errorf("%+v, %+v", got, failure)
		}
	}},
	{"B38 get_url_content falls back to the cache", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		addr := w.listen(t)
		p := w.got(t, api.FetchRequest{URL: p1, Session: "another"})
		if got, failure := rpc[page.Page](t, addr, "LLM.get_url_content", p1); failure != nil || got.Content != p.Content || w.asked.Load() != 1 {
			t.Errorf("%+v, %+v, origin asked %d times", got, failure, w.asked.Load())
		}
	}},
	{"B40 invalidate removes from cache and set", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		w.got(t, api.FetchRequest{URL: p1})
		w.got(t, api.FetchRequest{URL: p2})
		if gone, err := w.server.Uncache(t.Context(), api.Selection{URL: p1}); err != nil || gone.Removed != 1 || gone.Fetched != 1 {
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
		if gone, err := w.server.ClearCache(t.Context()); err != nil || gone.Removed != 2 || gone.Fetched != 2 {
			t.Errorf("%v, %+v", err, gone)
		}
		if slices.Concat(urlsOf(t, w.server, ""), urlsOf(t, w.server, "another")) != nil || w.held(t, p1) != "" {
			t.Error("something is left")
		}
		if list, err := w.server.Pages(t.Context(), api.PageQuery{}); err != nil || len(list.Pages) != 2 {
			t.Errorf("%v, %+v, want the pages kept (B32)", err, list)
		}
	}},
	{"B39 remove_fetched removes from the set only", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		addr := w.listen(t)
		w.got(t, api.FetchRequest{URL: p1})
		for _, want := range []bool{true, false} {
			if got, failure := rpc[struct{ Found bool }](t, addr, "LLM.remove_fetched_url", p1); failure != nil || got.Found != want {
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
		if got := urlsOf(t, w.server, ""); got != nil {
			t.Errorf("at first: %v", got)
		}
		for _, raw := range []string{p1, p2, "https://example.com/p/3"} {
			w.got(t, api.FetchRequest{URL: raw})
		}
		if _, err := w.server.Forget(t.Context(), "", p1); err != nil || !slices.Equal(urlsOf(t, w.server, ""), []string{"2", "3"}) {
			t.Errorf("after remove_fetched: %v, %v", err, urlsOf(t, w.server, ""))
		}
		if gone, err := w.server.ForgetAll(t.Context(), ""); err != nil || gone.Removed != 2 || urlsOf(t, w.server, "") != nil {
			t.Errorf("after clear_fetched: %v, %+v, %v", err, gone, urlsOf(t, w.server, ""))
		}
	}},
	{"B43 format_url_context joins with a separator, leaves out excluded URLs and errors", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		for _, raw := range []string{p1, p2, "https://example.com/p/3"} {
			w.got(t, api.FetchRequest{URL: raw})
		}
		got, err := w.server.ContextText(t.Context(), api.ContextQuery{URLs: []string{"https://example.com/p/3", "https://example.com/p/never", p2, p1, p1}, Exclude: []string{p2}, MaxChars: 8})
		want := "URL: https://example.com/p/3\nTitle: Page 3\n\n# Page 3...\n\n---\n\nURL: https://example.com/p/1\nTitle: Page 1\n\n# Page 1..."
		if err != nil || got.Text != want || !slices.Equal(got.LeftOut, []string{"https://example.com/p/never"}) || !slices.Equal(got.URLs, []string{"https://example.com/p/3", p1}) {
			t.Errorf("%v, %+v", err, got)
		}
	}},
	{"B5 B7 fetch uses the cache", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		addr := w.listen(t)
		for _, tt := range []struct{ useCache, cached bool }{{true, false}, {true, true}, {false, false}} {
			if got, failure := rpc[api.URLResult](t, addr, "LLM.fetch_url", p1, tt.useCache); failure != nil || got.Cached != tt.cached {
				t.Errorf("use_cache %v: cached %v, %+v, want %v", tt.useCache, got.Cached, failure, tt.cached)
			}
		}
		if w.asked.Load() != 2 {
			t.Errorf("the origin was asked %d times, want 2", w.asked.Load())
		}
	}},
	{"B16 B17 web page fetch", func(t *testing.T) {
		t.Helper()
		got, failure := rpc[api.URLResult](t, newWorldOver(t, manyPages, nil, nil).listen(t), "LLM.fetch_url", p1)
		if failure != nil || got.Content.Type != page.Web || got.Content.Title != "Page 1" || !strings.HasPrefix(got.Content.Content, "# Page 1\n") {
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
		_, failure := rpc[api.URLResult](t, addr, "LLM.fetch_url", p1)
		if failure == nil || failure.Code != -32000 || failure.Message != "HTTP 502 fetching "+p1 || failure.Data.Error.Kind != "http" {
			t.Fatalf("%+v", failure)
		}
		if w.held(t, p1) != "" || urlsOf(t, w.server, "") != nil {
			t.Error("the error is kept")
		}
		works.Store(true)
		if got, failure := rpc[api.URLResult](t, addr, "LLM.fetch_url", p1, false); failure != nil || got.Cached || got.Content.Title != "Page 1" {
			t.Errorf("afterwards: %+v, %+v", got, failure)
		}
	}},
	{"B20 B24 the summary of a model is attached", func(t *testing.T) {
		t.Helper()
		var asked atomic.Int64
		w := newWorldOver(t, manyPages, nil, withModel(t, &asked))
		p := w.got(t, api.FetchRequest{URL: p1, Summary: "auto", Hint: "compare it with others"})
		if p.Summary != modelSays || p.SummaryType != "evaluation" || p.Info.LLMModel != "m" || p.Info.LLMTotalTokens != 15 || asked.Load() != 1 {
			t.Errorf("%q, %s, %+v, model asked %d times", p.Summary, p.SummaryType, p.Info, asked.Load())
		}
		if list, err := w.server.Context(t.Context(), "", p1); err != nil || list.Pages[0].Summary != modelSays {
			t.Errorf("in the set: %v, %+v", err, list)
		}
	}},
	{"B24 without a model the summary is an extract, and says so", func(t *testing.T) {
		t.Helper()
		p := newWorldOver(t, manyPages, nil, nil).got(t, api.FetchRequest{URL: p1, Summary: "brief"})
		if !strings.Contains(p.Summary, "A cache keeps what an origin said") || !slices.Contains(p.Warnings, summary.WarnExtractive) {
			t.Errorf("%q, %v", p.Summary, p.Warnings)
		}
	}},
	{"B8 three URLs per message", func(t *testing.T) {
		t.Helper()
		w := newWorldOver(t, manyPages, nil, nil)
		got, err := w.server.DetectAndFetch(t.Context(), api.DetectRequest{Text: p1 + " " + p2 + " https://example.com/p/3 https://example.com/p/4"})
		if err != nil || len(got.Pages) != 3 || got.Left != 1 || w.asked.Load() != 3 {
			t.Errorf("%v, %d pages, %d left, origin asked %d times", err, len(got.Pages), got.Left, w.asked.Load())
		}
	}},
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
		if !strings.Contains(p.Content, "func A() {}") || p.Title != "a.go" || p.Type != page.GitHubFile || p.GitHub == nil || p.GitHub.Path != "lib/a.go" {
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
			"README.md": "# Tool\n", "lib/a.go": "package lib\n\n// Shown is.\nfunc Shown() {}\n", ".hidden/b.go": "package hidden\n\nfunc Hidden() {}\n", "node_modules/c.go": "package c\n\nfunc Module() {}\n",
		}), func(o *fetch.Options) { onExample(o); o.Symbols = e }, nil)
		p := w.got(t, api.FetchRequest{URL: "https://github.com/acme/tool"})
		if !strings.Contains(p.SymbolMap, "Shown") || strings.Contains(p.SymbolMap, "Hidden") || strings.Contains(p.SymbolMap, "Module") {
			t.Errorf("symbol map: %s", p.SymbolMap)
		}
		if s, err := w.server.Fetch(t.Context(), api.FetchRequest{URL: "https://github.com/acme/tool", Summary: "auto"}); err != nil || s.SummaryType != "architecture" || !s.FromCache {
			t.Errorf("%v, summary %s, from cache %v, want that of a repository with symbols (B21)", err, s.SummaryType, s.FromCache)
		}
		if gone, err := w.server.Uncache(t.Context(), api.Selection{URL: "https://github.com/acme/tool"}); err != nil || gone.Removed == 0 || gone.Fetched != 1 {
			t.Errorf("invalidate (B40): %v, %+v", err, gone)
		}
		if again := w.got(t, api.FetchRequest{URL: "https://github.com/acme/tool"}); again.FromCache {
			t.Error("it came from the cache after it was invalidated (B40)")
		}
	}},
	{"B34 a repository as a prompt is its readme and its map", func(t *testing.T) {
		t.Helper()
		e := symbols.New(symbols.Options{})
		t.Cleanup(func() { _ = e.Close() })
		w := newWorldOver(t, archive(map[string]string{"README.md": "# Tool\n\nIt does things.\n", "a.go": "package a\n\nfunc Shown() {}\n"}), func(o *fetch.Options) { onExample(o); o.Symbols = e }, nil)
		p := w.got(t, api.FetchRequest{URL: "https://github.com/acme/tool", Format: "prompt"})
		if !strings.HasPrefix(p.Content, "URL: https://github.com/acme/tool\nTitle: ") || !strings.Contains(p.Content, "\n\n# Tool\n\nIt does things.\n\n```\n") || !strings.HasSuffix(p.Content, "\n```\n") {
			t.Errorf("%q", p.Content)
		}
	}},
}

func detects(text string, want ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		var got []string
		for _, d := range page.Detect(text) {
			got = append(got, d.URL)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
}

func classifies(raw string, want page.Type, info *page.GitHubInfo) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		p := page.New(parsed(t, raw))
		if p.Type != want {
			t.Errorf("%s is %s, want %s", raw, p.Type, want)
		}
		if diff := cmp.Diff(info, p.GitHub); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
}

func displays(raw, want string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if got := page.New(parsed(t, raw)).Display; got != want || utf8.RuneCountInString(got) > 40 {
			t.Errorf("%s is shown as %q, want %q", raw, got, want)
		}
	}
}

func chooses(p page.Page, hint string, want summary.Kind) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if got := summary.Choose(&p, hint); got != want {
			t.Errorf("hint %q: %s, want %s", hint, got, want)
		}
	}
}

func prompts(p page.Page, want string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		if diff := cmp.Diff(want, api.Prompt(&p, 0)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func parsed(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// filled returns a value of a type whose every field is something.
func filled(t *testing.T, of reflect.Type) reflect.Value {
	t.Helper()
	v := reflect.New(of).Elem()
	switch of.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(of.Elem()))
		v.Elem().Set(filled(t, of.Elem()))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Slice:
		v.Set(reflect.Append(v, filled(t, of.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(of))
		v.SetMapIndex(filled(t, of.Key()), filled(t, of.Elem()))
	case reflect.Struct:
		if of == reflect.TypeFor[time.Time]() {
			return reflect.ValueOf(time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC))
		}
		for i := range of.NumField() {
			v.Field(i).Set(filled(t, of.Field(i).Type))
		}
	default:
		t.Fatalf("a field is a %s", of)
	}
	return v
}

const quinces = `<body><main><h1>Of quinces</h1><p>A quince keeps for months in a cool room, and its smell fills the house as long as it is there.</p>
<p>Whoever cooks one needs time: it is hard, it is sour, and it turns red only after an hour over a small flame.</p></main></body>`

// html is an origin of one page.
func html(contentType, content string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, content)
		return true
	}
}

// onExample has the fetcher look for GitHub on names that the origin has a certificate for.
func onExample(o *fetch.Options) {
	o.GitHub = fetch.GitHub{CodeloadURL: "https://codeload.example.com", RawURL: "https://raw.example.com", APIURL: "https://api.example.com"}
}

// archive is a host that has the archive of one repository, acme/tool.
func archive(files map[string]string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Host != "codeload.example.com" || r.URL.Path != "/acme/tool/tar.gz/HEAD" {
			return false
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		a := tar.NewWriter(z)
		_ = a.WriteHeader(&tar.Header{Name: "tool-main/", Typeflag: tar.TypeDir, Mode: 0o755})
		for name, content := range files {
			_ = a.WriteHeader(&tar.Header{Name: "tool-main/" + name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))})
			_, _ = io.WriteString(a, content)
		}
		_ = a.Close()
		_ = z.Close()
		w.Header().Set("Content-Type", "application/x-gzip")
		_, _ = w.Write(b.Bytes())
		return true
	}
}

const modelSays = "A cache keeps what an origin said, and says it again for as long as the origin allowed."

// withModel gives the server summaries by a double of a model, which counts what it is asked, and keeps them in the store.
func withModel(t *testing.T, asked *atomic.Int64) func(*api.Options) {
	t.Helper()
	double := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": modelSays}}},
			"usage":   map[string]any{"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
		})
	}))
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		double.Close()
	})
	model, err := llm.New(llm.Options{Provider: llm.OpenAI, BaseURL: double.URL + "/v1", Model: "m", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return func(o *api.Options) {
		key := func(p *page.Page) page.Key { return page.KeyOf(p.NormalizedURL) }
		o.Summary = summary.New(summary.Options{
			Model: model,
			Kept: func(p *page.Page) (list []summary.Summary) {
				for _, s := range o.Store.Summaries(key(p)) {
					if s.ContentHash == p.ContentHash {
						list = append(list, summary.Summary{Kind: summary.Kind(s.Kind), Text: s.Text, By: s.By, Model: s.Model, Time: s.Time})
					}
				}
				return list
			},
			Keep: func(p *page.Page, s summary.Summary) error {
				return o.Store.AddSummary(key(p), store.Summary{ContentHash: p.ContentHash, Kind: string(s.Kind), Text: s.Text, By: s.By, Model: s.Model, Time: s.Time})
			},
		})
	}
}

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t *testing.T, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// putResponse stores a response that is of no more use after a time.
func putResponse(t *testing.T, s *store.Store, uri string, retain time.Time) {
	t.Helper()
	r := &store.Response{URL: uri, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, RequestTime: time.Now(), ResponseTime: time.Now(), Total: -1, Retain: retain}
	if err := s.PutResponse(r, strings.NewReader("content of "+uri)); err != nil {
		t.Fatal(err)
	}
}

// corrupt damages the record of a stored response in a store that is closed.
func corrupt(t *testing.T, dir, uri string) {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(path.Join(dir, "db")).WithLogger(nil).WithCompression(0).WithBlockCacheSize(0).WithValueThreshold(1 << 20).WithMemTableSize(8 << 20))
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	err = db.Update(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte("e/")})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			record, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			if !bytes.Contains(record, []byte(uri)) {
				continue
			}
			record[len(record)-1] ^= 1
			damaged++
			if err := txn.Set(it.Item().KeyCopy(nil), record); err != nil {
				return err
			}
		}
		return nil
	})
	if cerr := db.Close(); err != nil || cerr != nil || damaged != 1 {
		t.Fatal(err, cerr, damaged)
	}
}
