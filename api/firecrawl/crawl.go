package firecrawl

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// The bounds of a crawl's options.
const (
	defaultLimit = 10_000 // pages, as with Firecrawl
	maxLimit     = 100_000
	maxWorkers   = 16
	maxDelay     = 60 // seconds, as with Firecrawl
	maxPatterns  = 100
	maxPattern   = 1000 // bytes
)

// crawlBody is the content of a request that starts a crawl, in both versions of Firecrawl's API, whose names differ.
type crawlBody struct {
	URL     string        `json:"url"`
	Scrape  scrapeOptions `json:"scrapeOptions"`
	Limit   *int          `json:"limit"`             // pages; default 10000
	Depth   *int          `json:"maxDiscoveryDepth"` // links from the start
	Depth1  *int          `json:"maxDepth"`          // the same in version 1
	Include []string      `json:"includePaths"`      // regular expressions for path and query
	Exclude []string      `json:"excludePaths"`
	Entire  bool          `json:"crawlEntireDomain"` // not only pages below the start
	Entire1 bool          `json:"allowBackwardLinks"`
	Sitemap string        `json:"sitemap"` // include (default) or skip
	Skip1   bool          `json:"ignoreSitemap"`
	Delay   float64       `json:"delay"` // seconds between two requests
	Workers int           `json:"maxConcurrency"`

	Origin      ignored `json:"origin"`
	Integration ignored `json:"integration"`
	Audit       ignored `json:"auditMetadata"`
	Similar     ignored `json:"deduplicateSimilarURLs"`

	External    wanted `json:"allowExternalLinks"`
	Subdomains  wanted `json:"allowSubdomains"`
	NoRobots    wanted `json:"ignoreRobotsTxt"`
	RobotsAgent wanted `json:"robotsUserAgent"`
	NoQueries   wanted `json:"ignoreQueryParameters"`
	FullURL     wanted `json:"regexOnFullURL"`
	Webhook     wanted `json:"webhook"`
	Prompt      wanted `json:"prompt"`
	NoRetention wanted `json:"zeroDataRetention"`
}

// check returns an error for options of a crawl that are wrong, or that a crawl does not support here. What no request
// may ask for (wanted) was refused when the body was read.
func (b *crawlBody) check() error {
	switch {
	case b.Limit != nil && (*b.Limit < 1 || *b.Limit > maxLimit):
		return bad("limit must be from 1 to %d", maxLimit)
	case b.depth() < -1:
		return bad("the depth must not be negative")
	case b.depth() == 0 && !b.unlisted():
		return bad(`a depth of 0 reads the start page alone: add sitemap "skip" (version 1: ignoreSitemap)`)
	case b.Sitemap != "" && b.Sitemap != "include" && b.Sitemap != "skip":
		return bad("sitemap %q is not supported here: use include or skip", b.Sitemap)
	case b.Delay < 0 || b.Delay > maxDelay || math.IsNaN(b.Delay):
		return bad("delay must be from 0 to %d seconds", maxDelay)
	case b.Workers < 0:
		return bad("maxConcurrency must be above 0")
	}
	o := &b.Scrape
	switch {
	case len(b.Include)+len(b.Exclude) > maxPatterns ||
		slices.ContainsFunc(slices.Concat(b.Include, b.Exclude), func(p string) bool { return len(p) > maxPattern }):
		return bad("includePaths and excludePaths: at most %d patterns of at most %d bytes each", maxPatterns,
			maxPattern)
	case o.wants("screenshot"):
		return bad("formats: screenshot is not supported here for a crawl")
	case o.wants("changeTracking"):
		return bad("formats: changeTracking is not supported here for a crawl: use batch/scrape")
	case o.Lockdown:
		return bad("lockdown is not supported here for a crawl")
	case o.StoreInCache != nil && !*o.StoreInCache:
		return bad("storeInCache false is not supported here for a crawl")
	}
	return o.checkJob()
}

// checkJob is [scrapeOptions.check] for the pages of a job. They cannot have headers: a job has no place for pages that
// only one caller may see.
func (o *scrapeOptions) checkJob() error {
	if err := o.check(); err != nil {
		return err
	}
	if len(o.Headers) > 0 {
		return bad("headers is not supported here for the pages of a job")
	}
	return nil
}

// depth returns the maximum number of links between the start and a page, or -1 if unbounded.
func (b *crawlBody) depth() int {
	switch {
	case b.Depth != nil:
		return *b.Depth
	case b.Depth1 != nil:
		return *b.Depth1
	}
	return -1
}

