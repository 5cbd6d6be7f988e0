package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestPagesAreFoundByTheirMenus(t *testing.T) {
	r := newRig(t, pages{
		"/":  html("Home", "/a", "b#x", "http://other.test/", "mailto:a@b.test", "/logo.png", "/old"),
		"/a": html("A", "/", "c/d"), "/b": html("B"), "/c/d": html("D", "../e?q=1&amp;utm_source=x", "../e?q=1"),
		"/e?q=1":              html("E"),
		"/e?q=1&utm_source=x": html("E"), "/old": ">/new", "/new": html("New"),
	})
	list, report := must3(t)(r.run(t, crawl.Options{}))
	want := told{"new /", "new /a", "new /b", "moved /old", "new /c/d", "new /new", "new /e?q=1&utm_source=x"}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("crawl (-want +got):\n%s", diff)
	}
	if report.Pages != 6 || report.Queued != 0 || report.Site != "http://site.test/" {
		t.Errorf("report = %+v", report)
	}
	if n := r.count("other.test"); n != 0 {
		t.Errorf("another site was asked %d times", n)
	}
	if err := r.store.Flush(); err != nil {
		t.Fatal(err)
	}
	if totals := r.store.Totals(); totals.Pages != 6 || totals.Visits != 0 {
		t.Errorf("%d pages and %d visits in the store, want 6 and none", totals.Pages, totals.Visits)
	}
}

func TestOrderDependsOnTheSiteAloneAndTheLimitIsExact(t *testing.T) {
	p := pages{}
	for i := range 300 {
		var links []string
		for j := 1; j <= 3; j++ {
			links = append(links, fmt.Sprintf("/docs/%d", i*3+j), fmt.Sprintf("/blog/%d", i*3+j))
		}
		p[fmt.Sprintf("/docs/%d", i)] = html(fmt.Sprintf("Docs %d", i), links...)
		p[fmt.Sprintf("/blog/%d", i)] = html(fmt.Sprintf("Blog %d", i), links...)
	}
	p["/docs/"] = html("Docs", "/blog/0", "/docs/0")
	var lists []told
	for range 2 {
		r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range rand.N(100) { // the order of the answers differs each time
				runtime.Gosched()
			}
			p.ServeHTTP(w, r)
		}), func(c *crawl.Config, _ *fetch.Options) { c.Workers = 8 })
		list, report := must3(t)(r.run(t, crawl.Options{URL: "http://site.test/docs/", Limit: 100}))
		if report.Pages != 100 || len(list) != 100 || report.Queued == 0 {
			t.Errorf("%d pages, %d lines, %d queued, want 100 pages and more in the queue", report.Pages, len(list),
				report.Queued)
		}
		lists = append(lists, list)
	}
	if diff := cmp.Diff(lists[0], lists[1]); diff != "" {
		t.Errorf("two crawls of a site differ:\n%s", diff)
	}
	for _, l := range lists[0] {
		if strings.Contains(l, "/blog/") {
			t.Fatalf("%s was read while there were pages below the start", l)
		}
	}
}

func TestOffSiteRedirectsAreNotFollowed(t *testing.T) {
	r := newRig(t, pages{
		"/": html("Home", "/out", "/in", "/loop"), "/out": ">http://other.test/x",
		"/in": ">http://blocked.test/", "/loop": ">/loop2", "/loop2": ">/loop", "/x": html("X"),
	})
	list, _ := must3(t)(r.run(t, crawl.Options{}))
	if diff := cmp.Diff(told{"new /", "moved /out", "failed /in", "moved /loop", "moved /loop2"}, list); diff != "" {
		t.Errorf("crawl (-want +got):\n%s", diff)
	}
	if r.count("other.test")+r.count("blocked.test") != 0 {
		t.Errorf("asked %v", r.asked)
	}
}

