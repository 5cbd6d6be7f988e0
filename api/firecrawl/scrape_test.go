package firecrawl_test

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/store"
)

func TestPageComesInEveryRequestedFormat(t *testing.T) {
	for _, v := range []string{"/v1", "/v2"} {
		r := newRig(t, map[string]string{"/a": html("Harbour", "/b", "https://other.test/c")})
		got := r.must(t, "POST", v+"/scrape",
			`{"url":"http://site.test/a","formats":["markdown","html",{"type":"rawHtml"},"links","summary"],"excludeTags":[".ad"],`+
				`"origin":"js-sdk@4.42.0","integration":"x","proxy":"auto","blockAds":true,"parsers":["pdf"],`+
				`"removeBase64Images":true,`+
				`"mobile":false,"actions":[],"fastMode":true,"skipTlsVerification":true,`+
				`"location":{"country":"US","languages":["en"]}}`)
		md, _ := got.at("data.markdown").(string)
		trimmed, _ := got.at("data.html").(string)
		if !strings.HasPrefix(md, "# Harbour\n\n"+about[:40]) || strings.Contains(md, "Buy now") ||
			strings.Contains(md, "Menu") {
			t.Errorf("%s: markdown %.300q", v, md)
		}
		if !strings.HasPrefix(trimmed, "<h1>Harbour</h1>") || !strings.Contains(trimmed, `href="http://site.test/b"`) ||
			strings.Contains(trimmed, "Buy now") || strings.Contains(trimmed, "script") {
			t.Errorf("%s: html %.300q", v, trimmed)
		}
		if raw := got.at("data.rawHtml"); raw != r.pages["/a"] {
			t.Errorf("%s: rawHtml %.100q, want the origin's", v, raw)
		}
		if diff := cmp.Diff([]any{"http://site.test/menu", "http://site.test/b", "https://other.test/c"},
			got.at("data.links")); diff != "" {
			t.Errorf("%s: links (-want +got):\n%s", v, diff)
		}
		if s, _ := got.at("data.summary").(string); s == "" {
			t.Errorf("%s: no summary", v)
		}
		if w, _ := got.at("data.warning").(string); !strings.Contains(w, "skipTlsVerification is ignored") ||
			!strings.Contains(w, "location is ignored") {
			t.Errorf("%s: warning %q", v, w)
		}
		for key, want := range map[string]any{
			"success": true, "data.metadata.title": "Harbour", "data.metadata.description": "About Harbour",
			"data.metadata.language": "en", "data.metadata.ogTitle": "OG Harbour",
			"data.metadata.sourceURL": "http://site.test/a", "data.metadata.url": "http://site.test/a",
			"data.metadata.statusCode": 200.0, "data.metadata.contentType": "text/html; charset=utf-8",
			"data.metadata.cacheState": "miss",
		} {
			if got.at(key) != want {
				t.Errorf("%s: %s = %v, want %v", v, key, got.at(key), want)
			}
		}
		if n := r.count("site.test/a"); n != 1 {
			t.Errorf("%s: the origin was asked %d times for five forms, want once", v, n)
		}
	}
}

func TestOtherFormatsAreAbsent(t *testing.T) {
	r := newRig(t, map[string]string{"site.test/": html("Home")})
	got := r.must(t, "POST", "/v2/scrape", `{"url":"site.test","onlyMainContent":false,"includeTags":["h1"]}`)
	data, _ := got["data"].(map[string]any)
	if len(data) != 2 || data["markdown"] != "# Home\n" || got.at("data.metadata.sourceURL") != "site.test" {
		t.Errorf("data %v, want markdown of the heading, and metadata", data)
	}
}

