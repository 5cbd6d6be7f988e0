package crawl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
)

// maxAnswer is the largest answer read from a Firecrawl server, in bytes. A part of a job has about 10 MB.
const maxAnswer = 64 << 20

// FirecrawlService is the name of the service in the ledger of disclosures.
const FirecrawlService = "firecrawl"

// maxRetryAfter is the longest wait that an error reports. One over maxWait ends the request.
const maxRetryAfter = 24 * time.Hour

// maxSends is how many times a request is sent at most.
const maxSends = 5

// scrapeOptions is part of a request's body. The server rejects unknown keys. maxAge and skipTlsVerification are always
// sent: without them version 2 answers from its cache and does not verify certificates.
type scrapeOptions struct {
	Formats             []string `json:"formats"`
	OnlyMainContent     bool     `json:"onlyMainContent"`
	MaxAge              int      `json:"maxAge"`
	SkipTLSVerification bool     `json:"skipTlsVerification"`
}

// markdownOnly asks for the markdown of the main content, fetched anew and over verified TLS.
var markdownOnly = scrapeOptions{Formats: []string{"markdown"}, OnlyMainContent: true}

// scrapeRequest is the body of a request to scrape a page, the same in both versions of Firecrawl's API.
type scrapeRequest struct {
	URL string `json:"url"`
	scrapeOptions
}

// crawlOptions is what requests to crawl a site have in both versions of Firecrawl's API.
type crawlOptions struct {
	URL           string        `json:"url"`
	Limit         int           `json:"limit"`
	IncludePaths  []string      `json:"includePaths,omitempty"`
	ExcludePaths  []string      `json:"excludePaths,omitempty"`
	ScrapeOptions scrapeOptions `json:"scrapeOptions"`
}

// requestBody returns a request's body for version 1 or 2 of the API.
type requestBody interface{ body(v1 bool) any }

// newScrape returns the request to Firecrawl's API to scrape a page.
func newScrape(u *url.URL) requestBody { return scrapeRequest{u.String(), markdownOnly} }

// body returns the body of the request for a version of Firecrawl's API.
func (r scrapeRequest) body(bool) any { return r }

// crawlRequest is a request to crawl a site. The bound of depth and what to do with the rest of the site are said
// otherwise in each version.
type crawlRequest struct {
	crawlOptions
	depth int
}

// newCrawl returns the request to Firecrawl's API to crawl a site: all of it and not only what is below the start page,
// as the local crawler does.
func newCrawl(u *url.URL, o Options, include, exclude []string) requestBody {
	return crawlRequest{crawlOptions{
		URL: u.String(), Limit: o.Limit, IncludePaths: include, ExcludePaths: exclude,
		ScrapeOptions: markdownOnly,
	}, o.Depth}
}

// body returns the body of the request for a version of Firecrawl's API.
func (r crawlRequest) body(v1 bool) any {
	if v1 {
		return struct {
			crawlOptions
			MaxDepth           int  `json:"maxDepth,omitempty"`
			AllowBackwardLinks bool `json:"allowBackwardLinks"`
			IgnoreSitemap      bool `json:"ignoreSitemap"`
		}{r.crawlOptions, r.depth, true, false}
	}
	return struct {
		crawlOptions
		MaxDiscoveryDepth int    `json:"maxDiscoveryDepth,omitempty"`
		CrawlEntireDomain bool   `json:"crawlEntireDomain"`
		Sitemap           string `json:"sitemap"`
	}{r.crawlOptions, r.depth, true, "include"}
}

// Answers of Firecrawl's API, in either version.
type (
	scrapeAnswer struct {
		Success bool     `json:"success"`
		Error   string   `json:"error"`
		Data    document `json:"data"`
	}
	startAnswer struct {
		Success bool   `json:"success"`
		Error   string `json:"error"`
		ID      string `json:"id"`
	}
	statusAnswer struct {
		Status    string     `json:"status"`
		Error     string     `json:"error"`
		Completed int        `json:"completed"`
		Total     int        `json:"total"`
		Next      string     `json:"next"`
		Data      []document `json:"data"`
	}
	errorsAnswer struct {
		Errors []struct {
			URL   string `json:"url"`
			Error string `json:"error"`
		} `json:"errors"`
		RobotsBlocked []string `json:"robotsBlocked"`
	}
	document struct {
		Markdown string                     `json:"markdown"`
		Metadata map[string]json.RawMessage `json:"metadata"`
	}
)

// jobID matches ids of jobs that may be put in a path.
var jobID = lazy.Pattern(`^[A-Za-z0-9_-]{1,100}$`)

// metadata returns the metadata of a document as text. It joins lists and leaves out objects and null.
func (d document) metadata() map[string]string {
	meta := map[string]string{}
	for name, raw := range d.Metadata {
		var v any
		if json.Unmarshal(raw, &v) != nil {
			continue
		}
		if text := flat(v); text != "" {
			meta[name] = text
		}
	}
	return meta
}

// flat returns a value of a document's metadata as text; empty for what has none.
func flat(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		var texts []string
		for _, e := range v {
			if _, nested := e.([]any); !nested {
				texts = append(texts, flat(e))
			}
		}
		return strings.Join(texts, ", ")
	}
	return ""
}

// address returns the page's URL: the one that the server was asked for, else the one the page came from, else start
// (rule D10).
func (d document) address(start *url.URL) *url.URL {
	meta := d.metadata()
	for _, name := range []string{"sourceURL", "url"} {
		if u, err := page.Parse(meta[name]); err == nil {
			return u
		}
	}
	return start
}