func TestStartPageMayRedirectToAnotherHost(t *testing.T) {
	r := newRig(t, pages{
		"//site.test/":           ">https://www.site.test/docs/",
		"//www.site.test/docs/":  html("Docs", "http://www.site.test/docs/a", "http://site.test/b"),
		"//www.site.test/docs/a": html("A"),
	})
	list, report := must3(t)(r.run(t, crawl.Options{}))
	if diff := cmp.Diff(told{"new /docs/", "new /docs/a"}, list); diff != "" ||
		report.Site != "https://www.site.test/docs/" {
		t.Errorf("site %s, crawl (-want +got):\n%s", report.Site, diff)
	}
}

func TestUnreadableStartPageIsAnError(t *testing.T) {
	r := newRig(t, pages{
		"/secret": html("S"), "/robots.txt": "User-agent: *\nDisallow: /no\n", "/no": html("No"),
		"/file": "RIFF", "/gone": "!410", "/loop": ">/loop",
	})
	for url, want := range map[string]string{
		"http://site.test/gone": "HTTP 410 fetching", "http://site.test/no": "does not let readthru read",
		"http://site.test/file": "not a page but",
		"http://blocked.test/":  "Blocked", "http://u:p@site.test/": "credential",
		"http://site.test/secret?token=abc": "credential", "ftp://site.test/": "is not http", "": "empty",
		"http://site.test/loop": "redirects",
	} {
		report, err := r.Crawl(t.Context(), crawl.Options{URL: url}, func(crawl.Event) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) || report == nil || report.Pages != 0 {
			t.Errorf("crawl of %q: %v, want %q", url, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "abc") || strings.Contains(err.Error(), "u:p")) {
			t.Errorf("the error tells a secret: %v", err)
		}
	}
}

func TestRobotsAndNofollowAreObeyed(t *testing.T) {
	p := pages{
		"/robots.txt": "User-agent: *\nDisallow: /\n\nUser-agent: Readthru\nDisallow: /private\nAllow: /private/open$\n",
		"/": html("Home", "/private/x", "/private/open", "/private/open2", "/moved", "/nf") +
			`<a rel="external nofollow" href="/never">x</a>`,
		"/moved": ">/private/y", "/private/open": html("Open"),
		"/nf": strings.Replace(html("NF", "/hidden"), "<head>", `<head><meta name="robots" content="noindex, nofollow">`,
			1),
		"/never": html("Never"), "/hidden": html("Hidden"),
	}
	r := newRig(t, p)
	list, report := must3(t)(r.run(t, crawl.Options{}))
	want := told{
		"new /", "forbidden /private/x", "new /private/open", "forbidden /private/open2", "moved /moved",
		"new /nf", "forbidden /private/y",
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("crawl (-want +got):\n%s", diff)
	}
	if n := r.count("site.test/private/"); n != 1 || report.Outcomes[crawl.Forbidden] != 3 {
		t.Errorf("%d private pages were asked for, %d told forbidden, want 1 and 3", n, report.Outcomes[crawl.Forbidden])
	}
	p["/robots.txt"] = "!500"
	if _, _, err := newRig(t, p).run(t, crawl.Options{}); err == nil ||
		!strings.Contains(err.Error(), "robots.txt answered HTTP 500") {
		t.Errorf("with a robots.txt that cannot be read: %v, want an error that says so", err)
	}
	p["/robots.txt"] = "!403"
	if list, _, err := newRig(t, p).run(t, crawl.Options{}); err != nil || len(list.of(crawl.Forbidden)) != 0 {
		t.Errorf("with a robots.txt that is refused: %v, %v, want everything allowed (RFC 9309 §2.3.1.3)", list, err)
	}
}

