package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/knowledge/storetest"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// noText is for tests in which documents are there and nobody shows them.
func noText(page.Key) ([]byte, error) { return nil, errors.New("texts are not kept") }

// openIndex opens the index in the records, or makes one. An index of another version, or one that cannot be read, is
// emptied: rebuilt tells that. Records that take no writes are not an error: what is stored can be searched, and the
// rest follows when they take writes again.
func openIndex(o Options) (*Index, error) {
	x, err := openIdle(o)
	if err == nil {
		x.startMerging(0)
	}
	return x, err
}

// openIdle is openIndex without work in the background.
func openIdle(o Options) (*Index, error) {
	x := New(o)
	return x, x.Open()
}

// idle opens an index without work in the background.
func idle(tb testing.TB, r records) *Index {
	tb.Helper()
	x, err := openIdle(Options{Records: r, Text: noText})
	if err != nil {
		tb.Fatalf("openIdle: %v", err)
	}
	return x
}

// dump returns all that an index says: its documents with the hashes of their passages, and the postings of every term
// by passage hash. Numbers, which tell how it came about, are left out.
func dump(tb testing.TB, x *Index) map[string]string {
	tb.Helper()
	return dumpOf(tb, x, func(bare bool) string {
		if bare {
			return " bare"
		}
		return ""
	})
}

// dumpTexts is dump without what depends on which of several documents with one text was indexed first: whether a
// passage is bare, the fields of its document, and nameplates, which have no text.
func dumpTexts(tb testing.TB, x *Index) map[string]string {
	tb.Helper()
	out := dumpOf(tb, x, func(bool) string { return "" })
	for key, value := range out {
		if strings.HasPrefix(key, "term ") {
			out[key], _, _ = strings.Cut(value, " ") // how often it stands in the text
		}
		hash, ok := strings.CutPrefix(key, "passage ")
		if !ok || !strings.HasPrefix(value, "0 ") {
			continue
		}
		for key, value := range out {
			if strings.HasPrefix(key, "document ") {
				out[key] = strings.Replace(strings.Replace(value, " "+hash, "", 1), hash, "", 1)
			} else if strings.HasSuffix(key, " "+hash) {
				delete(out, key)
			}
		}
	}
	return out
}

// dumpOf is dump. Mark is appended to the hash of a passage.
func dumpOf(tb testing.TB, x *Index, mark func(bare bool) string) map[string]string {
	tb.Helper()
	x.mu.RLock()
	defer x.mu.RUnlock()
	out := map[string]string{}
	byNumber, passages := map[uint32]string{}, map[string][]string{}
	for _, s := range x.segments {
		for i, number := range s.Numbers {
			if s.Dead.Has(uint32(i)) {
				continue
			}
			bare := s.Lengths[i].Kind&segment.BarePassage != 0
			hash := fmt.Sprintf("%x", s.Hashes[i][:4]) + mark(bare)
			byNumber[number] = hash
			owners := passages[hash]
			if owners != nil && mark(bare) != mark(!bare) {
				tb.Errorf("passage %s is there twice", hash)
			}
			for _, doc := range x.owners(s, uint32(i)) {
				if !x.docs.rows[doc].live {
					tb.Errorf("passage %s has an owner that is no more", hash)
				}
				owners = append(owners, x.docs.rows[doc].key.Doc())
			}
			slices.Sort(owners)
			passages[hash] = owners
			out["passage "+hash] = fmt.Sprint(s.Lengths[i].Text, owners)
			if n, ok := x.table(s.Lengths[i].Kind).get(s.Hashes[i]); !ok || n != number {
				tb.Errorf("passage %s is not found by its hash", hash)
			}
		}
		var c segment.Chunk
		next := x.view().Walk(s, "")
		for {
			l, err := next()
			if err != nil {
				tb.Fatalf("read terms: %v", err)
			}
			if l == nil {
				break
			}
			if err := l.Each(&c, func(c *segment.Chunk) error {
				return c.PlacesOf(func(i int, places []byte) bool {
					if ord := c.Ords[i]; !s.Dead.Has(ord) {
						p := c.Posting(i, slices.Clone(places))
						var forms []string
						for n, f := range l.Forms {
							if p.Forms>>n&1 != 0 {
								forms = append(forms, f)
							}
						}
						slices.Sort(forms)
						hash := byNumber[s.Numbers[ord]]
						out["term "+l.Term+" "+hash] = fmt.Sprint(p.Text, p.Title, p.Path, forms, string(p.Places))
					}
					return true
				})
			}); err != nil {
				tb.Fatalf("read %s: %v", l.Term, err)
			}
		}
	}
	live := 0
	for _, row := range x.docs.rows {
		if !row.live {
			continue
		}
		live++
		a, err := x.Article(row.key)
		if err != nil {
			tb.Fatalf("article of a live document: %v", err)
		}
		var list []string
		for _, p := range a.passages {
			if byNumber[p.number] == "" {
				tb.Errorf("document %s has a passage that is no more", a.URL)
			}
			list = append(list, byNumber[p.number])
		}
		out["document "+row.key.Doc()] = fmt.Sprint(a.URL, a.Title, list)
	}
	if live != x.docs.live || len(byNumber) != x.sums.passages {
		tb.Errorf("counts say %d documents, %d passages; there are %d, %d", x.docs.live, x.sums.passages, live, len(byNumber))
	}
	return out
}

