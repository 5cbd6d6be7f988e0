package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"

	"github.com/readthru/readthru/knowledge/outline"
)

// pageTool is the tool get_page: a stored page without a request to its site.
func pageTool() tool {
	return tool{
		name: "get_page", title: "Read a stored page",
		about: "Returns a stored page, or one of its sections, as markdown. Sends no request to its site.",
		params: []param{
			docParam, urlParam,
			{
				name: "section", kind: text, about: "Only the section under this heading or #fragment",
				aliases: "heading anchor fragment",
			},
			{
				name: "start", kind: integer, about: "Character to start at", max: 1 << 30,
				aliases: "start_index offset index from",
			},
			{
				name: "max_tokens", kind: integer, def: usualTokens, min: 1, max: mostTokens,
				aliases: "tokens token_limit max_output_tokens",
			},
		},
		run: runPage,
	}
}

// runPage does the tool get_page. Positions in a section are counted within it.
func runPage(ctx context.Context, c *call) (*result, error) {
	ref, err := c.ref()
	if err != nil {
		return nil, err
	}
	q := api.StoredQuery{
		Doc: ref, Section: c.section(), Start: c.args.number("start"), MaxTokens: c.args.number("max_tokens"),
	}
	p, err := c.client.PagePart(ctx, q)
	if notFound(err) && q.Section != "" {
		if _, unknown := c.client.Outline(ctx, ref); unknown == nil {
			return nil, err // of the section
		}
	}
	if notFound(err) {
		return nil, fmt.Errorf("%s is not stored: fetch it first", clip.Line(ref, 300))
	}
	if err != nil {
		return nil, err
	}
	about := facts(p)
	if q.Section != "" {
		about["section"] = p.Section
	}
	said := p.Content
	switch {
	case said == "":
		said = textNoMore
	case p.Next > 0:
		said += fmt.Sprintf("\n\n[Cut: %d of %d characters. Continue with start %d.]", p.Next, p.Total, p.Next)
		about["next_start"] = p.Next
	}
	about["start"], about["total_length"] = q.Start, p.Total
	head := fmt.Sprintf("%s\n%s\ndoc %s, read %s\n\n", orURL(clip.Line(p.Title, 300), p.URL), p.URL, p.Doc,
		day(p.FetchedAt))
	return &result{text: head + said, about: about}, nil
}

// outlineTool is the tool outline. A fragment that it lists is a value of the parameter section of fetch and get_page.
func outlineTool() tool {
	return tool{
		name: "outline", title: "Headings of a page",
		about:  "Lists the headings of a stored page; each #fragment names a section.",
		params: []param{docParam, urlParam, cursorParam},
		shape:  "doc string, url string, headings array, next_cursor string",
		run: func(ctx context.Context, c *call) (*result, error) {
			o, err := stored(ctx, c, c.client.Outline)
			if err != nil {
				return nil, err
			}
			r, err := take(c, o.Headings, "headings", "The page has no headings.", showHeading)
			if err == nil {
				r.value["doc"], r.value["url"], r.value["title"] = o.Doc, o.URL, clip.Line(o.Title, 300)
			}
			return r, err
		},
	}
}

// heading is a line of an outline.
type heading struct {
	Level    int    `json:"level"`
	Title    string `json:"title"`
	Fragment string `json:"fragment"`
	Bytes    int    `json:"bytes"` // of its section
}

// showHeading shows a heading in the result of the tool outline, indented by its level. A page's headings may be of any
// length, and are cut.
func showHeading(_ int, h outline.Heading) (string, any) {
	v := heading{h.Level, clip.Line(h.Title, 200), clip.Line(h.Fragment, 200), h.End - h.Start}
	return fmt.Sprintf("%s%s #%s (%d bytes)\n", strings.Repeat("  ", h.Level-1), v.Title, v.Fragment, v.Bytes), v
}

// recentTool is the tool recent_pages: what this reader, or anybody on a machine of one person, has read.
func recentTool() tool {
	return tool{
		name: "recent_pages", title: "Pages read",
		about: "Lists the pages that were read, newest first.",
		params: []param{
			{name: "host", kind: text, about: "Only of this host", aliases: "domain site hostname"},
			{name: "limit", kind: integer, def: 20, min: 1, max: 200, aliases: "max_results n count k"},
			cursorParam,
		},
		shape: "pages array, next_cursor string",
		run:   runRecent,
	}
}

// seen is a page as the tool recent_pages lists it.
type seen struct {
	Doc           string `json:"doc"`
	URL           string `json:"url"`
	Title         string `json:"title"`
	Tokens        int    `json:"tokens"`
	Visits        int64  `json:"visits"`
	LastVisitedAt string `json:"last_visited_at,omitempty"`
}

// runRecent does the tool recent_pages. Cursors are those of the operation, which stay valid while pages are added.
func runRecent(ctx context.Context, c *call) (*result, error) {
	q := api.PageQuery{Host: c.args.text("host"), Limit: c.args.number("limit"), Cursor: c.args.text("cursor")}
	all, err := c.client.Pages(ctx, q)
	if err != nil {
		return nil, err
	}
	l := c.server.newList()
	next := all.Next
	for i, p := range all.Pages {
		v := seen{
			Doc: p.Doc, URL: clip.Line(p.URL, 2000), Title: clip.Line(p.Title, 300), Tokens: p.Tokens, Visits: p.VisitCount,
		}
		if !p.LastVisitedAt.IsZero() {
			v.LastVisitedAt = p.LastVisitedAt.UTC().Format("2006-01-02T15:04:05Z")
		}
		said := fmt.Sprintf("- %s\n  %s\n  doc %s, %d tokens, read %d times, last %s\n", orURL(v.Title, v.URL), v.URL,
			v.Doc, v.Tokens, v.Visits, day(p.LastVisitedAt))
		if l.add(said, v) {
			continue
		}
		q.Limit = i // to get the cursor after the last page that fits
		if all, err = c.client.Pages(ctx, q); err != nil {
			return nil, err
		}
		next = all.Next
		break
	}
	return l.result("pages", next, "No pages were read."), nil
}