func TestPagesWithEqualContentAreDuplicates(t *testing.T) {
	canonical := func(content, url string) string {
		return strings.Replace(content, "<head>", `<head><link rel="canonical" href="`+url+`">`, 1)
	}
	r := newRig(t, pages{
		"/": html("Home", "/a", "/a/index.html", "/b?print=1", "/b", "/copy", "/c?ref=1", "/c?ref=2", "/wrong", "/d.html",
			"/d.md"),
		"/a":    html("A"),
		"/copy": html("A", "/below-copy"), "/a/index.html": html("A"),
		"/b?print=1": canonical(html("B printed"), "/b"), "/b": html("B"),
		"/c?ref=1": canonical(html("C"), "/c"), "/c?ref=2": canonical(html("C 2"), "/c"), "/c": html("C"),
		"/wrong": canonical(html("Wrong"), "/"), "/d.html": html("D"), "/d.md": "# D\n\nText\n", "/below-copy": html("Below"),
	})
	list, _ := must3(t)(r.run(t, crawl.Options{}))
	want := told{
		"new /", "new /a", "duplicate /a/index.html", "duplicate /b?print=1", "new /b", "duplicate /copy",
		"new /c?ref=1", "duplicate /c?ref=2", "new /wrong", "new /d.html",
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("crawl (-want +got):\n%s", diff)
	}
}

func TestPatternsAndDepthChooseURLs(t *testing.T) {
	p := pages{
		"/": html("Home", "/docs/a", "/docs/v1/a", "/blog/a", "/docs/z.html?x=1"), "/docs/a": html("A", "/docs/b"),
		"/docs/b": html("B", "/docs/c"), "/docs/c": html("C"), "/docs/v1/a": html("V1"), "/docs/z.html?x=1": html("Z"),
		"/blog/a": html("Blog"),
	}
	for _, tt := range []struct {
		name string
		o    crawl.Options
		want []string
	}{
		{
			"include",
			crawl.Options{Include: []string{"/docs/*"}},
			[]string{"/", "/docs/a", "/docs/v1/a", "/docs/z.html?x=1", "/docs/b", "/docs/c"},
		},
		{
			"exclude wins",
			crawl.Options{Include: []string{"/docs/*"}, Exclude: []string{`re:^/docs/v\d+/`, "*?x=*"}},
			[]string{"/", "/docs/a", "/docs/b", "/docs/c"},
		},
		{
			"depth",
			crawl.Options{Depth: 1, Include: []string{"docs/*"}},
			[]string{"/", "/docs/a", "/docs/v1/a", "/docs/z.html?x=1"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, _ := must3(t)(newRig(t, p).run(t, tt.o))
			if diff := cmp.Diff(tt.want, list.of(crawl.Added)); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
		})
	}
	if _, _, err := newRig(t, p).run(t, crawl.Options{Exclude: []string{"re:("}}); err == nil {
		t.Error("a pattern that cannot be read is no error")
	}
}

