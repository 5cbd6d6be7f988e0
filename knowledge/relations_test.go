package knowledge_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// passage returns the id of the best passage for a query.
func (o *opened) passage(t *testing.T, query string) string {
	t.Helper()
	r, err := o.Search(t.Context(), knowledge.Query{Text: query})
	if err != nil || len(r.Hits) == 0 {
		t.Fatalf("Search(%q) = %v, %v", query, r, err)
	}
	return r.Hits[0].Passage
}

func (o *opened) note(t *testing.T, text string) knowledge.Note {
	t.Helper()
	n, err := o.AddNote(knowledge.Note{Text: text})
	if err != nil {
		t.Fatalf("AddNote: %v", err)
	}
	return n
}

func (o *opened) relate(t *testing.T, r knowledge.Relation) {
	t.Helper()
	if _, err := o.Relate(r); err != nil {
		t.Fatalf("Relate(%+v): %v", r, err)
	}
}

// related returns the relations that a query asks for, in short, sorted.
func (o *opened) related(t *testing.T, q knowledge.RelationQuery) []string {
	t.Helper()
	list, err := o.Relations(q)
	if err != nil {
		t.Fatalf("Relations(%+v): %v", q, err)
	}
	short := []string{}
	for _, r := range list {
		short = append(short, fmt.Sprintf("%s %s %s%s %v", r.Passage, r.Type, r.Note, r.Other, r.Weight))
	}
	slices.Sort(short)
	return short
}

func TestNotesAreKeptListedAndDeleted(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir, knowledge.Options{})
	var ids []string
	for i := range 5 {
		n, err := o.AddNote(knowledge.Note{
			ID: "given", Text: fmt.Sprint("note ", i), Label: "l",
			Metadata: page.Metadata{"n": fmt.Sprint(i)},
		})
		if err != nil || len(n.ID) != 32 || n.CreatedAt.IsZero() {
			t.Fatalf("AddNote = %+v, %v", n, err)
		}
		ids = append(ids, n.ID)
	}
	if there, err := o.DeleteNote(ids[2]); !there || err != nil {
		t.Errorf("DeleteNote = %v, %v, want true", there, err)
	}
	if there, err := o.DeleteNote(ids[2]); there || err != nil {
		t.Errorf("DeleteNote again = %v, %v, want false", there, err)
	}
	o.shut(t)
	o = open(t, dir, knowledge.Options{})
	var texts []string
	for cursor := ""; ; {
		list, next, err := o.Notes(knowledge.NoteQuery{Cursor: cursor, Limit: 2})
		if err != nil || len(list) > 2 {
			t.Fatalf("Notes = %v, %v", list, err)
		}
		for _, n := range list {
			texts = append(texts, fmt.Sprint(n.Text, n.Metadata["n"]))
		}
		if cursor = next; next == "" {
			break
		}
	}
	if want := []string{"note 00", "note 11", "note 33", "note 44"}; !slices.Equal(texts, want) {
		t.Errorf("notes = %q, want %q in this order", texts, want)
	}
	if _, err := o.Note(ids[2]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a deleted note: %v, want store.ErrNotFound", err)
	}
}

