package firecrawl_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMapInBothVersions(t *testing.T) {
	r := newRig(t, map[string]string{
		"site.test/":            html("Home", "/docs/a?x=1", "/docs/a?x=2", "/blog/post", "http://www.site.test/w"),
		"site.test/sitemap.xml": "text/plain http://site.test/listed\n",
		"site.test/docs/":       html("Docs", "/docs/b", "/blog/post"),
	})
	url := func(paths ...string) []any {
		var list []any
		for _, p := range paths {
			list = append(list, "http://site.test"+p)
		}
		return list
	}
	for body, want := range map[string][]any{
		`{"url":"site.test"}`: url("", "/menu", "/docs/a?x=1", "/docs/a?x=2", "/blog/post", "/listed"),
		`{"url":"http://site.test/","includeSubdomains":true,"limit":3}`: url("/", "/menu", "/docs/a?x=1"),
		`{"url":"http://site.test/","ignoreSitemap":true,"search":"post blog"}`: url("/blog/post", "/", "/menu",
			"/docs/a?x=1", "/docs/a?x=2"),
		`{"url":"http://site.test/","sitemapOnly":true}`:    url("/", "/listed"),
		`{"url":"http://site.test/docs/","sitemap":"skip"}`: url("/docs/", "/docs/b"),
		`{"url":"http://site.test/docs/","sitemap":"skip","filterByPath":false}`: url("/docs/", "/menu", "/docs/b",
			"/blog/post"),
		`{"url":"http://site.test/","sitemap":"skip","search":"LISTED","limit":1}`: url("/"),
		`{"url":"http://site.test/","search":"listed","limit":1}`:                  url("/listed"),
	} {
		if diff := cmp.Diff(any(want), r.must(t, http.MethodPost, "/v1/map", body)["links"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
	got := r.must(t, http.MethodPost, "/v2/map", `{"url":"http://site.test/","timeout":60000,"origin":"python-sdk@4"}`)
	want := []any{
		map[string]any{"url": "http://site.test/", "title": "Home"},
		map[string]any{"url": "http://site.test/menu"},
		map[string]any{"url": "http://site.test/docs/a"},
		map[string]any{"url": "http://site.test/blog/post"},
		map[string]any{"url": "http://www.site.test/w"},
		map[string]any{"url": "http://site.test/listed"},
	}
	if diff := cmp.Diff(any(want), got["links"]); diff != "" || got["success"] != true {
		t.Errorf("version 2 (-want +got):\n%s", diff)
	}
	for url, want := range map[string]int{"http://blocked.test/": 403, "http://site.test/none": 500} {
		if status, got := r.ask(t, http.MethodPost, "/v2/map", `{"url":"`+url+`","sitemap":"skip"}`); status != want ||
			got["success"] != false {
			t.Errorf("%s: %d %v, want %d", url, status, got, want)
		}
	}
}
