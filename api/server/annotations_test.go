package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/knowledge"
)

// TestNotesAreSearchedWithThePages: an agent's note is found by words and by subject, from the page and to the page,
// and is related to its passages (rules D4, D6, D7, D8).
func TestNotesAreSearchedWithThePages(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		ctx := t.Context()
		if _, err := ops.Fetch(ctx, api.FetchRequest{URL: pageURL}); err != nil {
			t.Fatal(err)
		}
		n, err := ops.AddNote(ctx, api.NewNote{
			Text: "Whoever asks a second time gets the same reading: the `SecondReader` waits.", Label: "experiment",
			Subjects: []string{"patience"}, Pages: []string{pageURL + "#top"},
		})
		if err != nil || len(n.ID) != 32 || len(n.Doc) != 16 || !slices.Equal(n.Pages, []string{pageURL}) {
			t.Fatalf("note: %v, %+v", err, n)
		}
		if err := w.server.Memory().CatchUpOnSubjects(ctx); err != nil {
			t.Fatal(err)
		}
		res, err := ops.Search(ctx, api.SearchQuery{Text: "second time"})
		if err != nil || len(res.Hits) != 2 {
			t.Fatalf("search: %v, %+v, want the page and the note", err, res)
		}
		var page, note knowledge.Hit
		for _, h := range res.Hits {
			if h.Kind == knowledge.KindNote {
				note = h
			} else {
				page = h
			}
		}
		if note.URL != "note:"+n.ID || !slices.Equal(note.Pages, n.Pages) || page.URL != pageURL ||
			!slices.Equal(page.Notes, []string{n.ID}) {
			t.Errorf("hits %+v, want each to name the other", res.Hits)
		}
		if res, err := ops.Search(ctx, api.SearchQuery{Subject: "Patience"}); err != nil || len(res.Hits) != 1 ||
			res.Hits[0].Doc != n.Doc {
			t.Errorf("search by subject: %v, %+v", err, res)
		}
		if _, err := ops.Search(ctx, api.SearchQuery{}); statusOf(err) != 400 {
			t.Errorf("search of nothing: %v", err)
		}
		for _, q := range []api.NoteQuery{{}, {URL: pageURL}, {Subject: "secondreader"}} {
			if list, err := ops.Notes(ctx, q); err != nil || len(list.Notes) != 1 || list.Notes[0].ID != n.ID {
				t.Errorf("notes %+v: %v, %+v", q, err, list)
			}
		}
		if list, err := ops.Subjects(ctx, "", 50); err != nil || !slices.ContainsFunc(list.Subjects,
			func(s knowledge.Subject) bool { return s.Name == "patience" && s.Passages == 1 }) {
			t.Errorf("subjects: %v, %+v", err, list)
		}
		of, err := ops.Passages(ctx, api.PassageQuery{PassageFilter: api.PassageFilter{URL: pageURL}})
		if err != nil || len(of.Passages) != 1 || of.Passages[0].ID != page.Passage {
			t.Fatalf("passages of the page: %v, %+v", err, of)
		}
		if _, err := ops.Relate(ctx, api.NewRelation{Passage: page.Passage, Note: n.ID, Type: "explains"}); err != nil {
			t.Fatal(err)
		}
		for _, q := range []api.RelationQuery{{Passage: page.Passage}, {Note: n.ID}, {Type: "explains"}} {
			if list, err := ops.Relations(ctx, q); err != nil || len(list.Relations) != 1 ||
				list.Relations[0].Passage != page.Passage {
				t.Errorf("relations %+v: %v, %+v", q, err, list)
			}
		}
		p, err := ops.Page(ctx, n.Doc)
		if err != nil || !strings.Contains(p.Content, "SecondReader") {
			t.Errorf("the note by its doc: %v, %+v", err, p)
		}
		if err := ops.DeleteNote(ctx, n.ID); err != nil {
			t.Fatal(err)
		}
		if err := ops.DeleteNote(ctx, n.ID); statusOf(err) != 404 {
			t.Errorf("delete again: %v", err)
		}
		if err := w.server.Memory().CatchUpOnSubjects(ctx); err != nil {
			t.Fatal(err)
		}
		if res, err := ops.Search(ctx, api.SearchQuery{Text: "second time"}); err != nil || len(res.Hits) != 1 ||
			res.Hits[0].Notes != nil {
			t.Errorf("search afterwards: %v, %+v", err, res)
		}
	})
}
