package fetch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/fetch/robots"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
)

const (
	robotsLifetime    = 24 * time.Hour   // RFC 9309 §2.4
	robotsRetry       = 10 * time.Minute // how long a failed request is not repeated
	robotsTimeout     = 15 * time.Second
	robotsText        = 8 << 10  // bytes of a robots.txt in a Verdict
	robotsCacheLimit  = 16 << 20 // bytes of rules kept in memory
	robotsUnreachable = 30 * 24 * time.Hour
)

// Verdict reports whether the robots.txt of a site allows us to read a URL (RFC 9309).
type Verdict struct {
	Allowed  bool
	Reason   string        // why not, in one plain sentence; empty if allowed
	Delay    time.Duration // Crawl-delay between requests; 0: none
	Sitemaps []string      // absolute URLs of the sitemaps that it names; at most 100

	// Preferences are what it states about the use of the URL's content. They are not in Allowed: a preference is about
	// what is done with content, and its reader may be a person. See [Fetcher.Unwanted].
	Preferences page.Preferences

	URL    string // of robots.txt
	Status int    // of its response; 0: none was received
	Text   string // its first 8 KiB
}

// Allowed reports whether the robots.txt of u's site allows the product token of fetch.user_agent to read u. It fetches
// the file through the cache, under the policy for own fetches, at most once in 24 hours. A site without robots.txt
// (4xx) allows everything. A site that fails to serve it (5xx, no connection) allows what it allowed before, or nothing
// if that is unknown. Callers that treat status 401 or 403 as a ban, as the reference fetch server does, check Status.
// Allowed returns the error of ctx, or an error if u is not an http or https URL.
func (f *Fetcher) Allowed(ctx context.Context, u *url.URL) (Verdict, error) {
	f = f.newest.Load()
	if _, err := page.Parse(u.String()); err != nil {
		return Verdict{}, err
	}
	site := robotsOf(u)
	known := f.robots.get(site.String())
	if known == nil || !time.Now().Before(known.until) {
		fresh, err := f.freshRobots(ctx, site, known)
		if err != nil {
			return Verdict{}, err
		}
		known = fresh
	}
	v := Verdict{
		Delay: known.rules.Delay, Sitemaps: known.sitemaps, URL: site.String(), Status: known.status,
		Text: known.text,
	}
	switch {
	case known.why != "":
		v.Reason = known.why
	case u.EscapedPath() == "/robots.txt" || known.rules.Allows(robots.PathOf(u)):
		v.Allowed, v.Preferences = true, known.rules.Preferences(robots.PathOf(u))
	default:
		v.Reason = fmt.Sprintf("%s does not let %s read %s", site.String(), f.robotsToken(), page.Mask(u))
	}
	return v, nil
}

// robotsOf returns the URL of the robots.txt of u's site.
func robotsOf(u *url.URL) url.URL {
	return url.URL{Scheme: u.Scheme, Host: page.Authority(u), Path: "/robots.txt"}
}

// robotsToken returns our product token for robots.txt.
func (f *Fetcher) robotsToken() string {
	if token := robots.ProductToken(f.o.UserAgent); token != "" {
		return token
	}
	return "readthru"
}

// siteRobots is a site's parsed robots.txt, or the failure to fetch it.
type siteRobots struct {
	rules    robots.Rules
	sitemaps []string // absolute
	status   int
	text     string
	why      string    // if not empty, everything is disallowed for this reason
	fetched  time.Time // when the rules were fetched
	until    time.Time // when to fetch again
}

// freshRobots fetches a site's robots.txt, once for all concurrent callers. It returns the error of ctx.
func (f *Fetcher) freshRobots(ctx context.Context, site url.URL, known *siteRobots) (*siteRobots, error) {
	//nolint:contextcheck // must not end with the request that began it
	done := f.flights.DoChan("robots "+site.String(), func() (any, error) {
		var got *siteRobots
		err := f.detached(f.o.Timeout, func(ctx context.Context) {
			got = f.askRobots(ctx, site, known)
			f.robots.put(site.String(), got)
		})
		return got, err
	})
	select {
	case res := <-done:
		if res.Err != nil {
			return nil, res.Err
		}
		return res.Val.(*siteRobots), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// askRobots fetches and parses a site's robots.txt. If that fails, known remains in force; it may be nil.
func (f *Fetcher) askRobots(ctx context.Context, site url.URL, known *siteRobots) *siteRobots {
	ctx, cancel := context.WithTimeout(transport.OwnPolicy(ctx), robotsTimeout)
	defer cancel()
	now := time.Now()
	status, text, err := f.readRobots(ctx, &site)
	got := &siteRobots{status: status, fetched: now, until: now.Add(robotsLifetime)}
	switch {
	case err == nil && status >= 200 && status < 300:
		got.rules = robots.Parse(text, f.robotsToken())
		got.text = string(clip.Bytes(text, robotsText))
		for _, s := range got.rules.Sitemaps {
			if u, err := page.Resolve(&site, s); err == nil && fetchable(u) {
				got.sitemaps = append(got.sitemaps, u.String())
			}
		}
		return got
	// unavailable: §2.3.1.3, and too many redirects: §2.3.1.2
	case err == nil && status >= 300 && status < 500 && status != http.StatusTooManyRequests:
		return got
	}
	got.until = now.Add(robotsRetry)
	if known != nil && known.why == "" && now.Sub(known.fetched) < robotsUnreachable {
		kept := *known
		kept.until = got.until
		return &kept
	}
	got.why = fmt.Sprintf("%s answered HTTP %d, which forbids everything until it can be read", site.String(), status)
	if err != nil {
		got.status = 0
		got.why = fmt.Sprintf("%s could not be read, which forbids everything: %v", site.String(), Explain(&site, err))
	}
	return got
}

// readRobots returns the status of robots.txt, after redirects, and its text up to the limit. It drops a line cut by
// the limit, because half a rule is a different rule.
func (f *Fetcher) readRobots(ctx context.Context, site *url.URL) (status int, text []byte, err error) {
	resp, _, err := f.getFile(ctx, site, "text/plain, */*;q=0.5", http.Header{"Cache-Control": {"max-age=86400"}})
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return resp.StatusCode, nil, nil
	}
	text, err = io.ReadAll(io.LimitReader(resp.Body, robots.MaxSize+1))
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", media.ErrIncomplete, err)
	}
	if len(text) > robots.MaxSize {
		text = text[:bytes.LastIndexAny(text[:robots.MaxSize], "\r\n")+1]
	}
	return resp.StatusCode, text, nil
}

// robotsCache keeps the robots.txt of sites, up to robotsCacheLimit bytes. It evicts the oldest ones. The zero value is
// empty.
type robotsCache struct {
	mu    sync.Mutex
	sites map[string]*siteRobots
	order []string // oldest first
	bytes int
}

func (c *robotsCache) get(site string) *siteRobots {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sites[site]
}

func (c *robotsCache) put(site string, r *siteRobots) {
	r.text = strings.Clone(r.text) // a copy that does not retain the rest of the file
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sites == nil {
		c.sites = map[string]*siteRobots{}
	}
	if old := c.sites[site]; old != nil {
		c.bytes -= old.size()
	} else {
		c.order = append(c.order, site)
	}
	c.sites[site] = r
	c.bytes += r.size()
	for c.bytes > robotsCacheLimit && len(c.order) > 1 {
		oldest := c.order[0]
		c.order = c.order[1:]
		c.bytes -= c.sites[oldest].size()
		delete(c.sites, oldest)
	}
}

func (r *siteRobots) size() int { return 512 + len(r.text) + 2*r.rules.Size() }
