package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"
)

// quoteTool is the tool verify_quote: whether a sentence that a model is about to cite is in the page that it cites.
func quoteTool() tool {
	return tool{
		name: "verify_quote", title: "Check a quote",
		about: "Reports whether a sentence is in a stored page, and where; else the nearest sentence.",
		params: []param{
			docParam, urlParam,
			{name: "quote", kind: text, about: "The sentence", required: true, aliases: "text sentence q claim"},
		},
		shape: "found boolean, current boolean, line integer, path array, nearest string, likeness number",
		run:   runQuote,
	}
}

// runQuote does the tool verify_quote: found in the newest version, in an older one, or not found, with the nearest
// sentence and how many of the words it has. A quote that was changed since is told apart from one that never was
// there.
func runQuote(ctx context.Context, c *call) (*result, error) {
	q, err := stored(ctx, c, func(ctx context.Context, ref string) (*api.QuoteCheck, error) {
		return c.client.VerifyQuote(ctx, ref, c.args.text("quote"))
	})
	if err != nil {
		return nil, err
	}
	value := map[string]any{"doc": q.Doc, "url": q.URL, "found": q.Found, "current": q.Current, "likeness": q.Likeness}
	where := ""
	if len(q.Path) > 0 {
		where = " under " + clip.Line(strings.Join(q.Path, " › "), 500)
		value["path"] = clipAll(q.Path)
	}
	switch {
	case q.Found:
		value["line"], value["count"] = q.Line, q.Count
		said := fmt.Sprintf("Found in line %d%s.\n", q.Line, where)
		if !q.Current && q.Version != "" {
			value["version"], value["version_time"] = q.Version, q.Time
			said = fmt.Sprintf("Found in the version of %s, line %d%s, but not in the newest.\n", day(q.Time), q.Line, where)
		}
		return &result{text: said, value: value}, nil
	case q.Nearest == "":
		return &result{text: "Not found, and nothing similar.\n", value: value}, nil
	}
	nearest := clip.Line(q.Nearest, 2000)
	value["nearest"], value["line"] = nearest, q.Line
	return &result{text: fmt.Sprintf("Not found. Nearest sentence (%.0f %% of the words), line %d%s: %s\n",
		100*q.Likeness, q.Line, where, nearest), value: value}, nil
}

// clipAll clips the headings on the path to a quote to 200 characters each.
func clipAll(path []string) []string {
	short := make([]string, 0, len(path))
	for _, title := range path {
		short = append(short, clip.Line(title, 200))
	}
	return short
}
