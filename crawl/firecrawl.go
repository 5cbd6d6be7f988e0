package crawl

import (
	"cmp"
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

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// Firecrawl gets pages through a Firecrawl server. It speaks version 2 of the API, or version 1 to a server that has no
// other. It discloses only public URLs without credentials, each entered in the ledger first. The key is sent to the
// configured address and nowhere else.
type Firecrawl struct {
	Config
	base *url.URL
	v1   atomic.Bool // the server has no version 2
}

// Where a Firecrawl server is, and how long and how often it is asked for its progress.
const (
	firecrawlAddress = "https://api.firecrawl.dev"
	firecrawlTimeout = 2 * time.Hour
	firstPoll        = 2 * time.Second
	lastPoll         = 10 * time.Second
	cancelTimeout    = 5 * time.Second
)

// noKey says where a key would be. A server of one's own may need none.
const noKey = "no API key is set (crawl.firecrawl_key or FIRECRAWL_API_KEY, where the daemon runs)"

// newFirecrawl returns the service that crawls through a Firecrawl server. The error names what is missing in the
// configuration, the key for the public server above all.
func newFirecrawl(c Config) (*Firecrawl, error) {
	raw := cmp.Or(c.Firecrawl.BaseURL, firecrawlAddress)
	if c.Firecrawl.Key == "" && strings.TrimRight(raw, "/") == firecrawlAddress {
		return nil, errors.New("use Firecrawl: " + noKey)
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

// Scrape gets one page through the Firecrawl server.
func (fc *Firecrawl) Scrape(ctx context.Context, raw string) (*Page, error) {
	u, err := page.Parse(raw)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fc.Firecrawl.Timeout)
	defer cancel()
	var got scrapeAnswer
	if err := fc.request(ctx, u, "scrape", newScrape(u), &got); err != nil {
		return nil, err
	}
	if !got.Success {
		return nil, fmt.Errorf("firecrawl: scrape %s: %s", page.Mask(u), fc.said(got.Error))
	}
	p, err := fc.page(u, got.Data)
	if err != nil {
		return nil, fmt.Errorf("firecrawl: scrape %s: %w", page.Mask(u), err)
	}
	return p, nil
}

// Crawl has the Firecrawl server crawl a site, waits until it is done, and yields its pages. Meanwhile events with the
// outcome Waiting report progress. If the crawl ends early, it is cancelled on the server, which would go on at
// somebody's expense.
func (fc *Firecrawl) Crawl(ctx context.Context, o Options, yield func(Event) error) (*Report, error) {
	report := newReport()
	u, err := page.Parse(o.URL)
	if err != nil {
		return report, err
	}
	report.Site = u.String()
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, fc.Firecrawl.Timeout,
		fmt.Errorf("firecrawl: the crawl took longer than %v", fc.Firecrawl.Timeout))
	defer cancel()
	job, err := fc.start(ctx, u, o)
	if err != nil {
		return report, ended(ctx, err)
	}
	c := collector{o: o, report: report, yield: yield, seen: map[page.Key]bool{}, hashes: map[string]bool{}}
	finished, err := fc.follow(ctx, u, job, &c)
	report.full = report.Pages >= o.Limit
	if err != nil && !finished {
		fc.cancel(ctx, job)
	}
	return report, ended(ctx, err)
}

// ended returns the cause of ctx's end if ctx has ended, else err, of a request to the Firecrawl server: a request that
// was cut off says less.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// start starts a crawl on the Firecrawl server and returns the path of its job there.
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
	if err := fc.request(ctx, u, "crawl", newCrawl(u, o, include, exclude), &got); err != nil {
		return "", err
	}
	switch {
	case !got.Success:
		return "", fmt.Errorf("firecrawl: crawl %s: %s", page.Mask(u), fc.said(got.Error))
	case !jobID().MatchString(got.ID):
		return "", fmt.Errorf("firecrawl: crawl %s: the server sent no job id", page.Mask(u))
	}
	return fc.version() + "/crawl/" + got.ID, nil
}

// expressions returns patterns of Include or Exclude as the regular expressions that Firecrawl matches against paths.
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

// follow polls a job of the Firecrawl server until it is done and then collects its pages. finished reports whether the
// job ended on the server, so that nobody need cancel it.
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
		return true, fmt.Errorf("firecrawl: crawl %s: the job ended as %q%s", page.Mask(u), fc.said(got.Status),
			fc.reason(got.Error))
	}
	return true, fc.collect(ctx, u, job, got, c)
}

