package knowledge_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// TestMain turns the test binary into a writer that waits to be killed when the environment says so, see crash_test.go,
// or into one that kills itself, see jobdeaths_test.go.
func TestMain(m *testing.M) {
	if dir := os.Getenv(lifeDir); dir != "" {
		liveUntilKilled(dir)
		return
	}
	if dir := os.Getenv(crashDir); dir != "" {
		writeUntilKilled(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// opened is a knowledge with its store.
type opened struct {
	*knowledge.Knowledge
	store *store.Store
}

// open opens a knowledge in dir, a new folder if that is empty. Both are closed with the test.
func open(tb testing.TB, dir string, o knowledge.Options) *opened {
	tb.Helper()
	if dir == "" {
		dir = tb.TempDir()
	}
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		tb.Fatalf("open store: %v", err)
	}
	o.Store = s
	k, err := knowledge.Open(o)
	if err != nil {
		tb.Fatalf("Open: %v", err)
	}
	both := &opened{k, s}
	tb.Cleanup(func() { both.shut(tb) })
	return both
}

// shut closes both. Again it does nothing.
func (o *opened) shut(tb testing.TB) {
	tb.Helper()
	if o.store == nil {
		return
	}
	if err := o.Close(); err != nil {
		tb.Errorf("Close: %v", err)
	}
	if err := o.store.Close(); err != nil {
		tb.Errorf("close store: %v", err)
	}
	o.store = nil
}

// read stores a page as the proxy does when an agent reads it, or with no visit as a crawl does.
func (o *opened) read(tb testing.TB, url, md string, visit bool) page.Key {
	tb.Helper()
	p := pageOf(tb, url, md)
	if _, err := o.store.PutPage(&p.Record, []byte(md), store.Sum{}); err != nil {
		tb.Fatalf("PutPage(%s): %v", url, err)
	}
	key := page.KeyOf(p.NormalizedURL)
	if visit {
		o.store.AddVisit(key, store.Visit{URL: url})
	}
	return key
}

func pageOf(tb testing.TB, url, md string) *page.Page {
	tb.Helper()
	p, err := newPage(url, md)
	if err != nil {
		tb.Fatalf("%v", err)
	}
	return p
}

func newPage(url, md string) (*page.Page, error) {
	u, err := page.Parse(url)
	if err != nil {
		return nil, err
	}
	p := page.New(u)
	sum := sha256.Sum256([]byte(md))
	p.ContentHash, p.Title, p.StatusCode = hex.EncodeToString(sum[:]), "Title of "+url, 200
	return p, nil
}

func (o *opened) drain(tb testing.TB) {
	tb.Helper()
	if err := o.Drain(context.Background()); err != nil {
		tb.Fatalf("Drain: %v", err)
	}
}

// counts returns the stats without the number of segments, which merging changes at any time.
func (o *opened) counts() knowledge.Stats {
	s := o.Stats()
	s.Segments = 0
	return s
}

// find returns the URLs that a query finds, sorted.
func (o *opened) find(tb testing.TB, kb, query string) []string {
	tb.Helper()
	r, err := o.Search(context.Background(), knowledge.Query{Text: query, KB: kb, Limit: 1000})
	if err != nil {
		tb.Fatalf("Search(%q in %q): %v", query, kb, err)
	}
	var urls []string
	for _, h := range r.Hits {
		urls = append(urls, h.URL)
		urls = append(urls, h.Also...)
	}
	slices.Sort(urls)
	return urls
}

func (o *opened) newBase(tb testing.TB, name, source string) knowledge.Base {
	tb.Helper()
	b, err := o.CreateBase(knowledge.Base{Name: name, Source: source})
	if err != nil {
		tb.Fatalf("CreateBase(%s): %v", name, err)
	}
	return b
}

// fill makes the next generation of a base from documents: URL and markdown in turn.
func (o *opened) fill(tb testing.TB, name string, documents ...string) knowledge.Base {
	tb.Helper()
	b := o.build(tb, name)
	for i := 0; i < len(documents); i += 2 {
		add(tb, b, documents[i], documents[i+1])
	}
	base, err := b.Commit(context.Background())
	if err != nil {
		tb.Fatalf("Commit: %v", err)
	}
	o.drain(tb)
	return base
}

func (o *opened) build(tb testing.TB, name string) *knowledge.Build {
	tb.Helper()
	b, err := o.Build(name)
	if err != nil {
		tb.Fatalf("Build(%s): %v", name, err)
	}
	tb.Cleanup(b.Close)
	return b
}

func add(tb testing.TB, b *knowledge.Build, url, md string) {
	tb.Helper()
	if err := b.Add(context.Background(), knowledge.Document{
		URL: url, Title: "Title of " + url,
		Markdown: []byte(md),
	}); err != nil {
		tb.Fatalf("Add(%s): %v", url, err)
	}
}

// prose is a text about a word, different for each number.
func prose(word string, n int) string {
	return fmt.Sprintf("# About %s %d\n\nThis page number%d explains %s.\n", word, n, n, strings.Repeat(word+" ", 3))
}
