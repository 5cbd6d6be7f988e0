package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/store"
)

// public is a network on which every name is public, except those below private.example.com.
type public struct{ http.RoundTripper }

func (public) Public(_ context.Context, u *url.URL) error {
	if strings.HasSuffix(u.Hostname(), "private.example.com") {
		return errors.New("it is private")
	}
	return nil
}

// withFirecrawl makes the rig crawl through d.
func withFirecrawl(t *testing.T, d *double, change ...func(*crawl.Config)) *rig {
	t.Helper()
	r := newRig(t, d, func(_ *crawl.Config,
		o *fetch.Options,
	) {
		o.Direct = public{&site{Handler: http.NotFoundHandler()}}
	})
	st := r.store
	f := fetch.New(fetch.Options{
		Client: r.site, Direct: public{r.site}, Store: st, UserAgent: "readthru/test",
		BlockedDomains: []string{"blocked.test"},
	})
	t.Cleanup(func() { _ = f.Close() })
	c := crawl.Config{Fetcher: f, Firecrawl: crawl.FirecrawlConfig{
		BaseURL: "http://fire.test:3002/", Key: d.key,
		Client: r.site,
	}}
	for _, change := range change {
		change(&c)
	}
	s, err := crawl.New("firecrawl", c)
	if err != nil {
		t.Fatal(err)
	}
	r.Service = s
	return r
}

// disclosed returns the URLs on the ledger.
func disclosed(t *testing.T, s *store.Store) []string {
	t.Helper()
	list, _, err := s.Disclosures("", 100)
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, d := range list {
		urls = append(urls, d.Service+" "+d.URL)
	}
	return urls
}

