package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge"
)

// baseParam limits a search or a list of subjects to one knowledge base.
var baseParam = param{
	name: "kb_name", kind: text, about: "Only this knowledge base; empty: all",
	aliases: "kb knowledge_base name base",
}

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

// showPassage shows a passage in a list of the tool subjects. The text is cut to 500 characters on one line; the
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

// passageParam and noteParam name the ends of a relation.
var (
	passageParam = param{name: "passage", kind: text, about: "Id of a passage", aliases: "passage_id chunk"}
	noteParam    = param{name: "note", kind: text, about: "Id of a note", aliases: "note_id insight"}
)

// relationsTool is the tool relations: what notes and passages are related to a passage, a note or a page.
func relationsTool() tool {
	return tool{
		name:  "relations",
		about: "Lists what is related to a passage or note, or the notes about a page.",
		params: []param{
			passageParam, noteParam,
			{name: "url", kind: text, about: "Of a page", aliases: "uri link page"},
			{name: "type", kind: text, aliases: "kind relation"},
		},
		run: runRelations,
	}
}

// runRelations does the tool relations. Notes about a page come first, and relations get what they leave of the budget.
func runRelations(ctx context.Context, c *call) (*result, error) {
	q := api.RelationQuery{Passage: c.args.text("passage"), Note: c.args.text("note"), Type: c.args.text("type")}
	url := c.args.text("url")
	if q == (api.RelationQuery{}) && url == "" {
		return nil, argumentError{"'passage', 'note', 'url' or 'type' is required"}
	}
	relations, notes := c.server.newList(), c.server.newList()
	if url != "" {
		list, err := c.client.Notes(ctx, api.NoteQuery{URL: url})
		if err != nil {
			return nil, err
		}
		for i := range list.Notes {
			if text, item := showNote(&list.Notes[i]); !notes.add(text, item) {
				c.note("There are more notes about the page")
				break
			}
		}
	}
	if q != (api.RelationQuery{}) {
		list, err := c.client.Relations(ctx, q)
		if err != nil {
			return nil, err
		}
		relations.left = notes.left
		for _, r := range list.Relations {
			to := "passage " + r.Other
			if r.Note != "" {
				to = "note " + r.Note
			}
			if !relations.add(fmt.Sprintf("- passage %s %s %s (weight %v)\n", r.Passage, r.Type, to, r.Weight), r) {
				c.note("There are more relations")
				break
			}
		}
	}
	text := cmp.Or(notes.text.String()+relations.text.String(), "Nothing is related to it.\n")
	return &result{text: text, value: map[string]any{"relations": relations.items, "notes": notes.items}}, nil
}

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

// relateTool is the tool relate. The same relation twice is one relation, so that it is not marked as one that adds.
func relateTool() tool {
	return tool{
		name: "relate", writes: true,
		about: "Relates a passage to a note or to another passage.",
		params: []param{
			{name: "passage", kind: text, about: passageParam.about, required: true, aliases: passageParam.aliases},
			noteParam,
			{name: "other", kind: text, about: "Another passage", aliases: "other_passage to"},
			{name: "type", kind: text, about: "Such as supports", required: true, aliases: "kind relation"},
		},
		run: func(ctx context.Context, c *call) (*result, error) {
			made, err := c.client.Relate(ctx, api.NewRelation{
				Passage: c.args.text("passage"), Note: c.args.text("note"), Other: c.args.text("other"),
				Type: c.args.text("type"),
			})
			if err != nil {
				return nil, err
			}
			return &result{text: "Related.\n", value: map[string]any{"relation": made}}, nil
		},
	}
}