// nextPart returns the query to Firecrawl's API for the next part of a job's pages, from the address that the server
// gave, and where that part begins, which is 0 if there is no next part. Of the address only the numbers skip and limit
// are kept.
func nextPart(next string) (query string, at int) {
	u, err := url.Parse(next)
	if err != nil || next == "" {
		return "", 0
	}
	given, asked := u.Query(), url.Values{}
	for _, name := range []string{"skip", "limit"} {
		if n, err := strconv.ParseUint(given.Get(name), 10, 31); err == nil {
			asked.Set(name, strconv.FormatUint(n, 10))
			if name == "skip" {
				at = int(n)
			}
		}
	}
	return asked.Encode(), at
}

// version returns the path prefix of the API version that the Firecrawl server has, as far as is known.
func (fc *Firecrawl) version() string {
	if fc.v1.Load() {
		return "/v1"
	}
	return "/v2"
}

// request sends a request about a URL to the Firecrawl server, once it is in the ledger of disclosures. It falls back
// to version 1 for good if the server has no version 2.
func (fc *Firecrawl) request(ctx context.Context, u *url.URL, what string, r requestBody, answer any) error {
	for {
		v1 := fc.v1.Load()
		body, err := json.Marshal(r.body(v1))
		if err != nil {
			return fmt.Errorf("firecrawl: %w", err)
		}
		if err := fc.Fetcher.Disclose(ctx, FirecrawlService, u, int64(len(body)), what+" of this URL was asked for",
			"crawl.service firecrawl"); err != nil {
			return err
		}
		err = fc.send(ctx, http.MethodPost, fc.version()+"/"+what, body, answer)
		if e, ok := errors.AsType[*firecrawlError](err); ok && !v1 &&
			(e.status == http.StatusNotFound || e.status == http.StatusMethodNotAllowed) {
			fc.v1.Store(true)
			continue
		}
		return err
	}
}

// firecrawlError is an answer of the Firecrawl server that reports a failure.
type firecrawlError struct {
	status int
	text   string        // what the server says
	wait   time.Duration // Retry-After
	noKey  bool          // it is the answer to a first request, and no key is set
}

// Error says what the Firecrawl server reports.
func (e *firecrawlError) Error() string {
	s := "firecrawl: HTTP " + strconv.Itoa(e.status)
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		if e.noKey {
			s += ": " + noKey
		} else if e.status == http.StatusUnauthorized {
			s += ": the key is wrong"
		}
	case http.StatusPaymentRequired:
		s += ": the account has no credits left"
	case http.StatusTooManyRequests:
		s += ": too many requests"
	}
	if e.text != "" {
		s += ": " + e.text
	}
	return s
}

// send sends a request to the Firecrawl server, and sends it again if that is safe: after 429 and 503, which say that
// nothing was done, and after any failure of the server if the request changes nothing. Before it retries it waits for
// Retry-After, else for 1, 2, 4 and 8 seconds.
func (fc *Firecrawl) send(ctx context.Context, method, path string, body []byte, answer any) error {
	for try := 0; ; try++ {
		err := fc.once(ctx, method, path, body, answer)
		if err == nil || ctx.Err() != nil || try+1 == maxSends {
			return err
		}
		wait := time.Second << try
		e, answered := errors.AsType[*firecrawlError](err)
		switch {
		case answered && (e.status == http.StatusTooManyRequests || e.status == http.StatusServiceUnavailable):
			wait = max(wait, e.wait)
		case method == http.MethodPost || answered && e.status < 500:
			return err
		}
		if wait > maxWait {
			return fmt.Errorf("%w (the server asks to wait %v)", err, wait)
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// once sends a request once, to the configured address of the Firecrawl server, and reads its answer into answer, which
// may be nil. It follows no redirect: the key would go along.
func (fc *Firecrawl) once(ctx context.Context, method, path string, body []byte, answer any) error {
	req, err := http.NewRequestWithContext(transport.Endpoint(ctx, fc.base), method, fc.base.String()+path,
		bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("firecrawl: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if fc.Firecrawl.Key != "" {
		req.Header.Set("Authorization", "Bearer "+fc.Firecrawl.Key)
	}
	resp, err := fc.Firecrawl.Client.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("firecrawl: %w", fetch.Explain(fc.base, err))
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("firecrawl: read the answer: %w", fetch.Explain(fc.base, err))
	case len(text) > maxAnswer:
		return fmt.Errorf("firecrawl: the answer is larger than %d MiB", maxAnswer>>20)
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated:
		var told struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(text, &told) != nil {
			told.Error = ""
		}
		wait, _ := httpfield.RetryAfter(resp.Header, time.Now(), maxRetryAfter)
		return &firecrawlError{resp.StatusCode, fc.said(told.Error), wait, fc.Firecrawl.Key == "" &&
			method == http.MethodPost}
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("firecrawl: read the answer: %w", err)
	}
	return nil
}

// said returns a text of the Firecrawl server as it may be told: short, on one line, and without the key.
func (fc *Firecrawl) said(s string) string { return page.Said(s, fc.Firecrawl.Key) }

// reason returns a text of the Firecrawl server as the end of a sentence.
func (fc *Firecrawl) reason(s string) string {
	if s = fc.said(s); s == "" {
		return ""
	}
	return ": " + s
}
