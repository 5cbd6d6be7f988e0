package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// hits returns what a query finds, best first.
func (o *opened) hits(t *testing.T, q knowledge.Query) []knowledge.Hit {
	t.Helper()
	r, err := o.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("Search(%+v): %v", q, err)
	}
	return r.Hits
}

func (o *opened) describe(t *testing.T) {
	t.Helper()
	if err := o.Describe(context.Background()); err != nil {
		t.Fatalf("Describe: %v", err)
	}
}

// TestMemoryAndKnowledgeAreOne: a note is found with the pages, by words and by subject, and knows which pages it is
// about (rules D7, D8).
func TestMemoryAndKnowledgeAreOne(t *testing.T) {
	dir := t.TempDir()
	o := open(t, dir, knowledge.Options{})
	o.newBase(t, "disks", "text")
	o.read(t, tapeURL, tapeMD, true)
	o.fill(t, "disks", diskURL, diskMD)
	n, err := o.AddNote(knowledge.Note{
		Text:     "The drive whines when the `DiskArray` is cold. Compare " + tapeURL + "?utm_source=x.",
		Label:    "cold start",
		Subjects: []string{"whine", " Whine "},
		Pages:    []string{strings.ToUpper(diskURL[:14]) + diskURL[14:] + "#top"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{diskURL, tapeURL}; !slices.Equal(n.Pages, want) || !slices.Equal(n.Subjects, []string{"whine"}) ||
		len(n.Doc) != 16 {
		t.Errorf("note %+v, want it about %q", n, want)
	}
	o.describe(t)
	check := func(when string) {
		t.Helper()
		hits := o.hits(t, knowledge.Query{Text: "whines when cold"})
		if len(hits) != 1 || hits[0].Kind != knowledge.KindNote || hits[0].URL != "note:"+n.ID || hits[0].Doc != n.Doc ||
			hits[0].Title != "cold start" || !slices.Equal(hits[0].Pages, n.Pages) || hits[0].Notes != nil {
			t.Fatalf("%s: hits %+v, want the note", when, hits)
		}
		for _, h := range o.hits(t, knowledge.Query{Text: "spins winds"}) {
			if !slices.Equal(h.Notes, []string{n.ID}) {
				t.Errorf("%s: hit %s names the notes %q, want %s", when, h.URL, h.Notes, n.ID)
			}
		}
		for name, tt := range map[string]struct {
			q    knowledge.Query
			want []string
		}{
			"subject of both":         {knowledge.Query{Subject: "DISKARRAY"}, []string{diskURL, "note:" + n.ID}},
			"what its author says":    {knowledge.Query{Subject: "whine"}, []string{"note:" + n.ID}},
			"words and subject":       {knowledge.Query{Text: "drive", Subject: "whine"}, []string{"note:" + n.ID}},
			"no words of the subject": {knowledge.Query{Text: "winds", Subject: "whine"}, nil},
			"subject in a base":       {knowledge.Query{Subject: "DiskArray", KB: "disks"}, []string{diskURL}},
			"notes alone":             {knowledge.Query{Text: "drive", Kind: "note"}, []string{"note:" + n.ID}},
			"nobody's subject":        {knowledge.Query{Text: "drive", Subject: "nothing"}, nil},
		} {
			var urls []string
			for _, h := range o.hits(t, tt.q) {
				urls = append(urls, h.URL)
			}
			if slices.Sort(urls); !slices.Equal(urls, tt.want) {
				t.Errorf("%s: %s: %q, want %q", when, name, urls, tt.want)
			}
		}
		for name, q := range map[string]knowledge.NoteQuery{
			"all": {}, "page": {URL: diskURL}, "other page": {URL: tapeURL}, "subject": {Subject: "diskarray"},
			"both": {Subject: "WHINE", URL: diskURL}, "from itself on": {Cursor: n.ID, URL: diskURL},
		} {
			list, next, err := o.Notes(q)
			if err != nil || len(list) != 1 || list[0].ID != n.ID || next != "" ||
				!slices.Contains(list[0].Subjects, "DiskArray") {
				t.Errorf("%s: notes by %s: %+v, %q, %v, want the one, with the subject of its text", when, name, list, next, err)
			}
		}
		for _, ref := range []string{n.ID, n.Doc, "note:" + n.ID} {
			if d, err := o.FindDocument(ref); err != nil || !strings.Contains(string(d.Markdown), "whines") {
				t.Errorf("%s: document %s: %v", when, ref, err)
			}
		}
	}
	check("at once")
	if err := o.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	o.describe(t)
	check("after a rebuild")
	o.shut(t)
	o = open(t, dir, knowledge.Options{})
	check("after a restart")

	// A passage of the note stands for the note.
	disk := o.passage(t, "disk spins")
	r, err := o.Relate(knowledge.Relation{Passage: o.passage(t, "whines"), Other: disk, Type: "explains"})
	if err != nil || r.Note != n.ID || r.Passage != disk || r.Other != "" {
		t.Errorf("relation %+v, %v, want one from the page's passage to the note", r, err)
	}
	if got := o.related(t, knowledge.RelationQuery{Note: n.ID}); len(got) != 1 {
		t.Errorf("relations of the note: %q", got)
	}

	if there, err := o.DeleteNote(n.ID); !there || err != nil {
		t.Fatalf("DeleteNote: %v, %v", there, err)
	}
	o.describe(t)
	if got := o.hits(t, knowledge.Query{Text: "whines cold", Subject: ""}); len(got) != 0 {
		t.Errorf("a deleted note is found: %+v", got)
	}
	for _, h := range o.hits(t, knowledge.Query{Text: "spins"}) {
		if h.Notes != nil {
			t.Errorf("hit names notes that are gone: %q", h.Notes)
		}
	}
	if list, _, err := o.Passages(knowledge.PassageQuery{Subject: "whine"}); err != nil || len(list) != 0 {
		t.Errorf("passages about what the note was about: %+v, %v", list, err)
	}
	if list, _, err := o.Notes(knowledge.NoteQuery{URL: diskURL}); err != nil || len(list) != 0 {
		t.Errorf("notes about the page: %+v, %v", list, err)
	}
	if _, err := o.FindDocument(n.Doc); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the document of a deleted note: %v", err)
	}
}

func TestNotesThatNameNoPage(t *testing.T) {
	o := open(t, "", knowledge.Options{})
	var many []string
	for i := range 21 {
		many = append(many, fmt.Sprintf("https://a.test/%d", i))
	}
	for name, n := range map[string]knowledge.Note{
		"no URL": {Text: "x", Pages: []string{"disk"}}, "a file": {Text: "x", Pages: []string{"file:///etc/passwd"}},
		"a secret": {Text: "x", Pages: []string{"https://a.test/?token=0123456789abcdef0123456789abcdef"}},
		"too many": {Text: "x", Pages: many}, "too many subjects": {Text: "x", Subjects: many},
	} {
		if _, err := o.AddNote(n); !errors.Is(err, knowledge.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

// TestPassagesOfABaseAreListedInTheirOrder: by base, document and subject, part by part.
func TestPassagesOfABaseAreListedInTheirOrder(t *testing.T) {
	o := open(t, "", knowledge.Options{PassageChars: 200})
	o.newBase(t, "disks", "text")
	var md strings.Builder
	for i := range 7 {
		fmt.Fprintf(&md, "## Part %d\n\nOf `Part%dArray`: %s.\n\n", i, i, strings.Repeat(fmt.Sprint("word", i, " "), 25))
	}
	o.fill(t, "disks", diskURL, md.String(), tapeURL, tapeMD)
	o.read(t, "https://c.test/read", "# Read\n\nA page that was only read.\n", true)
	o.describe(t)
	headings := func(q knowledge.PassageQuery) (list []string) {
		for q.Limit = 2; ; {
			part, next, err := o.Passages(q)
			if err != nil || len(part) > 2 {
				t.Fatalf("Passages(%+v): %v, %d", q, err, len(part))
			}
			for _, p := range part {
				list = append(list, p.Heading)
			}
			if q.Cursor = next; next == "" {
				return list
			}
		}
	}
	parts := []string{"Part 0", "Part 1", "Part 2", "Part 3", "Part 4", "Part 5", "Part 6"}
	if got := headings(knowledge.PassageQuery{URL: diskURL}); !slices.Equal(got, parts) {
		t.Errorf("passages of a document: %q, want %q", got, parts)
	}
	doc := o.hits(t, knowledge.Query{Text: "word3"})[0].Doc
	if got := headings(knowledge.PassageQuery{Doc: doc, KB: "disks"}); !slices.Equal(got, parts) {
		t.Errorf("passages of a document by its id: %q, want %q", got, parts)
	}
	if got := headings(knowledge.PassageQuery{Doc: doc, Subject: "part5array"}); !slices.Equal(got, parts[5:6]) {
		t.Errorf("passages of a document about a subject: %q, want %q", got, parts[5:6])
	}
	all := headings(knowledge.PassageQuery{KB: "disks"})
	if slices.Sort(all); !slices.Equal(all, append(parts, "Tapes")) {
		t.Errorf("passages of the base: %q, want those of both documents", all)
	}
	if got := headings(knowledge.PassageQuery{Doc: doc, KB: "disks", URL: tapeURL}); got != nil {
		t.Errorf("passages of two documents at once: %q", got)
	}
}

// The beginning of a page leads to it, and the passage that tells most is shown.
func TestAHitShowsThePassageThatTellsMost(t *testing.T) {
	o := open(t, t.TempDir(), knowledge.Options{})
	o.newBase(t, "sea", "text")
	filler := strings.Repeat("Nothing of that kind is told in this sentence. ", 30)
	o.fill(t, "sea", "https://sea.test/seals", "# Seals\n\nA walrus has long and white tusks. "+filler+
		"\n\n## More\n\nThere are walrus tusks of one metre. "+filler)
	hits := o.hits(t, knowledge.Query{Text: "walrus tusks", Explain: true})
	if len(hits) != 1 || !strings.Contains(hits[0].Snippet, "one metre") || !strings.HasSuffix(hits[0].Heading, "More") {
		t.Fatalf("hits %+v, want the second passage shown", hits)
	}
	explained := 0.0
	for _, part := range hits[0].Explain {
		explained += part.Score
	}
	if math.Abs(explained-hits[0].Score) > .01 {
		t.Errorf("parts %+v come to %v, want the score %v", hits[0].Explain, explained, hits[0].Score)
	}
}
