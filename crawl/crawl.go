// Package crawl finds which pages of a site come next, and gets them.
//
// A [Service] crawls a site or scrapes one page. There are two: the local crawler walks the site itself, over package
// fetch and so through the cache and its guard; [Firecrawl] has a Firecrawl server do it. Neither keeps anything of its
// own: pages are yielded as they come, and what must outlive the process goes through [State].
//
// The local crawler stays on the site it began on, asks robots.txt before every page, leaves time between requests to a
// host, and takes pages in an order that depends on the site alone: breadth first, what lies below the start first, in
// rounds that are fetched side by side and handled one after the other (see frontier.go). Every list that a site can
// make long is bounded, and what a bound left out is in the [Report].
package crawl

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"readthru/fetch"
	"readthru/page"
)

// Service gets the pages of sites.
type Service interface {
	// Scrape gets one page. The error of a page that cannot be had is an [*fetch.Error] where it says more than that.
	Scrape(ctx context.Context, url string) (*Page, error)

	// Crawl gets the pages of a site and calls yield for each URL handled, from one goroutine. An error of yield ends the
	// crawl and is returned; so does the end of ctx. The report is never nil, and holds for what was done before an error.
	Crawl(ctx context.Context, o Options, yield func(Event) error) (*Report, error)
}

// Config says how crawls are done.
type Config struct {
	Fetcher *fetch.Fetcher

	Workers  int           // requests at once; if zero 4
	Interval time.Duration // least time between two requests to a host; if zero 200 ms, negative: none

	Firecrawl FirecrawlConfig
	Log       *slog.Logger
}

// FirecrawlConfig says where a Firecrawl server is.
type FirecrawlConfig struct {
	BaseURL string            // if empty https://api.firecrawl.dev
	Key     string            // sent to BaseURL and nowhere else; empty: none
	Client  http.RoundTripper // the transport, which knows [fetch.Endpoint]
	Timeout time.Duration     // for a crawl in all; if zero 2 h
}

// UnknownServiceError names a crawl service that does not exist.
type UnknownServiceError string

func (e UnknownServiceError) Error() string { return "Unknown crawl service: " + string(e) }

// New returns the service with a name: local (or nothing) or firecrawl. The error is an [UnknownServiceError], or says
// what of the configuration cannot be used.
func New(service string, c Config) (Service, error) {
	if c.Workers <= 0 {
		c.Workers = 4
	}
	if c.Interval == 0 {
		c.Interval = 200 * time.Millisecond
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	switch service {
	case "", "local":
		return &local{c}, nil
	case "firecrawl":
		return newFirecrawl(c)
	}
	return nil, UnknownServiceError(service)
}

// Options say what to crawl.
type Options struct {
	URL   string // where to begin
	Limit int    // pages; if zero 1000
	Depth int    // links away from URL, at most; if zero there is no such bound

	// Include and Exclude choose URLs by path and query. A pattern is a glob over all of it ("/docs/*", where * is any
	// text), or a regular expression that matches anywhere in it ("re:^/v[0-9]+/"). If Include is empty everything is
	// included; Exclude wins. The page at URL is always read.
	Include, Exclude []string

	Below    bool       // only what lies below the start page: what it leads to elsewhere on the site is left out
	Unlisted bool       // what the site lists (sitemaps, llms.txt) is not read
	View     fetch.View // what is wanted of each page
	Render   string     // as in [fetch.Request]
	Source   bool       // tell each page's HTML: Page.Source
	Trimmed  bool       // tell the content of that: Page.Trimmed

	// Refresh has every page validated with its origin. Else an answer that is fresh in the cache will do.
	Refresh bool

	// Known returns the content hash (page.Page.ContentHash) of the page that the caller holds for a URL from an earlier
	// crawl. If nil, every page is new.
	Known func(url string) (hash string, ok bool)

	// State makes the crawl one that goes on where it was, however it ended. If nil it begins anew. Firecrawl has no use
	// for it.
	State State
}

// Check returns an error for patterns that cannot be read.
func (o Options) Check() error {
	if _, err := parsePatterns(o.Include); err != nil {
		return err
	}
	_, err := parsePatterns(o.Exclude)
	return err
}

// compare returns what came of a page, by what the caller knows of it.
func (o Options) compare(p *Page) Outcome {
	if o.Known == nil {
		return Added
	}
	switch hash, known := o.Known(p.URL); {
	case !known:
		return Added
	case hash == p.Hash:
		return Unchanged
	}
	return Changed
}

// State keeps the progress of one crawl.
type State interface {
	// Load calls f with each batch saved, oldest first.
	Load(f func(batch []byte) error) error
	// Save keeps a batch after those before it, durably. It is at most 256 KiB.
	Save(batch []byte) error
}

// Outcome says what came of a URL.
type Outcome string

// Outcomes. The first three come with a page.
const (
	Added     Outcome = "new"
	Changed   Outcome = "changed"   // its content is not that which the caller knows
	Unchanged Outcome = "unchanged" // its content is that which the caller knows
	Duplicate Outcome = "duplicate" // its content is that of a page of this crawl
	Moved     Outcome = "moved"     // it redirects; where to is crawled by itself if it is on the site
	Skipped   Outcome = "skipped"   // it is no page
	Forbidden Outcome = "forbidden" // robots.txt forbids it
	Failed    Outcome = "failed"    // it could not be had: Event.Err
	Waiting   Outcome = "waiting"   // a service is at work on it, and has I of Total pages
)

// Event tells of one URL.
type Event struct {
	I, Total int // pages so far; and how many it will be at most, as far as is known
	URL      string
	Outcome  Outcome
	Page     *Page // for the outcomes that come with one
	Err      error // why there is none, where there is more to say
}

// Page is a page of a crawl (CrawledPage of rules D3, D10).
type Page struct {
	URL      string
	Title    string
	Markdown string // without front matter; never empty
	// what the page says about itself, by the names of [page.Meta]; of Firecrawl all that it tells
	Metadata map[string]string
	Hash     string   // hex SHA-256 of Markdown, of all of it where a view was wanted
	Links    []string // where the page leads; of Firecrawl nothing

	Source, Trimmed []byte // as in [fetch.Answer], where they were asked for; of Firecrawl nothing

	// Page is the page as it is stored; nil where it is not, as from Firecrawl. Content is empty: it is Markdown.
	Page *page.Page
}

// Report sums up a crawl.
type Report struct {
	Site     string          // URL of the start page, after redirects
	Pages    int             // yielded, those of a resumed crawl's earlier runs included
	Outcomes map[Outcome]int // of all URLs handled
	Queued   int             // known and not handled, because the limit was reached or the crawl gave up
	GaveUp   string          // why it ended before the limit with URLs in the queue; empty if it did not
	Trapped  int             // links that lead into what looks endless: calendars, sessions, facets
	Dropped  int             // links left out because the list of URLs was full
	Sitemaps []string        // what could not be read of sitemaps, in words
}
