package fetch

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
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

const (
	markdownNewTimeout  = 15 * time.Second
	markdownNewLifetime = 24 * time.Hour
	markdownNewCounter  = "markdown.new" // class of the durable counter, by UTC day
)

// markdownNew has a page converted by the third party markdown.new. It sends only URLs that pass the gate and writes
// every request to the ledger before sending it. A durable counter enforces the daily limit. A circuit breaker stops
// requests to a failing service.
type markdownNew struct {
	f       *Fetcher
	mode    string
	base    *url.URL // nil if the configured address is invalid
	limit   int64    // requests per day
	breaker *gobreaker.CircuitBreaker[*store.Rendition]
	pause   *atomic.Int64 // Unix time until which the service asked for no requests
}

// newMarkdownNew returns the step of f. It goes on with what before, if it is not nil, knows of the service.
func newMarkdownNew(f *Fetcher, before *markdownNew) *markdownNew {
	o := f.o.MarkdownNew
	m := &markdownNew{f: f, mode: o.Mode, limit: int64(o.DailyLimit)}
	if o.DailyLimit == 0 {
		m.limit = 500
	}
	raw := o.BaseURL
	if raw == "" {
		raw = "https://markdown.new"
	}
	if u, err := page.Parse(raw); err == nil {
		u.Path = strings.TrimRight(u.Path, "/")
		m.base = u
	} else {
		f.o.Log.Warn("markdown_new base URL not usable", "err", err)
	}
	if before != nil && m.base != nil && before.base != nil && *m.base == *before.base {
		m.breaker, m.pause = before.breaker, before.pause
		return m
	}
	m.pause = new(atomic.Int64)
	m.breaker = gobreaker.NewCircuitBreaker[*store.Rendition](gobreaker.Settings{
		Name:        "markdown.new",
		Timeout:     time.Minute,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 3 },
		IsSuccessful: func(err error) bool {
			_, trouble := errors.AsType[serviceError](err)
			return !trouble
		},
	})
	return m
}

// MarkdownNewService is the name of markdown.new in the ledger of disclosures.
const MarkdownNewService = "markdown.new"

func (*markdownNew) Name() string { return "markdown_new" }

func (m *markdownNew) Try(ctx context.Context, a *attempt) result {
	g := m.disclosureOf(a)
	if no := g.Refusal(); no != "" {
		return skipped(no)
	}
	if a.routed() {
		return skipped("the service does not get the route in the URL")
	}
	now := time.Now()
	key := "markdown_new " + a.key.String()
	switch {
	case m.base == nil || m.f.o.Direct == nil:
		return skipped("markdown_new.base_url is not usable")
	case m.f.o.Store.ServiceOff(MarkdownNewService):
		return skipped("the service is switched off")
	case m.f.failedRecently(key, now):
		return skipped("it failed for this page recently")
	case now.Unix() < m.pause.Load():
		return skipped("the service asked for a pause")
	}
	if err := m.public(ctx, a.url); err != nil {
		return skipped("the host may not be public")
	}
	if res, ok := m.f.ofPeer(ctx, a, true); ok {
		return res
	}
	day := now.UTC().Format(time.DateOnly)
	r, err := m.breaker.Execute(func() (*store.Rendition, error) {
		if m.f.o.Store.Count(markdownNewCounter, day, 1) > m.limit {
			m.f.o.Store.Count(markdownNewCounter, day, -1)
			return nil, unsentError("the daily limit is reached")
		}
		if err := m.spend(ctx, day); err != nil {
			m.f.o.Store.Count(markdownNewCounter, day, -1)
			return nil, err
		}
		return m.ask(ctx, a, g.Reason())
	})
	if err == nil {
		if no := m.unfit(ctx, a, r); no != "" {
			err = unfit(no)
		}
	}
	if err == nil {
		return result{rendition: r, good: true, reason: g.Reason()}
	}
	if no, ok := errors.AsType[unsentError](err); ok {
		return skipped(string(no))
	}
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return skipped("the service fails: circuit open")
	}
	m.f.noteFailedStep(ctx, key)
	if _, ok := errors.AsType[unfit](err); ok {
		return rejected(err.Error())
	}
	return failedWith(err)
}