func TestMaxAgeBoundsTheAgeOfStoredPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, map[string]string{"/a": html("A")})
		scrape := func(v, options string) (int, object) {
			return r.ask(t, "POST", v+"/scrape", `{"url":"http://site.test/a"`+options+`}`)
		}
		if status, got := scrape("/v2", `,"lockdown":true`); status != http.StatusNotFound ||
			got["code"] != "SCRAPE_LOCKDOWN_CACHE_MISS" || r.count("") != 0 {
			t.Errorf("what is not stored: %d %v, asked %d", status, got, r.count(""))
		}
		scrape("/v2", "")
		time.Sleep(time.Hour)
		for _, tt := range []struct {
			v, options string
			hit        bool
		}{
			{"/v2", "", true},
			{"/v2", `,"lockdown":true`, true},
			{"/v2", `,"maxAge":7200000`, true},
			{"/v1", `,"maxAge":7200000`, true},
			{"/v2", `,"maxAge":1800000`, false}, // and is new from now on
			{"/v2", `,"maxAge":1800000`, true},
			{"/v2", `,"maxAge":0`, false},
			{"/v1", ``, false},
		} {
			before := r.count("site.test/a")
			_, got := scrape(tt.v, tt.options)
			state, asked := got.at("data.metadata.cacheState"), r.count("site.test/a")-before
			if (state == "hit") != tt.hit || (asked == 0) != tt.hit || (got.at("data.metadata.cachedAt") != nil) != tt.hit {
				t.Errorf("%s%s: %v, %d requests, want a hit: %t", tt.v, tt.options, state, asked, tt.hit)
			}
		}
	})
}

func TestFailuresHaveCodeAndStatus(t *testing.T) { synctest.Test(t, testFailures) }

func testFailures(t *testing.T) {
	t.Helper()
	r := newRig(t, map[string]string{
		"/image": "image/png \x89PNG\x00\x00", "/damaged.pdf": "application/pdf \x00\x01",
		"/wall": `<html><head><title>Just a moment...</title></head><body><script>window._cf_chl_opt={}</script></body></html>`,
	})
	r.own = func(req *http.Request) (*http.Response, error) {
		switch req.URL.Host {
		case "nohost.test":
			return nil, &net.DNSError{Name: "nohost.test", Err: "no such host", IsNotFound: true}
		case "badtls.test":
			return nil, x509.UnknownAuthorityError{}
		case "slow.test":
			<-req.Context().Done()
			return nil, req.Context().Err()
		}
		return nil, nil //nolint:nilnil // the site answers
	}
	for _, tt := range []struct {
		url, code string
		status    int
	}{
		{"http://blocked.test/", "UNSUPPORTED_SITE", 403},
		{"http://nohost.test/", "SCRAPE_DNS_RESOLUTION_ERROR", 500},
		{"https://badtls.test/", "SCRAPE_SSL_ERROR", 500},
		{"http://slow.test/", "SCRAPE_TIMEOUT", 408},
		{"http://site.test/image", "SCRAPE_UNSUPPORTED_FILE_ERROR", 500},
		{"http://site.test/damaged.pdf", "SCRAPE_UNSUPPORTED_FILE_ERROR", 500},
		{"http://site.test/wall", "SCRAPE_ALL_ENGINES_FAILED", 500},
		{"ftp://site.test/", "BAD_REQUEST", 400},
		{"", "BAD_REQUEST", 400},
	} {
		status, got := r.ask(t, "POST", "/v2/scrape", `{"url":"`+tt.url+`","timeout":50}`)
		if status != tt.status || got["code"] != tt.code || got["success"] != false || got["error"] == "" ||
			got["data"] != nil {
			t.Errorf("%s: %d %v, want %d %s", tt.url, status, got, tt.status, tt.code)
		}
	}
}

func TestRefusedPageIsASuccessWithoutMarkdown(t *testing.T) {
	got := newRig(t, nil).must(t, "POST", "/v2/scrape", `{"url":"http://site.test/none","formats":["markdown","links"]}`)
	if got["success"] != true || got.at("data.markdown") != "" || got.at("data.metadata.statusCode") != 404.0 ||
		got.at("data.metadata.error") != "Not Found" || !strings.Contains(got.at("data.warning").(string), "404") {
		t.Errorf("%v, want it told in the metadata", got)
	}
}

