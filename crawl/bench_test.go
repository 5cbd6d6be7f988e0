package crawl_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/store"
)

// BenchmarkLocal crawls a site over loopback without pauses, with cache and store on disk: pages/s is the rate that the
// origin does not limit. READTHRU_CRAWL_DIR names a directory of HTML to serve instead of the generated site.
func BenchmarkLocal(b *testing.B) {
	handler, start := http.Handler(generated(2000)), "/"
	if dir := os.Getenv("READTHRU_CRAWL_DIR"); dir != "" {
		handler = http.FileServer(http.Dir(dir))
		if _, err := fs.Stat(os.DirFS(dir), "index.html"); err != nil {
			b.Fatal(err)
		}
	}
	origin := httptest.NewServer(handler)
	defer origin.Close()
	total := 0
	for b.Loop() {
		st, err := store.Open(store.Options{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		origins, err := transport.New(transport.Options{AllowPrivateOwn: true})
		if err != nil {
			b.Fatal(err)
		}
		c := cache.New(cache.Options{Store: st, Next: origins})
		f := fetch.New(fetch.Options{Client: c, Direct: origins, Store: st, MarkdownNew: fetch.MarkdownNew{Mode: "off"}})
		s, err := crawl.New("local", crawl.Config{Fetcher: f, Interval: -1})
		if err != nil {
			b.Fatal(err)
		}
		report, err := s.Crawl(b.Context(), crawl.Options{URL: origin.URL + start, Limit: 100_000},
			func(crawl.Event) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
		total += report.Pages
		b.ReportMetric(float64(report.Pages), "pages")
		b.StopTimer()
		_, _, _ = f.Close(), c.Close(), st.Close()
		origins.CloseIdleConnections()
		b.StartTimer()
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "pages/s")
}

// generated is a site of n pages with a menu of 200 links each.
func generated(n int) pages {
	p := pages{}
	for i := range n {
		var links []string
		for j := range 200 {
			links = append(links, fmt.Sprintf("/p/%d", (i*10+j)%n))
		}
		p[fmt.Sprintf("/p/%d", i)] = strings.Replace(html(fmt.Sprintf("P %d", i), links...), "</p>",
			strings.Repeat("<p>More words, which a page of documentation has, too: `code` and <b>more</b>.</p>", 40), 1)
	}
	p["/"] = html("Home", "/p/0")
	return p
}