// step is one change of an index.
type step func(x *Index) error

func indexStep(url, text string) step {
	return func(x *Index) error {
		d := doc(url, "", text)
		return x.Index(context.Background(), d, outline.Split(d.Markdown, outline.SplitOptions{}))
	}
}

func deleteStep(url string) step {
	return func(x *Index) error { return x.Delete(context.Background(), page.KeyOf(url)) }
}

func mergeStep(x *Index) error { return x.mergeAll(context.Background()) }

func TestAnyHistoryLeavesWhatAFreshIndexHas(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := storetest.Open(t)
		x := idle(t, s.Records())
		now := map[string]string{}
		for range 120 {
			url := fmt.Sprintf("https://1.test/%d", rng.IntN(20)) // no word of it is searched
			switch rng.IntN(12) {
			case 0, 1:
				delete(now, url)
				if err := deleteStep(url)(x); err != nil {
					t.Fatal(err)
				}
			case 2:
				if err := mergeStep(x); err != nil {
					t.Fatal(err)
				}
			case 3:
				if n := len(x.segments); n > 1 {
					from := rng.IntN(n - 1)
					if err := x.merge(t.Context(), slices.Clone(x.segments[from:from+2+rng.IntN(n-from-1)])); err != nil {
						t.Fatal(err)
					}
				}
			case 4:
				x = idle(t, s.Records())
			default:
				var text strings.Builder
				for range rng.IntN(6) {
					fmt.Fprintf(&text, "# H\n\nword%d running word%d\n\n", rng.IntN(9), rng.IntN(3))
				}
				now[url] = text.String()
				if err := indexStep(url, now[url])(x); err != nil {
					t.Fatal(err)
				}
			}
		}
		fresh := idle(t, storetest.Open(t).Records())
		for _, url := range slices.Sorted(maps.Keys(now)) {
			if err := indexStep(url, now[url])(fresh); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(dumpTexts(t, fresh), dumpTexts(t, x)); diff != "" {
			t.Fatalf("seed %d (-fresh +got):\n%s", seed, diff)
		}
		if diff := cmp.Diff(dump(t, x), dump(t, idle(t, s.Records()))); diff != "" {
			t.Fatalf("seed %d, opened again (-before +after):\n%s", seed, diff)
		}
	}
}

func TestPruningChangesNoResult(t *testing.T) {
	x := idle(t, storetest.Open(t).Records())
	rng := rand.New(rand.NewPCG(5, 6))
	var batch []Item
	for i := range 1600 {
		var text strings.Builder
		for range 2 + rng.IntN(40) {
			// Word n stands in about every nth passage.
			fmt.Fprintf(&text, "w%d ", int(1/(rng.Float64()+.001)))
		}
		d := doc(fmt.Sprintf("https://h%d.test/%d", i%3, i), "", text.String())
		batch = append(batch, Item{d, outline.Split(d.Markdown, outline.SplitOptions{})})
		if len(batch) == 800 { // several segments
			if err := x.IndexAll(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			batch = nil
		}
	}
	for i := range 40 {
		q := Query{Limit: 400}
		for range 2 + rng.IntN(5) {
			q.Text += fmt.Sprintf("w%d ", int(1/(rng.Float64()+.001)))
		}
		if i%3 == 0 {
			q.Host = "h1.test"
		}
		x.pruneFrom = 1 << 30
		want, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		x.pruneFrom = 0
		got, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Search(%q, host %q) (-all read +pruned):\n%s", q.Text, q.Host, diff)
		}
	}
}

