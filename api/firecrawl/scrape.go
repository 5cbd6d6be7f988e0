package firecrawl

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/page"
)

type scrapeBody struct {
	URL string `json:"url"`
	scrapeOptions
}

type scrapeAnswer struct {
	Success bool      `json:"success"`
	Data    *document `json:"data"`
}

// document is a page in the requested formats.
type document struct {
	Markdown   *string         `json:"markdown,omitempty"`
	HTML       *string         `json:"html,omitempty"`    // main content only, with absolute links
	RawHTML    *string         `json:"rawHtml,omitempty"` // from the origin, or as a browser rendered it
	Links      []string        `json:"links,omitzero"`
	Summary    *string         `json:"summary,omitempty"`
	Screenshot string          `json:"screenshot,omitempty"` // a PNG of the whole page, as a data: URL
	JSON       json.RawMessage `json:"json,omitempty"`       // what a model read out of it
	Changes    *changes        `json:"changeTracking,omitempty"`
	Warning    string          `json:"warning,omitempty"`
	Metadata   map[string]any  `json:"metadata"`

	private bool // for one reader only, or its origin forbids storing it
}

// serveScrape answers with one page in the formats that are asked for.
func (s *Service) serveScrape(v version, r *http.Request) (any, error) {
	var b scrapeBody
	u, err := read(r, &b, &b.URL)
	if err != nil {
		return nil, err
	}
	d, err := s.scrape(r.Context(), v, u, b.URL, &b.scrapeOptions, r.UserAgent())
	if err != nil {
		return nil, failed(u, err)
	}
	return scrapeAnswer{true, d}, nil
}

// scrape gets a page. asked is the URL as the caller wrote it.
func (s *Service) scrape(ctx context.Context, v version, u *url.URL, asked string, o *scrapeOptions,
	agent string,
) (got *document, wrong error) {
	if o.dataRequest() != nil && !s.o.Summary.HasModel() {
		return nil, bad("formats: json needs a model, and none is configured here: set llm.provider")
	}
	if limit := o.limit(); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	who, _ := users.Of(ctx)
	req := o.request(v, u, agent)
	req.User, req.Told = who.Name(), true
	reading := fetch.Reading{Began: time.Now(), Asked: req}
	if over, ok := errors.AsType[*users.OverError](who.Meter.AskPage(reading.Began)); ok {
		reading.Err = &fetch.RefusedError{Status: http.StatusTooManyRequests, Why: over.Error()}
		s.o.Crawl.Fetcher.Tell(journal.By(ctx, journal.DoorFirecrawl), reading)
		return nil, &failure{http.StatusTooManyRequests, codeLimited, over.Error()}
	}
	before := s.before(u, o)
	ans, err := s.o.Crawl.Fetcher.Page(ctx, req)
	reading.Answer, reading.Err = ans, err
	defer func() {
		if wrong != nil && err == nil {
			reading.Given, reading.Wrong = 0, wrong.Error()
		} else if got != nil && err == nil {
			reading.Given = got.give(ans)
			who.Meter.Count(time.Now(), users.PageUse(int64(ans.Page.Tokens), int64(ans.Page.Info.HTMLTokens)))
		}
		s.o.Crawl.Fetcher.Tell(journal.By(ctx, journal.DoorFirecrawl), reading)
	}()
	if refused, ok := errors.AsType[*fetch.Error](err); ok && refused.Kind == fetch.KindHTTP {
		if o.Lockdown && refused.Status == http.StatusGatewayTimeout {
			return nil, &failure{http.StatusNotFound, codeNotCached, "nothing in the cache answers " + refused.URL}
		}
		d := refusedPage(asked, u, refused.Status, o)
		d.Changes = before.gone(refused.Status)
		return d, nil
	}
	if err != nil {
		return nil, err
	}
	if ans.Page == nil {
		ans.Response.Body.Close()
		return nil, &failure{
			http.StatusInternalServerError, codeUnsupported,
			fmt.Sprintf("%s is not a page: its type is %q", page.Mask(u), ans.Header.Get("Content-Type")),
		}
	}
	if err := unreadable(ans.Page); err != nil {
		return nil, err
	}
	_, markdown := page.SplitFrontMatter(ans.Body)
	d := &document{Metadata: metadata(asked, ans.Page), private: ans.Private || !ans.Page.Stored}
	d.fill(o, string(markdown), ans.Links, ans.Source, ans.Trimmed)
	if ans.Screenshot != nil {
		d.Screenshot = "data:image/png;base64," + base64.StdEncoding.EncodeToString(ans.Screenshot)
	}
	told := slices.Clone(ans.Page.Warnings)
	if o.wants("screenshot") && ans.Screenshot == nil {
		told = append(told, "no-screenshot")
	}
	if o.wants("summary") {
		if err := s.summarise(ctx, d, ans.Page, string(markdown), ans.Private || len(o.Headers) > 0); err != nil {
			return nil, err
		}
	}
	if err := s.data(ctx, d, ans.Page, string(markdown), o, ans.Private || len(o.Headers) > 0); err != nil {
		return nil, err
	}
	if before != nil {
		if d.Changes, err = before.changes(); err != nil {
			return nil, err
		}
		if d.private {
			told = append(told, "changeTracking: the page may not be kept, so it is compared with nothing")
		}
	}
	d.Warning = o.warning(told)
	return d, nil
}

