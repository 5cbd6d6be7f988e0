package knowledge_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

var cleaner = store.Cleaner{Edition: 1, Clean: func(text []byte, markdown bool) []byte {
	if markdown {
		return convert.CleanMarkdown(text, "", nil).Text
	}
	return convert.CleanText(text, "").Text
}}

// unseen is a text of which no reader sees what says HIDE.
const unseen = "Shown\u202e walrus\x1b[2J.\n\n<!-- HIDE -->\n\n<p style='display:none'>HIDE</p>\n\nAlso shown.\n"

// checkSeen checks that a text holds what readers see of unseen, and nothing else of it.
func checkSeen(t *testing.T, what, text string) {
	t.Helper()
	if !strings.Contains(text, "Shown walrus.") || !strings.Contains(text, "Also shown.") ||
		strings.Contains(text, "HIDE") || strings.ContainsFunc(text, isUnseen) {
		t.Errorf("%s is %q", what, text)
	}
}

func isUnseen(r rune) bool { return r == '\x1b' || unicode.Is(unicode.Cf, r) }

func TestTextsAreCleanedWhereTheyEnter(t *testing.T) {
	k := open(t, "", knowledge.Options{Cleaner: cleaner})
	in := knowledge.Ingestion{
		Title: "On <template>\u200b", Label: "la\u200bbel", Text: unseen, URL: "https://a.test/x",
		Metadata: page.Metadata{"a": "b\u202e"},
	}
	for i := range 2 {
		done, err := k.Ingest(t.Context(), in)
		if err != nil || done.Changed != (i == 0) {
			t.Fatalf("Ingest: %+v, %v", done, err)
		}
	}
	d, err := k.Ingested(in.Label, in.URL)
	if err != nil {
		t.Fatal(err)
	}
	checkSeen(t, "an ingested text", string(d.Markdown))
	if d.Title != "On <template>" {
		t.Errorf("the title is %q", d.Title)
	}
	if _, err := k.Ingest(t.Context(), knowledge.Ingestion{Text: "<!-- HIDE -->\n"}); err == nil {
		t.Error("a text that no reader sees was taken")
	}

	note, err := k.AddNote(knowledge.Note{
		Text: unseen, Label: "la\u200bbel",
		Metadata: page.Metadata{"a\u200b": "b\u202e"},
	})
	if err != nil {
		t.Fatal(err)
	}
	checkSeen(t, "a note", note.Text)
	if got := fmt.Sprint(note.Label, note.Metadata); got != "labelmap[a:b]" {
		t.Errorf("label and metadata of a note are %q", got)
	}

	dir := folder(t, "a.md", "---\ntitle: T\u200b\n---\n\n"+unseen, "b.txt", unseen,
		"c.jsonl", fmt.Sprintf(`{"_id": "id\u200b", "title": "T\u202e", "text": %q}`,
			strings.ReplaceAll(unseen, "\x1b[2J", "\u2066")))
	checkDocuments(t, k, "files", 3, func(b *knowledge.Build) error {
		_, err := b.AddFiles(t.Context(), parcel(t, dir), nil)
		return err
	})
	checkDocuments(t, k, "crawled", 1, func(b *knowledge.Build) error {
		return b.Add(t.Context(), knowledge.Document{URL: "https://a.test/y", Title: "T\u202e", Markdown: []byte(unseen)})
	})
}

// checkDocuments fills a base, and checks that the n documents are clean.
func checkDocuments(t *testing.T, k *opened, name string, n int, fill func(*knowledge.Build) error) {
	t.Helper()
	if _, err := k.CreateBase(knowledge.Base{Name: name, Source: knowledge.SourceFile}); err != nil {
		t.Fatal(err)
	}
	b := k.build(t, name)
	if err := fill(b); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkBase(t, k, name, n)
}

func checkBase(t *testing.T, k *opened, name string, n int) {
	t.Helper()
	list, _, err := k.Documents(name, "", 10)
	if err != nil || len(list) != n {
		t.Fatalf("%s has %d documents, %v, want %d", name, len(list), err, n)
	}
	for _, e := range list {
		d, err := k.Document(e.Key)
		if err != nil {
			t.Fatal(err)
		}
		checkSeen(t, d.URL, string(d.Markdown))
		if all := d.URL + d.Title + e.Label; strings.ContainsFunc(all, isUnseen) {
			t.Errorf("%q has invisible characters", all)
		}
	}
}