func TestAnIndexThatCannotBeReadIsMadeAnew(t *testing.T) {
	for name, harm := range map[string]func(r *store.Records) error{
		"another version": func(r *store.Records) error {
			return r.Apply(store.Change{Key: indexVersionKey, Value: []byte{99}})
		},
		"no version": func(r *store.Records) error {
			return r.Apply(store.Change{Key: indexVersionKey, Gone: true})
		},
		"a table that is gone": func(r *store.Records) error { return DeletePrefix(r, segment.TablePrefix) },
		"a table that is cut": func(r *store.Records) error {
			var changes []store.Change
			r.Walk(segment.TablePrefix, "", func(key string, b []byte) bool {
				changes = append(changes, store.Change{Key: key, Value: b[:len(b)/2]})
				return true
			})
			return r.Apply(changes...)
		},
	} {
		r := storetest.Open(t).Records()
		x := idle(t, r)
		if !x.Rebuilt {
			t.Errorf("%s: a new index does not say that everything must be indexed", name)
		}
		if err := indexStep("https://a.test/1", "some words")(x); err != nil {
			t.Fatal(err)
		}
		if x = idle(t, r); x.Rebuilt {
			t.Errorf("%s: a good index is made anew", name)
		}
		if err := harm(r); err != nil {
			t.Fatal(err)
		}
		if x = idle(t, r); !x.Rebuilt || x.Stats().Passages != 0 {
			t.Errorf("%s: opened with rebuilt %v and %d passages", name, x.Rebuilt, x.Stats().Passages)
		}
		if err := indexStep("https://a.test/1", "some words")(x); err != nil {
			t.Errorf("%s: index again: %v", name, err)
		}
		if x = idle(t, r); x.Rebuilt || x.Stats().Passages != 1 {
			t.Errorf("%s: after indexing again rebuilt %v, %d passages", name, x.Rebuilt, x.Stats().Passages)
		}
	}
}

// The documents are kept in several records. One that is lost in front of others is missed, too.
func TestAnIndexWithoutSomeOfItsDocumentsIsMadeAnew(t *testing.T) {
	r := storetest.Open(t).Records()
	x := idle(t, r)
	var docs []*Document
	for i := range documentBlock + 1 {
		docs = append(docs, doc(fmt.Sprintf("https://a.test/%d", i), "", fmt.Sprintf("walrus harbour %d", i)))
	}
	indexAllOf(t, x, docs)
	if err := deleteStep(docs[documentBlock].URL)(x); err != nil {
		t.Fatal(err)
	}
	if x = idle(t, r); x.Rebuilt {
		t.Fatal("a good index is made anew")
	}
	if err := r.Apply(store.Change{Key: rowsKey(0), Gone: true}); err != nil {
		t.Fatal(err)
	}
	if x = idle(t, r); !x.Rebuilt {
		t.Error("the index is not made anew")
	}
	if _, err := x.Search(t.Context(), Query{Text: "walrus harbour"}); err != nil {
		t.Error(err)
	}
}

func TestALostBlockIsToldAndCostsOnlyItsHits(t *testing.T) {
	r := storetest.Open(t).Records()
	x := idle(t, r)
	for i := range 2 {
		if err := indexStep(fmt.Sprintf("https://a.test/%d", i), fmt.Sprintf("some words %d", i))(x); err != nil {
			t.Fatal(err)
		}
	}
	if err := DeletePrefix(r, segment.BlockPrefix+segment.BigEndian(x.segments[0].ID)); err != nil {
		t.Fatal(err)
	}
	res, err := x.Search(t.Context(), Query{Text: "words"})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].URL != "https://a.test/1" {
		t.Errorf("Search = %+v, %v, want the page of the other segment", res, err)
	}
	if !x.Stats().Damaged {
		t.Error("the damage is not told")
	}
}

