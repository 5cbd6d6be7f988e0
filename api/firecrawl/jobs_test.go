package firecrawl_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/api/firecrawl"
)

// docs returns a site with n pages below /docs/, one that robots.txt forbids, one that is gone and one elsewhere.
func docs(n int) map[string]string {
	links := []string{"/docs/secret", "/docs/gone", "/blog"}
	pages := map[string]string{
		"/robots.txt": "text/plain User-agent: *\nDisallow: /docs/secret\n", "/blog": html("Blog"),
		"/docs/secret": html("Secret"), "/sitemap.xml": "!404", "/llms.txt": "!404", "/docs/llms.txt": "!404",
	}
	for i := range n - 1 {
		path := fmt.Sprintf("/docs/%d", i)
		links = append(links, path)
		pages[path] = html(fmt.Sprintf("Page %d", i))
	}
	pages["/docs/"] = html("Docs", links...)
	return pages
}

// titles returns the titles of an answer's documents.
func titles(t *testing.T, answer object) []string {
	t.Helper()
	data, ok := answer["data"].([]any)
	if !ok {
		t.Fatalf("no data in %v", answer)
	}
	var list []string
	for i := range data {
		title, _ := answer.at(fmt.Sprintf("data.%d.metadata.title", i)).(string)
		list = append(list, title)
	}
	return list
}

func TestDocumentsOfACrawlComeInParts(t *testing.T) {
	for _, v := range []string{"/v1", "/v2"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, docs(104))
			location, last := r.finish(t, v+"/crawl",
				`{"url":"http://site.test/docs/","scrapeOptions":{"formats":["markdown","links","rawHtml","html"]}}`)
			if last["status"] != "completed" || last["completed"] != 104.0 || last["total"] != 104.0 ||
				!strings.HasPrefix(location, "http://localhost:7888"+v+"/crawl/") {
				t.Fatalf("%s: %v of %v %v", location, last["completed"], last["total"], last["status"])
			}
			var got []string
			var sizes []int
			for part := last; ; part = r.must(t, http.MethodGet, part["next"].(string), "") {
				got, sizes = append(got, titles(t, part)...), append(sizes, len(titles(t, part)))
				if part["next"] == nil {
					break
				}
			}
			if diff := cmp.Diff([]int{100, 4}, sizes); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if slices.Sort(got); len(slices.Compact(got)) != 104 || slices.Contains(got, "Blog") ||
				slices.Contains(got, "Secret") {
				t.Errorf("documents %q, want each page below the start once", got)
			}
			if last.at("data.0.metadata.title") != "Docs" || last.at("data.0.rawHtml") != r.pages["/docs/"] ||
				len(last.at("data.0.links").([]any)) != 107 || !strings.HasPrefix(last.at("data.0.html").(string), "<h1>Docs") ||
				!strings.HasPrefix(last.at("data.0.markdown").(string), "# Docs\n") {
				t.Errorf("first document %.300v", last.at("data.0"))
			}
			some := r.must(t, http.MethodGet, location+"?skip=101&limit=2", "")
			if len(titles(t, some)) != 2 || !strings.Contains(some["next"].(string), "limit=2") ||
				!strings.Contains(some["next"].(string), "skip=103") {
				t.Errorf("two of them: %q, next %v", titles(t, some), some["next"])
			}
			if none := r.must(t, http.MethodGet, location+"?skip=200", ""); len(titles(t, none)) != 0 || none["next"] != nil {
				t.Errorf("after the end: %v", none)
			}
			failures := r.must(t, http.MethodGet, location+"/errors", "")
			if failures.at("robotsBlocked.0") != "http://site.test/docs/secret" ||
				failures.at("errors.0.url") != "http://site.test/docs/gone" ||
				failures.at("errors.0.error") != "HTTP 404 fetching http://site.test/docs/gone" || failures.at("errors.1") != nil {
				t.Errorf("errors %v", failures)
			}
			if status, _ := r.ask(t, http.MethodDelete, location, ""); status != http.StatusConflict {
				t.Errorf("cancelled after its end: status %d, want 409", status)
			}
			for _, query := range []string{"?skip=-1", "?limit=0", "?limit=x", "?page=2"} {
				if status, _ := r.ask(t, http.MethodGet, location+query, ""); status != http.StatusBadRequest {
					t.Errorf("%s: status %d, want 400", query, status)
				}
			}
		})
	}
}

