package pages

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// FetchPage fetches a page. A failure to fetch it is not an error: the page object's Error is set then. An error means
// that r itself is wrong.
func (s *Service) FetchPage(ctx context.Context, r api.FetchRequest) (*page.Page, error) {
	if err := resolve(&r); err != nil {
		return nil, err
	}
	u, err := page.Parse(r.URL)
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	who, _ := users.Of(ctx)
	ask := forFetcher(r, u)
	by, _ := journal.AskerOf(ctx)
	ask.Unread = by.Door == api.DoorDashboard
	if ask.User = who.Name(); ask.User != "" {
		if ask.Set, err = asker.OwnSession(ctx, r.Session); err != nil {
			return nil, err
		}
		ask.Session, _ = store.OwnSession(ask.User, r.Session) // as it is checked
	}
	told := fetch.Reading{Began: time.Now(), Asked: ask, Form: r.Format}
	if over := asker.Limited(who.Meter.AskPage(told.Began)); over != nil {
		told.Err = &fetch.RefusedError{Status: over.Status, Why: over.Detail}
		s.o.Fetch.Tell(ctx, told)
		return nil, over
	}
	p := page.New(u)
	a, err := s.o.Fetch.Page(ctx, ask)
	told.Answer, told.Err = a, err
	defer func() {
		if told.Given = len(p.Content) + len(p.Screenshot); p.Error != nil {
			told.Given, told.Wrong = 0, p.Error.Message
		}
		s.tell(ctx, r, told)
	}()
	if err != nil {
		var fe *fetch.Error
		if !errors.As(err, &fe) {
			fe = fetch.Explain(u, err)
		}
		p.StatusCode = fe.Status
		p.Error = fe.Page()
		return p, nil
	}
	if p, err = s.pageOf(p, a); err != nil {
		p.Error = fetch.Explain(u, err).Page()
	}
	if a.Status >= 300 && p.Error == nil {
		p.StatusCode = a.Status
		p.Error = (&fetch.Error{Kind: fetch.KindHTTP, URL: page.Mask(u), Status: a.Status}).Page()
	}
	if r.Format == "screenshot" && p.Error == nil {
		p.Content, p.ContentFormat = "", ""
		if p.Screenshot == nil {
			p.Error = &page.Error{
				Kind:    "unsupported",
				Message: "no screenshot of " + page.MaskString(p.URL) + ": " + whyNotRendered(p),
			}
		}
		return p, nil
	}
	if p.Error != nil {
		p.Content, p.ContentFormat = "", ""
		return p, nil
	}
	if err = s.summarise(ctx, p, r, a.Private); err == nil {
		shape(p, r)
	}
	if a.Page != nil {
		who.Meter.Count(time.Now(), users.PageUse(int64(p.Tokens), int64(p.Info.HTMLTokens)))
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// tell adds a fetch of a page to the list of requests. The tool server reads data and text twice, and the first time is
// told.
func (s *Service) tell(ctx context.Context, r api.FetchRequest, told fetch.Reading) {
	if by, _ := journal.AskerOf(ctx); by.Door == api.DoorMCP && r.Format == "verbatim" && !persists(r) {
		return
	}
	// A stored summary comes with every page. Its warnings belong in the log only where the reader asked for it.
	if told.Answer != nil && told.Answer.Page != nil && r.Summary == "" && r.Format != "summary" && r.Format != "prompt" {
		a, p := *told.Answer, *told.Answer.Page
		p.Warnings = slices.DeleteFunc(slices.Clone(p.Warnings), summary.Warns)
		a.Page, told.Answer = &p, &a
	}
	s.o.Fetch.Tell(ctx, told)
}

// forFetcher returns a request of the API as the fetcher takes it.
func forFetcher(r api.FetchRequest, u *url.URL) fetch.Request {
	if r.Exact {
		r.Start, r.MaxTokens = 0, 0 // shape cuts
	}
	return fetch.Request{
		URL: u, Method: http.MethodGet, Own: true, Force: r.Force, NoRemote: isLocal(r), NoStore: !persists(r),
		Text: r.Format == "text", HTML: r.Format == "html" || r.Format == "verbatim", Reader: r.Format == "verbatim",
		MaxTokens: r.MaxTokens, MaxHTMLChars: r.MaxHTMLChars, Agent: r.Agent, Session: r.Session,
		Set: cmp.Or(r.Session, api.DefaultSession), View: viewOf(r),
		Render: r.Render, WaitFor: r.WaitFor, Console: r.Console, Screenshot: r.Format == "screenshot",
		Told: true,
	}
}

// persists reports whether the page may be stored, isLocal whether nothing may be sent to third parties.
func persists(r api.FetchRequest) bool { return r.Persist == nil || *r.Persist }
func isLocal(r api.FetchRequest) bool  { return r.Remote != nil && !*r.Remote }

// pageOf returns the page of an answer with its content. An answer that is not a page gives p its text. pageOf closes
// the answer's response. After an error the page has no content.
func (s *Service) pageOf(p *page.Page, a *fetch.Answer) (*page.Page, error) {
	if a.Page == nil {
		return p, s.plain(p, a.Response)
	}
	p = a.Page
	p.Content, p.Console, p.Screenshot = body(p, a.Body), a.Console, a.Screenshot
	return p, nil
}

// summarise gives p the summary that r asks for: a stored one, or a new one, made without fetching again (rule B6). If
// r asks for none, p gets the stored one.
func (s *Service) summarise(ctx context.Context, p *page.Page, r api.FetchRequest, private bool) error {
	if r.Summary == "" && r.Format != "summary" {
		s.Summarised(p)
		return nil
	}
	kind := summary.Kind(cmp.Or(r.Summary, "auto"))
	made, err := s.o.Summary.Make(ctx, p, summary.Request{Kind: kind, Hint: r.Hint, Local: private || isLocal(r)})
	if errors.Is(err, summary.ErrNothing) {
		warn(p, "nothing-to-summarise")
		return nil
	}
	if err != nil {
		return fmt.Errorf("summarise %s: %w", page.MaskString(p.URL), err)
	}
	made.Attach(p)
	return nil
}

// whyNotRendered returns why a page was not rendered.
func whyNotRendered(p *page.Page) string {
	for _, a := range p.Attempts {
		if a.Step == "browser" {
			return a.Reason
		}
	}
	return "a browser does not render this type"
}

// resolve puts the value of a field that has two names into one, and returns an error for values that no fetch takes.
func resolve(r *api.FetchRequest) error {
	if r.OutputFormat != "" {
		if r.Format != "" && r.Format != r.OutputFormat {
			return api.Problem(http.StatusBadRequest, "format %q and output_format %q differ; they are two names of one field",
				r.Format, r.OutputFormat)
		}
		r.Format, r.OutputFormat = r.OutputFormat, ""
	}
	return checkFetch(r)
}

// checkFetch returns a problem for a fetch with values that no fetch takes, before anything is asked.
func checkFetch(r *api.FetchRequest) error {
	switch {
	case !slices.Contains([]string{
		"", "markdown", "text", "html", "verbatim", "prompt", "summary", "screenshot", "json", "none",
	}, r.Format):
		return api.Problem(http.StatusBadRequest,
			"format %q is not markdown, text, html, verbatim, prompt, summary, screenshot, json or none", r.Format)
	case !slices.Contains([]string{"", "auto", "always", "never"}, r.Render):
		return api.Problem(http.StatusBadRequest, "render %q is not auto, always or never", r.Render)
	case r.MaxChars < 0:
		return api.Problem(http.StatusBadRequest, "max_chars is negative")
	case r.MaxTokens < 0:
		return api.Problem(http.StatusBadRequest, "max_tokens is negative")
	case r.MaxHTMLChars < 0:
		return api.Problem(http.StatusBadRequest, "max_html_chars is negative")
	case r.Format == "prompt" && r.Exact:
		return api.Problem(http.StatusBadRequest, "a prompt is not cut to the character: leave out exact")
	}
	if _, err := summary.Parse(cmp.Or(r.Summary, "auto")); err != nil {
		return api.Problem(http.StatusBadRequest, "%s", err)
	}
	if len(r.Hint) > 1000 {
		return api.Problem(http.StatusBadRequest, "hint is over 1,000 bytes")
	}
	if r.Session != "" {
		if err := store.CheckSession(r.Session); err != nil {
			return api.Problem(http.StatusBadRequest, "%s", err)
		}
	}
	if len(r.WaitFor) > 1000 {
		return api.Problem(http.StatusBadRequest, "wait_for is over 1,000 characters")
	}
	if err := viewOf(*r).Check(); err != nil {
		return api.Problem(http.StatusBadRequest, "%s", err)
	}
	return nil
}

// viewOf returns which part of the page is asked for, and in which form.
func viewOf(r api.FetchRequest) fetch.View {
	return fetch.View{
		WholePage: r.WholePage, Selector: r.Selector, Drop: r.Drop, Links: r.Links, Images: r.Images, Section: r.Section,
		Start: r.Start, Receipts: r.Receipts,
	}
}

// body returns the markdown of an answer without our front matter, whose fields the page object has. Markdown from the
// origin is returned unchanged, with its own front matter.
func body(p *page.Page, b []byte) string {
	if p.ContentFormat == "markdown" && p.Source != page.Negotiated && p.Source != page.Alternate {
		_, b = page.SplitFrontMatter(b)
	}
	return string(b)
}

// plain fills p with a response that is not a page: text as it is, anything else without content. It closes the
// response.
func (s *Service) plain(p *page.Page, resp *http.Response) error {
	defer resp.Body.Close()
	p.StatusCode = resp.StatusCode
	p.ContentType = resp.Header.Get("Content-Type")
	for _, w := range resp.Header.Values("X-Readthru-Warning") {
		warn(p, w)
	}
	if resp.Request != nil && resp.Request.URL != nil {
		p.FinalURL = resp.Request.URL.String()
	}
	if resp.StatusCode >= 300 {
		return nil
	}
	if !textual(p.ContentType) {
		p.Error = errorOf(p, "unsupported", fmt.Sprintf("is %s, which has no text", orUnknown(p.ContentType)))
		return nil
	}
	content, err := decoded(resp)
	if err != nil {
		return err
	}
	limit := s.o.Fetch.MaxBody()
	b, err := io.ReadAll(io.LimitReader(content, limit+1))
	if err != nil {
		return err
	}
	if int64(len(b)) > limit {
		p.Error = errorOf(p, "too_large", fmt.Sprintf("is over %d bytes (fetch.max_body)", limit))
		return nil
	}
	p.Bytes, p.SizeBytes = int64(len(b)), len(b)
	p.Content, p.ContentFormat = strings.ToValidUTF8(string(b), "\uFFFD"), "text"
	p.Excerpt = page.Excerpt([]byte(p.Content), page.ExcerptLength)
	return nil
}

// decoded returns a response's content without its coding. Our own fetches ask for gzip and for no other.
func decoded(resp *http.Response) (io.Reader, error) {
	switch coding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); coding {
	case "", "identity":
		return resp.Body, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(resp.Body)
	default:
		return nil, fmt.Errorf("unexpected content coding %q", coding)
	}
}

// textual reports whether a media type is text, so that a fetch can answer it as content though it is no page.
func textual(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	switch t {
	case "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
		"application/javascript", "application/x-ndjson", "application/x-sh":
		return true
	}
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml") ||
		strings.HasSuffix(t, "+yaml")
}

// orUnknown returns a media type as the text of an error names it, also one that is empty.
func orUnknown(contentType string) string {
	if contentType == "" {
		return "of unknown type"
	}
	return contentType
}

// shape gives p's content the form and length that the fetch r asks for, says where the next part begins when it is
// cut, and makes p's tokens those of what is left.
func shape(p *page.Page, r api.FetchRequest) {
	whole := p.Content
	switch {
	case r.Format == "none":
		p.Content, p.ContentFormat = "", ""
	case r.Format == "summary" && p.Summary != "":
		p.Content = p.Summary + "\n"
	case r.Exact:
		cutExactly(p, r.Start, r.MaxChars, r.MaxTokens)
	default:
		cutRoughly(p, r)
	}
	give(p, whole)
}

// give makes p's tokens those of its content, if that is another one than the whole was.
func give(p *page.Page, whole string) {
	if p.Tokens > 0 && p.Content != whole {
		fetch.Give(p, p.Content)
	}
}

// cutExactly leaves the part of p's content that begins at a character and has at most so many characters and tokens,
// 0 for any, without front matter.
func cutExactly(p *page.Page, start, chars, tokens int) {
	if p.ContentFormat == "markdown" {
		_, body := page.SplitFrontMatter([]byte(p.Content)) // of markdown from the origin
		p.Content = string(body)
	}
	part := api.CutPiece(p.Content, start, chars, tokens, convert.Tokens[string])
	p.Content, p.Next, p.Total = part.Text, part.Next, part.Total
}

// cutRoughly makes a prompt of p's content, or leaves the first characters of it, for people and programs that read p
// as a whole.
func cutRoughly(p *page.Page, r api.FetchRequest) {
	limit := r.MaxChars
	text, short := p.Content, false
	switch {
	case r.Format == "prompt":
		limit = cmp.Or(limit, api.PromptChars)
		text, short = api.CutPrompt(p, limit)
	case limit > 0:
		text = clip.Runes(p.Content, limit)
		short = text != p.Content
	}
	if short {
		warn(p, "truncated")
	}
	whole := r.Format != "prompt" || p.Summary == "" && p.Readme == "" // the content was cut, not a summary
	if short && whole && p.ContentFormat == "markdown" && utf8.RuneCountInString(p.Content) > limit {
		block, _ := page.SplitFrontMatter([]byte(p.Content)) // of markdown from the origin
		p.Next = r.Start + max(0, limit-utf8.RuneCount(block))
	}
	if r.Format == "prompt" {
		p.ContentFormat = "prompt"
	}
	p.Content = text
}

// warn adds a warning to a page, once. The list may be shared, and is copied.
func warn(p *page.Page, token string) {
	if !slices.Contains(p.Warnings, token) {
		p.Warnings = append(slices.Clip(p.Warnings), token)
	}
}

// errorOf returns the error of a page that says of it what is wrong, as "is over 10 bytes".
func errorOf(p *page.Page, kind, what string) *page.Error {
	return &page.Error{Kind: kind, Message: page.MaskString(p.URL) + " " + what, Reason: "it " + what}
}

// Summarised returns p with the stored summary of its content, if there is one.
func (s *Service) Summarised(p *page.Page) *page.Page {
	if kept := s.o.Summary.Latest(p); kept != nil && p.Summary == "" {
		kept.Attach(p)
	}
	return p
}
