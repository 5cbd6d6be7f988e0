// Package crawl finds which pages of a site come next, and gets them.
//
// A [Service] crawls a site or scrapes one page. There are two services. The local crawler follows the site's links
// itself; it uses package fetch, and so the cache and the address guard. [Firecrawl] asks a Firecrawl server to crawl.
// Neither stores anything: pages are yielded as they arrive, and progress that must outlive the process is saved
// through [State].
//
// The local crawler stays on the site it began on, obeys robots.txt, and spaces its requests to a host. The order of
// its pages depends on the site alone: breadth first, pages below the start page first. It fetches in rounds, whose
// pages come in parallel and are handled in order (see frontier.go). Every list that a site can make long is bounded,
// and the [Report] says what a bound left out.
//
// A URL takes this way through the local crawler: a link, a sitemap or an llms.txt names it (get.go, seeds.go); the
// scope and the shapes say whether it is wanted (scope.go, patterns.go, endless.go, shapes.go); it waits in the
// frontier for its round (frontier.go) and then for its host's turn (pace.go); get.go gets it; local.go yields the page
// and saves the step (state.go). A map (map.go) goes the same way and gets no pages but the start page.
package crawl

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// Service gets the pages of sites.
type Service interface {
	// Scrape gets one page. The error is a [*fetch.Error] if the fetch failed.
	Scrape(ctx context.Context, rawURL string) (*Page, error)

	// Crawl gets the pages of a site and calls yield for each URL handled, from one goroutine. Crawl stops and returns
	// the error when yield fails or ctx ends. The report is never nil; after an error it covers the work done before.
	Crawl(ctx context.Context, o Options, yield func(Event) error) (*Report, error)
}

// Config configures a [Service]. Fetcher is required; other zero values select the defaults.
type Config struct {
	Fetcher *fetch.Fetcher

	Workers  int           // parallel requests; if zero, 4
	Interval time.Duration // minimum time between two requests to a host; if zero, 200 ms; if negative, none

	// Turn has the crawl wait for what other nodes ask of a host. If nil, this is a node alone.
	Turn Turn

	Firecrawl FirecrawlConfig
	Log       *slog.Logger
}

// Turn returns how long to wait before a request to a host, to which those of all nodes begin interval apart. The error
// says that nobody knows.
type Turn func(ctx context.Context, host string, interval time.Duration) (wait time.Duration, err error)

// FirecrawlConfig says how to reach a Firecrawl server.
type FirecrawlConfig struct {
	BaseURL string            // if empty, https://api.firecrawl.dev
	Key     string            // sent to BaseURL and nowhere else; if empty, no key is sent
	Client  http.RoundTripper // the transport; it must honour [fetch.Endpoint]
	Timeout time.Duration     // for a whole crawl; if zero, 2 h
}

// UnknownServiceError names a crawl service that does not exist.
type UnknownServiceError string

// Error names the crawl service that does not exist.
func (e UnknownServiceError) Error() string { return "Unknown crawl service: " + string(e) }

// New returns the service called local or firecrawl; the empty name means local. The error is an [UnknownServiceError]
// for any other name, or describes a bad configuration.
func New(service string, c Config) (Service, error) {
	if c.Workers <= 0 {
		c.Workers = 4
	}
	c.Interval = cmp.Or(c.Interval, 200*time.Millisecond)
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
	URL   string // the start page
	Limit int    // maximum number of pages; if zero, 1000
	Depth int    // maximum number of links between URL and a page; if zero, unbounded

	// Include and Exclude choose URLs by path and query. A pattern is a glob over the whole of it ("/docs/*", where *
	// is any text), or a regular expression that matches anywhere in it ("re:^/v[0-9]+/"). If Include is empty,
	// everything is included; Exclude wins. The page at URL is always read.
	Include, Exclude []string

	Below    bool          // crawl only pages below the start page
	Whole    bool          // if the start page joins those of the site (llms-full.txt), yield these, and read no more
	Unlisted bool          // do not read what the site lists (sitemaps, llms.txt)
	View     fetch.View    // the part of each page that is wanted
	Render   string        // as in [fetch.Request]
	Wait     time.Duration // as in [fetch.Request]
	Source   bool          // set Page.Source
	Trimmed  bool          // set Page.Trimmed

	// Refresh validates every page with its origin. If false, an answer that is fresh in the cache is used.
	Refresh bool

	// Known returns the content hash (page.Page.ContentHash) of the page that the caller holds for a URL from an earlier
	// crawl. If nil, every page is new.
	Known func(url string) (hash string, ok bool)

	// Held yields the URLs of pages that the caller holds from an earlier crawl. At the end the local crawler reads
	// those on the site that no link led to. Firecrawl ignores it.
	Held iter.Seq[string]

	// State lets an interrupted crawl resume. If nil, the crawl begins at the start. Firecrawl ignores it.
	State State
}

