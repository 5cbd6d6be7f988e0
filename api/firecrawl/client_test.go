package firecrawl_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/crawl"
)

// wire connects a client with a service in this process, which may speak version 1 only.
type wire struct {
	http.Handler
	v1Only bool
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.v1Only && strings.HasPrefix(r.URL.Path, "/v2/") {
		rec := httptest.NewRecorder()
		http.NotFound(rec, r)
		return rec.Result(), nil
	}
	in := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), r.Body)
	in.Header = r.Header
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, in)
	return rec.Result(), nil
}

// TestOurClientCrawlsThroughThisServer tests the client of package crawl, which was written apart, against this server.
func TestOurClientCrawlsThroughThisServer(t *testing.T) {
	for _, v1Only := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, docs(104))
			c := r.crawl
			c.Firecrawl = crawl.FirecrawlConfig{BaseURL: "http://fire.test:3002", Key: "fc-key", Client: wire{r, v1Only}}
			client, err := crawl.New("firecrawl", c)
			if err != nil {
				t.Fatal(err)
			}
			p, err := client.Scrape(t.Context(), "http://site.test/docs/1")
			if err != nil || p.Title != "Page 1" || !strings.HasPrefix(p.Markdown, "# Page 1\n") ||
				p.Metadata["language"] != "en" || p.Metadata["statusCode"] != "200" {
				t.Errorf("page %+v, %v", p, err)
			}
			if p, err := client.Scrape(t.Context(), "http://site.test/none"); err == nil {
				t.Errorf("a page that is not there is %+v", p)
			}
			outcomes := map[crawl.Outcome][]string{}
			report, err := client.Crawl(t.Context(),
				crawl.Options{URL: "http://site.test/docs/", Exclude: []string{"/docs/7*"}, Depth: 3}, func(e crawl.Event) error {
					outcomes[e.Outcome] = append(outcomes[e.Outcome], strings.TrimPrefix(e.URL, "http://site.test"))
					return nil
				})
			if err != nil || report.Pages != 94 { // with the blog, without what 7* excludes
				t.Fatalf("%d pages, %v", report.Pages, err)
			}
			if added := outcomes[crawl.Added]; !slices.Contains(added, "/docs/102") || !slices.Contains(added, "/blog") ||
				slices.Contains(added, "/docs/77") {
				t.Errorf("pages %v", added)
			}
			if diff := cmp.Diff([]string{"/docs/gone", "/menu"},
				slices.Sorted(slices.Values(outcomes[crawl.Failed]))); diff != "" {
				t.Errorf("failed (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"/docs/secret"}, outcomes[crawl.Forbidden]); diff != "" {
				t.Errorf("forbidden (-want +got):\n%s", diff)
			}
		})
	}
}
