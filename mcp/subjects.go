package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge"
)

// subjectsTool is the tool subjects: the subjects that passages and notes have, or what there is about one of them.
func subjectsTool() tool {
	return tool{
		name:  "subjects",
		about: "Lists what bases and notes are about, or the passages and notes about a subject.",
		params: []param{
			{name: "subject", kind: text, about: "Empty: list all", aliases: "topic about entity q query"},
			baseParam,
			{name: "limit", kind: integer, def: 20, min: 1, max: 100, aliases: "max_results top_k k n count"},
			cursorParam,
		},
		shape: "subjects array, passages array, next_cursor string",
		run:   runSubjects,
	}
}

// runSubjects does the tool subjects. A list of all subjects cannot be continued: the argument limit gets more of them.
func runSubjects(ctx context.Context, c *call) (*result, error) {
	if c.args.text("subject") != "" {
		return runSubject(ctx, c)
	}
	if c.args.text("cursor") != "" {
		return nil, argumentError{"'cursor' needs the subject of the list before"}
	}
	list, err := c.client.Subjects(ctx, c.args.text("kb_name"), c.args.number("limit"))
	if err != nil {
		return nil, err
	}
	return take(c, list.Subjects, "subjects", "There are no subjects yet.",
		func(_ int, s knowledge.Subject) (string, any) {
			return fmt.Sprintf("- %s (%d passages)\n", s.Name, s.Passages), s
		})
}

// runSubject lists the passages and notes about one subject. It asks for them one by one, because the cursor of the
// operation stands behind a whole answer: with more at once there would be no cursor behind the last passage that fits
// the budget.
func runSubject(ctx context.Context, c *call) (*result, error) {
	q := api.PassageQuery{Subject: c.args.text("subject"), KB: c.args.text("kb_name")}
	q.Cursor, q.Limit = c.args.text("cursor"), 1
	l := c.server.newList()
	next := q.Cursor
	for more := true; more && len(l.items) < c.args.number("limit"); {
		part, err := c.client.Passages(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range part.Passages {
			if text, item := showPassage(&part.Passages[i]); !l.add(text, item) {
				return l.result("passages", next, ""), nil
			}
		}
		next, q.Cursor = part.Next, part.Next
		more = next != ""
	}
	return l.result("passages", next, "Nothing is about "+clip.Line(q.Subject, 100)+"."), nil
}

// passage is a passage as the tool subjects lists it, with the first of its sources.
type passage struct {
	ID       string   `json:"passage"`
	URL      string   `json:"url"`
	Title    string   `json:"title,omitempty"`
	Heading  string   `json:"heading,omitempty"`
	Text     string   `json:"text"`
	Subjects []string `json:"subjects,omitempty"`
}

// showPassage shows a passage in the result of the tool subjects. The text is cut to 500 characters on one line; the
// passage's id leads to the rest.
func showPassage(p *knowledge.PassageInfo) (string, passage) {
	v := passage{ID: p.ID, Heading: clip.Line(p.Heading, 300), Text: clip.Line(p.Text, 500), Subjects: p.Subjects}
	if len(p.Sources) > 0 {
		v.URL, v.Title = clip.Line(p.Sources[0].URL, 2000), clip.Line(p.Sources[0].Title, 300)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "- %s\n   %s\n", orURL(v.Title, v.URL), v.URL)
	if v.Heading != "" {
		b.WriteString("   " + v.Heading + "\n")
	}
	b.WriteString(indent(v.Text, "   > "))
	fmt.Fprintf(&b, "   passage %s; about %s\n", v.ID, strings.Join(v.Subjects, ", "))
	return b.String(), v
}
