package firecrawl

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// The bounds of a search.
const (
	defaultResults = 5   // as with Firecrawl
	maxResultsWeb  = 100 // as with Firecrawl
	scrapesAtOnce  = 4
	searchTimeout  = time.Minute // as with Firecrawl
)

// searchBody is the content of a search.
type searchBody struct {
	Query   string        `json:"query"`
	Limit   *int          `json:"limit"`          // results; default 5
	Sources []source      `json:"sources"`        // web
	Include []string      `json:"includeDomains"` // only results of these hosts and those below them
	Exclude []string      `json:"excludeDomains"`
	Period  string        `json:"tbs"` // qdr:h, d, w, m or y: only from the last hour, day, …
	Timeout *int64        `json:"timeout"`
	Scrape  scrapeOptions `json:"scrapeOptions"` // results are fetched if it names formats

	Origin      ignored `json:"origin"`
	Integration ignored `json:"integration"`
	Audit       ignored `json:"auditMetadata"`
	Language    ignored `json:"lang"`
	Country     ignored `json:"country"`
	Invalid     ignored `json:"ignoreInvalidURLs"`
	Detail      ignored `json:"toolDetail"`

	Filter      wanted `json:"filter"`
	Location    wanted `json:"location"`
	Categories  wanted `json:"categories"`
	Tools       wanted `json:"domainTools"`
	Enterprise  wanted `json:"enterprise"`
	Async       wanted `json:"asyncScraping"`
	Highlights  wanted `json:"highlights"`
	Threats     wanted `json:"threatProtection"`
	NoRetention wanted `json:"zeroDataRetention"`
}

// source is a kind of results: a name, or an object whose type is a name.
type source string

// UnmarshalJSON refuses sources other than the web.
func (s *source) UnmarshalJSON(b []byte) error {
	var f struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(b, &f.Type) != nil && json.Unmarshal(b, &f) != nil {
		return bad("sources: a source must be a name or an object with a type")
	}
	if f.Type != "web" {
		return bad("sources: %q is not supported here: use web", f.Type)
	}
	*s = source(f.Type)
	return nil
}

// JSONSchema describes its JSON form.
func (s source) JSONSchema() map[string]any { return named([]string{"web"}, nil) }

// named is the schema of a name, or of an object whose type is the name.
func named(names []string, options map[string]any) map[string]any {
	name := map[string]any{"type": "string", "enum": names}
	properties := map[string]any{"type": name}
	maps.Copy(properties, options)
	return map[string]any{"anyOf": []any{name, map[string]any{"type": "object", "properties": properties}}}
}

// periods are SearXNG's names for Google's.
var periods = map[string]struct {
	name string
	last time.Duration
}{
	"": {}, "qdr:d": {"day", 24 * time.Hour}, "qdr:w": {"week", 7 * 24 * time.Hour},
	"qdr:m": {"month", 31 * 24 * time.Hour}, "qdr:y": {"year", 366 * 24 * time.Hour},
}

// check returns an error for options that are wrong or not supported.
func (b *searchBody) check() error {
	_, known := periods[b.Period]
	switch {
	case strings.TrimSpace(b.Query) == "":
		return bad("query is missing")
	case len(b.Query) > 2000:
		return bad("query is longer than 2000 bytes")
	case b.Limit != nil && (*b.Limit < 1 || *b.Limit > maxResultsWeb):
		return bad("limit must be from 1 to %d", maxResultsWeb)
	case !timeoutOK(b.Timeout):
		return errTimeout
	case !known:
		return bad("tbs %q is not supported here: use qdr:d, qdr:w, qdr:m or qdr:y", b.Period)
	case len(b.Include) > maxPatterns || len(b.Exclude) > maxPatterns:
		return bad("includeDomains and excludeDomains: at most %d each", maxPatterns)
	}
	return b.Scrape.check()
}

// limit returns how many results a search asks for, or the default.
func (b *searchBody) limit() int {
	if b.Limit == nil {
		return defaultResults
	}
	return *b.Limit
}

// accepts reports whether a result may be listed by the hosts that the request names.
func (b *searchBody) accepts(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	of := func(domain string) bool {
		return page.OnHost(host, strings.TrimPrefix(strings.ToLower(strings.TrimSpace(domain)), "www."))
	}
	return (len(b.Include) == 0 || slices.ContainsFunc(b.Include, of)) && !slices.ContainsFunc(b.Exclude, of)
}