func TestPagesWithHeadersAreNeverKeptNorSentElsewhere(t *testing.T) {
	r := newRig(t, map[string]string{"/moved": ">http://other.test/x"})
	var leaked []string
	r.own = func(req *http.Request) (*http.Response, error) {
		key := req.Header.Get("X-Api-Key")
		if req.URL.Host != "site.test" && key != "" {
			leaked = append(leaked, req.URL.Host)
		}
		if req.URL.Path != "/me" {
			return nil, nil //nolint:nilnil // the site answers
		}
		s := &site{pages: map[string]string{"/me": html("Account of " + key)}}
		return s.RoundTrip(req)
	}
	ask := func(headers string) string {
		got := r.must(t, "POST", "/v2/scrape", `{"url":"http://site.test/me"`+headers+`}`)
		md, _ := got.at("data.markdown").(string)
		return md
	}
	if md := ask(`,"headers":{"x-api-key":"sesame"}`); !strings.HasPrefix(md, "# Account of sesame\n") {
		t.Errorf("with headers: %.60q", md)
	}
	if pages, _, err := r.store.Pages(store.PageQuery{}); err != nil || len(pages) != 0 {
		t.Errorf("pages kept: %v, %v", pages, err)
	}
	if md := ask(""); strings.Contains(md, "sesame") {
		t.Errorf("another caller got %.60q", md)
	}
	if md := ask(`,"headers":{"x-api-key":"other"}`); !strings.HasPrefix(md, "# Account of other\n") {
		t.Errorf("with other headers: %.60q", md)
	}
	if status, got := r.ask(t, "POST", "/v2/scrape",
		`{"url":"http://site.test/moved","headers":{"X-Api-Key":"sesame"}}`); status != 403 || len(leaked) != 0 {
		t.Errorf("a redirect to another host: %d %v, headers sent to %v", status, got, leaked)
	}
	for _, bad := range []string{
		`{"Host":"x"}`, `{"Connection":"x"}`, `{"X-Readthru-Mode":"raw"}`, `{"A b":"c"}`,
		`{"A":"b\r\nc: d"}`, `{"cache-control":"x"}`, `{"A":"` + strings.Repeat("x", 9000) + `"}`,
	} {
		if status, got := r.ask(t, "POST", "/v2/scrape", `{"url":"http://site.test/me","headers":`+bad+`}`); status != 400 {
			t.Errorf("headers %.40s: %d %v, want 400", bad, status, got)
		}
	}
}

func TestUnknownKeysAreRefusedByName(t *testing.T) {
	r := newRig(t, map[string]string{"/a": html("A")})
	for path, bodies := range map[string]map[string]string{
		"/scrape": {
			`"formatz":1`: `"formatz"`, `"formats":["product"]`: `"product"`,
			`"formats":[{"type":"changeTracking","modes":["json"]}]`: "changeTracking",
			`"changeTrackingOptions":{}`:                             "changeTracking",
			`"formats":[{"type":"markdown","x":1}]`:                  `"x"`,
			`"formats":[1]`:                                          "formats",
			`"formats":"markdown"`:                                   "formats", `"actions":[{"type":"wait"}]`: "actions",
			`"mobile":true`: "mobile",
			`"timeout":0`:   "timeout", `"timeout":"1s"`: "timeout",
			`"waitFor":60001`: "waitFor", `"maxAge":-1`: "maxAge", `"includeTags":["a["]`: "includeTags", `"minAge":5`: "minAge",
			`"zeroDataRetention":true`: "zeroDataRetention", `"jsonOptions":{"prompt":"x"}`: "jsonOptions", `"url":5`: "url",
		},
		"/crawl": {
			`"x":1`: `"x"`, `"limit":0`: "limit", `"limit":100001`: "limit", `"allowExternalLinks":true`: "allowExternalLinks",
			`"allowSubdomains":true`: "allowSubdomains", `"ignoreRobotsTxt":true`: "ignoreRobotsTxt",
			`"webhook":"http://a"`: "webhook", `"prompt":"x"`: "prompt", `"sitemap":"only"`: "sitemap", `"delay":61`: "delay",
			`"maxConcurrency":-1`: "maxConcurrency", `"includePaths":["("]`: "(",
			`"excludePaths":["` + strings.Repeat("a", 1001) + `"]`:    "excludePaths",
			`"includePaths":["a"` + strings.Repeat(`,"a"`, 100) + `]`: "includePaths", `"maxDiscoveryDepth":-2`: "depth",
			`"maxDiscoveryDepth":0`: "depth", `"scrapeOptions":{"x":1}`: `"x"`,
			`"scrapeOptions":{"headers":{"A":"b"}}`: "headers", `"scrapeOptions":{"formats":["screenshot"]}`: "screenshot",
			`"regexOnFullURL":true`:        "regexOnFullURL",
			`"ignoreQueryParameters":true`: "ignoreQueryParameters", `"scrapeOptions":{"storeInCache":false}`: "storeInCache",
		},
		"/map": {
			`"x":1`: `"x"`, `"limit":0`: "limit", `"limit":30001`: "limit", `"sitemap":"maybe"`: "sitemap",
			`"timeout":-1`: "timeout",
		},
		"/batch/scrape": {
			`"urls":[],"x":1`: `"x"`, `"urls":[]`: "urls",
			`"urls":["http://site.test/a"],"webhook":"x"`:       "webhook",
			`"urls":["http://site.test/a"],"headers":{"A":"b"}`: "headers",
			`"urls":["http://site.test/a"],"appendToId":"x"`:    "appendToId",
		},
	} {
		for body, want := range bodies {
			if path != "/batch/scrape" && !strings.Contains(body, `"url"`) {
				body = `"url":"http://site.test/a",` + body
			}
			status, got := r.ask(t, "POST", "/v2"+path, "{"+body+"}")
			text, _ := got["error"].(string)
			if status != 400 || got["success"] != false || got["code"] != "BAD_REQUEST" || !strings.Contains(text, want) ||
				strings.Contains(text, "Go ") {
				t.Errorf("%s %s: %d %v, want 400 that names %s", path, body, status, got, want)
			}
		}
	}
	for _, body := range []string{"", "[]", "{", `{"url":"http://site.test/a"} {}`, "null x"} {
		if status, _ := r.ask(t, "POST", "/v1/scrape", body); status != 400 {
			t.Errorf("%q: status %d, want 400", body, status)
		}
	}
	if r.count("") != 0 {
		t.Errorf("asked %v, want nothing", r.asked)
	}
}

