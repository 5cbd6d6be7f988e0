package crawl_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"

	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/store"
)

func Example() {
	if err := crawlSite(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 of 2: new , "Home"
	// 2 of 2: new /guide, "Guide"
	// 2 pages
}

func crawlSite() error {
	site := httptest.NewServer(pages{
		"/": html("Home", "/guide", "/blog"), "/guide": html("Guide"),
		"/blog": html("Blog"),
	})
	defer site.Close()
	dir, err := os.MkdirTemp("", "crawl")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	st, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	origins, err := transport.New(transport.Options{AllowPrivateOwn: true})
	if err != nil {
		return err
	}
	defer origins.CloseIdleConnections()
	f := fetch.New(fetch.Options{Client: origins, Direct: origins, Store: st, UserAgent: "readthru/1.0"})
	defer func() { _ = f.Close() }()

	service, err := crawl.New("local", crawl.Config{Fetcher: f})
	if err != nil {
		return err
	}
	report, err := service.Crawl(context.Background(), crawl.Options{URL: site.URL, Exclude: []string{"/blog*"}},
		func(e crawl.Event) error {
			u, err := url.Parse(e.URL)
			if err != nil {
				return err
			}
			fmt.Printf("%d of %d: %s %s, %q\n", e.I, e.Total, e.Outcome, u.Path, e.Page.Title)
			return nil
		})
	if err != nil {
		return err
	}
	fmt.Println(report.Pages, "pages")
	return nil
}