// collect takes the pages of a finished job from the Firecrawl server, part by part. From the address of the next part
// it uses only the numbers: the rest may be wrong (https when the server speaks http), and a hostile address would send
// the key elsewhere. An empty part, or one that does not follow the previous one, is the end. The server does not count
// failed pages, so it may announce a part that does not exist.
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
		// The bound is for a server that counts on for ever.
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
		return ctx.Err() // older servers do not list failures
	}
	return c.failures(failures, fc)
}

// page returns a document of the Firecrawl server as a page, cleaned as all markdown from elsewhere, or an error that
// says why it is not one.
func (fc *Firecrawl) page(start *url.URL, doc document) (*Page, error) {
	meta := doc.metadata()
	u := doc.address(start)
	_, content := page.SplitFrontMatter([]byte(doc.Markdown))
	content = fetch.CleanMarkdown(content, u)
	switch status := meta["statusCode"]; {
	case page.HasSecret(u):
		return nil, errors.New("the URL carries what looks like a credential")
	case fc.Fetcher.Blocked(u) != nil:
		return nil, fc.Fetcher.Blocked(u)
	case status == "404" || status == "410":
		return nil, goneError(status)
	case meta["error"] != "":
		return nil, errors.New(fc.said(meta["error"]))
	case len(status) == 3 && status[0] >= '4':
		return nil, fmt.Errorf("HTTP %s", status)
	case len(strings.TrimSpace(string(content))) == 0:
		return nil, errors.New("the page has no text")
	}
	sum := sha256.Sum256(content)
	return &Page{
		URL: u.String(), Title: meta["title"], Markdown: string(content), Metadata: meta,
		Hash: hex.EncodeToString(sum[:]),
	}, nil
}

// goneError is the status by which an origin says, through the Firecrawl server, that there is no such page.
type goneError string

// Error names the status that the Firecrawl server reports of the origin.
func (e goneError) Error() string { return "HTTP " + string(e) }

// cancel cancels a job on the Firecrawl server, even if ctx has ended. A failure is logged: nobody waits for it.
func (fc *Firecrawl) cancel(ctx context.Context, job string) {
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer end()
	if err := fc.once(ctx, http.MethodDelete, job, nil, nil); err != nil {
		fc.Log.Warn("crawl not cancelled at firecrawl", "err", err)
	}
}

// A collector yields the pages of a job of the Firecrawl server and counts them in the report.
type collector struct {
	o      Options
	report *Report
	yield  func(Event) error
	seen   map[page.Key]bool
	hashes map[string]bool
	total  int
}

// waiting reports the Firecrawl server's progress with a job.
func (c *collector) waiting(u *url.URL, got statusAnswer) error {
	c.total = got.Total
	return c.yield(Event{I: got.Completed, Total: got.Total, URL: u.String(), Outcome: Waiting})
}

// take yields one page of the Firecrawl server, or the error in its place. A page that was met before, by its URL or by
// its content, is a duplicate.
func (c *collector) take(address string, p *Page, err error) error {
	if _, is := errors.AsType[goneError](err); is {
		return c.emit(Event{URL: address, Outcome: Gone, Err: err})
	}
	if err != nil {
		return c.emit(Event{URL: address, Outcome: Failed, Err: err})
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return c.emit(Event{URL: address, Outcome: Failed, Err: err})
	}
	k := page.KeyOf(page.Normalize(u))
	if c.seen[k] || c.hashes[p.Hash] {
		return c.emit(Event{URL: p.URL, Outcome: Duplicate})
	}
	c.seen[k], c.hashes[p.Hash] = true, true
	c.report.Pages++
	return c.emit(Event{URL: p.URL, Outcome: c.o.compare(p), Page: p})
}

// failures yields the URLs that the Firecrawl server lists as failed or as forbidden by robots.txt.
func (c *collector) failures(got errorsAnswer, fc *Firecrawl) error {
	for _, e := range got.Errors {
		if err := c.emit(Event{URL: e.URL, Outcome: Failed, Err: errors.New(fc.said(e.Error))}); err != nil {
			return err
		}
	}
	for _, raw := range got.RobotsBlocked {
		if err := c.emit(Event{URL: raw, Outcome: Forbidden, Err: errors.New("robots.txt forbids it")}); err != nil {
			return err
		}
	}
	return nil
}

// emit counts an event of a crawl on the Firecrawl server and yields it.
func (c *collector) emit(e Event) error {
	c.report.count(e.URL, e.Outcome)
	e.I, e.Total = c.report.Pages, min(max(c.total, c.report.Pages), c.o.Limit)
	return c.yield(e)
}