// A search may see a page before the index does. One that has lost its beginning is shown by what is still there.
func TestAHitIsShownInATextThatHasBecomeShorter(t *testing.T) {
	const kept = "## Kept\n\nA walrus reads at length.\n"
	text := "# Lost\n\n" + strings.Repeat("Of the harbour and its tides. ", 200) + "\n\n" + kept
	x, err := openIdle(Options{Records: storetest.Open(t).Records(), Text: func(page.Key) ([]byte, error) {
		return []byte(kept), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := indexStep("https://a.test/", text)(x); err != nil {
		t.Fatal(err)
	}
	res, err := x.Search(t.Context(), Query{Text: "walrus"})
	if err != nil || len(res.Hits) != 1 || !strings.Contains(res.Hits[0].Snippet, "A walrus reads") {
		t.Errorf("Search = %+v, %v, want the passage that is still there", res, err)
	}
}

func TestAMergeThatMeetsALostBlockTellsOfIt(t *testing.T) {
	r := storetest.Open(t).Records()
	x := idle(t, r)
	for i := range mergeWidth {
		if err := indexStep(fmt.Sprintf("https://a.test/%d", i), fmt.Sprintf("some words %d", i))(x); err != nil {
			t.Fatal(err)
		}
	}
	if err := DeletePrefix(r, segment.BlockPrefix+segment.BigEndian(x.segments[3].ID)); err != nil {
		t.Fatal(err)
	}
	if err := mergeStep(x); err == nil || !x.Stats().Damaged {
		t.Errorf("merge: %v, damaged %v: want an error, and the damage told", err, x.Stats().Damaged)
	}
}

func TestResetForgetsAndTellsOfEveryPassage(t *testing.T) {
	live := map[uint32]bool{}
	x, err := openIdle(Options{
		Records: storetest.Open(t).Records(),
		Text:    noText,
		Changed: func(added, removed []uint32) {
			for _, n := range added {
				if live[n] {
					t.Errorf("passage %d came twice", n)
				}
				live[n] = true
			}
			for _, n := range removed {
				if !live[n] {
					t.Errorf("passage %d went and was not there", n)
				}
				delete(live, n)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range history() {
		if err := do(x); err != nil {
			t.Fatal(err)
		}
	}
	got := map[uint32]bool{}
	for n := range x.Passages() {
		got[n] = true
	}
	if diff := cmp.Diff(live, got); diff != "" || len(live) == 0 {
		t.Errorf("passages as told and as they are (-told +are):\n%s", diff)
	}
	if err := x.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(live) != 0 || len(dump(t, x)) != 0 {
		t.Errorf("after reset %d passages were not told gone, and the index holds %v", len(live), dump(t, x))
	}
}

func TestVectorsAndWordsAreFused(t *testing.T) {
	x := openTestIndex(t, nil)
	for i, text := range []string{"alpha beta", "alpha gamma", "delta", "alpha_key --alpha", "epsilon"} {
		if err := indexStep(fmt.Sprintf("https://%d.test/", i), text)(x); err != nil {
			t.Fatal(err)
		}
	}
	number := func(i int) uint32 { return x.PassagesOf(page.KeyOf(fmt.Sprintf("https://%d.test/", i)))[0] }
	var filtered bool
	near := Meaning{Passages: []Scored{{number(2), .9}, {number(1), .8}, {999, .7}, {number(4), .1}}}
	x.o.Vectors = func(_ context.Context, _ string, _ int, allow func(uint32) bool) Meaning {
		filtered = allow != nil
		if allow != nil && (allow(number(0)) || !allow(number(2)) || allow(999)) {
			t.Error("the filter lets others through")
		}
		return near
	}
	for _, tt := range []struct {
		asked, host string
		trust       float64
		want        string // pages, best first
	}{
		{"alpha beta", "", 0, "0 3 1 2 4"},            // no trust: what vectors alone found comes last
		{"alpha beta", "", 1, "0 1 3 2 4"},            // a page has all words
		{"alpha zeta theta iota", "", 1, "1 3 2 0 4"}, // hardly a word is known: the vectors weigh
		{"zeta theta", "", 0, "2 1 4"},                // words have nothing
		{`"alpha zeta" alpha theta iota`, "", 1, "3 0 1 2 4"},
		{"alpha_key theta iota", "", 1, "3 0 1 2 4"},
		{"alpha error theta iota kappa", "", 1, "3 0 1 2 4"},
		{"alpha", "2.test", 1, "2"},
	} {
		near.Trust = tt.trust
		r, err := x.Search(t.Context(), Query{Text: tt.asked, Host: tt.host, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range r.Hits {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(h.URL, "https://"), ".test/"))
			sum := 0.0
			for _, term := range h.Explain {
				sum += term.Score
			}
			if math.Abs(sum-h.Score) > 1e-4*h.Score {
				t.Errorf("query %q: %s has %v, its parts %v", tt.asked, h.URL, h.Score, h.Explain)
			}
		}
		if s := strings.Join(got, " "); s != tt.want || r.Degraded || filtered != (tt.host != "") {
			t.Errorf("query %q with trust %v found %s, want %s; degraded %v", tt.asked, tt.trust, s, tt.want, r.Degraded)
		}
	}
	near = Meaning{Err: errors.New("no model")}
	if r, err := x.Search(t.Context(), Query{Text: "beta"}); err != nil || len(r.Hits) != 1 || !r.Degraded {
		t.Errorf("without vectors = %v, %v, want one hit by words, degraded", r, err)
	}
}

func TestTooManyPassagesAreRefusedAndChangeNothing(t *testing.T) {
	x := idle(t, storetest.Open(t).Records())
	d := doc("https://a.test/1", "", strings.Repeat("a", maxPassages+1))
	passages := make([]outline.Passage, maxPassages+1)
	for i := range passages {
		passages[i] = outline.Passage{Start: i, End: i + 1}
	}
	if err := x.Index(t.Context(), d, passages); !errors.Is(err, ErrTooManyPassages) {
		t.Errorf("Index of %d passages: %v, want ErrTooManyPassages", len(passages), err)
	}
	passages = passages[:20000]
	for i := range passages { // headings without end
		passages[i].Path = []string{strings.Repeat(fmt.Sprint(i), 40)}
		passages[i].Hash = [16]byte{byte(i), byte(i >> 8), 1}
	}
	if err := x.Index(t.Context(), d, passages); !errors.Is(err, ErrTooManyPassages) {
		t.Errorf("Index of endless headings: %v, want ErrTooManyPassages", err)
	}
	if got := x.Stats(); got.Documents != 0 || got.Passages != 0 {
		t.Errorf("stats = %+v, want nothing", got)
	}
}

func TestALargeDocumentIsOneChange(t *testing.T) {
	needs.Long(t, "a large document takes a second")
	s := storetest.Open(t)
	x := idle(t, s.Records())
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "# Heading %d\n\nbody%d of it. %s\n\n", i, i, strings.Repeat("More is to be said. ", 20))
	}
	for _, url := range []string{"https://a.test/large", "https://b.test/same"} {
		if err := indexStep(url, text.String())(x); err != nil {
			t.Fatal(err)
		}
	}
	before := dump(t, x)
	if diff := cmp.Diff(before, dump(t, idle(t, s.Records()))); diff != "" || x.Stats().Passages < 2500 {
		t.Errorf("%d passages; opened again (-before +after):\n%.2000s", x.Stats().Passages, diff)
	}
	if err := deleteStep("https://a.test/large")(x); err != nil {
		t.Fatal(err)
	}
	if got := x.Stats(); got.Documents != 1 || got.Passages < 2500 {
		t.Errorf("stats = %+v after one of two owners went", got)
	}
	if err := deleteStep("https://b.test/same")(x); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(dump(t, x), dump(t, idle(t, s.Records()))); diff != "" || len(dump(t, x)) != 0 {
		t.Errorf("after both went (-before +after opening):\n%.2000s", diff)
	}
}
