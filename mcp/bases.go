package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge"

	"github.com/readthru/readthru/api"
)

// basesTool is the tool list_knowledge_bases: the names that the parameter kb_name takes.
func basesTool() tool {
	return tool{
		name: "list_knowledge_bases", title: "Knowledge bases",
		about:  "Lists the knowledge bases: names, descriptions, counts.",
		params: []param{cursorParam},
		shape:  "knowledge_bases array, next_cursor string",
		run: func(ctx context.Context, c *call) (*result, error) {
			all, err := c.client.Bases(ctx)
			if err != nil {
				return nil, err
			}
			return take(c, all.KBs, "knowledge_bases",
				"There are no knowledge bases; a search without a name covers all pages read.", showBase)
		},
	}
}

// base is a knowledge base as the tool list_knowledge_bases lists it.
type base struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Source      string `json:"source_type"`
	Documents   int    `json:"documents"`
	Passages    int    `json:"passages"`
	UpdatedAt   string `json:"updated_at,omitempty"`
}

// showBase shows a knowledge base in the result of the tool list_knowledge_bases.
func showBase(_ int, b knowledge.Base) (string, any) {
	v := base{
		Name: b.Name, Description: clip.Line(b.Description, 500), Source: b.Source, Documents: b.Documents,
		Passages: b.Passages,
	}
	if !b.UpdatedAt.IsZero() {
		v.UpdatedAt = b.UpdatedAt.UTC().Format("2006-01-02T15:04:05Z")
	}
	said := fmt.Sprintf("- %s (%s): %d documents, %d passages", v.Name, v.Source, v.Documents, v.Passages)
	if v.Description != "" {
		said += ". " + v.Description
	}
	return said + "\n", v
}

// baseParam limits a search or a list of subjects to one knowledge base.
var baseParam = param{
	name: "kb_name", kind: text, about: "Only this knowledge base; empty: all",
	aliases: "kb knowledge_base name base",
}

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
