package mcp

import (
	"context"
	"fmt"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge"
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