// found is a result.
type found struct {
	URL         string `json:"url"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Position    int    `json:"position,omitempty"` // in version 2
	*document          // if results are fetched
}

// searchAnswer is the answer to a search: version 1 has a list as its data, version 2 an object.
type searchAnswer[Data any] struct {
	Success bool   `json:"success"`
	Data    Data   `json:"data"`
	Warning string `json:"warning,omitempty"`
}

// webResults are the results of version 2.
type webResults struct {
	Web []found `json:"web"`
}

// serveSearch answers a search from the index here and from SearXNG, where one is configured, and fetches the results
// if formats are asked for.
func (s *Service) serveSearch(v version, r *http.Request) (any, error) {
	var b searchBody
	if err := decode(r, &b); err != nil {
		return nil, err
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	limit := searchTimeout
	if b.Timeout != nil {
		limit = time.Duration(*b.Timeout) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	list, warning, err := s.search(ctx, &b)
	if err != nil {
		return nil, failed(nil, err)
	}
	if len(b.Scrape.Formats) > 0 {
		s.scrapeAll(ctx, v, list, &b.Scrape, r.UserAgent())
	}
	if v == 1 {
		return searchAnswer[[]found]{true, list, warning}, nil
	}
	for i := range list {
		list[i].Position = i + 1
	}
	return searchAnswer[webResults]{true, webResults{list}, warning}, nil
}

// search finds pages that are known here, and with the search engine that is configured. What one has the other need
// not: a failure of the engine is a warning.
func (s *Service) search(ctx context.Context, b *searchBody) (list []found, warning string, err error) {
	var known, web []found
	var g errgroup.Group
	g.Go(fault.Wrap("firecrawl: search known pages", func() (err error) {
		known, err = s.known(ctx, b)
		return err
	}))
	var trouble error
	if s.o.SearXNG != nil {
		web, trouble = s.o.SearXNG.search(ctx, b)
	}
	if err := g.Wait(); err != nil {
		return nil, "", err
	}
	if trouble != nil {
		warning = "only pages known here: " + trouble.Error()
	}
	return s.merge(b, web, known), warning, nil
}

// known finds pages for a search in the index of this node.
func (s *Service) known(ctx context.Context, b *searchBody) ([]found, error) {
	if s.o.Knowledge == nil {
		return nil, nil
	}
	q := knowledge.Query{Text: b.Query, Limit: maxResultsWeb}
	if last := periods[b.Period].last; last > 0 {
		q.Since = time.Now().Add(-last)
	}
	res, err := s.o.Knowledge.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	list := make([]found, 0, len(res.Hits))
	for i := range res.Hits {
		h := &res.Hits[i]
		list = append(list, found{URL: h.URL, Title: h.Title, Description: h.Snippet})
	}
	return list, nil
}

// merge ranks the results of two lists by their places in them, and leaves out what must not be listed: what is no page
// of the web, blocked hosts, and URLs with a credential.
func (s *Service) merge(b *searchBody, lists ...[]found) []found {
	merged := []found{}
	at, scores := map[string]int{}, map[string]float64{}
	for _, list := range lists {
		rank := 0
		for _, f := range list {
			u, err := page.Parse(f.URL)
			if err != nil || page.HasSecret(u) || !b.accepts(u) || s.o.Crawl.Fetcher.Blocked(u) != nil {
				continue
			}
			rank++
			id := page.Normalize(u)
			scores[id] += 1 / float64(60+rank)
			if i, ok := at[id]; ok {
				merged[i].Description = cmp.Or(merged[i].Description, f.Description)
				continue
			}
			at[id] = len(merged)
			f.URL, f.Title = u.String(), cmp.Or(f.Title, page.Display(u)) // as it is sent: no letter is hidden in it
			merged = append(merged, f)
		}
	}
	slices.SortStableFunc(merged, func(a, b found) int { return cmp.Compare(score(scores, b.URL), score(scores, a.URL)) })
	return merged[:min(len(merged), b.limit())]
}

// score returns the score that merge gave to the page at a URL, by the normalised URL; 0 for a URL that is none.
func score(scores map[string]float64, raw string) float64 {
	u, err := page.Parse(raw)
	if err != nil {
		return 0
	}
	return scores[page.Normalize(u)]
}

// scrapeAll fetches results. One that cannot be fetched says why.
func (s *Service) scrapeAll(ctx context.Context, v version, list []found, o *scrapeOptions, agent string) {
	var g errgroup.Group
	g.SetLimit(scrapesAtOnce)
	for i := range list {
		f := &list[i]
		g.Go(fault.Wrap("firecrawl: end a result", func() error {
			u, err := page.Parse(f.URL)
			if err == nil {
				err = fault.Catch("firecrawl: scrape a result", func() (err error) {
					f.document, err = s.scrape(ctx, v, u, f.URL, o, agent)
					return err
				})
			}
			if err != nil {
				f.document = &document{Metadata: map[string]any{"sourceURL": f.URL, "error": failed(u, err).text}}
			}
			return nil
		}))
	}
	_ = g.Wait() // none fails
}
