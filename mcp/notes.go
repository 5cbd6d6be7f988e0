package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge"
)

// note is a note as the tool relations lists it.
type note struct {
	ID       string   `json:"note"`
	Doc      string   `json:"doc"`
	Text     string   `json:"text"`
	Subjects []string `json:"subjects,omitempty"`
	Pages    []string `json:"pages,omitempty"`
}

// showNote shows a note in a list of the tool relations.
func showNote(n *knowledge.Note) (string, note) {
	v := note{ID: n.ID, Doc: n.Doc, Text: clip.Line(n.Text, 1000), Subjects: n.Subjects, Pages: n.Pages}
	return fmt.Sprintf("- note %s of %s: %s\n", v.ID, day(n.CreatedAt), v.Text), v
}

// addNoteTool is the tool add_note: an agent keeps what it has found out. It is marked as one that adds: the same call
// again makes a second note.
func addNoteTool() tool {
	return tool{
		name: "add_note", title: "Keep a note", writes: true, adds: true,
		about: "Keeps what was found out: later searches find it.",
		params: []param{
			{name: "text", kind: text, required: true, aliases: "note content body insight"},
			{name: "subjects", kind: text, about: "Separated by commas", aliases: "subject tags topics"},
			{name: "url", kind: text, about: "Page it is about", aliases: "uri link page source"},
		},
		run: func(ctx context.Context, c *call) (*result, error) {
			n := api.NewNote{Text: c.args.text("text")}
			for s := range strings.SplitSeq(c.args.text("subjects"), ",") {
				if s = strings.TrimSpace(s); s != "" {
					n.Subjects = append(n.Subjects, s)
				}
			}
			if url := c.args.text("url"); url != "" {
				n.Pages = []string{url}
			}
			made, err := c.client.AddNote(ctx, n)
			if err != nil {
				return nil, err
			}
			return &result{
				text:  fmt.Sprintf("Kept as note %s.\n", made.ID),
				value: map[string]any{"note": made.ID, "doc": made.Doc, "pages": made.Pages},
			}, nil
		},
	}
}
