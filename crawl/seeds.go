package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// Bounds of what a site lists of itself. A whole crawl begins after it.
const (
	maxSitemaps    = 50 // sitemaps read for one crawl
	sitemapTimeout = time.Minute
)

// seed calls add for the URLs that the site lists: in the sitemaps that robots.txt names, else in /sitemap.xml, and in
// its llms.txt. It stops when add has accepted enough of them. Lists that cannot be read are named in the report, but
// for a missing /sitemap.xml, which is common. The error is that of ctx.
func (r *run) seed(ctx context.Context, start *url.URL, enough int, add func(raw string) bool) error {
	verdict, err := r.Fetcher.Allowed(ctx, start)
	if err != nil {
		return err
	}
	if verdict.Long {
		r.frontier.report.Sitemaps = append(r.frontier.report.Sitemaps, verdict.URL+" is longer than what is read of it")
	}
	root := url.URL{Scheme: start.Scheme, Host: start.Host}
	sitemaps, named := verdict.Sitemaps, len(verdict.Sitemaps) > 0
	if !named {
		sitemaps = []string{root.JoinPath("/sitemap.xml").String()}
	}
	listed := 0
	list := func(raw string) bool {
		if add(raw) {
			listed++
		}
		return listed < enough && ctx.Err() == nil
	}
	read := map[string]bool{}
	for n := 0; len(sitemaps) > 0 && n < maxSitemaps && listed < enough; n++ {
		next := sitemaps[0]
		sitemaps = sitemaps[1:]
		if read[next] {
			continue
		}
		read[next] = true
		err := r.sitemap(ctx, next, list, func(raw string) bool {
			if len(sitemaps) < maxSitemaps {
				sitemaps = append(sitemaps, raw)
			}
			return true
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e, ok := errors.AsType[*fetch.Error](err); err != nil && (named || n > 0 || !ok || e.Kind != fetch.KindHTTP) {
			r.frontier.report.Sitemaps = append(r.frontier.report.Sitemaps, fmt.Sprintf("%s: %v", page.MaskString(next), err))
		}
	}
	places := []string{"/llms.txt"}
	if below := r.frontier.scope.near + "llms.txt"; below != places[0] {
		places = append(places, below)
	}
	for _, place := range places {
		if u, err := page.Resolve(&root, place); err == nil {
			if err := r.llms(ctx, u, list); err != nil {
				return err
			}
		}
	}
	return nil
}

// sitemap reads, as a seed of the crawl, the sitemap at a URL and calls list for its pages and nested for its sitemaps,
// absolute. It waits for the host's turn, and sitemapTimeout bounds it with its reading.
func (r *run) sitemap(ctx context.Context, raw string, list, nested func(string) bool) error {
	u, err := page.Parse(raw)
	if err != nil {
		return err
	}
	if err := r.waitTurn(ctx, u); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sitemapTimeout)
	defer cancel()
	f, err := r.Fetcher.File(ctx, u)
	if err != nil {
		return err
	}
	defer f.Body.Close()
	absolute := func(use func(string) bool) func(string) bool {
		return func(raw string) bool {
			u, err := page.Resolve(f.URL, raw)
			return err != nil || use(u.String())
		}
	}
	return readSitemap(f.Body, absolute(list), absolute(nested))
}

// llms calls list, for seeds of the crawl, for the links of the llms.txt at a URL. The error is that of ctx: most sites
// have no llms.txt.
func (r *run) llms(ctx context.Context, u *url.URL, list func(string) bool) error {
	if err := r.waitTurn(ctx, u); err != nil {
		return context.Cause(ctx) // nil if robots.txt forbids it
	}
	ans, err := r.Fetcher.Page(ctx, fetch.Request{
		URL: u, Own: true, NoRemote: true, NoStore: true, Links: true,
		Follow: refuseRedirect,
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return nil //nolint:nilerr // a missing llms.txt is not an error
	case ans.Page == nil:
		return ans.Response.Body.Close()
	case page.KindOf(ans.Page.ContentType) == page.HTML && ans.Page.Source != page.Negotiated:
		return nil // an error page with status 200
	}
	for _, link := range ans.Links {
		if !list(link) {
			break
		}
	}
	return nil
}

// waitTurn waits until a list of seeds, a sitemap or an llms.txt, may be requested. It returns an error if robots.txt
// forbids the request.
func (r *run) waitTurn(ctx context.Context, u *url.URL) error {
	v, err := r.Fetcher.Allowed(ctx, u)
	if err != nil {
		return err
	}
	if !v.Allowed {
		return errors.New(v.Reason)
	}
	return r.pacer.wait(ctx, page.Authority(u), v.Delay)
}
