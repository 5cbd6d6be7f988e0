package crawl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"readthru/page"
)

// Firecrawl has a Firecrawl server get pages, its version 2 or, where it has none, version 1. Only public URLs without
// credentials leave, each on the ledger before it does; the key goes to the configured address and nowhere else.
type Firecrawl struct {
	Config
	base *url.URL
	old  atomic.Bool // the server has no version 2
}

const (
	firecrawlAddress = "https://api.firecrawl.dev"
	firecrawlTimeout = 2 * time.Hour
	firstPoll        = 2 * time.Second
	lastPoll         = 10 * time.Second
	cancelTimeout    = 5 * time.Second
)

func newFirecrawl(c Config) (*Firecrawl, error) {
	raw := c.Firecrawl.BaseURL
	if raw == "" {
		raw = firecrawlAddress
	}
	u, err := page.Parse(raw)
	if err == nil && (u.RawQuery != "" || u.User != nil) {
		err = errors.New("it must be scheme, host and path only")
	}
	if err != nil {
		return nil, fmt.Errorf("use Firecrawl's base URL: %w", err)
	}
	u.Path, u.RawPath, u.Fragment = strings.TrimRight(u.Path, "/"), "", ""
	if c.Firecrawl.Client == nil {
		return nil, errors.New("use Firecrawl: no transport")
	}
	if c.Firecrawl.Timeout <= 0 {
		c.Firecrawl.Timeout = firecrawlTimeout
	}
	return &Firecrawl{Config: c, base: u}, nil
}

// Scrape has the server get one page.
func (fc *Firecrawl) Scrape(ctx context.Context, raw string) (*Page, error) {
	u, err := page.Parse(raw)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fc.Firecrawl.Timeout)
	defer cancel()
	want := fullScrape(u)
	var got scrapeAnswer
	if err := fc.tell(ctx, u, "scrape", want, &got); err != nil {
		return nil, err
	}
	if !got.Success {
		return nil, fmt.Errorf("firecrawl: scrape %s: %s", page.Mask(u), fc.words(got.Error))
	}
	p, err := fc.page(u, got.Data)
	if err != nil {
		return nil, fmt.Errorf("firecrawl: scrape %s: %w", page.Mask(u), err)
	}
	return p, nil
}

// Crawl has the server crawl a site, waits until it is done and yields what it got. Until then its progress comes as
// events of outcome Waiting. Whatever ends the crawl before its time cancels it on the server.
func (fc *Firecrawl) Crawl(ctx context.Context, o Options, yield func(Event) error) (*Report, error) {
	report := &Report{Outcomes: map[Outcome]int{}}
	u, err := page.Parse(o.URL)
	if err != nil {
		return report, err
	}
	report.Site = u.String()
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fc.Firecrawl.Timeout,
		fmt.Errorf("firecrawl: the crawl took more than %v", fc.Firecrawl.Timeout))
	defer cancel()
	job, err := fc.start(ctx, u, o)
	if err != nil {
		return report, ended(ctx, err)
	}
	c := collector{o: o, report: report, yield: yield, seen: map[page.Key]bool{}, hashes: map[string]bool{}}
	finished, err := fc.follow(ctx, u, job, &c)
	if err != nil && !finished {
		fc.cancel(ctx, job)
	}
	return report, ended(ctx, err)
}

// ended prefers why a context ended to what that broke.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// start begins a crawl and returns its path on the server.
func (fc *Firecrawl) start(ctx context.Context, u *url.URL, o Options) (job string, err error) {
	include, err := expressions(o.Include)
	if err != nil {
		return "", err
	}
	exclude, err := expressions(o.Exclude)
	if err != nil {
		return "", err
	}
	var got startAnswer
	if err := fc.tell(ctx, u, "crawl", crawlWish(u, o, include, exclude), &got); err != nil {
		return "", err
	}
	switch {
	case !got.Success:
		return "", fmt.Errorf("firecrawl: crawl %s: %s", page.Mask(u), fc.words(got.Error))
	case !jobID.MatchString(got.ID):
		return "", fmt.Errorf("firecrawl: crawl %s: the server gave no job id", page.Mask(u))
	}
	return fc.version() + "/crawl/" + got.ID, nil
}

// expressions returns patterns as the regular expressions that Firecrawl takes. It matches them against the path.
func expressions(list []string) ([]string, error) {
	ps, err := parsePatterns(list)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, re := range ps {
		texts = append(texts, re.String())
	}
	return texts, nil
}

