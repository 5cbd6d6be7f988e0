package mcp

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/page"
)

// The texts of the reference fetch server, word for word.
const (
	textCannotSimplify = "Content type %s cannot be simplified to markdown, but here is the raw content:\n"
	textNoMore         = "<error>No more content available.</error>"
	textNothing        = "<error>Page failed to be simplified from HTML</error>"
	textTruncated      = "\n\n<error>Content truncated. Call the fetch tool with a start_index of %d to get more " +
		"content.</error>"

	textRobotsUnreachable = "Failed to fetch robots.txt %s due to a connection issue"
	textRobotsRefused     = "When fetching robots.txt (%s), received status %d so assuming that autonomous fetching " +
		"is not allowed, the user can try manually fetching by using the fetch prompt"
	textRobotsForbidden = "The sites robots.txt (%s), specifies that autonomous fetching of this page is not allowed, " +
		"<useragent>%s</useragent>\n" +
		"<url>%s</url>\n" +
		"<robots>\n%s\n</robots>\n" +
		"The assistant must let the user know that it failed to view the page. The assistant may provide further " +
		"guidance based on the above information.\n" +
		"The assistant can tell the user that they can try manually fetching the page by using the fetch prompt within " +
		"their UI."
)

// noBrowser stands before a page that needs a browser if there is none (rule C4). A model that does not see it takes
// the shell of the page for the page.
const noBrowser = "⚠️ No browser: fetched without JavaScript"

// fetchTool is the tool fetch. The first four parameters are those of the reference fetch server, with its names and
// defaults; the others are ours.
func fetchTool() tool {
	return tool{
		name: "fetch", title: "Fetch a page", open: true,
		about: "Fetches a URL from the internet and gives its contents as clean markdown. A fresh copy in the cache is " +
			"used. A long page comes in parts: call again with start_index.",
		params: []param{
			{name: "url", kind: text, about: "URL to fetch", required: true, aliases: "uri link href address page page_url"},
			{
				name: "max_length", kind: integer, about: "Most characters to return", def: 5000, min: 1,
				max: 999_999, aliases: "max_chars length limit max_characters",
			},
			{
				name: "start_index", kind: integer,
				about: "Character to start at", max: 1 << 30,
				aliases: "start offset index from",
			},
			{
				name: "raw", kind: flag, about: "Return the HTML as it is",
				aliases: "html raw_html",
			},
			{
				name: "max_tokens", kind: integer, about: "Most tokens to return", min: 1, max: mostTokens,
				aliases: "tokens token_limit max_output_tokens",
			},
			{
				name: "fresh", kind: flag, about: "Ask the site even if the cached copy is good",
				aliases: "force force_refresh refresh no_cache",
			},
			{
				name: "section", kind: text, about: "Only the section under this heading or #fragment",
				aliases: "heading anchor fragment",
			},
		},
		run: runFetch,
	}
}

// runFetch does the tool fetch and answers as the reference server does: "Contents of URL" before the content, and a
// sentence about start_index behind a part.
func runFetch(ctx context.Context, c *call) (*result, error) {
	url := c.args.text("url")
	if err := c.mayFetch(ctx, url); err != nil {
		return nil, err
	}
	tokens, asked := c.args.number("max_tokens"), c.args.number("max_tokens") > 0
	if !asked {
		// The reference server bounds characters alone. The tokens bound a page in a script that has several tokens a
		// character, on which a client would refuse the whole result.
		tokens = mostTokens
	}
	start, chars := c.args.number("start_index"), c.args.number("max_length")
	g, err := c.get(ctx, api.FetchRequest{URL: url, Start: start, MaxChars: chars, MaxTokens: tokens}, c.args.flag("raw"))
	if err != nil {
		return nil, err
	}
	said, next, total := g.page.Content, g.page.Next, g.page.Total
	if next > 0 && !asked && utf8.RuneCountInString(said) < chars {
		c.note("A result has at most %d tokens: these are fewer than the %d characters asked for", mostTokens, chars)
	}
	switch {
	case total == 0 && g.prefix == "" && start == 0:
		said = textNothing
	case said == "":
		said = textNoMore
	case next > 0:
		said += fmt.Sprintf(textTruncated, next)
	}
	about := facts(g.page)
	about["start_index"], about["total_length"] = start, total
	if next > 0 {
		about["next_start_index"] = next
	}
	return &result{text: c.noted() + g.prefix + "Contents of " + url + ":\n" + said, about: about, bare: true}, nil
}