func (b *crawlBody) unlisted() bool { return b.Sitemap == "skip" || b.Skip1 }

// options returns the options of package crawl that a request stands for.
func (b *crawlBody) options(v version, u *url.URL) crawl.Options {
	o := crawl.Options{
		URL: u.String(), Limit: defaultLimit, Depth: max(b.depth(), 0), Include: expressions(b.Include),
		Exclude: expressions(b.Exclude), Below: !b.Entire && !b.Entire1,
		Unlisted: b.unlisted(), View: b.Scrape.view(), Source: b.Scrape.wants("rawHtml"), Trimmed: b.Scrape.wants("html"),
		Refresh: b.Scrape.fresh(v),
	}
	if b.Limit != nil {
		o.Limit = *b.Limit
	}
	if b.Scrape.WaitFor > 0 {
		o.Render, o.Wait = fetch.RenderAlways, time.Duration(b.Scrape.WaitFor)*time.Millisecond
	}
	if b.depth() == 0 {
		o.Limit = 1
	}
	return o
}

// expressions marks patterns as regular expressions for package crawl.
func expressions(list []string) []string {
	marked := make([]string, len(list))
	for i, text := range list {
		marked[i] = "re:" + text
	}
	return marked
}

// crawler returns the local crawler, at the requested pace. It is always the local one: a client that uses this API
// wants this program to crawl.
func (s *Service) crawler(delay float64, workers int) (crawl.Service, error) {
	c := s.o.Crawl
	if workers > 0 {
		c.Workers = min(workers, maxWorkers)
	}
	if pause := time.Duration(delay * float64(time.Second)); pause > c.Interval {
		c.Interval = pause
	}
	return crawl.New("local", c)
}

// serveCrawl starts a job that crawls a site, and answers with its id.
func (s *Service) serveCrawl(v version, r *http.Request) (any, error) {
	var b crawlBody
	u, err := read(r, &b, &b.URL)
	if err != nil {
		return nil, err
	}
	if page.HasSecret(u) {
		return nil, bad("%s carries what looks like a credential: a crawl cannot start there", page.Mask(u))
	}
	if err := s.o.Crawl.Fetcher.Blocked(u); err != nil {
		return nil, failed(u, err)
	}
	o := b.options(v, u)
	if err := o.Check(); err != nil {
		return nil, bad("%s", err)
	}
	crawler, err := s.crawler(b.Delay, b.Workers)
	if err != nil {
		return nil, err
	}
	j, err := s.jobs.start(r.Context(), crawling, o.URL, 0,
		func(ctx context.Context, j *job) error { return s.crawl(ctx, j, crawler, o, &b.Scrape) })
	if err != nil {
		return nil, err
	}
	return startAnswer{Success: true, ID: j.id, URL: location(v, r, j, nil)}, nil
}

// crawl crawls a site into a job. The job fails if the start page cannot be read.
func (s *Service) crawl(ctx context.Context, j *job, crawler crawl.Service, o crawl.Options,
	scrape *scrapeOptions,
) error {
	_, err := crawler.Crawl(ctx, o, func(e crawl.Event) error {
		switch {
		case e.Page != nil:
			d, err := s.crawled(ctx, e.Page, scrape)
			if err != nil {
				return err
			}
			return j.add(d, e.URL, e.Total)
		case e.Outcome == crawl.Forbidden:
			j.forbidden(e.URL)
		case e.Outcome == crawl.Failed || e.Outcome == crawl.Gone:
			j.failed(e.URL, e.Err)
		}
		return nil
	})
	if errors.Is(err, errEnded) {
		return nil
	}
	return err
}

// crawled returns the document of a crawled page.
func (s *Service) crawled(ctx context.Context, p *crawl.Page, o *scrapeOptions) (*document, error) {
	d := &document{Metadata: metadata(p.URL, p.Page), private: !p.Page.Stored}
	d.fill(o, p.Markdown, p.Links, p.Source, p.Trimmed)
	if o.wants("summary") {
		if err := s.summarise(ctx, d, p.Page, p.Markdown, d.private); err != nil {
			return nil, err
		}
	}
	if err := s.data(ctx, d, p.Page, p.Markdown, o, d.private); err != nil {
		return nil, err
	}
	d.Warning = o.warning(p.Page.Warnings)
	return d, nil
}
