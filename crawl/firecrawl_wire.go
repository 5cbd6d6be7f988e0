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
	"regexp"
	"strconv"
	"strings"
	"time"

	"readthru/fetch"
	"readthru/page"
)

// maxAnswer is the largest answer of a Firecrawl server that is read, in bytes. It sends about 10 MB at a time.
const maxAnswer = 64 << 20

// maxSends is how often a request is sent.
const maxSends = 5

// Bodies are strict on the other side: an unknown key is an error. maxAge and skipTlsVerification are always sent,
// because version 2 would else answer from its cache and verify nobody.
type scrapeOptions struct {
	Formats             []string `json:"formats"`
	OnlyMainContent     bool     `json:"onlyMainContent"`
	MaxAge              int      `json:"maxAge"`
	SkipTLSVerification bool     `json:"skipTlsVerification"`
}

var whatWeWant = scrapeOptions{Formats: []string{"markdown"}, OnlyMainContent: true}

type scrapeWish struct {
	URL string `json:"url"`
	scrapeOptions
}

type crawlOptions struct {
	URL           string        `json:"url"`
	Limit         int           `json:"limit"`
	IncludePaths  []string      `json:"includePaths,omitempty"`
	ExcludePaths  []string      `json:"excludePaths,omitempty"`
	ScrapeOptions scrapeOptions `json:"scrapeOptions"`
}

// A wish is a request's body, by the version of the server.
type wish interface{ body(v1 bool) any }

func fullScrape(u *url.URL) wish { return scrapeWish{u.String(), whatWeWant} }

func (w scrapeWish) body(bool) any { return w }

type crawlRequest struct {
	crawlOptions
	depth int
}

func crawlWish(u *url.URL, o Options, include, exclude []string) wish {
	return crawlRequest{crawlOptions{
		URL: u.String(), Limit: o.Limit, IncludePaths: include, ExcludePaths: exclude,
		ScrapeOptions: whatWeWant,
	}, o.Depth}
}

func (w crawlRequest) body(v1 bool) any {
	if v1 {
		return struct {
			crawlOptions
			MaxDepth           int  `json:"maxDepth,omitempty"`
			AllowBackwardLinks bool `json:"allowBackwardLinks"`
			IgnoreSitemap      bool `json:"ignoreSitemap"`
		}{w.crawlOptions, w.depth, true, false}
	}
	return struct {
		crawlOptions
		MaxDiscoveryDepth int    `json:"maxDiscoveryDepth,omitempty"`
		CrawlEntireDomain bool   `json:"crawlEntireDomain"`
		Sitemap           string `json:"sitemap"`
	}{w.crawlOptions, w.depth, true, "include"}
}

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

// jobID matches what may stand in a path as a job's id.
var jobID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// metadata returns the metadata as text: lists joined, objects and null left out.
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

// address is the page's URL: what the server was asked for, else where it came from, else the start (rule D10).
func (d document) address(start *url.URL) *url.URL {
	meta := d.metadata()
	for _, name := range []string{"sourceURL", "url"} {
		if u, err := page.Parse(meta[name]); err == nil {
			return u
		}
	}
	return start
}

// nextPart returns the query that asks for the next part of a job's pages, and where it begins; 0 when there is none.
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

// version is the path of the API's version that the server has.
func (fc *Firecrawl) version() string {
	if fc.old.Load() {
		return "/v1"
	}
	return "/v2"
}

// tell sends a wish about u, with version 1 where the server has no version 2. The ledger knows first.
func (fc *Firecrawl) tell(ctx context.Context, u *url.URL, what string, w wish, answer any) error {
	for {
		v1 := fc.old.Load()
		body, err := json.Marshal(w.body(v1))
		if err != nil {
			return fmt.Errorf("firecrawl: %w", err)
		}
		if err := fc.Fetcher.Disclose(ctx, "firecrawl", u, int64(len(body)), what+" of this URL was asked for",
			"crawl.service firecrawl"); err != nil {
			return err
		}
		err = fc.send(ctx, http.MethodPost, fc.version()+"/"+what, body, answer)
		if e, ok := errors.AsType[*firecrawlError](err); ok && !v1 &&
			(e.status == http.StatusNotFound || e.status == http.StatusMethodNotAllowed) {
			fc.old.Store(true)
			continue
		}
		return err
	}
}

// firecrawlError is an answer that is no success.
type firecrawlError struct {
	status int
	words  string
	wait   time.Duration // Retry-After
}

func (e *firecrawlError) Error() string {
	s := "firecrawl: HTTP " + strconv.Itoa(e.status)
	switch e.status {
	case http.StatusUnauthorized:
		s += ": the key is missing or wrong"
	case http.StatusPaymentRequired:
		s += ": the account has no credits left"
	case http.StatusTooManyRequests:
		s += ": too many requests"
	}
	if e.words != "" {
		s += ": " + e.words
	}
	return s
}

// send sends a request, and again where that may help: after 429 and 503, which say that nothing was done, and for
// requests that change nothing after every trouble of the server. It waits as the server asks, or else a second, then
// two, four and eight.
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
		if wait > patience {
			return fmt.Errorf("%w (it asks to wait %v)", err, wait)
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// once sends one request to the configured address, and follows no redirect.
func (fc *Firecrawl) once(ctx context.Context, method, path string, body []byte, answer any) error {
	req, err := http.NewRequestWithContext(fetch.Endpoint(ctx, fc.base), method, fc.base.String()+path,
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
		return &firecrawlError{resp.StatusCode, fc.words(told.Error), retryAfter(resp.Header, time.Now())}
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("firecrawl: read the answer: %w", err)
	}
	return nil
}

// retryAfter returns how long a server asks to wait (RFC 9110 §10.2.3); 0 when it does not.
func retryAfter(h http.Header, now time.Time) time.Duration {
	s := h.Get("Retry-After")
	if n, err := strconv.ParseUint(s, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(s); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// words returns what a server said, fit for a log: one line, short, and never with the key in it.
func (fc *Firecrawl) words(s string) string {
	if fc.Firecrawl.Key != "" {
		s = strings.ReplaceAll(s, fc.Firecrawl.Key, "***")
	}
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > 200 {
		s = string(runes[:197]) + "..."
	}
	return s
}

// because returns what a server gave as a reason, as the end of a sentence.
func (fc *Firecrawl) because(s string) string {
	if s = fc.words(s); s == "" {
		return ""
	}
	return ": " + s
}
