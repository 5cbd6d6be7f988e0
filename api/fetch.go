package api

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"readthru/fetch"
	"readthru/page"
)

// pageObject is a page on the wire.
type pageObject = page.Page

// promptChars is the length of a prompt where the caller names none (rule B34), in characters.
const promptChars = 4000

// Fetch gets a page. A failure to get it is no error: the page object's Error is set then, and the status that goes with it is
// [FailureStatus]. An error means that r itself is wrong.
func (s *Server) Fetch(ctx context.Context, r FetchRequest) (*page.Page, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	u, err := page.Parse(r.URL)
	if err != nil {
		return nil, problem(http.StatusBadRequest, "%s", err)
	}
	p := page.New(u)
	a, err := s.o.Fetch.Page(ctx, fetch.Request{
		URL: u, Method: http.MethodGet, Own: true, Force: r.Force, NoRemote: r.Remote != nil && !*r.Remote,
		NoStore: r.Persist != nil && !*r.Persist, Text: r.Format == "text", HTML: r.Format == "html", MaxTokens: r.MaxTokens, Agent: r.Agent, Session: r.Session,
		View: r.view(), Render: r.Render, WaitFor: r.WaitFor, Console: r.Console, Screenshot: r.Format == "screenshot",
	})
	if err != nil {
		var fe *fetch.Error
		if !errors.As(err, &fe) {
			fe = fetch.Explain(u, err)
		}
		p.StatusCode = fe.Status
		p.Error = &page.Error{Kind: fe.Kind, Message: fe.Error()}
		return p, nil
	}
	if a.Page != nil {
		p = a.Page
		p.Content, p.Console, p.Screenshot = body(p, a.Body), a.Console, a.Screenshot
	} else if err := s.plain(p, a.Response); err != nil {
		fe := fetch.Explain(u, err)
		p.Error = &page.Error{Kind: fe.Kind, Message: fe.Error()}
	}
	if a.Status >= 300 && p.Error == nil {
		p.StatusCode = a.Status
		p.Error = &page.Error{Kind: "http", Message: fmt.Sprintf("HTTP %d fetching %s", a.Status, page.Mask(u))}
	}
	if r.Format == "screenshot" && p.Error == nil {
		p.Content, p.ContentFormat = "", ""
		if p.Screenshot == nil {
			p.Error = &page.Error{Kind: "unsupported", Message: "no screenshot of " + page.MaskString(p.URL) + ": " + browserSaid(p)}
		}
		return p, nil
	}
	if p.Error != nil {
		p.Content, p.ContentFormat = "", ""
		return p, nil
	}
	shape(p, r)
	return p, nil
}

// browserSaid returns why a page was not rendered.
func browserSaid(p *page.Page) string {
	for _, a := range p.Attempts {
		if a.Step == "browser" {
			return a.Reason
		}
	}
	return "it is no page that a browser renders"
}

// check refuses values that no fetch takes.
func (r FetchRequest) check() error {
	switch {
	case !slices.Contains([]string{"", "markdown", "text", "html", "prompt", "screenshot", "json"}, r.Format):
		return problem(http.StatusBadRequest, "format %q is not markdown, text, html, prompt, screenshot or json", r.Format)
	case !slices.Contains([]string{"", "auto", "always", "never"}, r.Render):
		return problem(http.StatusBadRequest, "render %q is not auto, always or never", r.Render)
	case r.MaxChars < 0:
		return problem(http.StatusBadRequest, "max_chars is below 0")
	case r.MaxTokens < 0:
		return problem(http.StatusBadRequest, "max_tokens is below 0")
	}
	if len(r.WaitFor) > 1000 {
		return problem(http.StatusBadRequest, "wait_for is over 1,000 characters")
	}
	if err := r.view().Check(); err != nil {
		return problem(http.StatusBadRequest, "%s", err)
	}
	return nil
}

// view is what of the page is wanted.
func (r FetchRequest) view() fetch.View {
	return fetch.View{
		WholePage: r.WholePage, Selector: r.Selector, Drop: r.Drop, Links: r.Links, Images: r.Images, Section: r.Section, Start: r.Start, Receipts: r.Receipts,
	}
}

