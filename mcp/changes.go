package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/outline"
)

// changesTool is the tool page_changes: it fetches a page again and lists the sections that differ from an earlier
// version.
func changesTool() tool {
	return tool{
		name: "page_changes", title: "What changed", open: true,
		about: "Fetches a page again and returns only the sections that changed.",
		params: []param{
			{
				name: "url", kind: text, about: "A page that was read", required: true,
				aliases: "uri link href address page doc",
			},
			{
				name: "since", kind: text, about: "A day, time, age (36h, 7d) or version; default: the version before",
				aliases: "from after date time",
			},
			cursorParam,
		},
		run: runChanges,
	}
}

// runChanges does the tool page_changes. If the site does not answer, it compares the versions that are stored, and
// says so.
func runChanges(ctx context.Context, c *call) (*result, error) {
	ref, since := c.args.text("url"), c.args.text("since")
	if at, err := api.Since(since, time.Now()); err == nil && since != "" { // before the fetch, which may add a version
		since = at.Format(time.RFC3339Nano)
	}
	if strings.Contains(ref, ":") { // a URL; the page of a document id is not fetched again
		if err := c.again(ctx, ref); err != nil {
			if _, known := c.client.Versions(ctx, ref); known != nil {
				return nil, err
			}
			c.note("The page could not be fetched again; this is its stored version: %s", clip.Line(err.Error(), 300))
		}
	}
	d, err := c.client.Changes(ctx, ref, since)
	if notFound(err) && since == "" {
		return nil, notStored(ref)
	}
	if err != nil {
		return nil, err
	}
	if d.Since == nil {
		c.note("No version that old is kept: all sections are listed as added")
	}
	none := "Nothing changed."
	// A budget holds for all sections together; showChange sees to it that none of them takes all of it.
	r, err := take(c, d.Changes, "changes", none, c.showChange)
	if err != nil {
		return nil, err
	}
	r.value = nil // it would hold the texts again
	r.about = map[string]any{"doc": d.Doc, "url": d.URL, "changed": d.Changed, "version": d.Now.ContentHash}
	head := "Version " + fmt.Sprintf("%.12s", d.Now.ContentHash) + " of " + day(d.Now.Time)
	if d.Since != nil {
		r.about["since"] = map[string]any{"version": d.Since.ContentHash, "time": d.Since.Time}
		head += fmt.Sprintf(", compared with %.12s of %s", d.Since.ContentHash, day(d.Since.Time))
	}
	r.text = head + ":\n" + r.text
	return r, nil
}

// again fetches a page, so that its present content is compared, for the tool page_changes. It obeys robots.txt as the
// tool fetch does. The content itself is not wanted: the fetch stores it as a version.
func (c *call) again(ctx context.Context, url string) error {
	if err := c.mayFetch(ctx, url); err != nil {
		return err
	}
	_, err := c.get(ctx, api.FetchRequest{URL: url, Format: "none"}, false)
	return err
}

// showChange shows a section that changed, cut to half the budget of a result: a section of any length then fits beside
// others.
func (c *call) showChange(_ int, s outline.SectionChange) (string, any) {
	s.Heading, s.Fragment = clip.Line(s.Heading, 500), clip.Line(s.Fragment, 200)
	if w := c.server.cut(s.Text, usualTokens/2); w.Next > 0 {
		s.Text = w.Text + fmt.Sprintf("\n[Cut: %d of %d characters. Read the rest as section %q.]", w.Next, w.Total,
			s.Fragment)
	}
	where := cmp.Or(s.Heading, "the text before the first heading")
	said := fmt.Sprintf("\n== %s: %s\n", s.Kind, where)
	if s.Text != "" {
		said += s.Text + "\n"
	}
	if s.Removed > 0 {
		said += fmt.Sprintf("[removed or replaced here: %d]\n", s.Removed)
	}
	return said, s
}