// got is a page fetched for a tool, with the part of its content that was asked for.
type got struct {
	page   *page.Page
	prefix string // text of the reference server before content that it cannot simplify
}

// get fetches a page, or the part of its content that r asks for, for the tools fetch, page_changes and ingest, and for
// the prompt. With raw, and for text, data and code, the content is the origin's own. Errors have the words of the
// reference server. It adds the warnings of the page to the notes of the call.
func (c *call) get(ctx context.Context, r api.FetchRequest, raw bool) (*got, error) {
	r.Force, r.Section, r.Session, r.Agent = c.args.flag("fresh"), c.args.text("section"), c.session, c.agent
	r.Exact = true
	if raw {
		r.Format, r.Section = "html", ""
	}
	p, err := c.fetch(ctx, r)
	if err != nil {
		return nil, err
	}
	if !raw && verbatim(p) {
		// This second fetch is answered from the cache, and must not store the page again in another form.
		r.Format, r.Force, r.Persist = "verbatim", false, new(false)
		if plain, err := c.fetch(ctx, r); err == nil && plain.ContentFormat != "markdown" {
			plain.Doc, plain.Stored = p.Doc, p.Stored
			p = plain
		}
	}
	g := &got{page: p}
	if p.ContentFormat != "markdown" {
		g.prefix = fmt.Sprintf(textCannotSimplify, p.ContentType)
	}
	c.warn(p)
	return g, nil
}

// verbatim reports whether the fetch tool gives the origin's own content, which is better for a model than our
// markdown: for text, data and code, which conversion only puts into a fence. A feed is JSON, but its markdown is the
// articles in it. A page that package github made is not what its URL answers, so that it stays as it is.
func verbatim(p *page.Page) bool {
	t, _, err := mime.ParseMediaType(p.ContentType)
	if err != nil || p.Source != page.Local || p.ContentFormat != "markdown" || p.GitHub != nil {
		return false
	}
	switch t {
	case "text/plain", "application/json", "application/x-ndjson", "application/yaml", "application/x-yaml",
		"application/toml", "application/javascript", "text/javascript", "text/css", "application/x-sh":
		return true
	}
	return strings.HasSuffix(t, "+json") && t != "application/feed+json" || strings.HasSuffix(t, "+yaml")
}

// fetch fetches a page by the API. A failure, of the request or of the page, is an error in the words of the reference
// server.
func (c *call) fetch(ctx context.Context, r api.FetchRequest) (*page.Page, error) {
	p, err := c.client.Fetch(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("Failed to fetch %s: %w", r.URL, err) //nolint:staticcheck // the reference server's words
	}
	switch e := p.Error; {
	case e == nil:
		return p, nil
	case e.Kind == "http":
		said := fmt.Sprintf("Failed to fetch %s - status code %d", r.URL, p.StatusCode)
		if why, ok := strings.CutPrefix(e.Why(), fmt.Sprintf("HTTP %d", p.StatusCode)); ok {
			said += why // a price, or a copy that is stored
		}
		return nil, errors.New(said)
	default:
		//nolint:staticcheck // the reference server's words
		return nil, fmt.Errorf("Failed to fetch %s: %s", r.URL, e.Why())
	}
}

// warn adds notes about a fetched page that its reader must know: it is stale, behind a bot wall, incomplete, or not
// meant for models. The lack of a browser comes first, since it explains the rest.
func (c *call) warn(p *page.Page) {
	if slices.Contains(p.Warnings, "no-browser") {
		c.notes = append([]string{noBrowser}, c.notes...)
	}
	if slices.Contains(p.Warnings, "stale") {
		c.note("Stale: the site did not answer; this copy is of %s", day(p.FetchedAt))
	}
	if p, denied := p.Preferences.Denied(page.UseInput); denied {
		c.note("The site asks that models do not use this page: %s", clip.Line(p.Says, 80))
	}
	if slices.Contains(p.Warnings, page.WarnWall) {
		c.note("This is a bot wall and not the page: " + page.WallHelp)
		if w := p.Wall; w != nil && !w.Copy.IsZero() {
			c.note("A copy of the page of %s is stored: document %s", day(w.Copy), p.Doc)
		}
	}
	if slices.Contains(p.Warnings, "section-missing") {
		c.note("There is no section %q: this is the whole page", clip.Line(c.section(), 80))
	}
	if slices.Contains(p.Warnings, "js-shell") && !slices.Contains(p.Warnings, "no-browser") {
		c.note("Scripts create the page: parts of it may be missing")
	}
}

