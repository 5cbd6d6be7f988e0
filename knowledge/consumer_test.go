package knowledge_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// running runs the consumer until the test ends.
func (o *opened) running(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := o.Run(ctx); err != nil {
			tb.Errorf("Run: %v", err)
		}
	})
	tb.Cleanup(func() { cancel(); wg.Wait() })
}

func TestRunFindsWhatIsReadMeanwhile(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.running(t)
	eventually.True(t, "first rebuild", func() bool { return k.Stats().Rebuilding == 0 })
	for n := range 3 {
		began := time.Now()
		k.read(t, fmt.Sprintf("https://a.test/%d", n), prose("walrus", n), true)
		eventually.True(t, "the page is found", func() bool { return len(k.find(t, "", fmt.Sprint("number", n))) == 1 })
		t.Logf("found after %v", time.Since(began))
	}
	if _, err := k.Ingest(t.Context(), knowledge.Ingestion{Text: "A heron."}); err != nil {
		t.Fatalf("Ingest: %v", err)
	}
	eventually.True(t, "the text is found", func() bool { return len(k.find(t, "", "heron")) == 1 })
	eventually.True(t, "the queue is empty", func() bool { return k.Stats().Queued == 0 })
}

// A page that its origin calls gone is no hit; it comes back with the same text, and its versions stay (rule X6).
func TestAPageThatIsGoneLeavesTheHits(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	key := k.read(t, "https://a.test/walrus", prose("walrus", 1), true)
	k.read(t, "https://a.test/other", prose("walrus", 2), true)
	k.drain(t)
	hits := func() int { return len(k.find(t, "", "walrus")) }
	if n := hits(); n != 2 {
		t.Fatalf("%d hits, want both pages", n)
	}
	for _, tt := range []struct {
		e    page.Error
		want int
	}{
		{page.Error{Kind: "timeout", Message: "Timeout fetching https://a.test/walrus"}, 2},
		{page.Error{Kind: "http", Message: "HTTP 503", Status: 503}, 2},
		{page.Error{Kind: "http", Message: "HTTP 410", Status: 410}, 1},
		{page.Error{Kind: "http", Message: "HTTP 404", Status: 404}, 1},
	} {
		if err := k.store.PageFailed(key, tt.e); err != nil {
			t.Fatal(err)
		}
		k.drain(t)
		if n := hits(); n != tt.want {
			t.Errorf("after %+v: %d hits, want %d", tt.e, n, tt.want)
		}
	}
	if err := k.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	k.drain(t)
	if n := hits(); n != 1 {
		t.Errorf("after a rebuild: %d hits, want 1", n)
	}
	if v, err := k.store.Versions(key); err != nil || len(v) != 1 {
		t.Errorf("versions %v, %v, want the one that it had", v, err)
	}
	k.read(t, "https://a.test/walrus", prose("walrus", 1), true)
	k.drain(t)
	if n := hits(); n != 2 {
		t.Errorf("read again: %d hits, want 2", n)
	}
}

// The anchors of a page are asked for by its key, and make the links of its hits.
func TestHitsLinkToTheirPlace(t *testing.T) {
	var asked []page.Key
	k := open(t, "", knowledge.Options{Anchors: func(key page.Key) []page.Anchor {
		asked = append(asked, key)
		return []page.Anchor{{ID: "sorted one", Text: "x"}, {ID: "m.sorted", Text: "sorted(walrus)¶"}}
	}})
	key := k.read(t, "https://a.test/m", "# m\n\nWords.\n\nsorted(*walrus*)\n: Sorts tusks.\n\nreversed(x)\n: Reverses.\n", true)
	k.drain(t)
	for _, tt := range []struct{ query, heading, link string }{
		{"sorts tusks", "m › sorted(walrus)", "https://a.test/m#m.sorted"},
		{"reverses", "m › reversed(x)", ""},
		{"words", "m", ""},
	} {
		hits := k.hits(t, knowledge.Query{Text: tt.query})
		if len(hits) != 1 || hits[0].Heading != tt.heading || hits[0].Link != tt.link || hits[0].URL != "https://a.test/m" {
			t.Errorf("%s: %+v, want it under %q with the link %q", tt.query, hits, tt.heading, tt.link)
		}
	}
	if len(asked) != 3 || asked[0] != key {
		t.Errorf("asked for the anchors of %v, want those of the page for each search", asked)
	}
}

