package firecrawl

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/crawl"
)

// The bounds of a map.
const (
	defaultLinks = 5000 // as with Firecrawl
	maxLinks     = 30_000
	maxSearch    = 1000 // bytes
	maxMapTime   = 10 * time.Minute
)

// mapBody is the content of a request for the URLs of a site.
type mapBody struct {
	URL        string `json:"url"`
	Search     string `json:"search"`                // URLs with these words come first
	Limit      *int   `json:"limit"`                 // default 5000
	Subdomains *bool  `json:"includeSubdomains"`     // default: version 1 false, 2 true
	Sitemap    string `json:"sitemap"`               // include (default), skip or only
	Skip1      bool   `json:"ignoreSitemap"`         // version 1
	Only1      bool   `json:"sitemapOnly"`           // version 1
	NoQueries  *bool  `json:"ignoreQueryParameters"` // default: version 1 false, 2 true
	ByPath     *bool  `json:"filterByPath"`          // if url has a path, only URLs below it; default true
	Timeout    *int64 `json:"timeout"`               // milliseconds

	Origin      ignored `json:"origin"`
	Integration ignored `json:"integration"`
	Audit       ignored `json:"auditMetadata"`
	Index       ignored `json:"useIndex"`
	NoCache     ignored `json:"ignoreCache"`
	Location    ignored `json:"location"` // with a warning

	Headers  wanted `json:"headers"`
	External wanted `json:"allowExternalLinks"`
	NoRobots wanted `json:"ignoreRobotsTxt"`
	Threats  wanted `json:"threatProtection"`
}

// mapAnswer is the answer to a request for the URLs of a site: version 1 has URLs as texts, version 2 as objects.
type mapAnswer[L any] struct {
	Success bool   `json:"success"`
	Links   []L    `json:"links"`
	Warning string `json:"warning,omitempty"`
}

// mapLink is a link in version 2. Only the start page has a title, because no other page was read.
type mapLink struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// check returns an error for options of a map that are wrong or not supported.
func (b *mapBody) check() error {
	switch {
	case b.Limit != nil && (*b.Limit < 1 || *b.Limit > maxLinks):
		return bad("limit must be from 1 to %d", maxLinks)
	case !slices.Contains([]string{"", "include", "skip", "only"}, b.Sitemap):
		return bad("sitemap %q is not include, skip or only", b.Sitemap)
	case len(b.Search) > maxSearch:
		return bad("search is longer than %d bytes", maxSearch)
	case !timeoutOK(b.Timeout):
		return errTimeout
	}
	return nil
}

// serveMap answers with the URLs of a site: its start page, the links of that, and what its sitemaps and llms.txt name.
// No other page is read.
func (s *Service) serveMap(v version, r *http.Request) (any, error) {
	var b mapBody
	u, err := read(r, &b, &b.URL)
	if err != nil {
		return nil, err
	}
	limit := defaultLinks
	if b.Limit != nil {
		limit = *b.Limit
	}
	o := crawl.MapOptions{
		URL: u.String(), Limit: limit, Subdomains: or(b.Subdomains, v == 2), Unlisted: b.Sitemap == "skip" || b.Skip1,
		Unlinked: b.Sitemap == "only" || b.Only1, Below: or(b.ByPath, true),
	}
	if b.Search != "" {
		o.Limit = maxLinks // the best match may be the last URL
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxMapTime)
	defer cancel()
	if b.Timeout != nil {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(*b.Timeout)*time.Millisecond)
		defer cancel()
	}
	m, err := s.o.Crawl.Map(ctx, o)
	if ctx.Err() != nil {
		return nil, &failure{http.StatusRequestTimeout, "MAP_TIMEOUT", "the map took too long"}
	}
	if err != nil {
		return nil, failed(u, err)
	}
	links := m.URLs
	if or(b.NoQueries, v == 2) {
		links = withoutQueries(links)
	}
	links = nearest(links, b.Search)
	warnings := m.Sitemaps
	if wanted(b.Location).something() {
		warnings = append(warnings, locationIgnored)
	}
	warning := strings.Join(warnings, "; ")
	links = links[:min(limit, len(links))]
	if v == 1 {
		return mapAnswer[string]{true, links, warning}, nil
	}
	list := make([]mapLink, len(links))
	for i, link := range links {
		if list[i].URL = link; link == m.Site {
			list[i].Title = m.Title
		}
	}
	return mapAnswer[mapLink]{true, list, warning}, nil
}

// or returns the given value, or absent if none is given.
func or(given *bool, absent bool) bool {
	if given != nil {
		return *given
	}
	return absent
}

// withoutQueries returns URLs without their queries and without duplicates.
func withoutQueries(links []string) []string {
	seen := make(map[string]bool, len(links))
	var list []string
	for _, link := range links {
		if link, _, _ = strings.Cut(link, "?"); !seen[link] {
			seen[link] = true
			list = append(list, link)
		}
	}
	return list
}

// nearest sorts URLs by how many words of a search they contain. The sort is stable.
func nearest(links []string, search string) []string {
	words := strings.Fields(strings.ToLower(search))
	if len(words) == 0 {
		return links
	}
	type ranked struct {
		link string
		held int
	}
	list := make([]ranked, len(links))
	for i, link := range links {
		text := strings.ToLower(link)
		if plain, err := url.PathUnescape(text); err == nil {
			text = plain
		}
		list[i].link = link
		for _, w := range words {
			if strings.Contains(text, w) {
				list[i].held++
			}
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.held, a.held) })
	sorted := make([]string, len(list))
	for i, r := range list {
		sorted[i] = r.link
	}
	return sorted
}