// spend takes a request of the day from those of all nodes. Whoever does not know how many are left sends none.
func (m *markdownNew) spend(ctx context.Context, day string) error {
	if m.f.o.MarkdownNew.Spend == nil {
		return nil
	}
	switch ok, err := m.f.o.MarkdownNew.Spend(ctx, day, m.limit); {
	case err != nil:
		return unsentError("how many requests other nodes have made is not known: " + err.Error())
	case !ok:
		return unsentError("the daily limit of all nodes is reached")
	}
	return nil
}

// unsentError is the reason why no request was sent.
type unsentError string

func (n unsentError) Error() string { return string(n) }

// serviceError is a failure of the service itself: it cannot be reached, or answered 429 or 5xx. The breaker counts
// these.
type serviceError struct{ error }

func (e serviceError) Unwrap() error { return e.error }

// ask writes the request to the ledger and sends it.
func (m *markdownNew) ask(ctx context.Context, a *attempt, why string) (*store.Rendition, error) {
	caller := ctx
	trouble := func(err error) error {
		if caller.Err() != nil {
			return context.Cause(caller) // the client has gone; the service did not fail
		}
		return serviceError{Explain(m.base, err)}
	}
	ctx, cancel := context.WithTimeout(transport.Endpoint(ctx, m.base), markdownNewTimeout)
	defer cancel()
	target := page.WithoutFragment(a.url)
	req, err := m.request(ctx, target.String(), remoteMethod(a))
	if err != nil {
		return nil, unsentError(err.Error())
	}
	err = m.f.o.Store.Disclose(store.Disclosure{
		Time: time.Now().UTC(), Service: MarkdownNewService, URL: page.Mask(target), Bytes: int64(len(target.String())),
		Why: why, Rule: "markdown_new.mode " + m.mode,
	})
	if err != nil {
		return nil, unsentError("the ledger is not writable")
	}
	resp, err := m.f.o.Direct.RoundTrip(req)
	if err != nil {
		return nil, trouble(err)
	}
	defer func(body io.Closer) { body.Close() }(resp.Body)
	m.noteLimits(resp, time.Now())
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500 {
		return nil, serviceError{fmt.Errorf("markdown.new answered HTTP %d", resp.StatusCode)}
	}
	if resp.StatusCode != http.StatusOK {
		return nil, unfit(fmt.Sprintf("markdown.new answered HTTP %d", resp.StatusCode))
	}
	answer := response{resp: resp}
	if err := answer.read(m.f.o.MaxBody); err != nil {
		return nil, trouble(err)
	}
	if wall := convert.Wall(resp.StatusCode, resp.Header, answer.content); wall != "" {
		return nil, unfit("markdown.new returned a bot wall")
	}
	r, err := readMarkdownNew(resp.Header, answer.content, a.url)
	if err != nil {
		return nil, err
	}
	r.FinalURL, r.Expires = a.url.String(), time.Now().Add(markdownNewLifetime)
	return r, nil
}

// remoteMethod returns the service's conversion method: "browser" for a JavaScript shell that was not rendered locally,
// else "auto".
func remoteMethod(a *attempt) string {
	if a.best != nil && warns(a.best.Warnings, convert.WarnShell) && a.seen == nil {
		return "browser"
	}
	return "auto"
}