func TestOptionsOfACrawl(t *testing.T) {
	for _, tt := range []struct {
		options string
		want    []string
		took    time.Duration // at least
	}{
		{`"limit":2`, []string{"Docs", "Page 0"}, 0},
		{`"excludePaths":["^/docs/[0-1]$"]`, []string{"Docs", "Page 2", "Page 3"}, 0},
		{`"includePaths":["/docs/[01]"],"deduplicateSimilarURLs":true`, []string{"Docs", "Page 0", "Page 1"}, 0},
		{`"crawlEntireDomain":true`, []string{"Docs", "Page 0", "Page 1", "Page 2", "Page 3", "Blog"}, 0},
		{`"allowBackwardLinks":true,"maxDepth":1,"excludePaths":["docs"]`, []string{"Docs", "Blog"}, 0},
		{`"sitemap":"skip","maxDiscoveryDepth":0`, []string{"Docs"}, 0},
		{`"delay":2,"maxConcurrency":8`, []string{"Docs", "Page 0", "Page 1", "Page 2", "Page 3"}, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, begun := newRig(t, docs(5)), time.Now()
			_, last := r.finish(t, "/v2/crawl", `{"url":"http://site.test/docs/",`+tt.options+`}`)
			got := titles(t, last)
			if slices.Sort(got); last["status"] != "completed" || cmp.Diff(slices.Sorted(slices.Values(tt.want)), got) != "" {
				t.Errorf("%s: %v %q, want %q", tt.options, last["status"], got, tt.want)
			}
			if took := time.Since(begun); took < tt.took || tt.took == 0 && took > 5*time.Second {
				t.Errorf("%s: took %v, want %v", tt.options, took, tt.took)
			}
		})
	}
}

func TestCrawlWithoutAReadableStartPageFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		_, last := r.finish(t, "/v2/crawl", `{"url":"http://site.test/none"}`)
		if last["status"] != "failed" || last["error"] != "HTTP 404 fetching http://site.test/none" ||
			last["success"] != true {
			t.Errorf("%v, want failed with the reason", last)
		}
		for url, want := range map[string]int{
			"http://blocked.test/": 403,
			"http://site.test/?token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlMTIz": 400,
		} {
			if status, _ := r.ask(t, http.MethodPost, "/v2/crawl", `{"url":"`+url+`"}`); status != want {
				t.Errorf("%s: status %d, want %d", url, status, want)
			}
		}
	})
}

// hold blocks pages below /docs/ until the client leaves.
func (r *rig) hold() {
	r.own = func(req *http.Request) (*http.Response, error) {
		if req.URL.Path == "/docs/" || !strings.HasPrefix(req.URL.Path, "/docs/") {
			return nil, nil //nolint:nilnil // the site answers
		}
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
}

func TestCancelledJobEndsAtOnceAndKeepsItsDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, docs(5))
		r.hold()
		location := r.must(t, http.MethodPost, "/v2/crawl", `{"url":"http://site.test/docs/"}`)["url"].(string)
		synctest.Wait()
		if got := r.must(t, http.MethodGet, location, ""); got["status"] != "scraping" || len(titles(t, got)) != 1 ||
			got["total"] == 0.0 {
			t.Errorf("under way: %v", got)
		}
		if n := r.service.Running(); n != 1 {
			t.Errorf("%d jobs run, want 1", n)
		}
		if got := r.must(t, http.MethodGet, "/v2/crawl/active", ""); !strings.HasSuffix(location,
			"/"+got.at("crawls.0.id").(string)) || got.at("crawls.0.url") != "http://site.test/docs/" ||
			got.at("crawls.1") != nil {
			t.Errorf("active: %v", got)
		}
		for range 2 {
			if got := r.must(t, http.MethodDelete, location, ""); got["status"] != "cancelled" {
				t.Errorf("cancel: %v", got)
			}
		}
		synctest.Wait()
		if n := r.service.Running(); n != 0 {
			t.Errorf("%d jobs run after that", n)
		}
		if got := r.must(t, http.MethodGet, "/v1/crawl/active", ""); got.at("crawls.0") != nil {
			t.Errorf("active after the end: %v", got)
		}
		asked := r.count("")
		if got := r.must(t, http.MethodGet, location, ""); got["status"] != "cancelled" || len(titles(t, got)) != 1 {
			t.Errorf("cancelled: %v", got)
		}
		time.Sleep(time.Minute)
		if n := r.count(""); n != asked {
			t.Errorf("%d requests after the end", n-asked)
		}
	})
}

func TestJobsAreBoundedInNumberAndAge(t *testing.T) {
	firecrawl.LimitLifetime(t, time.Minute)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, docs(5))
		r.hold()
		var last string
		for i := range 9 {
			status, got := r.ask(t, http.MethodPost, "/v2/crawl", `{"url":"http://site.test/docs/"}`)
			if (status == 200) != (i < 8) || i == 8 && status != http.StatusTooManyRequests {
				t.Errorf("job %d: %d %v", i, status, got)
			}
			if status == 200 {
				last = got["url"].(string)
			}
		}
		time.Sleep(time.Minute - time.Second)
		if status, _ := r.ask(t, http.MethodGet, last, ""); status != 200 {
			t.Errorf("when its time is almost over: status %d", status)
		}
		time.Sleep(2 * time.Second)
		if status, got := r.ask(t, http.MethodGet, last, ""); status != 404 || got["error"] != "Job not found" {
			t.Errorf("when its time is over: %d %v, want it gone", status, got)
		}
		if status, _ := r.ask(t, http.MethodGet, "/v2/crawl/0/errors", ""); status != 404 {
			t.Errorf("errors of no job: status %d", status)
		}
		r.service.Close()
		if status, _ := r.ask(t, http.MethodPost, "/v2/crawl",
			`{"url":"http://site.test/docs/"}`); status != http.StatusServiceUnavailable {
			t.Errorf("a job after the end: status %d", status)
		}
	})
}

func TestPrivateDocumentsStayInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		firecrawl.LimitResults(t, 1<<20, 1<<20, 1400)
		pages := docs(3)
		pages["/docs/0"], pages["/docs/1"] = "no-store "+html("Private words"), "no-store "+html("More of them")
		r := newRig(t, pages)
		location, last := r.finish(t, "/v2/crawl", `{"url":"http://site.test/docs/"}`)
		if got := titles(t, last); last["status"] != "completed" || len(got) != 2 || got[1] != "Private words" {
			t.Errorf("%v %q, want one of the two private pages: there is room for one", last["status"], got)
		}
		if got := r.must(t, http.MethodGet, location+"/errors", ""); !strings.Contains(fmt.Sprint(got.at("errors")),
			"must not be written to disk") {
			t.Errorf("errors %v", got)
		}
		if files, err := os.ReadDir(r.dir); err != nil || len(files) != 0 {
			t.Errorf("files %v, %v: want no named file", files, err)
		}
	})
}

func TestTooManyDocumentsFailTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		firecrawl.LimitResults(t, 3000, 1<<20, 0)
		r := newRig(t, docs(5))
		_, last := r.finish(t, "/v2/crawl", `{"url":"http://site.test/docs/"}`)
		if n := len(titles(t, last)); last["status"] != "failed" || n == 0 || n == 5 ||
			!strings.Contains(fmt.Sprint(last["error"]), "exceed the maximum size") {
			t.Errorf("%v after %d documents: %v", last["status"], n, last["error"])
		}
	})
	synctest.Test(t, func(t *testing.T) { // old jobs make room for new ones
		firecrawl.LimitResults(t, 1<<20, 9000, 0)
		r := newRig(t, docs(5))
		first, _ := r.finish(t, "/v2/crawl", `{"url":"http://site.test/docs/"}`)
		for range 3 {
			if _, last := r.finish(t, "/v2/crawl", `{"url":"http://site.test/docs/"}`); last["status"] != "completed" {
				t.Errorf("%v: %v", last["status"], last["error"])
			}
		}
		if status, _ := r.ask(t, http.MethodGet, first, ""); status != 404 {
			t.Errorf("the first job: status %d, want it gone", status)
		}
	})
}

func TestBatchKeepsItsOrderAndReportsErrors(t *testing.T) {
	for _, v := range []string{"/v1", "/v2"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, docs(5))
			r.own = func(req *http.Request) (*http.Response, error) {
				if req.URL.Path == "/docs/0" {
					time.Sleep(5 * time.Second) // the other pages come first
				}
				return nil, nil //nolint:nilnil // the site answers
			}
			location, last := r.finish(t, v+"/batch/scrape",
				`{"urls":["http://site.test/docs/0","http://blocked.test/","http://site.test/docs/1","http://site.test/none","ftp://x","site.test/docs/2"],"ignoreInvalidURLs":true,"formats":["markdown"],"maxConcurrency":3}`)
			if diff := cmp.Diff([]string{"Page 0", "Page 1", "", "Page 2"}, titles(t, last)); diff != "" ||
				last["status"] != "completed" || last["total"] != 5.0 {
				t.Errorf("%v of %v, documents (-want +got):\n%s", last["status"], last["total"], diff)
			}
			if last.at("data.2.metadata.statusCode") != 404.0 {
				t.Errorf("a page that is not there: %v", last.at("data.2"))
			}
			if got := r.must(t, http.MethodGet, location+"/errors", ""); got.at("errors.0.code") != "UNSUPPORTED_SITE" ||
				got.at("errors.1") != nil {
				t.Errorf("errors %v", got)
			}
			asCrawl := strings.Replace(location, "/batch/scrape/", "/crawl/", 1)
			if got := r.must(t, http.MethodGet, asCrawl, ""); got["status"] != "completed" {
				t.Errorf("asked for among crawls: %v", got)
			}
			status, got := r.ask(t, http.MethodPost, v+"/batch/scrape", `{"urls":["http://site.test/docs/0","ftp://x"]}`)
			if v == "/v1" && status != 400 || v == "/v2" && (status != 200 || got.at("invalidURLs.0") != "ftp://x") {
				t.Errorf("what is no URL: %d %v", status, got)
			}
		})
	}
}

func TestVersion1AlsoListsErrorsByDELETE(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, docs(2))
		location, _ := r.finish(t, "/v1/crawl", `{"url":"http://site.test/docs/"}`)
		if got := r.must(t, http.MethodDelete, location+"/errors", ""); got.at("robotsBlocked.0") == nil {
			t.Errorf("by DELETE: %v", got)
		}
		if got := r.must(t, http.MethodGet, location, ""); got["status"] != "completed" {
			t.Errorf("and the job: %v", got)
		}
	})
}