func TestPackOfOthersIsCleaned(t *testing.T) {
	from := open(t, "", knowledge.Options{})
	if _, err := from.CreateBase(knowledge.Base{
		Name: "docs", Source: knowledge.SourceText,
		Description: "a\u202eb",
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Ingest(t.Context(), knowledge.Ingestion{
		Title: "T\u202e", Label: "l\u202e", Text: unseen, KB: "docs", Metadata: page.Metadata{"a": "b\u202e"},
	}); err != nil {
		t.Fatal(err)
	}
	to := open(t, "", knowledge.Options{Cleaner: cleaner})
	b, err := unpack(to, pack(t, from, signer(t)), knowledge.UnpackOptions{AnySigner: true})
	if err != nil || b.Description != "ab" {
		t.Fatalf("unpacked %+v, %v", b, err)
	}
	checkBase(t, to, "docs", 1)
}

// An older program kept texts as they came: they are cleaned when they are read, and the index is made of them again.
func TestTextsOfAnOlderProgramAreCleaned(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir, knowledge.Options{})
	in := knowledge.Ingestion{Label: "old", Text: unseen, URL: "https://a.test/x"}
	if _, err := k.Ingest(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	note, err := k.AddNote(knowledge.Note{Text: "On seals.\n\n" + unseen, Label: "la\u200bbel"})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.shut(t)

	k = open(t, dir, knowledge.Options{Cleaner: cleaner})
	check := func() {
		t.Helper()
		d, err := k.Ingested(in.Label, in.URL)
		if err != nil {
			t.Fatal(err)
		}
		checkSeen(t, "an ingested text", string(d.Markdown))
		got, err := k.Note(note.ID)
		if err != nil {
			t.Fatal(err)
		}
		checkSeen(t, "a note", got.Text)
		if got.Label != "label" {
			t.Errorf("the note's label is %q", got.Label)
		}
		found, err := k.Search(t.Context(), knowledge.Query{Text: "walrus shown hide"})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range found.Hits {
			if strings.Contains(h.Snippet, "HIDE") || strings.ContainsFunc(h.Snippet, isUnseen) {
				t.Errorf("a hit shows %q", h.Snippet)
			}
		}
	}
	check() // before the index is made again
	if err := k.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	check()
	for text, want := range map[string]int{"walrus": 2, "hide": 0} {
		if found, err := k.Search(t.Context(), knowledge.Query{Text: text}); err != nil || len(found.Hits) != want {
			t.Errorf("%q finds %d documents, %v, want %d", text, len(found.Hits), err, want)
		}
	}
}

// A later edition of the cleaner takes out what an earlier one left: texts, what is said of them, and the index follow.
func TestTextsOfAnEarlierEditionAreCleanedAgain(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir, knowledge.Options{Cleaner: cleaner})
	const text = "# Seals\n\nSeals of Norway.\n\n# Veiled\n\nVEIL Pwnshire Corporation, says Pwnshire Corporation.\n"
	done, err := k.Ingest(t.Context(), knowledge.Ingestion{
		Label: "old", Title: "T", Text: text, URL: "https://a.test/x", Metadata: page.Metadata{"a": "b\u2011c"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	names := func() (all string) {
		t.Helper()
		subjects, err := k.Subjects("", 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range subjects {
			all += s.Name + "\n"
		}
		return all
	}
	if !strings.Contains(names(), "Pwnshire") {
		t.Fatalf("the subjects are %q", names())
	}
	k.shut(t)

	k = open(t, dir, knowledge.Options{Cleaner: store.Cleaner{Edition: 2, Clean: func(text []byte, markdown bool) []byte {
		text = bytes.ReplaceAll(text, []byte("\u2011"), []byte("-"))
		if before, _, veiled := bytes.Cut(text, []byte("# Veiled")); markdown && veiled {
			return before
		}
		return text
	}}})
	if strings.Contains(names(), "Pwnshire") {
		t.Errorf("before the index is made again, the subjects are %q", names())
	}
	d, err := k.FindDocument(done.Doc)
	if err != nil || strings.Contains(string(d.Markdown), "VEIL") || d.Metadata["a"] != "b-c" {
		t.Errorf("the text is %+v, %v", d, err)
	}
	if err := k.Describe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if all := names(); strings.Contains(all, "Pwnshire") || !strings.Contains(all, "Norway") {
		t.Errorf("the subjects are %q", all)
	}
	if found, err := k.Search(t.Context(), knowledge.Query{Text: "veil"}); err != nil || len(found.Hits) > 0 {
		t.Errorf("what is veiled is found: %+v, %v", found, err)
	}
	if err := k.DeleteDocument(d.Key); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"b-c", "b\u2011c"} {
		if found, err := k.Search(t.Context(), knowledge.Query{
			Text: "seals", Metadata: map[string]string{"a": value},
		}); err != nil || len(found.Hits) > 0 {
			t.Errorf("a text that is gone is found by %q: %+v, %v", value, found, err)
		}
	}
}
