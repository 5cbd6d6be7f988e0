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
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/internal/webtest"
)

func TestEndlessSitesAreBounded(t *testing.T) {
	const limit, share = 800, 800 / 8
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
			return stub(r.URL.Path, at.AddDate(0, 0, 1).Format("/cal/2006/01/02"),
				at.AddDate(0, 1, 0).Format("/cal/2006/01/02"))
		}, share + 2},
		{"calendar in the query", func(r *http.Request) string {
			y, _ := strconv.Atoi(r.FormValue("year"))
			return stub(r.URL.String(), fmt.Sprintf("/cal?year=%d&month=1", y+1), fmt.Sprintf("/cal?month=2&year=%d", y+1))
		}, share + 2},
		{"relative link that deepens the path", func(r *http.Request) string {
			return stub(r.URL.Path, "deeper/")
		}, 4},
		{"two that take turns", func(r *http.Request) string {
			return stub(r.URL.Path, "left/", "right/")
		}, 64},
		{"session in every link", func(r *http.Request) string {
			n := rand.Int()
			return stub(r.URL.Path, fmt.Sprintf("/a?PHPSESSID=%d", n), fmt.Sprintf("/b;jsessionid=%d", n),
				fmt.Sprintf("/c?x=1&sid=%d", n))
		}, 4},
		{"pages of a list", func(r *http.Request) string {
			n, _ := strconv.Atoi(r.FormValue("page"))
			return stub(r.URL.String(), fmt.Sprintf("/list?page=%d", n+1))
		}, share + 2},
		{"long and longer", func(r *http.Request) string {
			return stub(r.URL.String()[:min(40, len(r.URL.String()))]+strconv.Itoa(len(r.URL.String())),
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
			_, report := must3(t)(r.run(t, crawl.Options{Limit: limit}))
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

// TestTrapsTakeAShareOfACrawl crawls a site with 60 pages and traps, which are linked first.
func TestTrapsTakeAShareOfACrawl(t *testing.T) {
	const known, limit, share = 60, 120, 120 / 8
	const some = 8 // pages of a trap that say something
	sites := [][]webtest.Trap{
		webtest.Traps, nil, webtest.Traps[0:1], webtest.Traps[1:2], webtest.Traps[2:3], webtest.Traps[3:4],
	}
	if needs.Brief() {
		sites = sites[:1]
	}
	for _, traps := range sites {
		name := "all together"
		if len(traps) < 2 {
			name = "no trap"
		}
		if len(traps) == 1 {
			name = traps[0].Name
		}
		t.Run(name, func(t *testing.T) {
			r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var links []string
				n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/page/"))
				trap := webtest.TrapAt(r.URL.Path)
				switch {
				case r.URL.Path == "/":
					for _, trap := range traps {
						links = append(links, trap.Path)
					}
					links = append(links, "/page/1")
				case trap != nil:
					trap.ServeHTTP(w, r)
					return
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
					t.Errorf("%s was not read (%d pages, %+v)", page, report.Pages, report.Cut)
				}
			}
			for _, trap := range traps {
				first := "/" + strings.Split(trap.Path, "/")[1]
				n := r.count("site.test" + first)
				if n > share+some {
					t.Errorf("%s was read %d times, want at most %d", first, n, share+some)
				}
				i := slices.IndexFunc(report.Cut, func(c crawl.Cut) bool { return strings.HasPrefix(c.Pattern, first) })
				if i < 0 {
					t.Errorf("the report does not name %s: %+v", first, report.Cut)
					continue
				}
				asked, _ := must3(t)(r.run(t, crawl.Options{
					URL: "http://site.test" + trap.Path, Limit: 4 * share, Include: []string{report.Cut[i].Pattern},
				}))
				if len(asked) <= share+some {
					t.Errorf("%s: %d pages were read, though they were asked for", report.Cut[i].Pattern, len(asked))
				}
			}
			t.Logf("%+v", report.Cut)
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