func FuzzBodiesNeverPanic(f *testing.F) {
	r := newRig(f, nil)
	r.own = func(*http.Request) (*http.Response, error) { return nil, net.ErrClosed }
	f.Add(`{"url":"http://site.test/a","formats":["markdown",{"type":"screenshot","fullPage":true}],"headers":{"A":"b"},"maxAge":1,"timeout":1}`)
	f.Add(`{"urls":["a","b"],"ignoreInvalidURLs":true}`)
	routes := r.service.Routes()
	f.Fuzz(func(t *testing.T, body string) {
		for _, rt := range routes {
			if rt.Method != http.MethodPost || rt.Path != "/v1/scrape" && rt.Path != "/v2/scrape" &&
				strings.Contains(strings.ToLower(body), "url") {
				continue // a crawl or a batch would take time
			}
			if status, got := r.ask(t, "POST", rt.Path, body); got["success"] == nil || status >= 200 && status < 300 &&
				got["success"] != true {
				t.Errorf("%s: %d %v", rt.Path, status, got)
			}
		}
	})
}

// TestAPageMayTakeAsLongAsItsTimeoutSays: less or more than pages usually may.
func TestAPageMayTakeAsLongAsItsTimeoutSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, map[string]string{"/slow": html("Slow")})
		r.own = func(req *http.Request) (*http.Response, error) {
			select {
			case <-time.After(40 * time.Second):
				return nil, nil
			case <-req.Context().Done():
				return nil, context.Cause(req.Context())
			}
		}
		for _, tt := range []struct {
			options string
			status  int
			took    time.Duration
		}{
			{`,"timeout":5000`, http.StatusRequestTimeout, 5 * time.Second},
			{`,"timeout":60000`, http.StatusOK, 40 * time.Second},
		} {
			begun := time.Now()
			status, got := r.ask(t, "POST", "/v1/scrape", `{"url":"http://site.test/slow"`+tt.options+`}`)
			if status != tt.status || time.Since(begun) != tt.took {
				t.Errorf("%s: status %d after %v, want %d after %v: %v", tt.options, status, time.Since(begun), tt.status, tt.took,
					got["error"])
			}
		}
	})
}

// TestClientsThatAskForTheirCreditsReadOn asks as the clients of both versions do before they read.
func TestClientsThatAskForTheirCreditsReadOn(t *testing.T) {
	r := newRig(t, nil)
	for path, key := range map[string]string{
		"/v1/team/credit-usage": "data.remaining_credits", "/v2/team/credit-usage": "data.remainingCredits",
	} {
		if got := r.must(t, http.MethodGet, path, ""); got.at(key) != 1_000_000.0 {
			t.Errorf("%s: %v", path, got)
		}
	}
}