// facts are the metadata of a fetched page for programs. They go into the field _meta of a result, which clients do not
// show to models.
func facts(p *page.Page) map[string]any {
	return map[string]any{
		"doc": p.Doc, "url": p.URL, "final_url": p.FinalURL, "title": p.Title, "content_type": p.ContentType,
		"content_format": p.ContentFormat, "content_hash": p.ContentHash,
		"markdown_source": p.Source, "markdown_tokens": p.Tokens, "fetched_at": p.FetchedAt, "from_cache": p.FromCache,
		"stored": p.Stored, "warnings": orEmpty(p.Warnings), "visit_id": p.VisitID,
	}
}

// orEmpty returns the warnings of a fetched page, an empty list for nil, which JSON would show as null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// mayFetch returns an error if robots.txt forbids agents to fetch a URL by themselves, in the words of the reference
// server. A robots.txt that cannot be fetched forbids it, too, unless the page is stored: then the store may answer
// although the site is down. It allows all if [Options.Robots] is not set.
func (c *call) mayFetch(ctx context.Context, url string) error {
	if !c.server.o.Robots {
		return nil
	}
	r, err := c.client.Robots(ctx, url)
	if api.CodeOf(err) == api.CodeInvalid {
		return nil // an invalid URL, which the fetch reports
	}
	if err != nil {
		return fmt.Errorf("Failed to fetch %s: %w", url, err) //nolint:staticcheck // the reference server's words
	}
	switch {
	case r.Allowed:
		return nil
	case r.Error != nil:
		if _, err := c.client.Versions(ctx, url); err == nil || r.Error.Kind == "blocked" {
			return nil // a site that is blocked is for the fetch to report
		}
		//nolint:staticcheck // the reference server's words
		return fmt.Errorf(textRobotsUnreachable+": %s", r.URL, r.Error.Why())
	case r.Status >= 400:
		return fmt.Errorf(textRobotsRefused, r.URL, r.Status) //nolint:staticcheck // the reference server's words
	}
	//nolint:staticcheck // the reference server's words
	return fmt.Errorf(textRobotsForbidden, r.URL, c.server.o.UserAgent, url, strings.TrimRight(r.Text, "\n"))
}

// addPrompt adds the prompt by which a user fetches a page. It ignores robots.txt, which is for autonomous agents.
func (s *Server) addPrompt(to *sdk.Server) {
	prompt := &sdk.Prompt{
		Name: "fetch", Title: "Fetch a page", Description: "Fetch a URL and extract its contents as markdown",
		Arguments: []*sdk.PromptArgument{{Name: "url", Description: "URL to fetch", Required: true}},
	}
	to.AddPrompt(prompt, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		url := req.Params.Arguments["url"]
		said := func(about, text string) *sdk.GetPromptResult {
			return &sdk.GetPromptResult{
				Description: about,
				Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}},
			}
		}
		if url == "" {
			return nil, invalidParams("URL is required")
		}
		c := &call{server: s, args: arguments{}, session: s.o.Session}
		var err error
		if c.client, err = s.client(ctx); err != nil {
			return nil, err
		}
		g, err := c.get(ctx, api.FetchRequest{URL: url, MaxTokens: mostTokens}, false)
		if err != nil {
			return said("Failed to fetch "+url, err.Error()), nil
		}
		content := g.page.Content
		if g.page.Total == 0 && g.prefix == "" {
			content = textNothing
		}
		if g.page.Next > 0 {
			content += fmt.Sprintf(textTruncated, g.page.Next)
		}
		return said("Contents of "+url, c.noted()+g.prefix+content), nil
	})
}

//nolint:staticcheck // as other arguments' errors
var errNothingNamed = errors.New("Input validation error: 'doc' or 'url' is required")