func TestRefreshValidatesPagesAndReportsChanges(t *testing.T) {
	p := pages{"/": html("Home", "/a", "/b"), "/a": html("A"), "/b": html("B")}
	full, unchanged := 0, 0
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		tag := fmt.Sprintf(`"%x"`, page.KeyOf(p[req.URL.Path]))
		if p[req.URL.Path] != "" {
			w.Header().Set("ETag", tag)
			if req.Header.Get("If-None-Match") == tag {
				unchanged++
				w.WriteHeader(http.StatusNotModified)
				return
			}
			full++
		}
		p.ServeHTTP(w, req)
	}), func(c *crawl.Config, _ *fetch.Options) { c.Workers = 1 })
	hashes := map[string]string{}
	crawlIt := func(o crawl.Options) told {
		o.URL, o.Known = "http://site.test/", func(u string) (string, bool) { h, ok := hashes[u]; return h, ok }
		var list told
		if _, err := r.Crawl(t.Context(), o, func(e crawl.Event) error {
			list = append(list, line(t, e))
			hashes[e.URL] = e.Page.Hash
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return list
	}
	crawlIt(crawl.Options{})
	if diff := cmp.Diff(told{"unchanged /", "unchanged /a", "unchanged /b"}, crawlIt(crawl.Options{})); diff != "" ||
		full != 3 || unchanged != 0 {
		t.Errorf("again: %d full answers, %d 304, want none new while pages are fresh\n%s", full, unchanged, diff)
	}
	p["/b"], p["/a"] = html("B changed"), strings.Replace(p["/a"], "<nav><ul>", "<nav><ul><li><a href='/c'>c</a></li>", 1)
	p["/c"] = html("C")
	if diff := cmp.Diff(told{"unchanged /", "unchanged /a", "changed /b", "new /c"},
		crawlIt(crawl.Options{Refresh: true})); diff != "" || full != 6 || unchanged != 1 {
		t.Errorf("refresh: %d full answers, %d 304, want 6 and 1\n%s", full, unchanged, diff)
	}
}

func TestURLsThatAreNoPagesAreReported(t *testing.T) {
	r := newRig(t, pages{
		"/":     html("Home", "/film", "/gone", "/500", "/wall", "/empty", "/soft", "/a"),
		"/film": "RIFF", "/500": "!500",
		"/wall":  `<!doctype html><html><body><script>window._cf_chl_opt={}</script>Just a moment</body></html>`,
		"/empty": "<!doctype html><html><body></body></html>",
		"/soft":  "<!doctype html><html><head><title>404 Not Found</title></head><body><h1>Page not found</h1></body></html>",
		"/a":     html("A"),
	})
	list, report := must3(t)(r.run(t, crawl.Options{}))
	want := told{
		"new /", "skipped /film", "gone /gone", "failed /500", "failed /wall", "failed /empty", "failed /soft",
		"new /a",
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("crawl (-want +got):\n%s", diff)
	}
	if report.Outcomes[crawl.Failed] != 4 || report.Pages != 2 {
		t.Errorf("report %+v", report)
	}
}

func TestCrawlEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{}) // the cache keeps reading for a while, for the next request
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/slow" {
			cancel()
			<-left
			return
		}
		pages{"/": html("Home", "/slow", "/a", "/b")}.ServeHTTP(w, req)
	}))
	_, err := r.Crawl(ctx, crawl.Options{URL: "http://site.test/"}, func(crawl.Event) error { return nil })
	close(left)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("crawl: %v, want the context's error", err)
	}
}

func TestScrapeGetsOnePage(t *testing.T) {
	r := newRig(t, pages{"/a": html("A", "/b"), "/film": "RIFF", "/robots.txt": "User-agent: *\nDisallow: /"})
	p, err := r.Scrape(t.Context(), "http://site.test/a")
	if err != nil || p.Title != "A" || !strings.HasPrefix(p.Markdown, "# A\n") || p.Page == nil || p.Page.VisitID != "" {
		t.Errorf("page %+v, %v", p, err)
	}
	for _, u := range []string{"http://site.test/film", "http://site.test/none", "nonsense", "http://blocked.test/"} {
		if p, err := r.Scrape(t.Context(), u); err == nil {
			t.Errorf("scrape of %s: %+v, want an error", u, p)
		}
	}
}

func TestUnknownServiceIsRefused(t *testing.T) {
	_, err := crawl.New("apify", crawl.Config{})
	if err == nil || err.Error() != "Unknown crawl service: apify" {
		t.Errorf("New: %v", err)
	}
	for _, name := range []string{"", "local"} {
		if s, err := crawl.New(name, crawl.Config{}); err != nil || s == nil {
			t.Errorf("New(%q): %v", name, err)
		}
	}
}

// must3 returns the results of a crawl and fails the test on an error.
func must3(t *testing.T) func(told, *crawl.Report, error) (told, *crawl.Report) {
	t.Helper()
	return func(l told, r *crawl.Report, err error) (told, *crawl.Report) {
		t.Helper()
		return must(t, l, r, err)
	}
}