func TestNotesThatCannotBeTaken(t *testing.T) {
	o := open(t, "", knowledge.Options{})
	for name, n := range map[string]knowledge.Note{
		"empty":         {Text: " \n"},
		"long":          {Text: strings.Repeat("x", 100_000)},
		"long label":    {Text: "x", Label: strings.Repeat("x", 1000)},
		"long metadata": {Text: "x", Metadata: page.Metadata{"k": strings.Repeat("x", 100_000)}},
	} {
		if _, err := o.AddNote(n); !errors.Is(err, knowledge.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	for _, id := range []string{"", "x", strings.Repeat("zz", 16), "abcd"} {
		if _, err := o.Note(id); !errors.Is(err, knowledge.ErrInvalid) {
			t.Errorf("Note(%q): %v, want ErrInvalid", id, err)
		}
	}
}

func TestRelationsAreFoundFromBothEndsAndByType(t *testing.T) {
	o := open(t, "", knowledge.Options{})
	o.read(t, diskURL, diskMD, true)
	o.read(t, tapeURL, tapeMD, true)
	o.drain(t)
	disk, tape := o.passage(t, "disk spins"), o.passage(t, "tape winds")
	a, b := o.note(t, "a"), o.note(t, "b")
	o.relate(t, knowledge.Relation{Passage: disk, Note: a.ID, Type: "supports"})
	o.relate(t, knowledge.Relation{Passage: disk, Note: b.ID, Type: "refutes", Weight: .25})
	o.relate(t, knowledge.Relation{Passage: tape, Note: a.ID, Type: "supports", Weight: 2})
	o.relate(t, knowledge.Relation{Passage: tape, Other: disk, Type: "see-also"})
	o.relate(t, knowledge.Relation{Passage: disk, Note: a.ID, Type: "supports", Weight: 3}) // one per triple: replaced

	disksA, disksB := disk+" supports "+a.ID+" 3", disk+" refutes "+b.ID+" 0.25"
	tapesA, tapesDisk := tape+" supports "+a.ID+" 2", tape+" see-also "+disk+" 1"
	for name, tt := range map[string]struct {
		q    knowledge.RelationQuery
		want []string
	}{
		"of a passage":         {knowledge.RelationQuery{Passage: disk}, []string{disksA, disksB, tapesDisk}},
		"of a note":            {knowledge.RelationQuery{Note: a.ID}, []string{disksA, tapesA}},
		"of a type":            {knowledge.RelationQuery{Type: "supports"}, []string{disksA, tapesA}},
		"of all three":         {knowledge.RelationQuery{Passage: disk, Note: a.ID, Type: "supports"}, []string{disksA}},
		"passage and type":     {knowledge.RelationQuery{Passage: disk, Type: "see-also"}, []string{tapesDisk}},
		"a type that is none":  {knowledge.RelationQuery{Type: "support"}, []string{}},
		"note and wrong type":  {knowledge.RelationQuery{Note: b.ID, Type: "supports"}, []string{}},
		"passage between both": {knowledge.RelationQuery{Passage: tape, Note: b.ID}, []string{}},
	} {
		slices.Sort(tt.want)
		if got := o.related(t, tt.q); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if there, err := o.DeleteNote(a.ID); !there || err != nil {
		t.Fatalf("DeleteNote = %v, %v", there, err)
	}
	if got := o.related(t, knowledge.RelationQuery{Type: "supports"}); len(got) != 0 {
		t.Errorf("relations of a deleted note: %q", got)
	}
	if err := o.store.DeletePage(o.read(t, diskURL, diskMD, false)); err != nil {
		t.Fatal(err)
	}
	o.drain(t)
	for _, q := range []knowledge.RelationQuery{{Passage: tape}, {Type: "see-also"}, {Type: "refutes"}, {Note: b.ID}} {
		if got := o.related(t, q); len(got) != 0 {
			t.Errorf("relations of a deleted page's passage: %q", got)
		}
	}
	if _, err := o.Note(b.ID); err != nil {
		t.Errorf("the note went with the page: %v", err)
	}
}

func TestRelationsThatCannotBe(t *testing.T) {
	o := open(t, "", knowledge.Options{})
	o.read(t, diskURL, diskMD, true)
	o.drain(t)
	disk, n := o.passage(t, "disk spins"), o.note(t, "n").ID
	gone := strings.Repeat("0", 32)
	for name, tt := range map[string]struct {
		r    knowledge.Relation
		want error
	}{
		"to nothing":            {knowledge.Relation{Passage: disk, Type: "x"}, knowledge.ErrInvalid},
		"to two things":         {knowledge.Relation{Passage: disk, Note: n, Other: disk, Type: "x"}, knowledge.ErrInvalid},
		"to itself":             {knowledge.Relation{Passage: disk, Other: disk, Type: "x"}, knowledge.ErrInvalid},
		"without a type":        {knowledge.Relation{Passage: disk, Note: n}, knowledge.ErrInvalid},
		"of a type with a zero": {knowledge.Relation{Passage: disk, Note: n, Type: "a\x00b"}, knowledge.ErrInvalid},
		"from no passage's id":  {knowledge.Relation{Passage: "disk", Note: n, Type: "x"}, knowledge.ErrInvalid},
		"from no passage": {
			knowledge.Relation{Passage: "0123456789abcdef-01234567", Note: n, Type: "x"},
			store.ErrNotFound,
		},
		"from another passage": {
			knowledge.Relation{Passage: disk[:17] + "00000000", Note: n, Type: "x"},
			store.ErrNotFound,
		},
		"to a note that is gone":  {knowledge.Relation{Passage: disk, Note: gone, Type: "x"}, store.ErrNotFound},
		"to what is no note's id": {knowledge.Relation{Passage: disk, Note: "n", Type: "x"}, knowledge.ErrInvalid},
	} {
		if _, err := o.Relate(tt.r); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	if _, err := o.Relations(knowledge.RelationQuery{}); !errors.Is(err, knowledge.ErrInvalid) {
		t.Errorf("relations of nothing: %v, want ErrInvalid", err)
	}
}

func TestAPassageTellsWhereItComesFrom(t *testing.T) {
	o := open(t, "", knowledge.Options{})
	o.newBase(t, "disks", "text")
	o.read(t, "https://c.test/copy", diskMD, true)
	o.fill(t, "disks", diskURL, diskMD)
	id := o.passage(t, "disk spins")
	p, err := o.Passage(id)
	if err != nil {
		t.Fatal(err)
	}
	if p.ID != id || !strings.Contains(p.Text, "spins") || p.Heading != "Disks" || p.Owners != 2 || len(p.Sources) != 2 {
		t.Errorf("passage = %+v, want the one asked for, of two documents", p)
	}
	var from []string
	for _, s := range p.Sources {
		from = append(from, fmt.Sprint(s.URL, s.Bases))
	}
	slices.Sort(from)
	if want := []string{diskURL + "[disks]", "https://c.test/copy[]"}; !slices.Equal(from, want) {
		t.Errorf("sources = %q, want %q", from, want)
	}
	for bad, want := range map[string]error{
		"": knowledge.ErrInvalid, "x-y": knowledge.ErrInvalid,
		id[:17] + "ffffffff": store.ErrNotFound,
	} {
		if _, err := o.Passage(bad); !errors.Is(err, want) {
			t.Errorf("Passage(%q): %v, want %v", bad, err, want)
		}
	}
}
