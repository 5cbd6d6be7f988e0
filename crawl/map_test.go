package crawl_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/crawl"
)

// mapped is the site of these tests. It has a start page, a sitemap that names subdomains, and an llms.txt.
var mapped = pages{
	"/robots.txt":  "Sitemap: http://site.test/map.txt\n",
	"/map.txt":     "http://site.test/docs/b\nhttp://site.test/report.pdf\nhttp://blog.site.test/post\nhttp://other.test/x\nhttp://nosite.test/x\nhttp://site.test/b?token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlMTIz\n",
	"/llms.txt":    "# Site\n\n- [C](/docs/c.md): the c\n",
	"/":            html("Home", "/docs/a", "/about#team", "http://blog.site.test/", "http://other.test/"),
	"/docs/":       html("Docs", "/docs/a", "/about"),
	"/app":         html("App", "/tool#/b", "/tool#top", "/app#/b"),
	"/moved":       ">/docs/",
	"//lost.test/": "!404", "//lost.test/llms.txt": "!404", "//lost.test/robots.txt": "!404",
	"//lost.test/sitemap.xml": "!404",
}

func TestMapListsTheURLsOfTheStartPageAndTheSitesLists(t *testing.T) {
	r := newRig(t, mapped)
	site := func(paths ...string) []string {
		for i, p := range paths {
			if !strings.HasPrefix(p, "http") {
				paths[i] = "http://site.test" + p
			}
		}
		return paths
	}
	for _, tt := range []struct {
		name string
		o    crawl.MapOptions
		want []string
	}{
		{"all of the host", crawl.MapOptions{}, site("/", "/docs/a", "/about", "/docs/b", "/report.pdf", "/docs/c.md")},
		{
			"subdomains, too",
			crawl.MapOptions{Subdomains: true},
			site("/", "/docs/a", "/about", "http://blog.site.test/", "/docs/b", "/report.pdf", "http://blog.site.test/post",
				"/docs/c.md"),
		},
		{"no lists", crawl.MapOptions{Unlisted: true}, site("/", "/docs/a", "/about")},
		{"lists alone", crawl.MapOptions{Unlinked: true}, site("/", "/docs/b", "/report.pdf", "/docs/c.md")},
		{"as many as wanted", crawl.MapOptions{Limit: 4}, site("/", "/docs/a", "/about", "/docs/b")},
		{
			"below the start, which redirects",
			crawl.MapOptions{URL: "http://site.test/moved", Below: true},
			site("/docs/", "/docs/a", "/docs/b", "/docs/c.md"),
		},
		{
			"routes of other pages",
			crawl.MapOptions{URL: "http://site.test/app#/start"},
			site("/app#/start", "/tool#/b", "/tool", "/docs/b", "/report.pdf", "/docs/c.md"),
		},
		{
			"what the caller keeps",
			crawl.MapOptions{Keep: func(u *url.URL) bool { return strings.Contains(u.Path, "b") }},
			site("/about", "/docs/b"),
		},
	} {
		if tt.o.URL == "" {
			tt.o.URL = "http://site.test/"
		}
		m, err := r.cfg.Map(t.Context(), tt.o)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, m.URLs); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if m.Full != (tt.o.Limit == 4) || m.Title == "" {
			t.Errorf("%s: full %t, title %q", tt.name, m.Full, m.Title)
		}
	}
	if n := r.count("site.test/docs/a"); n != 0 {
		t.Errorf("a page that was only named was asked for %d times", n)
	}
}

func TestMapFailsWithoutStartPageAndLists(t *testing.T) {
	r := newRig(t, mapped)
	for _, raw := range []string{
		"http://lost.test/", "http://blocked.test/", "ftp://site.test/",
		"http://site.test/?token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlMTIz",
	} {
		if m, err := r.cfg.Map(t.Context(), crawl.MapOptions{URL: raw}); err == nil {
			t.Errorf("%s: %+v, want an error", raw, m)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, err := r.cfg.Map(ctx, crawl.MapOptions{URL: "http://site.test/"}); err == nil {
		t.Errorf("after the end of its context: %+v", m)
	}
}

func TestBelowAndUnlistedBoundACrawl(t *testing.T) {
	site := pages{
		"/sitemap.xml": `<?xml version="1.0"?><urlset><url><loc>http://site.test/docs/listed</loc></url></urlset>`,
		"/docs":        html("Docs", "/docs/a", "/blog/", "/docsother"), "/docs/a": html("A"), "/docs/listed": html("Listed"),
		"/blog/": html("Blog"), "/docsother": html("Other"),
	}
	for _, tt := range []struct {
		name string
		o    crawl.Options
		want told
	}{
		{"below", crawl.Options{Below: true}, told{"new /docs", "new /docs/a", "new /docs/listed"}},
		{"unlisted", crawl.Options{Unlisted: true}, told{"new /docs", "new /docs/a", "new /blog/", "new /docsother"}},
		{"both", crawl.Options{Below: true, Unlisted: true}, told{"new /docs", "new /docs/a"}},
	} {
		tt.o.URL = "http://site.test/docs"
		list, _ := must3(t)(newRig(t, site).run(t, tt.o))
		if diff := cmp.Diff(tt.want, list); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
