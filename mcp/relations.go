package mcp

import (
	"cmp"
	"context"
	"fmt"

	"github.com/readthru/readthru/api"
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

// passageParam and noteParam name the ends of a relation.
var (
	passageParam = param{name: "passage", kind: text, about: "Id of a passage", aliases: "passage_id chunk"}
	noteParam    = param{name: "note", kind: text, about: "Id of a note", aliases: "note_id insight"}
)
