package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/mcp"
)

// TestAnAgentRemembersWhatItReads: it keeps a note about a page, finds it with the pages by words and by subject, and
// from the page.
func TestAnAgentRemembersWhatItReads(t *testing.T) {
	w := newWorld(t, nil)
	s := w.connect(t, nil)
	const url = "https://example.com/guide"
	use(t, s, "fetch", map[string]any{"url": url})
	_, kept := use(t, s, "add_note", map[string]any{
		"text": "The quince of the guide is a `CydoniaOblonga`.", "subjects": "fruit, autumn", "url": url,
	})
	id, _ := kept["note"].(string)
	if len(id) != 32 {
		t.Fatalf("kept %v, want the id of a note", kept)
	}
	if err := w.api.Memory().CatchUpOnSubjects(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, found := use(t, s, "search_knowledge_base", map[string]any{"query": "quince"})
	if hits := found["results"].([]any); len(hits) != 2 || !strings.Contains(text, "a note about "+url) ||
		!strings.Contains(text, "notes about it: "+id) {
		t.Fatalf("search: %v, %q, want the page and the note", found, text)
	}
	if _, found := use(t, s, "search_knowledge_base",
		map[string]any{"query": "quince", "subject": "Autumn"}); len(found["results"].([]any)) != 1 {
		t.Errorf("search by subject: %v, want the note", found)
	}
	text, all := use(t, s, "subjects", nil)
	if !strings.Contains(text, "- fruit (1 passages)") || !strings.Contains(text, "- CydoniaOblonga") {
		t.Errorf("subjects: %v, %q", all, text)
	}
	text, about := use(t, s, "subjects", map[string]any{"topic": "cydoniaoblonga"})
	if list := about["passages"].([]any); len(list) != 1 || !strings.Contains(text, "The quince of the guide is a `CydoniaOblonga`.\n   note:"+id) {
		t.Errorf("passages about a subject: %v, %q", about, text)
	}
	if text, about := use(t, s, "subjects", map[string]any{"subject": "cars"}); len(about["passages"].([]any)) != 0 ||
		text != "Nothing is about cars.\n" {
		t.Errorf("passages about nothing: %v, %q", about, text)
	}
	_, hit := use(t, s, "search_knowledge_base", map[string]any{"query": "hardly anybody eats it raw"})
	passage := hit["results"].([]any)[0].(map[string]any)["passage"]
	use(t, s, "relate", map[string]any{"passage": passage, "note": id, "type": "supports"})
	for _, args := range []map[string]any{{"passage": passage}, {"note": id}, {"type": "supports"}} {
		text, r := use(t, s, "relations", args)
		want := fmt.Sprintf("- passage %s supports note %s (weight 1)\n", passage, id)
		if len(r["relations"].([]any)) != 1 || text != want {
			t.Errorf("relations %v: %v, %q", args, r, text)
		}
	}
	if text, r := use(t, s, "relations", map[string]any{"url": url}); len(r["notes"].([]any)) != 1 ||
		!strings.Contains(text, "CydoniaOblonga") {
		t.Errorf("notes about the page: %v, %q", r, text)
	}
	for _, tt := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"relations", nil, "'passage', 'note', 'url' or 'type' is required"},
		{"subjects", map[string]any{"cursor": "x"}, "'cursor' needs the subject"},
		{"subjects", map[string]any{"kb_name": "none"}, "unknown knowledge base"},
		{"add_note", map[string]any{"text": " "}, "note without text"},
		{"relate", map[string]any{"passage": passage, "type": "x"}, "either a note or another passage"},
		{"relate", map[string]any{"passage": "x", "note": id, "type": "x"}, "16 hex digits"},
	} {
		if got, _, failed := try(t, s, tt.tool, tt.args); !failed || !strings.Contains(got, tt.want) {
			t.Errorf("%s %v: failed %v, %q, want %q", tt.tool, tt.args, failed, got, tt.want)
		}
	}
}

func TestPassagesOfASubjectStayWithinTheirBudget(t *testing.T) {
	w := newWorld(t, nil)
	s := w.connect(t, nil)
	for i := range 60 {
		use(t, s, "add_note", map[string]any{
			"text": fmt.Sprintf("%d: %s", i, strings.Repeat(fmt.Sprintf("quince%d ", i), 200)), "subjects": "fruit",
		})
	}
	if err := w.api.Memory().CatchUpOnSubjects(t.Context()); err != nil {
		t.Fatal(err)
	}
	args := map[string]any{"subject": "fruit", "limit": 50}
	got, parts := 0, 0
	for range 20 {
		text, r := use(t, s, "subjects", args)
		if n := convert.Tokens(text); n > mcp.UsualTokens+200 {
			t.Fatalf("%d tokens, want at most %d", n, mcp.UsualTokens)
		}
		got += len(r["passages"].([]any))
		parts++
		next, more := r["next_cursor"].(string)
		if !more {
			break
		}
		args["cursor"] = next
	}
	if got != 60 || parts < 2 {
		t.Errorf("%d passages in %d parts, want 60 in several", got, parts)
	}
}
