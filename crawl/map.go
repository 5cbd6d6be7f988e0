package crawl

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"readthru/page"
)

// MapOptions say which URLs of a site are wanted.
type MapOptions struct {
	URL        string // where to begin
	Limit      int    // URLs; if zero 5000
	Subdomains bool   // those of hosts below the start page's too
	Unlisted   bool   // what the site lists (sitemaps, llms.txt) is not read
	Unlinked   bool   // what the start page links to is left out
	Below      bool   // only what lies below the start page

	// Keep chooses among the URLs of the site; nil keeps all.
	Keep func(u *url.URL) bool
}

// Map is what is known of a site without a crawl.
type Map struct {
	Site     string   // URL of the start page, after redirects
	Title    string   // of the start page, if that could be read
	URLs     []string // absolute, each once: the start page, what it links to, what the site lists
	Full     bool     // the limit was reached: there may be more
	Sitemaps []string // what could not be read of sitemaps, in words
}

// Map lists the URLs of a site: its start page, what that links to, and what sitemaps and llms.txt name. It reads no
// other page. robots.txt is obeyed, for the lists too. Which URLs it names is the site's word: none of them was asked
// for. The error is that of the start page where nothing else could be had either, or that of ctx.
func (c Config) Map(ctx context.Context, o MapOptions) (*Map, error) {
	if o.Limit <= 0 {
		o.Limit = 5000
	}
	u, err := page.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	if page.HasSecret(u) {
		return nil, fmt.Errorf("map %s: the URL carries what looks like a credential", page.Mask(u))
	}
	u.Fragment, u.RawFragment = "", ""
	service, err := New("local", c)
	if err != nil {
		return nil, err
	}
	l := service.(*local)
	r := &run{local: l, pacer: newPacer(l.Interval), frontier: newFrontier(scope{}, 1, 0)}
	first := r.arrive(ctx, u)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if first.moved != nil {
		u = first.moved
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

// arrive gets the start page, wherever it redirects to: moved is its URL then.
func (r *run) arrive(ctx context.Context, u *url.URL) result {
	at := u
	for hop := 0; ; hop++ {
		got := r.get(ctx, item{URL: at.String()})
		if got.outcome == Moved && hop < maxStartHops {
			at = got.moved
			continue
		}
		if got.moved = nil; at != u {
			got.moved = at
		}
		return got
	}
}

// survey gathers the URLs of a site.
type survey struct {
	o     MapOptions
	scope scope
	seen  map[page.Key]struct{}
	urls  []string
}

// add takes a URL that is of the site, wanted and not known. It reports whether it did.
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
		own = withoutSession(u)
		own.Fragment, own.RawFragment = "", ""
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

// subdomain reports whether a URL's host lies below that of the start page, of which a www does not count, or is that
// without it.
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
	return host == domain || strings.HasSuffix(host, "."+domain)
}
