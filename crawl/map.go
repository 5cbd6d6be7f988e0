package crawl

import (
	"context"
	"net/netip"
	"net/url"
	"strings"

	"github.com/readthru/readthru/page"
)

// MapOptions selects the URLs of a [Map]. Zero values other than URL select the defaults.
type MapOptions struct {
	URL        string // the start page
	Limit      int    // maximum number of URLs; if zero, 5000
	Subdomains bool   // include hosts below the start page's host
	Unlisted   bool   // do not read what the site lists (sitemaps, llms.txt)
	Unlinked   bool   // leave out the links of the start page
	Below      bool   // only URLs below the start page

	// Keep reports whether a URL of the site is wanted. If nil, all are.
	Keep func(u *url.URL) bool
}

// Map lists the URLs of a site without crawling it.
type Map struct {
	Site     string   // URL of the start page, after redirects
	Title    string   // title of the start page, if it could be read
	URLs     []string // absolute, without duplicates: the start page, its links, the URLs that the site lists
	Full     bool     // the limit was reached; there may be more URLs
	Sitemaps []string // one sentence for each sitemap that could not be read
}

// Map lists the URLs of a site: its start page, the links of that page, and the URLs that its sitemaps and llms.txt
// name. It reads no other page and obeys robots.txt. The URLs are what the site claims; none was requested. The error
// is that of ctx, or that of the start page if nothing else was found either.
func (c Config) Map(ctx context.Context, o MapOptions) (*Map, error) {
	if o.Limit <= 0 {
		o.Limit = 5000
	}
	u, err := parseStart("map", o.URL)
	if err != nil {
		return nil, err
	}
	service, err := New("local", c)
	if err != nil {
		return nil, err
	}
	l := service.(*local)
	r := &run{local: l, pacer: newPacer(l.Interval, l.Turn), frontier: newFrontier(scope{}, 1, 0)}
	u, first := r.arrive(ctx, u)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r.enter(u, nil, nil)
	s := survey{o: o, scope: r.frontier.scope, seen: map[page.Key]struct{}{}}
	s.add(u.String())
	if !o.Unlinked {
		for _, link := range first.links {
			s.add(link)
		}
	}
	if !o.Unlisted {
		if err := r.seed(ctx, u, o.Limit-len(s.urls), s.add); err != nil {
			return nil, err
		}
	}
	if first.page == nil && len(s.urls) <= 1 {
		return nil, first.err
	}
	m := &Map{Site: u.String(), URLs: s.urls, Full: len(s.urls) == o.Limit, Sitemaps: r.frontier.report.Sitemaps}
	if first.page != nil {
		m.Title = first.page.Title
	}
	return m, nil
}

// A survey collects the URLs of a site for [Config.Map].
type survey struct {
	o     MapOptions
	scope scope
	seen  map[page.Key]struct{}
	urls  []string
}

// add adds a URL to the survey that belongs to the site, is wanted and is not known. It reports whether it added the
// URL. Unlike the frontier it requests nothing, so that files and forms are listed, too.
func (s *survey) add(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.User != nil || len(raw) > maxURL || page.HasSecret(u) {
		return false
	}
	own, same := s.scope.site(u)
	if !same {
		if !s.o.Subdomains || !s.subdomain(u) {
			return false
		}
		own = page.WithoutAnchor(withoutSession(u))
	}
	if s.o.Below && same && !s.scope.isBelow(own) || s.o.Keep != nil && !s.o.Keep(own) {
		return false
	}
	k := page.KeyOf(page.Normalize(own))
	if _, known := s.seen[k]; known || len(s.urls) == s.o.Limit {
		return false
	}
	s.seen[k] = struct{}{}
	s.urls = append(s.urls, own.String())
	return true
}

// subdomain reports whether a URL's host is the start page's host without a leading www, or below it. An address and a
// name without a dot have nothing below them.
func (s *survey) subdomain(u *url.URL) bool {
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	start := url.URL{Host: s.scope.host}
	domain := strings.TrimPrefix(start.Hostname(), "www.")
	host := strings.ToLower(u.Hostname())
	if _, err := netip.ParseAddr(domain); err == nil || !strings.Contains(domain, ".") {
		return false
	}
	return page.OnHost(host, domain)
}
