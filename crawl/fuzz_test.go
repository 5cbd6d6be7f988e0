package crawl_test

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/crawl"
)

func FuzzSitemap(f *testing.F) {
	for _, s := range []string{
		`<?xml version="1.0"?><urlset><url><loc>http://a.test/</loc></url></urlset>`,
		`<sitemapindex><sitemap><loc>x</loc></sitemap></sitemapindex>`, "http://a.test/\nhttp://b.test/\n", "",
		`<!DOCTYPE x [<!ENTITY a "b">]><urlset>&a;</urlset>`, "\xef\xbb\xbf<urlset/>", zip("<urlset>"), "\x1f\x8b",
		"<urlset><url><loc>", "<a><b></a>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n := 0
		take := func(u string) bool {
			if n++; u == "" || u != strings.TrimSpace(u) || len(u) > 64<<10 {
				t.Errorf("URL %q", u)
			}
			return n < 100
		}
		if err := crawl.ReadSitemap(bytes.NewReader(text), take, take); err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
		if n > 100 {
			t.Errorf("%d calls after it was told to stop", n)
		}
	})
}

func FuzzNextPartIsNumbersOnly(f *testing.F) {
	for _, s := range []string{
		"", "https://x.test/v2/crawl/1?skip=10&limit=5", "?skip=-1", "?skip=1&skip=2",
		"?skip=99999999999", "%", "?limit=x&skip=3#&a=b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, next string) {
		query, at := crawl.NextPart(next)
		v, err := url.ParseQuery(query)
		if err != nil || at < 0 || strings.Trim(query, "0123456789&=skiplmt") != "" || len(v) > 2 {
			t.Errorf("next %q gives %q at %d", next, query, at)
		}
	})
}

// FuzzHostileSite crawls a page of arbitrary bytes. Whatever it links to, only one host is asked and the crawl ends.
func FuzzHostileSite(f *testing.F) {
	for _, s := range []string{
		`<a href="/b">`, `<a href="http://user:pw@other.test/">`,
		`<a href="//site.test:81/x"><a href="?a=1&a=2">`, `<base href="http://other.test/"><a href=x>`,
		"<a href='http://site.test./'>", "<a href='http://SITE.TEST/%2e%2e/x'>", "<a href='/;jsessionid=1?sid=2'>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, links string) {
		r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/robots.txt" || strings.HasSuffix(req.URL.Path, ".xml") ||
				strings.HasSuffix(req.URL.Path, "llms.txt") {
				http.NotFound(w, req)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			if _, err := w.Write([]byte(html(req.URL.RequestURI()) + links)); err != nil {
				t.Error(err)
			}
		}))
		if _, err := r.Crawl(t.Context(), crawl.Options{URL: "http://site.test/", Limit: 20},
			func(crawl.Event) error { return nil }); err != nil {
			t.Error(err)
		}
		for _, asked := range r.asked {
			if host, _, _ := strings.Cut(asked, "/"); !strings.EqualFold(strings.TrimSuffix(strings.TrimSuffix(host, ":80"),
				"."), "site.test") {
				t.Errorf("asked %s", asked)
			}
		}
	})
}