// Check returns an error if a pattern of Include or Exclude is malformed, so that a crawl is refused before it begins.
func (o Options) Check() error {
	if _, err := parsePatterns(o.Include); err != nil {
		return err
	}
	_, err := parsePatterns(o.Exclude)
	return err
}

// compare says whether a page of a crawl is new, changed or unchanged for the caller, by the hash that Options.Known
// has of it.
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
	// Load calls f with each saved batch, oldest first.
	Load(f func(batch []byte) error) error
	// Save appends a batch durably. A batch has at most 256 KiB.
	Save(batch []byte) error
}

// Outcome is the result of crawling one URL.
type Outcome string

// The outcomes. The first three come with a page.
const (
	Added     Outcome = "new"
	Changed   Outcome = "changed"   // the content differs from what the caller knows
	Unchanged Outcome = "unchanged" // the content equals what the caller knows
	Duplicate Outcome = "duplicate" // the content equals that of another page of this crawl
	Moved     Outcome = "moved"     // a redirect; its target is crawled as a URL of its own if it is on the site
	Skipped   Outcome = "skipped"   // not a page
	Forbidden Outcome = "forbidden" // robots.txt forbids it, or the origin denies its use
	Gone      Outcome = "gone"      // the origin says that there is no such page: 404 or 410
	Failed    Outcome = "failed"    // fetching it failed: Event.Err
	Waiting   Outcome = "waiting"   // the service is still crawling and has I of Total pages
)

// Event reports one URL.
type Event struct {
	I, Total int // pages so far, and the most that is expected
	URL      string
	Outcome  Outcome
	Page     *Page // nil for outcomes that come without a page
	Err      error // why there is no page; may be nil
}

// Page is a page of a crawl (CrawledPage of rules D3, D10).
type Page struct {
	URL      string
	Title    string
	Markdown string // without front matter; never empty
	// Metadata is what the page says about itself, by the names of [page.Meta]. From Firecrawl it is all that the server
	// sends.
	Metadata map[string]string
	Hash     string   // hex SHA-256 of the whole Markdown, even if Options.View selects a part
	Links    []string // URLs that the page links to; empty from Firecrawl

	Source, Trimmed []byte // as in [fetch.Answer], if requested; empty from Firecrawl

	// Page is the stored page, or nil if it is not stored, as from Firecrawl. Its Content is empty; see Markdown.
	Page *page.Page
}

// Report sums up a crawl.
type Report struct {
	Site     string          // URL of the start page, after redirects
	Pages    int             // pages yielded, including the earlier runs of a resumed crawl
	Outcomes map[Outcome]int // number of URLs by outcome
	Queued   int             // URLs known but not handled, because the crawl reached its limit or gave up
	GaveUp   string          // why the crawl ended before its limit with URLs queued; empty if it did not
	Cut      []Cut           // what was left because its pages say nothing new: calendars, facets
	Trapped  int             // links left out because they look endless by themselves
	Dropped  int             // links left out because the list of URLs was full
	Sitemaps []string        // one sentence for each sitemap that could not be read

	outcomes map[page.Key]Outcome // by normalised URL, including the earlier runs of a resumed crawl
	full     bool                 // the crawl reached its limit
}

// Lost reports whether a page that the caller holds from an earlier crawl is no longer there: the origin says so, or a
// crawl without a failure did not find it. After a failure, or at the limit, a page that was not met may still be
// there.
func (r *Report) Lost(rawURL string) bool {
	switch r.outcomes[page.KeyOf(normalized(rawURL))] {
	case Gone:
		return true
	case Failed, Added, Changed, Unchanged:
		return false
	}
	return r.Outcomes[Failed] == 0 && !r.full && r.GaveUp == "" && !r.left(rawURL)
}

// left reports whether a URL is of a part of the site that the crawl left: a page there is not lost because no link led
// to it.
func (r *Report) left(rawURL string) bool {
	u, err := url.Parse(rawURL)
	return err == nil && slices.ContainsFunc(r.Cut, func(c Cut) bool {
		chosen, err := parsePatterns([]string{c.Pattern})
		return err == nil && chosen.match(u)
	})
}

// normalized returns the normalised form of a URL of a crawl, or the URL itself if it is malformed, as a key of the
// report.
func normalized(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		return page.Normalize(u)
	}
	return raw
}

// newReport returns a report of a crawl that has handled no URL.
func newReport() *Report {
	return &Report{Outcomes: map[Outcome]int{}, outcomes: map[page.Key]Outcome{}}
}

// count counts the outcome of a URL in the report, the last one if there are several.
func (r *Report) count(rawURL string, o Outcome) {
	r.Outcomes[o]++
	r.outcomes[page.KeyOf(normalized(rawURL))] = o
}