func TestFirecrawlCrawlInBothVersions(t *testing.T) {
	for _, v1 := range []bool{false, true} {
		t.Run(fmt.Sprintf("v1 only %v", v1), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &double{
					v1Only: v1, key: "fc-0123456789abcdef", polls: 4, part: 2, failed: 3,
					docs: []map[string]any{
						doc("http://site.test/", "# Home\n\nText"), doc("http://site.test/a", "---\nx: y\n---\n\n# A\n"),
						doc("http://site.test/empty", " \n"),
						doc("http://site.test/404", "not found", "statusCode", "404"),
						doc("http://site.test/err", "x", "error", "broken"),
						doc("", "# By url", "sourceURL", "", "url", "http://site.test/by-url"),
						doc("http://site.test/a", "# A again\n"), doc("http://site.test/copy", "# Home\n\nText"),
						doc("http://x.blocked.test/", "# Blocked"), doc("http://site.test/?token=s3cret", "# Secret"),
						doc("javascript:alert(1)", "# No URL at all, so the start", "url", ""),
					},
				}
				r := withFirecrawl(t, d)
				list, report := must3(t)(r.run(t, crawl.Options{
					Include: []string{"/docs/*"}, Exclude: []string{"re:^/x"}, Depth: 3, Limit: 500,
				}))
				want := told{
					"waiting /", "waiting /", "waiting /", "waiting /", "new /", "new /a", "failed /empty", "gone /404",
					"failed /err", "new /by-url", "duplicate /a", "duplicate /copy",
					"failed /", "failed /?token=s3cret", "duplicate /", "failed /broken", "forbidden /private",
				}
				if diff := cmp.Diff(want, list); diff != "" {
					t.Errorf("crawl (-want +got):\n%s", diff)
				}
				if report.Pages != 3 || report.Outcomes[crawl.Failed] != 5 {
					t.Errorf("report %+v", report)
				}
				wantBody := `/v2/crawl {"crawlEntireDomain":true,"excludePaths":["^/x"],` +
					`"includePaths":["^/docs/.*$"],"limit":500,"maxDiscoveryDepth":3,` +
					`"scrapeOptions":{"formats":["markdown"],"onlyMainContent":true,"maxAge":0,` +
					`"skipTlsVerification":false},"sitemap":"include","url":"http://site.test/"}`
				if v1 {
					wantBody = `/v1/crawl {"allowBackwardLinks":true,"excludePaths":["^/x"],` +
						`"ignoreSitemap":false,"includePaths":["^/docs/.*$"],"limit":500,"maxDepth":3,` +
						`"scrapeOptions":{"formats":["markdown"],"onlyMainContent":true,"maxAge":0,` +
						`"skipTlsVerification":false},"url":"http://site.test/"}`
				}
				if diff := cmp.Diff([]string{wantBody}, d.bodies); diff != "" {
					t.Errorf("bodies (-want +got):\n%s", diff)
				}
				for _, asked := range d.requests {
					if !strings.Contains(asked, " fire.test:3002/v") || strings.Contains(asked, "x=y") {
						t.Errorf("the server was asked %s", asked)
					}
				}
				if n := len(d.requests); n > 20 || d.cancelled || r.count("elsewhere.test") != 0 {
					t.Errorf("%d requests, cancelled %v: %v", n, d.cancelled, d.requests)
				}
				wantLedger := []string{"firecrawl http://site.test/"}
				if v1 {
					wantLedger = slices.Repeat(wantLedger, 2) // asked again in version 1
				}
				if diff := cmp.Diff(wantLedger, disclosed(t, r.store)); diff != "" {
					t.Errorf("ledger (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestFirecrawlScrape(t *testing.T) {
	d := &double{docs: []map[string]any{doc("http://site.test/a", "# A\n\nText\n", "description", "About")}}
	r := withFirecrawl(t, d)
	p, err := r.Scrape(t.Context(), "http://site.test/a#x")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"title": "T", "description": "About", "statusCode": "200", "sourceURL": "http://site.test/a",
		"ogImage": "a, b",
	}
	if diff := cmp.Diff(want, p.Metadata); diff != "" || p.URL != "http://site.test/a" ||
		p.Markdown != "# A\n\nText\n" ||
		p.Title != "T" || p.Page != nil {
		t.Errorf("page %+v, metadata (-want +got):\n%s", p, diff)
	}
	if !d.keys[""] || len(d.keys) != 1 {
		t.Errorf("Authorization %v, want none where there is no key", d.keys)
	}
	d.docs[0] = doc("", "# A\n", "url", "")
	if p, err = r.Scrape(t.Context(), "http://site.test/start"); err != nil || p.URL != "http://site.test/start" {
		t.Errorf("page %+v, %v, want the start URL where the server names none (rule D10)", p, err)
	}
	d.docs[0] = doc("http://site.test/a", "# A\u202e\n\n<!-- HIDE -->\n\n<p hidden>HIDE</p>Text\n")
	if p, err = r.Scrape(t.Context(), "http://site.test/a"); err != nil || strings.Contains(p.Markdown, "HIDE") ||
		strings.Contains(p.Markdown, "\u202e") || !strings.Contains(p.Markdown, "Text") {
		t.Errorf("page %+v, %v, want it without what no reader sees", p, err)
	}
	d.docs[0] = doc("http://site.test/a", "")
	if p, err := r.Scrape(t.Context(), "http://site.test/a"); err == nil {
		t.Errorf("a page without markdown is %+v, want an error", p)
	}
}

func TestPrivateURLsAreNotSentToFirecrawl(t *testing.T) {
	d := &double{docs: []map[string]any{doc("http://site.test/", "x")}}
	r := withFirecrawl(t, d)
	for _, u := range []string{
		"http://user:pw@site.test/", "http://site.test/?api_key=abc", "http://localhost/", "http://127.0.0.1/",
		"http://10.0.0.1/", "http://[::1]/", "http://wiki.internal/", "http://intranet/",
		"http://a.private.example.com/", "http://x.blocked.test/", "file:///etc/passwd", "",
	} {
		_, scrape := r.Scrape(t.Context(), u)
		_, crawlErr := r.Crawl(t.Context(), crawl.Options{URL: u}, nil)
		if scrape == nil || crawlErr == nil || strings.Contains(scrape.Error()+crawlErr.Error(), "abc") ||
			strings.Contains(scrape.Error()+crawlErr.Error(), "pw") {
			t.Errorf("%s: %v, %v, want it refused without its secret", u, scrape, crawlErr)
		}
	}
	if len(d.requests) != 0 || len(disclosed(t, r.store)) != 0 {
		t.Errorf("sent %v, ledger %v, want nothing", d.requests, disclosed(t, r.store))
	}
}

func TestFirecrawlFaults(t *testing.T) {
	home := []map[string]any{doc("http://site.test/", "# Home")}
	for _, tt := range []struct {
		name      string
		d         *double
		want      string        // of the error; empty: the crawl succeeds
		took      time.Duration // at least
		cancelled bool
		starts    int
	}{
		{"429 at the start is waited for", &double{
			docs: home, part: 9,
			faults: []fault{{on: "POST", status: 429, retryAfter: "30"}},
		}, "", 30 * time.Second, false, 1},
		{
			"503 at the start is waited for", &double{docs: home, part: 9, faults: []fault{{on: "POST", status: 503}}}, "",
			time.Second, false, 1,
		},
		{
			"a wait that is too long is an error", &double{
				docs:   home,
				faults: []fault{{on: "POST", status: 429, retryAfter: "3600", error: "rate limit"}},
			},
			"HTTP 429: too many requests: rate limit (the server asks to wait 1h0m0s)", 0, false, 0,
		},
		{
			"a start that may have been done is not repeated",
			&double{docs: home, faults: []fault{{on: "POST", status: 500, error: "oops"}}}, "HTTP 500: oops", 0, false, 0,
		},
		{
			"402", &double{docs: home, faults: []fault{{on: "POST", status: 402, error: "Insufficient credits"}}},
			"HTTP 402: the account has no credits left: Insufficient credits", 0, false, 0,
		},
		{
			"401, and the key it repeats stays ours", &double{docs: home, key: "other"},
			"HTTP 401: the key is wrong: Unauthorized: Invalid token ***", 0, false, 0,
		},
		{
			"polls survive trouble", &double{
				docs: home, part: 9, polls: 2,
				faults: []fault{{on: "GET", status: 502}, {on: "GET", status: 429, retryAfter: "5"}},
			}, "", 5 * time.Second, false,
			1,
		},
		{
			"polls give up", &double{docs: home, faults: slices.Repeat([]fault{{on: "GET", status: 502}}, 9)}, "HTTP 502", 0,
			true, 1,
		},
		{
			"an expired job", &double{docs: home, faults: []fault{{on: "GET", status: 404, error: "Job expired"}}},
			"HTTP 404: Job expired", 0, true, 1,
		},
		{"a failed job", &double{docs: home, final: "failed"}, `the job ended as "failed"`, 0, false, 1},
		{"a cancelled job", &double{docs: home, final: "cancelled"}, `the job ended as "cancelled"`, 0, false, 1},
		{"a job that never ends", &double{docs: home, polls: 1 << 30}, "took longer than 10m0s", 10 * time.Minute, true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := withFirecrawl(t, tt.d, func(c *crawl.Config) {
					c.Firecrawl.Timeout = 10 * time.Minute
					if c.Firecrawl.Key == "other" {
						c.Firecrawl.Key = "fc-wrong-key-0000"
					}
				})
				begin := time.Now()
				list, report, err := r.run(t, crawl.Options{})
				switch {
				case tt.want == "" && (err != nil || report.Pages != 1):
					t.Errorf("crawl: %v, %v, want one page", err, list)
				case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
					t.Errorf("crawl: %v, want %q", err, tt.want)
				}
				if took := time.Since(begin); took < tt.took || tt.d.cancelled != tt.cancelled || len(tt.d.bodies) != tt.starts {
					t.Errorf("took %v, cancelled %v, %d starts; want at least %v, %v and %d", took, tt.d.cancelled, len(tt.d.bodies),
						tt.took, tt.cancelled, tt.starts)
				}
			})
		})
	}
}

func TestFirecrawlJobIsCancelledWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{docs: []map[string]any{doc("http://site.test/", "x")}, polls: 100}
		r := withFirecrawl(t, d)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := r.Crawl(ctx, crawl.Options{URL: "http://site.test/"}, func(e crawl.Event) error {
			if e.Outcome == crawl.Waiting {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || !d.cancelled {
			t.Errorf("crawl: %v, cancelled %v, want the context's error and the job cancelled", err, d.cancelled)
		}
	})
}

func TestFirecrawlStopsAtTheLimitAndReportsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &double{part: 3}
		for i := range 20 {
			d.docs = append(d.docs, doc(fmt.Sprintf("http://site.test/%d", i), fmt.Sprintf("# Page %d\n", i)))
		}
		r := withFirecrawl(t, d)
		hashes := map[string]string{"http://site.test/0": "other"}
		var list told
		report, err := r.Crawl(t.Context(), crawl.Options{
			URL: "http://site.test/", Limit: 7,
			Known: func(u string) (string, bool) { h, ok := hashes[u]; return h, ok },
		}, func(e crawl.Event) error {
			if len(list) == 0 && e.Page != nil {
				hashes["http://site.test/1"] = "" // another content
			}
			list = append(list, line(t, e))
			return nil
		})
		if err != nil || report.Pages != 7 || len(list) != 9 || list[0] != "changed /0" || list[1] != "changed /1" ||
			list[2] != "new /2" {
			t.Errorf("%d pages, %v: %v", report.Pages, err, list)
		}
	})
}