// A machine that stands still may make some searches give up waiting, but not all: without waiting none finds its page.
func TestSearchesFindWhatWasStoredBeforeThem(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.running(t)
	eventually.True(t, "first rebuild", func() bool { return k.Stats().Rebuilding == 0 })
	found := 0
	for n := range 20 {
		k.read(t, fmt.Sprintf("https://a.test/%d", n), prose("walrus", n), true)
		found += len(k.find(t, "", fmt.Sprint("number", n)))
		eventually.True(t, "the page is indexed", func() bool { return len(k.find(t, "", fmt.Sprint("number", n))) == 1 })
	}
	if found == 0 {
		t.Error("no search found the page that was stored right before it")
	}
	t.Logf("%d of 20 searches found their page", found)
}

func TestRebuildMakesTheSameIndex(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	for n := range 600 {
		k.read(t, fmt.Sprintf("https://a.test/%d", n), prose("walrus", n), n%2 == 0)
	}
	k.newBase(t, "docs", knowledge.SourceText)
	k.fill(t, "docs", "a", prose("heron", 1), "b", prose("heron", 2))
	k.drain(t)
	before := k.counts()
	last, calls := "", 0
	err := k.Rebuild(t.Context(), func(i, total int, url string) {
		calls++
		last = fmt.Sprintf("%d/%d", i, total)
		if url == "" {
			t.Errorf("progress without a URL")
		}
	})
	if err != nil {
		t.Fatalf("Rebuild: %v", err)
	}
	if last != "602/602" || calls != 602 {
		t.Errorf("last of %d calls of progress: %s, want 602/602", calls, last)
	}
	if diff := cmp.Diff(before, k.counts()); diff != "" {
		t.Errorf("stats (-before +after):\n%s", diff)
	}
	if got := k.find(t, "docs", "heron"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("found %v, want both documents of the base", got)
	}
}

func TestRebuildCutShortGoesOnLater(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir, knowledge.Options{})
	for n := range 600 {
		k.read(t, fmt.Sprintf("https://a.test/%d", n), prose("walrus", n), true)
	}
	k.drain(t)
	ctx, cancel := context.WithCancel(t.Context())
	if err := k.Rebuild(ctx, func(int, int, string) { cancel() }); err == nil {
		t.Fatalf("a rebuild that was cut short gave no error")
	}
	if s := k.Stats(); s.Rebuilding == 0 || s.Documents == 600 {
		t.Errorf("stats %+v: want the rebuild unfinished", s)
	}
	k.shut(t)
	k = open(t, dir, knowledge.Options{})
	k.drain(t)
	if s := k.Stats(); s.Documents != 600 || s.Rebuilding != 0 {
		t.Errorf("stats %+v: want all 600 documents", s)
	}
}

func TestOtherPassageSizeRebuildsTheIndex(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir, knowledge.Options{})
	var md strings.Builder
	for n := range 12 {
		fmt.Fprintf(&md, "Paragraph %d: %s\n\n", n, strings.Repeat("walrus ", 16))
	}
	k.read(t, "https://a.test/", md.String(), true)
	k.drain(t)
	if s := k.Stats(); s.Passages != 1 {
		t.Errorf("%d passages, want 1", s.Passages)
	}
	k.shut(t)
	k = open(t, dir, knowledge.Options{PassageChars: 300})
	k.drain(t)
	s := k.Stats()
	if s.Documents != 1 || s.Passages != 6 {
		t.Errorf("stats %+v, want 6 passages of at most 300 characters", s)
	}
	k.shut(t)
	k = open(t, dir, knowledge.Options{PassageChars: 300})
	if again := k.Stats(); again.Rebuilding != 0 || again.Passages != s.Passages {
		t.Errorf("opened again: %+v, want nothing to do", again)
	}
}

func TestEveryJobIsDoneOnceTheQueueIsEmpty(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.running(t)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := range 60 {
				url := fmt.Sprintf("https://a.test/%d", (w*7+n)%40)
				u, _ := page.Parse(url)
				p := page.New(u)
				p.ContentHash = fmt.Sprint(w, "-", n)
				if _, err := k.store.PutPage(&p.Record, []byte(prose("walrus", w*1000+n)), store.Sum{}); err != nil {
					t.Errorf("PutPage: %v", err)
				}
				if n%10 == 9 {
					_ = k.store.DeletePage(page.KeyOf(p.NormalizedURL)) // another may have
				}
			}
		})
	}
	wg.Wait()
	k.drain(t)
	left, _, err := k.store.Pages(store.PageQuery{Limit: 1000})
	if err != nil {
		t.Fatalf("Pages: %v", err)
	}
	if s := k.Stats(); s.Documents != len(left) || s.Queued != 0 || s.Failed != 0 {
		t.Errorf("stats %+v, want the %d pages that are left", s, len(left))
	}
	checkAgainstRebuild(t, k)
}
