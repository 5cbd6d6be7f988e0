package crawl_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"readthru/crawl"
)

func TestEndlessSitesAreBounded(t *testing.T) {
	for _, tt := range []struct {
		name string
		page func(r *http.Request) string
		most int // pages, including the start page
	}{
		{"calendar", func(r *http.Request) string {
			at, err := time.Parse("/cal/2006/01/02", r.URL.Path)
			if err != nil {
				at = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			}
			return html(r.URL.Path, at.AddDate(0, 0, 1).Format("/cal/2006/01/02"), at.AddDate(0, 1, 0).Format("/cal/2006/01/02"))
		}, 101},
		{"calendar in the query", func(r *http.Request) string {
			y, _ := strconv.Atoi(r.FormValue("year"))
			return html(r.URL.String(), fmt.Sprintf("/cal?year=%d&month=1", y+1), fmt.Sprintf("/cal?month=2&year=%d", y+1))
		}, 101},
		{"relative link that deepens the path", func(r *http.Request) string {
			return html(r.URL.Path, "deeper/")
		}, 4},
		{"two that take turns", func(r *http.Request) string {
			return html(r.URL.Path, "left/", "right/")
		}, 64},
		{"session in every link", func(r *http.Request) string {
			n := rand.Int()
			return html(r.URL.Path, fmt.Sprintf("/a?PHPSESSID=%d", n), fmt.Sprintf("/b;jsessionid=%d", n),
				fmt.Sprintf("/c?x=1&sid=%d", n))
		}, 4},
		{"facets", func(r *http.Request) string {
			var links []string
			for _, f := range []string{"color=red", "size=xl", "sort=asc", "view=grid", "stock=1"} {
				links = append(links, "/shop?"+strings.Trim(r.URL.RawQuery+"&"+f, "&"))
			}
			return html(r.URL.String(), links...)
		}, 2000},
		{"pages of a list", func(r *http.Request) string {
			n, _ := strconv.Atoi(r.FormValue("page"))
			return html(r.URL.String(), fmt.Sprintf("/list?page=%d", n+1))
		}, 201},
		{"long and longer", func(r *http.Request) string {
			return html(r.URL.String()[:min(40, len(r.URL.String()))]+strconv.Itoa(len(r.URL.String())),
				"/x?q="+r.FormValue("q")+strings.Repeat("y", 200))
		}, 11},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" || strings.HasSuffix(r.URL.Path, ".xml") {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/html")
				io.WriteString(w, tt.page(r))
			}))
			_, report := must3(t)(r.run(t, crawl.Options{Limit: 3000}))
			if report.Pages > tt.most || report.Pages < min(tt.most, 3) {
				t.Errorf("%d pages, want at most %d (%+v)", report.Pages, tt.most, report)
			}
			t.Logf("%d pages, %d trapped", report.Pages, report.Trapped)
		})
	}
}

func TestCrawlGivesUpOnDeadLinks(t *testing.T) {
	var links []string
	for i := range 2000 {
		links = append(links, fmt.Sprintf("/gone/%d", i))
	}
	r := newRig(t, pages{"/": html("Home", links...)})
	state := &memory{}
	_, report := must3(t)(r.run(t, crawl.Options{Limit: 50, State: state}))
	if n := r.count("site.test/gone/"); report.GaveUp == "" || report.Queued == 0 || n < 300 || n > 300+32 {
		t.Errorf("%d dead links were tried, report %+v, want it given up after 300", n, report)
	}
	if _, again := must3(t)(r.run(t, crawl.Options{Limit: 50, State: state})); again.GaveUp != report.GaveUp {
		t.Errorf("the same crawl taken up again: %+v, want it given up still", again)
	}
}

func TestMaintenanceURLsAndFilesAreNotCrawled(t *testing.T) {
	r := newRig(t, pages{"/": html("Home", "/_sources/index.rst.txt", "/w/index.php?title=A&amp;action=edit",
		"/w/index.php?title=A", "/?oldid=7", "/wp-json/", "/wp-json-is-a-word", "/blog/feed/", "/data.json", "/a.PDF")})
	list, _ := must3(t)(r.run(t, crawl.Options{}))
	if diff := cmp.Diff(told{"new /", "gone /w/index.php?title=A", "gone /wp-json-is-a-word", "gone /a.PDF"},
		list); diff != "" {
		t.Errorf("crawl (-want +got):\n%s", diff)
	}
}
