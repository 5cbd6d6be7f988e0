package firecrawl_test

import (
	"net/http"
	"strings"
	"testing"
)

// The options of Firecrawl's documentation, versions 1 and 2: each works, is ignored since nothing depends on it here,
// or is refused by its name. None is unknown.
func TestEveryDocumentedOptionWorksOrIsRefusedByName(t *testing.T) {
	scrape := map[string]string{
		`"formats":["markdown","html","rawHtml","links","summary"]`: "", `"onlyMainContent":false`: "",
		`"includeTags":["h1"]`: "", `"excludeTags":[".ad"]`: "", `"maxAge":0`: "", `"timeout":30000`: "",
		`"storeInCache":true`: "", `"skipTlsVerification":true`: "", `"removeBase64Images":true`: "", `"blockAds":true`: "",
		`"proxy":"stealth"`: "", `"parsers":[{"type":"pdf","maxPages":2}]`: "", `"parsePDF":true`: "", `"fastMode":true`: "",
		`"origin":"api"`: "", `"integration":"x"`: "", `"mobile":false`: "", `"actions":[]`: "", `"headers":{}`: "",
		`"waitFor":0`:                    "",
		`"formats":["extract"]`:          `"extract"`,
		`"formats":["images"]`:           `"images"`,
		`"formats":["branding"]`:         `"branding"`,
		`"formats":["attributes"]`:       `"attributes"`,
		`"extract":{"prompt":"x"}`:       "extract",
		`"agent":{"model":"FIRE-1"}`:     "agent",
		`"actions":[{"type":"click"}]`:   "actions",
		`"location":{"country":"US"}`:    "",
		`"geolocation":{"country":"US"}`: "geolocation",
		`"mobile":true`:                  "mobile",
		`"minAge":1`:                     "minAge",
		`"zeroDataRetention":true`:       "zeroDataRetention",
		`"redactPII":true`:               "redactPII",
		`"profile":{"name":"a"}`:         "profile",
		`"timeout":3600001`:              "timeout must be from 1 to 3600000",
		`"formats":[{"type":"json","prompt":"x","checkPromptInjection":true}]`:          "checkPromptInjection",
		`"formats":["changeTracking"],"changeTrackingOptions":{"tag":"x"}`:              "tag",
		`"formats":[{"type":"changeTracking","modes":["git-diff"],"schema":{"a":"b"}}]`: "schema",
	}
	crawl := map[string]string{
		`"limit":1`: "", `"maxDiscoveryDepth":1`: "", `"maxDepth":1`: "", `"includePaths":["a"]`: "", `"excludePaths":["b"]`: "",
		`"crawlEntireDomain":true`: "", `"allowBackwardLinks":true`: "", `"sitemap":"skip"`: "", `"ignoreSitemap":true`: "",
		`"delay":1`: "", `"maxConcurrency":1`: "", `"deduplicateSimilarURLs":true`: "",
		`"scrapeOptions":{"formats":["markdown"]}`: "",
		`"allowExternalLinks":true`:                "allowExternalLinks",
		`"allowSubdomains":true`:                   "allowSubdomains",
		`"ignoreRobotsTxt":true`:                   "ignoreRobotsTxt",
		`"robotsUserAgent":"x"`:                    "robotsUserAgent",
		`"ignoreQueryParameters":true`:             "ignoreQueryParameters",
		`"regexOnFullURL":true`:                    "regexOnFullURL",
		`"webhook":{"url":"https://a.test/"}`:      "webhook",
		`"prompt":"x"`:                             "prompt",
		`"zeroDataRetention":true`:                 "zeroDataRetention",
		`"scrapeOptions":{"actions":[{}]}`:         "actions",
	}
	siteMap := map[string]string{
		`"search":"a"`: "", `"limit":5`: "", `"includeSubdomains":true`: "", `"sitemap":"only"`: "", `"ignoreSitemap":true`: "",
		`"sitemapOnly":true`: "", `"ignoreQueryParameters":true`: "", `"filterByPath":false`: "", `"timeout":60000`: "",
		`"useIndex":true`: "", `"ignoreCache":true`: "",
		`"location":{"country":"US"}`: "",
		`"headers":{"A":"b"}`:         "headers",
		`"allowExternalLinks":true`:   "allowExternalLinks",
		`"ignoreRobotsTxt":true`:      "ignoreRobotsTxt",
		`"timeout":0`:                 "timeout",
	}
	batch := map[string]string{
		`"ignoreInvalidURLs":true`: "", `"maxConcurrency":2`: "", `"formats":["markdown"]`: "",
		`"webhook":"https://a.test/"`: "webhook",
		`"appendToId":"x"`:            "appendToId",
		`"headers":{"A":"b"}`:         "headers",
	}
	search := map[string]string{
		`"limit":2`: "", `"sources":["web"]`: "", `"includeDomains":["a.test"]`: "", `"excludeDomains":["b.test"]`: "",
		`"tbs":"qdr:w"`: "", `"timeout":1000`: "", `"lang":"en"`: "", `"country":"us"`: "", `"ignoreInvalidURLs":true`: "",
		`"scrapeOptions":{"formats":["markdown"]}`: "",
		`"sources":["news"]`:                       `"news"`,
		`"location":"Germany"`:                     "location",
		`"categories":["github"]`:                  "categories",
		`"enterprise":["zdr"]`:                     "enterprise",
		`"filter":"x"`:                             "filter",
		`"asyncScraping":true`:                     "asyncScraping",
		`"tbs":"cdr:1"`:                            "tbs",
		`"timeout":3600001`:                        "timeout",
	}
	r := newRig(t, map[string]string{"/a": html("A")})
	for path, options := range map[string]map[string]string{
		"/scrape": scrape, "/crawl": crawl, "/map": siteMap, "/batch/scrape": batch, "/search": search,
	} {
		about := `"url":"http://site.test/a"`
		switch path {
		case "/batch/scrape":
			about = `"urls":["http://site.test/a"]`
		case "/search":
			about = `"query":"a"`
		}
		for option, refused := range options {
			status, got := r.ask(t, http.MethodPost, "/v2"+path, "{"+about+","+option+"}")
			text, _ := got["error"].(string)
			if refused == "" && status != http.StatusOK {
				t.Errorf("%s %s: %d %v, want it taken", path, option, status, got)
			}
			if refused != "" && (status != http.StatusBadRequest || !strings.Contains(text, refused) ||
				strings.Contains(text, "Unrecognized")) {
				t.Errorf("%s %s: %d %v, want it refused as %s", path, option, status, got, refused)
			}
			if id, ok := got["id"].(string); ok { // a job: it is no matter here
				r.ask(t, http.MethodDelete, "/v2"+path+"/"+id, "")
			}
		}
	}
}
