package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/readthru/readthru/api"
)

// ingestTool is the tool ingest: it stores a text or a page as a document, which later searches find.
func ingestTool() tool {
	return tool{
		name: "ingest", title: "Store a text", writes: true, open: true,
		about: "Stores a page or a text for searches.",
		params: []param{
			{
				name: "url", kind: text, about: "Page to fetch and store; with text: the URL of the text",
				aliases: "uri link href address page",
			},
			{name: "text", kind: text, about: "Markdown to store", aliases: "content markdown body"},
			{
				name: "kb_name", kind: text, about: "Knowledge base to put it into",
				aliases: "kb knowledge_base name base",
			},
			{name: "title", kind: text, aliases: "heading"},
		},
		shape: "doc string, url string, passages integer, changed boolean",
		run:   runIngest,
	}
}

// runIngest does the tool ingest. A page is fetched under the rules of the tool fetch, robots.txt included; a text that
// comes with a URL is stored as it is, and nothing is fetched.
func runIngest(ctx context.Context, c *call) (*result, error) {
	in := api.Ingestion{
		Title: c.args.text("title"), Label: "mcp", Text: c.args.text("text"), URL: c.args.text("url"),
		KB: c.args.text("kb_name"),
	}
	if in.Text == "" && in.URL == "" {
		return nil, argumentError{"'url' or 'text' is a required property"}
	}
	if in.Text == "" {
		if err := c.mayFetch(ctx, in.URL); err != nil {
			return nil, err
		}
		g, err := c.get(ctx, api.FetchRequest{URL: in.URL}, false)
		if err != nil {
			return nil, err
		}
		in.Text = g.page.Content
		in.Title = cmp.Or(in.Title, g.page.Title)
		if strings.TrimSpace(in.Text) == "" {
			return nil, fmt.Errorf("%s has no text", in.URL)
		}
	}
	done, err := c.client.Ingest(ctx, in)
	if err != nil {
		return nil, err
	}
	said := "Stored"
	if !done.Changed {
		said = "Already stored"
	}
	return &result{
		text: fmt.Sprintf("%s: doc %s, %d passages.\n", said, done.Doc, done.Passages),
		value: map[string]any{
			"doc": done.Doc, "url": done.URL, "kb_name": done.KB, "passages": done.Passages,
			"changed": done.Changed,
		},
	}, nil
}