// give makes the tokens of an answer's page those of the formats that the document has, and returns their bytes.
func (d *document) give(ans *fetch.Answer) int {
	texts := []string{string(d.JSON)}
	for _, text := range []*string{d.Markdown, d.HTML, d.RawHTML, d.Summary} {
		if text != nil {
			texts = append(texts, *text)
		}
	}
	fetch.Give(ans.Page, texts...)
	return len(ans.Screenshot) + len(strings.Join(texts, ""))
}

// fill sets those formats of a document that are wanted and at hand.
func (d *document) fill(o *scrapeOptions, markdown string, links []string, source, trimmed []byte) {
	if o.wants("markdown") {
		d.Markdown = &markdown
	}
	if o.wants("html") {
		d.HTML = new(string(trimmed))
	}
	if o.wants("rawHtml") {
		d.RawHTML = new(string(source))
	}
	if o.wants("links") {
		if d.Links = links; links == nil {
			d.Links = []string{}
		}
	}
}

// summarise sets a document's summary. If local, only a model on this machine is asked.
func (s *Service) summarise(ctx context.Context, d *document, p *page.Page, markdown string, local bool) error {
	whole := *p
	whole.Content, whole.ContentFormat = markdown, "markdown"
	made, err := s.o.Summary.Make(ctx, &whole, summary.Request{Kind: "brief", Local: local})
	switch {
	case errors.Is(err, summary.ErrNothing):
		d.Summary = new(string)
	case err != nil:
		return fmt.Errorf("summarise %s: %w", page.MaskString(p.URL), err)
	default:
		d.Summary = &made.Text
	}
	return nil
}

// data sets what a model reads out of a page, if that is wanted.
func (s *Service) data(ctx context.Context, d *document, p *page.Page, markdown string, o *scrapeOptions,
	local bool,
) error {
	wanted := o.dataRequest()
	if wanted == nil {
		return nil
	}
	whole := *p
	whole.Content, whole.ContentFormat = markdown, "markdown"
	var err error
	d.JSON, err = s.o.Summary.Data(ctx, &whole, *wanted.request(local))
	switch {
	case errors.Is(err, summary.ErrNoModel):
		return &failure{http.StatusForbidden, codeBlocked, "formats: json: " + err.Error()}
	case err != nil:
		return fmt.Errorf("formats: json: %w", err)
	}
	return nil
}

// unreadable returns an error if a page has no text or is a challenge to bots (AD6).
func unreadable(p *page.Page) error {
	for _, w := range p.Warnings {
		switch w {
		case "binary", "scanned", "encrypted":
			return &failure{
				http.StatusInternalServerError, codeUnsupported,
				fmt.Sprintf("%s has no text: it is %s", page.MaskString(p.URL), w),
			}
		case page.WarnWall:
			return &failure{
				http.StatusInternalServerError, codeFailed,
				page.MaskString(p.URL) + " answers with a challenge to bots instead of the page",
			}
		}
	}
	return nil
}

// refusedPage returns the document of a page that its origin refuses with a status.
func refusedPage(asked string, u *url.URL, status int, o *scrapeOptions) *document {
	text := cmp.Or(http.StatusText(status), "HTTP "+strconv.Itoa(status))
	d := &document{
		Warning: fmt.Sprintf("the origin answered %d: there is no page", status),
		Metadata: map[string]any{
			"sourceURL": asked, "url": u.String(), "statusCode": status, "error": text,
			"proxyUsed": "basic", "cacheState": "miss",
		},
	}
	d.fill(o, "", nil, nil, nil)
	return d
}

// locationIgnored says that a country and languages were not obeyed.
const locationIgnored = "location is ignored: pages are read from this machine"

// warning returns the warnings about a page in one line. tokens are the page's own warnings.
func (o *scrapeOptions) warning(tokens []string) string {
	list := slices.Clone(tokens)
	if o.SkipTLS {
		list = append(list, "skipTlsVerification is ignored: certificates are always verified")
	}
	if wanted(o.Location).something() {
		list = append(list, locationIgnored)
	}
	return strings.Join(list, "; ")
}

// metaNames are Firecrawl's names for fields of [page.Meta] (rule E7), if they differ.
var metaNames = map[string]string{
	"lang": "language", "og:title": "ogTitle", "og:description": "ogDescription", "og:url": "ogUrl", "og:image": "ogImage",
	"og:site_name": "ogSiteName", "og:type": "ogType",
	"og:locale": "ogLocale", "article:published_time": "publishedTime", "article:modified_time": "modifiedTime",
	"article:section": "articleSection", "article:tag": "articleTag",
}

// metadata returns what a page says about itself and how it was fetched.
func metadata(asked string, p *page.Page) map[string]any {
	m := map[string]any{}
	for name, value := range p.Meta {
		m[name] = value
		if other := metaNames[name]; other != "" {
			m[other] = value
		}
	}
	m["sourceURL"], m["url"], m["statusCode"], m["proxyUsed"], m["cacheState"] = asked, p.FinalURL, p.StatusCode, "basic",
		"miss"
	for name, value := range map[string]string{
		"title": p.Title, "description": p.Description,
		"contentType": p.ContentType,
	} {
		if value != "" {
			m[name] = value
		}
	}
	if p.FromCache {
		m["cacheState"], m["cachedAt"] = "hit", p.FetchedAt.UTC().Format(time.RFC3339)
	}
	return m
}

// seconds formats milliseconds as whole seconds, at least one.
func seconds(ms int64) string { return strconv.FormatInt(max(1, ms/1000), 10) }
