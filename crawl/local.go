package crawl

import (
	"context"
	"fmt"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// Bounds of a crawl that no option sets.
const (
	defaultLimit = 1000 // pages
	maxInARow    = 16   // consecutive failures after which the crawl leaves the origin alone
	maxPageless  = 200  // the crawl gives up after this many URLs without a page, plus twice the limit
	shortText    = 200  // bytes; two pages may share markdown this short by chance
)

// local is the crawler of this process, by package fetch.
type local struct{ Config }

// Scrape gets one page as any own fetch does. It does not ask robots.txt, which is for crawls: the caller named the
// page.
func (l *local) Scrape(ctx context.Context, raw string) (*Page, error) {
	u, err := page.Parse(raw)
	if err != nil {
		return nil, err
	}
	ans, err := l.fetch(ctx, fetch.Request{URL: u, Own: true, NoVisit: true})
	if err != nil {
		return nil, err
	}
	p, err := pageOf(raw, ans)
	if err != nil {
		return nil, fmt.Errorf("scrape %s: %w", page.Mask(u), err)
	}
	return p, nil
}

// Crawl crawls the site of o.URL. The error is a [*fetch.Error] if fetching the start page failed.
func (l *local) Crawl(ctx context.Context, o Options, yield func(Event) error) (*Report, error) {
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	r := &run{
		local: l, o: o, yield: yield, pacer: newPacer(l.Interval, l.Turn), frontier: newFrontier(scope{}, o.Limit, o.Depth),
	}
	err := r.crawl(ctx)
	r.frontier.report.Cut = r.frontier.shapes.cuts
	r.frontier.report.Queued, r.frontier.report.full = r.frontier.left(), r.frontier.report.Pages >= o.Limit
	return &r.frontier.report, err
}
