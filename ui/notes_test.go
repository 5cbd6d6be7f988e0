package ui_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
)

// fillNotes keeps notes that say texts.
func (w *world) fillNotes(t *testing.T, texts []string) {
	t.Helper()
	for _, text := range texts {
		n := api.NewNote{
			Text: text + " hit", Label: text[:min(len(text), 90)], Subjects: []string{text[:min(len(text), 90)]},
			Pages: []string{"https://a.test/" + url.PathEscape(text)},
		}
		if _, err := w.server.Client("test").AddNote(t.Context(), n); err != nil && api.CodeOf(err) != api.CodeInvalid {
			t.Fatal(err)
		}
	}
}

func TestNotesAreListedKeptAndDeleted(t *testing.T) {
	w := newWorld(t)
	body := func(path string) string { t.Helper(); return w.do(t, http.MethodGet, path, nil).body }
	if !strings.Contains(body("/notes"), "No note yet.") {
		t.Error("it does not say that there is none")
	}
	w.fillNotes(t, []string{"<b>bold</b>"})
	form := url.Values{"text": {"A quince is hard."}, "url": {"https://a.test/quince"}, "label": {"fruit"}}
	if got := w.send(t, "/notes", form, nil); got.status != http.StatusForbidden {
		t.Errorf("without a token: status %d", got.status)
	}
	form.Set("token", w.tokenOf(t, "/notes"))
	if got := w.send(t, "/notes", form, nil); got.status != http.StatusSeeOther {
		t.Fatalf("keep one: status %d, %s", got.status, got.body)
	}
	page := body("/notes?done=noted")
	for _, want := range []string{
		"The note is kept.", "A quince is hard.", "fruit", "/pages?q=https%3a%2f%2fa.test%2fquince", "&lt;b&gt;bold",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the room does not say %q", want)
		}
	}
	if about := body("/notes?subject=nothing"); !strings.Contains(about, "No note is about this subject.") {
		t.Error("it does not say that none is about a subject")
	}
	if about := body("/notes?url=https://a.test/quince"); !strings.Contains(about, "A quince") ||
		strings.Contains(about, "bold") {
		t.Error("it does not list the notes about a page")
	}
	list, err := w.server.Client("test").Notes(t.Context(), api.NoteQuery{})
	if err != nil || len(list.Notes) != 2 {
		t.Fatalf("%v, %+v", err, list)
	}
	form.Set("note", list.Notes[1].ID)
	if got := w.send(t, "/notes/delete", form, nil); got.status != http.StatusSeeOther {
		t.Errorf("delete one: status %d", got.status)
	}
	if strings.Contains(body("/notes"), "A quince is hard.") {
		t.Error("it is still there")
	}
	form.Set("text", "")
	if got := w.send(t, "/notes", form, nil); got.status != http.StatusBadRequest {
		t.Errorf("an empty note: status %d", got.status)
	}
}
