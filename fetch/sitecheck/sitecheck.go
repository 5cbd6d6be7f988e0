// Package sitecheck asks an origin for one page in the ways that agents do, and says what they get: whether there is
// markdown and by which way, whether caches can tell the forms apart, what the origin states about use, and how many
// tokens the page costs. It is for those who keep the site.
//
// The door is Check. It sends some fifteen requests, one after the other, and judges the responses; judge.go has what
// is right and wrong, each with the rule that it follows.
package sitecheck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
)

// States of a Finding.
const (
	Good   = "good"   // as agents need it
	Advice = "advice" // it works, and could be better
	Wrong  = "wrong"  // agents or caches get something that they must not, or nothing
)

// A Finding is one thing that was looked at.
type Finding struct {
	Name   string `json:"name"`
	State  string `json:"state"` // good, advice or wrong
	Detail string `json:"detail"`
	Help   string `json:"help,omitempty"` // what to do about it
}

// A Report is what agents get of a page.
type Report struct {
	URL            string    `json:"url"`
	FinalURL       string    `json:"final_url"` // after redirects
	HTMLTokens     int       `json:"html_tokens,omitempty"`
	MarkdownTokens int       `json:"markdown_tokens,omitempty"` // of the origin's markdown, else of ours
	Findings       []Finding `json:"findings"`
}

// Wrong returns how many findings are wrong.
func (r *Report) Wrong() (n int) {
	for _, f := range r.Findings {
		if f.State == Wrong {
			n++
		}
	}
	return n
}

// add adds a finding to the report: its subject, its state, what was seen, and what the keeper of the site may do.
func (r *Report) add(name, state, detail, help string) {
	r.Findings = append(r.Findings, Finding{name, state, detail, help})
}

// Forms of Accept that agents and their libraries send: one form, both with an order, and one refused.
const (
	acceptHTML     = "text/html"
	acceptMarkdown = "text/markdown"
	preferMarkdown = "text/markdown, text/html;q=0.9, */*;q=0.1"
	preferHTML     = "text/html, text/markdown;q=0.5"
	refuseMarkdown = "text/html, text/markdown;q=0"
)

// maxContent is the most that is read of a response, in bytes. What a site sends beyond it is not judged.
const maxContent = 5 << 20

// An Asker sends requests to origins past any cache, and knows what their robots.txt says.
type Asker interface {
	Ask(req *http.Request, limit int64) (status int, h http.Header, content []byte, err error)
	Allowed(context.Context, *url.URL) (fetch.Verdict, error)
}

// An answer is a response of the origin, read, and where it came from.
type answer struct {
	url     *url.URL
	status  int
	header  http.Header
	content []byte
}

// markdown reports whether an answer is the page in markdown, by its status and its type.
func (a *answer) markdown() bool {
	return a.status == http.StatusOK && page.IsMarkdown(a.header.Get("Content-Type"))
}

// Check asks for the page at u and what belongs to it, and reports what agents get. The error says that the page cannot
// be reached, or is that of ctx; all else is a finding.
func Check(ctx context.Context, asker Asker, u *url.URL) (*Report, error) {
	c := &check{Asker: asker, report: &Report{URL: page.Mask(u)}}
	html, err := c.get(ctx, u, acceptHTML, nil)
	if err != nil {
		return nil, err
	}
	c.report.FinalURL = page.Mask(html.url)
	if !c.isPage(html) {
		return c.report, nil
	}
	// The page is converted first: twins needs the links in its head, preferences its meta elements. negotiation comes
	// before twins, which advises only where there was no markdown.
	if err := c.convert(ctx, html); err != nil {
		return nil, err
	}
	for _, look := range []func(context.Context, *answer) error{
		c.negotiation, c.twins, c.lists, c.preferences, c.validation,
	} {
		if err := look(ctx, html); err != nil {
			return nil, err
		}
	}
	return c.report, nil
}

// A check is one call of [Check]: what asks the origin, the report so far, and what its steps tell each other.
type check struct {
	Asker
	report *Report
	signs  convert.Signs // of the page in HTML
	robots string        // what its <meta name=robots> says
	found  bool          // the origin has markdown of the page
}

// get asks the origin for u with this value of Accept and further fields, follows redirects, nine at most, and reads
// the response.
func (c *check) get(ctx context.Context, u *url.URL, accept string, more http.Header) (*answer, error) {
	for range 10 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, err
		}
		maps.Copy(req.Header, more)
		req.Header.Set("Accept", accept)
		status, h, content, err := c.Ask(req, maxContent)
		if err != nil {
			return nil, err
		}
		if to := h.Get("Location"); to != "" && status >= 300 && status < 400 {
			next, err := page.Resolve(u, to)
			if err != nil {
				return nil, fmt.Errorf("%s redirects to %q: %w", page.Mask(u), to, err)
			}
			u = next
			continue
		}
		return &answer{u, status, h, content}, nil
	}
	return nil, fmt.Errorf("%s redirects ten times", page.Mask(u))
}

// optional asks as get does for what a site need not have, such as llms.txt. An origin that does not answer is an
// answer with status 0; only the end of ctx, and a machine that is offline, are errors.
func (c *check) optional(ctx context.Context, u *url.URL, accept string) (*answer, error) {
	a, err := c.get(ctx, u, accept, nil)
	if err != nil && (ctx.Err() != nil || errors.Is(err, transport.ErrOffline)) {
		return nil, err
	}
	if err != nil {
		return &answer{url: u, header: http.Header{}}, nil //nolint:nilerr // that it is missing is what is told
	}
	return a, nil
}

// mediaType returns the media type of an answer in words for a finding.
func mediaType(a *answer) string {
	if t := page.MediaType(a.header.Get("Content-Type")); t != "" {
		return t
	}
	return "no media type"
}

// below returns the URL of a path at the origin of the site that is checked, without query and fragment: where llms.txt
// stands.
func below(u *url.URL, path string) *url.URL {
	t := *u
	t.Path, t.RawPath, t.RawQuery, t.Fragment = path, "", "", ""
	return &t
}