func TestOnlyTheConfiguredPrivateFirecrawlIsReached(t *testing.T) {
	d := &double{docs: []map[string]any{doc("http://site.test/", "# Home")}, key: "fc-0123456789abcdef"}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request,
	) {
		t.Error("the redirect was followed")
	}))
	t.Cleanup(elsewhere.Close)
	redirect := false
	fire := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if redirect {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
			return
		}
		d.ServeHTTP(w, r)
	}))
	t.Cleanup(fire.Close)
	origins, err := transport.New(transport.Options{
		Resolve: []string{"site.test:80=127.0.0.1:1"},
		Avoid:   func() []netip.AddrPort { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(origins.CloseIdleConnections)
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	f := fetch.New(fetch.Options{Client: origins, Direct: origins, Store: st})
	t.Cleanup(func() { _ = f.Close() })
	s, err := crawl.New("firecrawl", crawl.Config{
		Fetcher:   f,
		Firecrawl: crawl.FirecrawlConfig{BaseURL: fire.URL, Key: d.key, Client: origins},
	})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := s.Scrape(t.Context(), "http://site.test/"); err != nil || p.Markdown != "# Home" {
		t.Errorf("scrape: %+v, %v", p, err)
	}
	redirect = true
	if p, err := s.Scrape(t.Context(), "http://site.test/"); err == nil || !strings.Contains(err.Error(), "HTTP 307") {
		t.Errorf("scrape: %+v, %v, want the redirect as an error", p, err)
	}
}

func TestBadFirecrawlConfigurationIsAnError(t *testing.T) {
	for _, base := range []string{
		"fire.test", "ftp://fire.test", "http://user:pw@fire.test",
		"http://fire.test/?key=abc",
	} {
		_, err := crawl.New("firecrawl", crawl.Config{Firecrawl: crawl.FirecrawlConfig{BaseURL: base, Client: public{}}})
		if err == nil || strings.Contains(err.Error(), "pw") || strings.Contains(err.Error(), "abc") {
			t.Errorf("New with base URL %s: %v, want an error without secrets", base, err)
		}
	}
	if _, err := crawl.New("firecrawl", crawl.Config{}); err == nil {
		t.Error("New without a transport is no error")
	}
}

func TestFirecrawlItselfIsNotAskedWithoutAKey(t *testing.T) {
	for _, base := range []string{"", "https://api.firecrawl.dev", "https://api.firecrawl.dev/"} {
		c := crawl.Config{Firecrawl: crawl.FirecrawlConfig{BaseURL: base, Client: public{}}}
		if _, err := crawl.New("firecrawl", c); err == nil || !strings.Contains(err.Error(), "FIRECRAWL_API_KEY") {
			t.Errorf("%q: %v, want an error that names it (rule D9)", base, err)
		}
		c.Firecrawl.Key = "fc-1"
		if _, err := crawl.New("firecrawl", c); err != nil {
			t.Errorf("%q with a key: %v", base, err)
		}
	}
}