// request returns the request for a URL without fragment. It uses the POST form for URLs with a query or an escape,
// because the GET form would mix the query with the service's own options.
func (m *markdownNew) request(ctx context.Context, target, how string) (*http.Request, error) {
	method, address, body := http.MethodGet, m.base.String()+"/"+target, []byte(nil)
	if how != "auto" {
		address += "?method=" + how
	}
	if strings.ContainsAny(target, "?%") {
		method, address = http.MethodPost, m.base.String()+"/"
		var err error
		if body, err = json.Marshal(map[string]any{"url": target, "method": how, "retain_images": false}); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/markdown, application/json;q=0.9")
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("User-Agent", m.f.o.UserAgent)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// noteLimits records the limits in a response: Retry-After and the number of requests that remain today.
func (m *markdownNew) noteLimits(resp *http.Response, now time.Time) {
	until := time.Time{}
	if wait := retryAfter(resp, now); wait > 0 {
		until = now.Add(wait)
	}
	if n, err := strconv.Atoi(resp.Header.Get("X-Rate-Limit-Remaining")); err == nil && n <= 0 && until.IsZero() {
		until = now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	}
	if until.After(now) {
		m.pause.Store(until.Unix())
	}
}

// maxRetryAfter is the longest delay accepted from a response.
const maxRetryAfter = 7 * 24 * time.Hour

// retryAfter returns the delay that a response with status 429 or 5xx asks for, at most maxRetryAfter, or 0 if it asks
// for none.
func retryAfter(resp *http.Response, now time.Time) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < 500 {
		return 0
	}
	wait, _ := httpfield.RetryAfter(resp.Header, now, maxRetryAfter)
	return wait
}

// readMarkdownNew parses an answer as JSON or markdown, depending on its Content-Type.
func readMarkdownNew(h http.Header, content []byte, base *url.URL) (*store.Rendition, error) {
	title, tokens := "", h.Get("X-Markdown-Tokens")
	switch t := media.Type(h); {
	case t == "application/json":
		var v struct {
			Success bool        `json:"success"`
			Title   string      `json:"title"`
			Content string      `json:"content"`
			Tokens  json.Number `json:"tokens"`
			Error   string      `json:"error"`
		}
		if err := json.Unmarshal(content, &v); err != nil {
			return nil, unfit("markdown.new returned malformed JSON")
		}
		if !v.Success {
			return nil, unfit(strings.TrimSuffix("markdown.new failed: "+v.Error, ": "))
		}
		title, tokens, content = v.Title, v.Tokens.String(), []byte(v.Content)
	case t == "", t == "text/plain", page.KindOf(t) == page.Markdown:
	default:
		return nil, unfit("markdown.new returned " + t)
	}
	switch {
	case len(bytes.TrimSpace(content)) == 0:
		return nil, unfit("markdown.new returned nothing")
	case media.Disguised(content), !convert.LooksLikeMarkdown(content[:min(len(content), 16<<10)]):
		return nil, unfit("the answer of markdown.new does not look like markdown")
	}
	r := foreign(convert.CleanMarkdown(content, "", base), tokens, page.MarkdownNew)
	if title != "" {
		r.Title = string(convert.CleanText([]byte(title), "").Text)
	}
	return r, nil
}

// unfit returns why an answer is rejected, or "" if it is accepted. It rejects an answer with markedly less content
// than the local result, and one that shares no word with it.
func (m *markdownNew) unfit(ctx context.Context, a *attempt, r *store.Rendition) string {
	if a.status != http.StatusOK {
		return "" // the local result is an error page
	}
	have := 0
	if a.best != nil {
		have = a.best.Tokens
	}
	if got := convert.Tokens(r.Markdown); 5*got < 4*have {
		return fmt.Sprintf("markdown.new returned %d tokens, the page has %d", got, have)
	}
	if a.signs != nil && a.best == nil && 10*len(bytes.Fields(r.Markdown)) < a.signs.Words {
		return "markdown.new returned less than a tenth of the page's words"
	}
	if !gate.SharesWords(m.f.seenOf(ctx, a), r.Title+" "+string(r.Markdown)) {
		return "markdown.new returned a text that has no word of the page"
	}
	return ""
}

// seenOf returns what was seen of a page: its title, its description and its text.
func (f *Fetcher) seenOf(ctx context.Context, a *attempt) string {
	if r := a.best; r != nil {
		return r.Title + " " + r.Description + " " + string(r.Markdown)
	}
	var seen string
	if a.kind != media.HTML || f.parsed(ctx, a, func(doc *convert.Document) error {
		res, err := doc.Convert(ctx, a.convert)
		if err == nil {
			seen = res.Title + " " + res.Description + " " + res.Markdown
		}
		return err
	}) != nil {
		return ""
	}
	return seen
}

// state returns the service's part of [Stats].
func (m *markdownNew) state(now time.Time) (state string, sent, left int64) {
	if m.mode == "off" || m.base == nil {
		return "off", 0, 0
	}
	sent = m.f.o.Store.Count(markdownNewCounter, now.UTC().Format(time.DateOnly), 0)
	state = "closed"
	if m.breaker.State() == gobreaker.StateOpen || now.Unix() < m.pause.Load() {
		state = "open"
	}
	return state, sent, max(0, m.limit-sent)
}