// TestARefreshReadsTheHeldPages: a page that the caller holds is read although no link leads to it, and is lost only if
// the origin says so, or if a crawl without a failure does not find it.
func TestARefreshReadsTheHeldPages(t *testing.T) {
	site := pages{
		"/": html("Home", "/list"), "/list": "!500", "/a": html("A"), "/b": "!503", "/out": ">http://other.test/",
	}
	held := []string{
		"http://site.test/", "http://site.test/a", "http://site.test/b", "http://site.test/c",
		"http://site.test/out", "http://other.test/x",
	}
	for _, tt := range []struct {
		name string
		o    crawl.Options
		list string
		want told
		lost []string
	}{
		{
			"failures",
			crawl.Options{},
			"!500",
			told{"new /", "failed /list", "new /a", "failed /b", "gone /c", "moved /out"},
			[]string{"http://site.test/c"},
		},
		{"the limit", crawl.Options{Limit: 1}, "!500", told{"new /"}, nil},
		{
			"no failure",
			crawl.Options{Exclude: []string{"/b"}},
			html("List", "/a"),
			told{"new /", "new /list", "new /a", "gone /c", "moved /out"},
			[]string{"http://site.test/b", "http://site.test/c", "http://site.test/out", "http://other.test/x"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which passes the pauses between tries
				site["/list"] = tt.list
				tt.o.Held = slices.Values(held)
				list, report := must3(t)(newRig(t, site).run(t, tt.o))
				if diff := cmp.Diff(tt.want, list); diff != "" {
					t.Errorf("crawl (-want +got):\n%s", diff)
				}
				var lost []string
				for _, u := range held {
					if report.Lost(u) {
						lost = append(lost, u)
					}
				}
				if diff := cmp.Diff(tt.lost, lost); diff != "" {
					t.Errorf("lost (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The pages that are read at the same time are left as long as they are not read.
func TestTheTotalCountsWhatIsBeingRead(t *testing.T) {
	site := pages{}
	var links []string
	for i := range 70 {
		at := fmt.Sprintf("/%d", i)
		links = append(links, at)
		site[at] = html(fmt.Sprintf("Page %d", i))
	}
	site["/"] = html("Home", links...)
	r := newRig(t, site)
	var totals []int
	o := crawl.Options{URL: "http://site.test/"}
	if _, err := r.Crawl(t.Context(), o, func(e crawl.Event) error {
		totals = append(totals, e.Total)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Repeat([]int{71}, 71), totals); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestACrawlLeavesOutWhatOriginsDenyItsUse: a page that may not be searched or given to models is not kept; its links
// are followed; noindex speaks to public search engines.
func TestACrawlLeavesOutWhatOriginsDenyItsUse(t *testing.T) {
	p := pages{
		"/robots.txt": "User-agent: *\nContent-Usage: /denied search=n\nAllow: /\n",
		"/":           html("Home", "/denied", "/signal", "/noindex"),
		"/denied":     html("Denied"),
		"/signal":     html("Signal", "/behind"),
		"/behind":     html("Behind"),
		"/noindex": strings.Replace(html("Noindex"), "<head>",
			`<head><meta name="robots" content="noindex">`, 1),
	}
	site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/signal" {
			w.Header().Set("Content-Signal", "search=yes, ai-input=no")
		}
		p.ServeHTTP(w, r)
	})
	r := newRig(t, site)
	list, _ := must3(t)(r.run(t, crawl.Options{}))
	want := told{"new /", "forbidden /denied", "forbidden /signal", "new /noindex", "new /behind"}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("crawl (-want +got):\n%s", diff)
	}
	if n := r.count("site.test/denied"); n != 0 {
		t.Errorf("robots.txt denies the use of a page, which was asked for %d times", n)
	}
	if _, err := r.store.Page(page.KeyOf("http://site.test/signal")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the page that may not be given to models: %v, want that it is not stored", err)
	}

	tell := func(_ *crawl.Config, o *fetch.Options) { o.Preferences = fetch.PreferencesTell }
	list, _ = must3(t)(newRig(t, site, tell).run(t, crawl.Options{}))
	if refused := list.of(crawl.Forbidden); len(refused) > 0 || len(list) != 5 {
		t.Errorf("where preferences are only told: %v", list)
	}
}