// body is the markdown of an answer without our front matter, whose fields the page object has. What an origin wrote as
// markdown stays as it made it.
func body(p *page.Page, b []byte) string {
	if p.ContentFormat == "markdown" && p.Source != page.Negotiated && p.Source != page.Alternate {
		_, b = page.SplitFrontMatter(b)
	}
	return string(b)
}

// plain fills p with a response that is no page. Text is its own content; what is not text has none to give. It closes the
// response.
func (s *Server) plain(p *page.Page, resp *http.Response) error {
	defer resp.Body.Close()
	p.StatusCode = resp.StatusCode
	p.ContentType = resp.Header.Get("Content-Type")
	if resp.Request != nil && resp.Request.URL != nil {
		p.FinalURL = resp.Request.URL.String()
	}
	if resp.StatusCode >= 300 {
		return nil
	}
	if !textual(p.ContentType) {
		p.Error = &page.Error{Kind: "unsupported", Message: fmt.Sprintf("%s is %s, which has no text to give", page.MaskString(p.URL), orUnknown(p.ContentType))}
		return nil
	}
	content, err := decoded(resp)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(content, s.o.MaxBody+1))
	if err != nil {
		return err
	}
	if int64(len(b)) > s.o.MaxBody {
		p.Error = &page.Error{Kind: "too_large", Message: fmt.Sprintf("%s is over %d bytes (fetch.max_body)", page.MaskString(p.URL), s.o.MaxBody)}
		return nil
	}
	p.Bytes, p.SizeBytes = int64(len(b)), len(b)
	p.Content, p.ContentFormat = strings.ToValidUTF8(string(b), "\uFFFD"), "text"
	p.Excerpt = page.Excerpt(p.Content, 300)
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
		return nil, fmt.Errorf("content coding %q was not asked for", coding)
	}
}

// textual reports whether a media type is text that can be handed on as it is.
func textual(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	switch t {
	case "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml", "application/javascript", "application/x-ndjson", "application/x-sh":
		return true
	}
	return strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml") || strings.HasSuffix(t, "+yaml")
}

func orUnknown(contentType string) string {
	if contentType == "" {
		return "of unknown type"
	}
	return contentType
}

// shape gives p's content the form and length that r asks for.
func shape(p *page.Page, r FetchRequest) {
	limit := r.MaxChars
	if r.Format == "prompt" && limit == 0 {
		limit = promptChars
	}
	text, cut := cutChars(p.Content, limit)
	if cut {
		warn(p, "truncated")
		if p.ContentFormat == "markdown" {
			block, _ := page.SplitFrontMatter([]byte(p.Content)) // of what an origin wrote as markdown
			p.Next = r.Start + max(0, limit-utf8.RuneCount(block))
		}
	}
	if r.Format == "prompt" {
		text, p.ContentFormat = Prompt(p, text, cut), "prompt"
	}
	p.Content = text
}

// Prompt returns text under a header that names its page, for a model to read (rule B34). An ellipsis tells that text was cut.
func Prompt(p *page.Page, text string, cut bool) string {
	var b strings.Builder
	b.WriteString("URL: " + p.URL + "\n")
	if p.Title != "" {
		b.WriteString("Title: " + p.Title + "\n")
	}
	b.WriteString("\n" + strings.TrimRight(text, "\n"))
	if cut {
		b.WriteString("...")
	}
	b.WriteString("\n")
	return b.String()
}

// cutChars returns the first limit code points of s, and whether any were left out. A limit of 0 is none.
func cutChars(s string, limit int) (string, bool) {
	if limit <= 0 || len(s) <= limit {
		return s, false
	}
	at := 0
	for range limit {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
		if at == len(s) {
			return s, false
		}
	}
	return s[:at], true
}

func warn(p *page.Page, token string) {
	if !slices.Contains(p.Warnings, token) {
		p.Warnings = append(slices.Clip(p.Warnings), token)
	}
}

// FailureStatus is the status that a page object answers with: 200, or for a failure 403, 502 or 504.
func FailureStatus(e *page.Error) int {
	switch {
	case e == nil:
		return http.StatusOK
	case e.Kind == "blocked":
		return http.StatusForbidden
	case e.Kind == "timeout":
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}

func (s *Server) serveFetch(w http.ResponseWriter, r *http.Request) error {
	var req FetchRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	req.Agent = r.UserAgent()
	p, err := s.Fetch(r.Context(), req)
	if err != nil {
		return err
	}
	return answer(w, FailureStatus(p.Error), p)
}