// follow polls a job until it is done, and then collects its pages. finished says that the server works no more.
func (fc *Firecrawl) follow(ctx context.Context, u *url.URL, job string, c *collector) (finished bool, err error) {
	var got statusAnswer
	for wait := firstPoll; ; wait = min(wait*3/2, lastPoll) {
		if err := sleep(ctx, wait); err != nil {
			return false, err
		}
		got = statusAnswer{}
		if err := fc.send(ctx, http.MethodGet, job, nil, &got); err != nil {
			return false, err
		}
		if got.Status != "scraping" {
			break
		}
		if err := c.waiting(u, got); err != nil {
			return false, err
		}
	}
	if got.Status != "completed" {
		return true, fmt.Errorf("firecrawl: crawl %s: the server says it is %q%s", page.Mask(u), fc.words(got.Status),
			fc.because(got.Error))
	}
	return true, fc.collect(ctx, u, job, got, c)
}

// collect takes the pages of a finished job, part by part. Of where the next part is only the numbers are taken: the
// address may be wrong (https where the server speaks http), and a hostile one would draw the key elsewhere. A part
// that is empty, or not after the one before, is the end: jobs that failed do not count.
func (fc *Firecrawl) collect(ctx context.Context, u *url.URL, job string, got statusAnswer, c *collector) error {
	skip := 0
	for c.report.Pages < c.o.Limit {
		for _, doc := range got.Data {
			p, err := fc.page(u, doc)
			if err := c.take(doc.address(u).String(), p, err); err != nil {
				return err
			}
			if c.report.Pages == c.o.Limit {
				break
			}
		}
		query, at := nextPart(got.Next)
		if len(got.Data) == 0 || at <= skip || at > 10*c.o.Limit+1000 {
			break
		}
		skip, got = at, statusAnswer{}
		if err := fc.send(ctx, http.MethodGet, job+"?"+query, nil, &got); err != nil {
			return err
		}
	}
	var failures errorsAnswer
	if err := fc.send(ctx, http.MethodGet, job+"/errors", nil, &failures); err != nil {
		return ctx.Err() // older servers have no such list
	}
	return c.failures(failures, fc)
}

// page makes a page of what the server got, if that is one.
func (fc *Firecrawl) page(start *url.URL, doc document) (*Page, error) {
	meta := doc.metadata()
	u := doc.address(start)
	_, content := page.SplitFrontMatter([]byte(doc.Markdown))
	switch status := meta["statusCode"]; {
	case page.HasSecret(u):
		return nil, errors.New("its URL carries what looks like a credential")
	case fc.Fetcher.Blocked(u) != nil:
		return nil, fc.Fetcher.Blocked(u)
	case meta["error"] != "":
		return nil, errors.New(fc.words(meta["error"]))
	case len(status) == 3 && status[0] >= '4':
		return nil, fmt.Errorf("HTTP %s", status)
	case len(strings.TrimSpace(string(content))) == 0:
		return nil, errors.New("it holds no text")
	}
	sum := sha256.Sum256(content)
	return &Page{
		URL: u.String(), Title: meta["title"], Markdown: string(content), Metadata: meta,
		Hash: hex.EncodeToString(sum[:]),
	}, nil
}

// cancel ends a job on the server, though ctx has ended.
func (fc *Firecrawl) cancel(ctx context.Context, job string) {
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer end()
	if err := fc.once(ctx, http.MethodDelete, job, nil, nil); err != nil {
		fc.Log.Warn("crawl not cancelled at firecrawl", "err", err)
	}
}

// collector yields what a server got, and counts it.
type collector struct {
	o      Options
	report *Report
	yield  func(Event) error
	seen   map[page.Key]bool
	hashes map[string]bool
	total  int
}

// waiting tells how far the server is.
func (c *collector) waiting(u *url.URL, got statusAnswer) error {
	c.total = got.Total
	return c.yield(Event{I: got.Completed, Total: got.Total, URL: u.String(), Outcome: Waiting})
}

// take yields one page, or why it is none.
func (c *collector) take(address string, p *Page, err error) error {
	if err != nil {
		return c.tell(Event{URL: address, Outcome: Failed, Err: err})
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return c.tell(Event{URL: address, Outcome: Failed, Err: err})
	}
	k := page.KeyOf(page.Normalize(u))
	if c.seen[k] || c.hashes[p.Hash] {
		return c.tell(Event{URL: p.URL, Outcome: Duplicate})
	}
	c.seen[k], c.hashes[p.Hash] = true, true
	c.report.Pages++
	return c.tell(Event{URL: p.URL, Outcome: c.o.compare(p), Page: p})
}

// failures tells of the URLs that the server lists as not had.
func (c *collector) failures(got errorsAnswer, fc *Firecrawl) error {
	for _, e := range got.Errors {
		if err := c.tell(Event{URL: e.URL, Outcome: Failed, Err: errors.New(fc.words(e.Error))}); err != nil {
			return err
		}
	}
	for _, raw := range got.RobotsBlocked {
		if err := c.tell(Event{URL: raw, Outcome: Forbidden, Err: errors.New("robots.txt forbids it")}); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) tell(e Event) error {
	c.report.Outcomes[e.Outcome]++
	e.I, e.Total = c.report.Pages, min(max(c.total, c.report.Pages), c.o.Limit)
	return c.yield(e)
}
