package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// searcher is what the index promises, and what another engine would have to. A document's passages are a function of
// its markdown, so that indexing it twice changes nothing.
type searcher interface {
	// Index makes d's passages those given, in place of what was indexed for d.Key.
	Index(ctx context.Context, d *Document, passages []outline.Passage) error
	// Delete forgets a document. One that is not indexed is no error.
	Delete(ctx context.Context, key page.Key) error
	// Search returns hits without error for any text but an empty one.
	Search(ctx context.Context, q Query) (*Results, error)
}

// engine is a searcher under test, with what it asks of its surroundings.
type engine struct {
	searcher
	texts   map[page.Key][]byte   // markdown by document
	members map[string][]page.Key // documents by knowledge base
}

// add indexes a document with the passages that Split makes of it.
func (e *engine) add(t *testing.T, d *Document) {
	t.Helper()
	e.texts[d.Key] = d.Markdown
	if err := e.Index(t.Context(), d, outline.Split(d.Markdown, outline.SplitOptions{})); err != nil {
		t.Fatalf("Index(%s): %v", d.URL, err)
	}
}

func (e *engine) remove(t *testing.T, url string) {
	t.Helper()
	delete(e.texts, page.KeyOf(url))
	if err := e.Delete(t.Context(), page.KeyOf(url)); err != nil {
		t.Fatalf("Delete(%s): %v", url, err)
	}
}

// urls searches and returns what is found.
func (e *engine) urls(t *testing.T, q Query) []string {
	t.Helper()
	urls := []string{}
	for _, h := range e.search(t, q).Hits {
		urls = append(urls, h.URL)
	}
	return urls
}

func (e *engine) search(t *testing.T, q Query) *Results {
	t.Helper()
	r, err := e.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("Search(%+v): %v", q, err)
	}
	return r
}

func doc(url, title, markdown string) *Document {
	d := &Document{
		Key: page.KeyOf(url), URL: url, Title: title, Kind: "page", Markdown: []byte(markdown),
		FetchedAt: time.Unix(1_700_000_000, 0),
	}
	if _, rest, ok := strings.Cut(url, "://"); ok {
		d.Host, _, _ = strings.Cut(rest, "/")
	}
	return d
}

