package crawl_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/crawl"
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

// TestTrapsTakeAShareOfACrawl crawls a site with 60 pages and four traps, which are linked first.
func TestTrapsTakeAShareOfACrawl(t *testing.T) {
	const known, limit, share = 60, 120, 120 / 8
	trap := map[string]func(r *http.Request) []string{
		"/cal": func(r *http.Request) []string {
			at, err := time.Parse("2006-01", r.FormValue("m"))
			if err != nil {
				at = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			}
			return []string{at.AddDate(0, 1, 0).Format("/cal?m=2006-01"), at.AddDate(0, -1, 0).Format("/cal?m=2006-01")}
		},
		"/amp": func(r *http.Request) []string {
			q := "amp%3B" + strings.TrimPrefix(r.URL.RawQuery, "?")
			return []string{"/amp?" + q, "/amp?" + q + "&p=2"}
		},
		"/infra": func(r *http.Request) []string {
			return []string{r.URL.Path + "/infra", r.URL.Path + "/common"}
		},
		"/grow": func(r *http.Request) []string {
			n := len(r.URL.Query())
			return []string{fmt.Sprintf("/grow?%s&f%d=1", r.URL.RawQuery, n), fmt.Sprintf("/grow?%s&g%d=1", r.URL.RawQuery, n)}
		},
	}
	for _, tt := range []struct {
		name  string
		traps []string
	}{
		{"no trap", nil},
		{"a calendar", []string{"/cal?m=2026-01"}},
		{"a parameter that grows", []string{"/amp?p=2"}},
		{"parameters that become more", []string{"/grow?f=1"}},
		{"a path that grows", []string{"/infra/common"}},
		{"all together", []string{"/cal?m=2026-01", "/amp?p=2", "/grow?f=1", "/infra/common"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var links []string
				first := "/" + strings.Split(r.URL.Path, "/")[1]
				n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/page/"))
				switch {
				case r.URL.Path == "/":
					links = slices.Concat(tt.traps, []string{"/page/1"})
				case trap[first] != nil:
					links = trap[first](r)
				case err == nil && n <= known:
					links = []string{fmt.Sprintf("/page/%d", n+1), fmt.Sprintf("/page/%d", n+2)}
				default:
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/html")
				io.WriteString(w, html(r.URL.String(), links...))
			}))
			_, report := must3(t)(r.run(t, crawl.Options{Limit: limit}))
			for i := range known {
				if page := fmt.Sprintf("site.test/page/%d", i+1); r.count(page) == 0 {
					t.Errorf("%s was not read (%+v)", page, report)
				}
			}
			for first := range trap {
				n := r.count("site.test" + first)
				if n > share+2 { // those of which each is the first of its kind
					t.Errorf("%s was read %d times, want at most %d", first, n, share+2)
				}
				t.Log(first, n)
			}
		})
	}
}

// What only looks like a trap on some pages is read whole: dates of posts, a folder that is in itself, one script for
// all pages.
func TestSitesThatResembleTrapsAreReadWhole(t *testing.T) {
	for name, at := range map[string]func(i int) string{
		"posts by date":          func(i int) string { return fmt.Sprintf("/20%02d/0%d/post-%d-of-all", 10+i/9, 1+i%9, i) },
		"a folder in itself":     func(i int) string { return fmt.Sprintf("/docs/docs/topic%d", i) },
		"one script":             func(i int) string { return fmt.Sprintf("/index.php?topic=t%d&lang=en", i) },
		"a list of single pages": func(i int) string { return fmt.Sprintf("/show?id=%d", i) },
	} {
		t.Run(name, func(t *testing.T) {
			const known = 80
			site := pages{}
			var links []string
			for i := range known {
				path := at(i)
				site[path] = html(fmt.Sprintf("%s of %d", name, i))
				links = append(links, strings.ReplaceAll(path, "&", "&amp;"))
			}
			site["/"] = html("Home", links...)
			r := newRig(t, site)
			if _, report := must3(t)(r.run(t, crawl.Options{Limit: 120})); report.Pages != known+1 {
				t.Errorf("%d pages were read, want %d (%+v)", report.Pages, known+1, report)
			}
		})
	}
}