// testSearcher holds an engine to what every searcher promises. Open makes one without documents.
func testSearcher(t *testing.T, open func(t *testing.T) *engine) {
	t.Helper()
	t.Run("words are found in text, title and headings, in any form", func(t *testing.T) {
		e := open(t)
		e.add(t, doc("https://a.test/1", "Connecting", "# Install\n\nThe resolver caches answers."))
		e.add(t, doc("https://a.test/2", "Other", "# Removal\n\nNothing of interest."))
		for _, q := range []string{"resolver", "cached answer", "connection", "install", "RESOLVER", "the resolver's cache"} {
			if got := e.urls(t, Query{Text: q}); !slices.Contains(got, "https://a.test/1") {
				t.Errorf("Search(%q) = %v, want page 1 among them", q, got)
			}
		}
		if got := e.urls(t, Query{Text: "elephant"}); len(got) != 0 {
			t.Errorf("Search(elephant) = %v, want nothing", got)
		}
	})
	t.Run("identifiers are found whole and in parts", func(t *testing.T) {
		e := open(t)
		for i, text := range []string{
			"Call `useEffect` in a component.", "Pass `--dry-run` to see what would happen.", "error[E0308]: mismatched types",
			"The setting foo_bar is old.", "Written in C++ by hand.",
			"An HTTPServer listens.", "東京都に住んでいます。",
			"Das Café öffnet.",
		} {
			e.add(t, doc(fmt.Sprintf("https://a.test/%d", i), "", text))
		}
		for _, tt := range []struct {
			asked string
			want  int
		}{
			{"useEffect", 0},
			{"useeffect", 0},
			{"effect", 0},
			{"--dry-run", 1},
			{"dry-run", 1},
			{"E0308", 2},
			{"e0308", 2},
			{"foo_bar", 3},
			{"bar", 3},
			{"C++", 4},
			{"http server", 5},
			{"HTTPServer", 5},
			{"東京", 6},
			{"住んで", 6},
			{"cafe", 7},
			{"CAFÉ", 7},
		} {
			if got := e.urls(t, Query{Text: tt.asked, Limit: 1}); len(got) != 1 ||
				got[0] != fmt.Sprintf("https://a.test/%d", tt.want) {
				t.Errorf("Search(%q) = %v, want page %d first", tt.asked, got, tt.want)
			}
		}
	})
	t.Run("phrases and prefixes", func(t *testing.T) {
		e := open(t)
		e.add(t, doc("https://a.test/near", "", "The connection pool is exhausted today."))
		e.add(t, doc("https://a.test/far", "", "Exhausted, he left the pool. A connection. Configuration."))
		if got := e.urls(t, Query{Text: `"connection pool"`}); !slices.Equal(got, []string{"https://a.test/near"}) {
			t.Errorf("a phrase found %v, want the page that has it", got)
		}
		if got := e.urls(t, Query{Text: `"pool connection"`}); len(got) != 0 {
			t.Errorf("a phrase in another order found %v", got)
		}
		if got := e.urls(t, Query{Text: `exhausted "connection pool"`}); len(got) != 2 || got[0] != "https://a.test/near" {
			t.Errorf("words and a phrase found %v, want both, the one with the phrase first", got)
		}
		for _, q := range []string{"config*", "configuration*", "conf*"} {
			if got := e.urls(t, Query{Text: q}); !slices.Equal(got, []string{"https://a.test/far"}) {
				t.Errorf("Search(%q) = %v, want page far", q, got)
			}
		}
	})
	t.Run("no text but an empty one is an error", func(t *testing.T) {
		e := open(t)
		e.add(t, doc("https://a.test/1", "", "some words"))
		for _, q := range []string{
			"foo-bar", `"`, `"unpaired words`, "*", "a*b*", "AND OR NOT", "(", "NEAR/2", "title:words",
			"\x00\xff", "'; DROP TABLE", "the", "…", "^1 ~2 ?",
		} {
			if _, err := e.Search(t.Context(), Query{Text: q}); err != nil {
				t.Errorf("Search(%q): %v", q, err)
			}
		}
		for _, q := range []string{"", " \n\t"} {
			if _, err := e.Search(t.Context(), Query{Text: q}); !errors.Is(err, ErrEmptyQuery) {
				t.Errorf("Search(%q): %v, want ErrEmptyQuery", q, err)
			}
		}
	})
	t.Run("a filter that matches one page finds it", func(t *testing.T) {
		e := open(t)
		for i := range 800 {
			e.add(t, doc(fmt.Sprintf("https://big.test/%d", i), "Needle", fmt.Sprintf("needle needle needle number%d", i)))
		}
		long := "A needle. " + strings.Repeat("Something else entirely, word after word. ", 30)
		one := doc("https://small.test/x", "", long)
		one.Kind, one.FetchedAt = "file", time.Unix(1_800_000_000, 0)
		e.add(t, one)
		e.members["tiny"] = []page.Key{one.Key}
		e.members["none"] = nil
		if got := e.urls(t, Query{Text: "needle", Limit: 100}); slices.Contains(got, one.URL) {
			t.Fatalf("the page is among the first %d without a filter: this proves nothing", len(got))
		}
		for name, q := range map[string]Query{
			"host": {Host: "small.test"}, "kind": {Kind: "file"}, "since": {Since: time.Unix(1_750_000_000, 0)},
			"kb":  {KB: "tiny"},
			"all": {Host: "SMALL.test", Kind: "file", KB: "tiny"},
		} {
			q.Text = "needle"
			if got := e.urls(t, q); !slices.Equal(got, []string{one.URL}) {
				t.Errorf("filter %s found %v, want the one page", name, got)
			}
		}
		for name, q := range map[string]Query{
			"host": {Host: "no.test"}, "kind": {Kind: "x"},
			"since": {Since: time.Unix(1_900_000_000, 0)}, "kb": {KB: "none"},
		} {
			q.Text = "needle"
			if got := e.urls(t, q); len(got) != 0 {
				t.Errorf("filter %s found %v, want nothing", name, got)
			}
		}
	})
	t.Run("a page is one hit, with its best passage", func(t *testing.T) {
		e := open(t)
		e.add(t, doc("https://a.test/1", "Page",
			"# One\n\n"+strings.Repeat("Filler words here. ", 90)+"\n\n# Two\n\nThe walrus is here: walrus.\n\n# Three\n\n"+
				strings.Repeat("A walrus elsewhere. ", 90)))
		r := e.search(t, Query{Text: "walrus"})
		if len(r.Hits) != 1 {
			t.Fatalf("%d hits, want 1", len(r.Hits))
		}
		h := r.Hits[0]
		if !strings.Contains(h.Snippet, "walrus") || h.Heading == "" || h.Title != "Page" ||
			h.Doc != page.KeyOf(h.URL).Doc() ||
			!strings.HasPrefix(h.Passage, h.Doc) || h.Score <= 0 || !h.FetchedAt.Equal(time.Unix(1_700_000_000, 0)) {
			t.Errorf("hit = %+v", h)
		}
	})
	t.Run("indexing again replaces, and changes nothing when nothing changed", func(t *testing.T) {
		e := open(t)
		for i := range 20 {
			e.add(t, doc(fmt.Sprintf("https://a.test/%d", i), "T", fmt.Sprintf("common text %d with zebra%d", i, i)))
		}
		before := e.search(t, Query{Text: "common zebra3", Limit: 20})
		for i := range 20 {
			e.add(t, doc(fmt.Sprintf("https://a.test/%d", i), "T", fmt.Sprintf("common text %d with zebra%d", i, i)))
		}
		if diff := cmp.Diff(before, e.search(t, Query{Text: "common zebra3", Limit: 20})); diff != "" {
			t.Errorf("after indexing the same again (-before +after):\n%s", diff)
		}
		e.add(t, doc("https://a.test/3", "Renamed", "now it is about giraffes"))
		if got := e.urls(t, Query{Text: "zebra3"}); len(got) != 0 {
			t.Errorf("the old text is still found: %v", got)
		}
		for _, q := range []string{"giraffe", "renamed"} {
			if got := e.urls(t, Query{Text: q}); !slices.Equal(got, []string{"https://a.test/3"}) {
				t.Errorf("Search(%s) = %v, want page 3", q, got)
			}
		}
	})
	t.Run("a new title or heading over the same text is found, the old one is not", func(t *testing.T) {
		e := open(t)
		e.add(t, doc("https://a.test/1", "Alpha",
			"## Gamma\n\n"+strings.Repeat("Body of the page. ", 120)+"\n\nlast paragraph of it "+strings.Repeat("tail ", 40)))
		e.add(t, doc("https://a.test/1", "Beta",
			"## Delta\n\n"+strings.Repeat("Body of the page. ", 120)+"\n\nlast paragraph of it "+strings.Repeat("tail ", 40)))
		for q, want := range map[string]int{"alpha": 0, "gamma": 0, "beta": 1, "delta": 1} {
			if got := e.urls(t, Query{Text: q}); len(got) != want {
				t.Errorf("Search(%s) = %v, want %d hits", q, got, want)
			}
		}
	})
	t.Run("deleting forgets, and of an unknown page is no error", func(t *testing.T) {
		e := open(t)
		e.add(t, doc("https://a.test/1", "", "a hippopotamus"))
		e.remove(t, "https://a.test/1")
		e.remove(t, "https://a.test/1")
		e.remove(t, "https://nobody.test/")
		if got := e.urls(t, Query{Text: "hippopotamus"}); len(got) != 0 {
			t.Errorf("found %v after its deletion", got)
		}
		e.add(t, doc("https://a.test/1", "", "a hippopotamus again"))
		if got := e.urls(t, Query{Text: "hippopotamus"}); len(got) != 1 {
			t.Errorf("found %v after indexing it again, want the page", got)
		}
	})
	t.Run("a text that pages share is shown once, and any owner's filter finds it", func(t *testing.T) {
		e := open(t)
		for _, host := range []string{"a.test", "b.test", "c.test"} {
			e.add(t, doc("https://"+host+"/same", "Same", "The licence of the platypus."))
		}
		r := e.search(t, Query{Text: "platypus"})
		if len(r.Hits) != 1 || r.Hits[0].URL != "https://a.test/same" ||
			!slices.Equal(r.Hits[0].Also, []string{"https://b.test/same", "https://c.test/same"}) {
			t.Errorf("hits = %+v, want one that names the others", r.Hits)
		}
		for _, host := range []string{"a.test", "b.test", "c.test"} {
			if got := e.urls(t, Query{Text: "platypus", Host: host}); !slices.Equal(got, []string{"https://" + host + "/same"}) {
				t.Errorf("of %s found %v, want its page", host, got)
			}
		}
		for i, host := range []string{"a.test", "b.test", "c.test"} {
			e.remove(t, "https://"+host+"/same")
			if got := e.search(t, Query{Text: "platypus"}).Hits; (len(got) == 1) != (i < 2) {
				t.Errorf("after the deletion of %s: %+v", host, got)
			}
		}
	})
	t.Run("pages that differ in where their links lead are shown once", func(t *testing.T) {
		e := open(t)
		add := func(name, title, text string) {
			tree := "https://" + name + ".test"
			e.add(t, doc(tree+"/mod", title, fmt.Sprintf("# Directive\n\n[Modules](%s/mod/) | [FAQ](%s/faq/)\n\n%s\n\n"+
				"## See also\n\nThe [list](%s/list) of directives.\n", tree, tree, text, tree)))
		}
		long := "The platypus lets a proxy reverse what it passes." + strings.Repeat("\n\nNothing more is told.", firstLines)
		for _, name := range []string{"en", "fr", "de"} {
			add(name, "Directive", long)
		}
		add("below", "Directive", long+"\n\nBut one thing.")
		add("titled", "Another directive", "The platypus lets a proxy reverse what it passes.")
		add("other", "Directive", "The platypus lets a server reverse what it passes.")
		add("longer", "Directive", "The platypus lets a proxy reverse what it passes. And more.")
		r := e.search(t, Query{Text: "platypus proxy reverse", Limit: 10})
		also := map[string][]string{}
		for _, h := range r.Hits {
			also[h.URL] = h.Also
		}
		want := map[string][]string{
			"https://en.test/mod": {"https://fr.test/mod", "https://de.test/mod"}, "https://titled.test/mod": nil,
			"https://below.test/mod": nil,
			"https://other.test/mod": nil, "https://longer.test/mod": nil,
		}
		if diff := cmp.Diff(want, also); diff != "" {
			t.Errorf("hits and those that say the same (-want +got):\n%s", diff)
		}
		if got := e.urls(t, Query{Text: "platypus", Host: "fr.test"}); !slices.Equal(got, []string{"https://fr.test/mod"}) {
			t.Errorf("of one tree found %v", got)
		}
	})
	t.Run("equals stand in a stable order", func(t *testing.T) {
		e := open(t)
		for i := range 30 {
			e.add(t, doc(fmt.Sprintf("https://a.test/%02d", i), "", fmt.Sprintf("equal words but unique%d", i)))
		}
		first := e.urls(t, Query{Text: "equal words", Limit: 30})
		if !slices.IsSorted(first) || len(first) != 30 {
			t.Errorf("order = %v, want that of indexing", first)
		}
	})
	t.Run("the parts of a score add up to it", func(t *testing.T) {
		e := open(t)
		for i := range 40 {
			md := fmt.Sprintf("# Otters\n\nThe sea otter %d eats quickly.\n\n", i) + strings.Repeat("A sea is wide. ", i) +
				"\n\n# Food\n\n" + strings.Repeat(fmt.Sprintf("otters eat seaFood %d. ", i), 120+i)
			e.add(t, doc(fmt.Sprintf("https://a.test/%02d", i), "Sea otters", md))
		}
		for _, text := range []string{"sea otter", `"sea otter" eats`, `"sea otters"`, "ott* food", "the seaFood 7"} {
			r := e.search(t, Query{Text: text, Limit: 20, Explain: true})
			if len(r.Hits) == 0 {
				t.Errorf("Search(%q) found nothing", text)
			}
			for _, h := range r.Hits {
				sum := 0.0
				for _, part := range h.Explain {
					sum += part.Score
				}
				if math.Abs(sum-h.Score) > 1e-3*h.Score {
					t.Errorf("Search(%q): the parts of %v are %v together: %+v", text, h.Score, sum, h.Explain)
				}
			}
		}
	})
	t.Run("a phrase in a changed page's old words does not break its hit", func(t *testing.T) {
		e := open(t)
		e.add(t, doc("https://a.test/1", "", "words about otters"))
		e.texts[page.KeyOf("https://a.test/1")] = []byte("entirely new")
		r := e.search(t, Query{Text: "otters"})
		if len(r.Hits) != 1 || r.Hits[0].Snippet != "" {
			t.Errorf("hits = %+v, want one without a snippet", r.Hits)
		}
		delete(e.texts, page.KeyOf("https://a.test/1"))
		if r := e.search(t, Query{Text: "otters"}); len(r.Hits) != 0 {
			t.Errorf("hits = %+v, want none of a document that is gone and about to leave the index", r.Hits)
		}
		e.texts[page.KeyOf("https://a.test/1")] = []byte(strings.Repeat("Moved down. ", 200) +
			"\n\n# H1\n\nwords about otters")
	})
}

func TestIndexKeepsTheContract(t *testing.T) {
	testSearcher(t, func(t *testing.T) *engine {
		t.Helper()
		s, err := store.Open(store.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		e := &engine{texts: map[page.Key][]byte{}, members: map[string][]page.Key{}}
		var x *Index
		x, err = openIndex(Options{
			Records: s.Records(),
			Text: func(key page.Key) ([]byte, error) {
				if md, ok := e.texts[key]; ok {
					return md, nil
				}
				return nil, store.ErrNotFound
			},
			Members: func(kb string) (*roaring.Bitmap, error) {
				set := roaring.New()
				for _, key := range e.members[kb] {
					if n, ok := x.Number(key); ok {
						set.Add(n)
					}
				}
				return set, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		e.searcher = x
		t.Cleanup(func() {
			if err := errors.Join(x.Close(), s.Close()); err != nil {
				t.Error(err)
			}
		})
		return e
	})
}

func TestSearchGivesUpWithItsContext(t *testing.T) {
	x := openTestIndex(t, nil)
	d := doc("https://a.test/1", "", "words")
	indexAllOf(t, x, []*Document{d})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, Query{Text: "words"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Search with a cancelled context: %v, want that", err)
	}
}
