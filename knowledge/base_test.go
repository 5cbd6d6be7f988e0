package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestReadPageIsFound(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	key := k.read(t, "https://a.test/x", "# Widgets\n\nHow to frobnicate widgets.\n", true)
	k.drain(t)
	if got, want := k.find(t, "", "frobnicate"), []string{"https://a.test/x"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	k.read(t, "https://a.test/x", "# Widgets\n\nNow we polish widgets.\n", true)
	k.drain(t)
	if got := k.find(t, "", "frobnicate"); got != nil {
		t.Errorf("the old text is still found: %v", got)
	}
	if got := k.find(t, "", "polish"); len(got) != 1 {
		t.Errorf("the new text is not found")
	}
	if err := k.store.DeletePage(key); err != nil {
		t.Fatalf("DeletePage: %v", err)
	}
	k.drain(t)
	if got := k.find(t, "", "widgets"); got != nil {
		t.Errorf("the deleted page is still found: %v", got)
	}
	if s := k.Stats(); s.Documents != 0 || s.Passages != 0 || s.Queued != 0 {
		t.Errorf("stats %+v, want nothing left", s)
	}
}

func TestPageThatMustNotBeFoundIsNotIndexed(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	for url, change := range map[string]func(*page.Page){
		"https://a.test/secret?token=abcdef":  func(*page.Page) {},
		"https://a.test/redirected-to-secret": func(p *page.Page) { p.FinalURL = "https://a.test/y?access_token=abc" },
		"https://a.test/wall":                 func(p *page.Page) { p.Warnings = []string{"bot-wall"} },
		"https://a.test/cut":                  func(p *page.Page) { p.Warnings = []string{"truncated"} },
		"https://a.test/good":                 func(*page.Page) {},
	} {
		p := pageOf(t, url, "needle "+url)
		change(p)
		if _, err := k.store.PutPage(&p.Record, []byte("needle "+url), store.Sum{}); err != nil {
			t.Fatalf("PutPage: %v", err)
		}
	}
	k.drain(t)
	if got, want := k.find(t, "", "needle"), []string{"https://a.test/good"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

func TestBaseNames(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	for _, name := range []string{
		"", "a/b", "../x", "A", ".hidden", "a b", "-x", "a..b", "ä", strings.Repeat("a", 101),
		"a\n", "a\x00",
	} {
		if _, err := k.CreateBase(knowledge.Base{Name: name}); err == nil {
			t.Errorf("CreateBase(%q) gave no error", name)
		}
	}
	for _, name := range []string{"a", "0", "go-1.26", "x_y.z"} {
		if _, err := k.CreateBase(knowledge.Base{Name: name}); err != nil {
			t.Errorf("CreateBase(%q): %v", name, err)
		}
	}
	if _, err := k.CreateBase(knowledge.Base{Name: "a"}); !errors.Is(err, knowledge.ErrBaseExists) {
		t.Errorf("a second base of the same name: error %v, want ErrBaseExists", err)
	}
	var names []string
	for _, b := range k.Bases() {
		names = append(names, b.Name)
	}
	if want := []string{"0", "a", "go-1.26", "x_y.z"}; !slices.Equal(names, want) {
		t.Errorf("bases %v, want %v", names, want)
	}
	_, err := k.Search(context.Background(), knowledge.Query{Text: "x", KB: "nope"})
	if _, ok := errors.AsType[*knowledge.UnknownBaseError](err); !ok ||
		!strings.Contains(err.Error(), "0, a, go-1.26, x_y.z") {
		t.Errorf("search in an unknown base: error %v, want the names of those that are there", err)
	}
	if _, err := k.CreateBase(knowledge.Base{Name: "b", Source: "carrier pigeon"}); err == nil {
		t.Errorf("an unknown source gave no error")
	}
}

func TestBaseOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir, knowledge.Options{})
	b, err := k.CreateBase(knowledge.Base{
		Name: "docs", Source: knowledge.SourceCrawl, URL: "https://a.test/", Description: "d", Depth: 2,
		Include: []string{"/docs/*"}, Exclude: []string{"re:x"},
	})
	if err != nil {
		t.Fatalf("CreateBase: %v", err)
	}
	if b.Limit != 1000 {
		t.Errorf("limit %d, want 1000", b.Limit)
	}
	b = k.fill(t, "docs", "https://a.test/1", prose("walrus", 1), "https://a.test/2", prose("walrus", 2))
	if b.Documents != 2 || b.Passages != 2 || b.Generation != 1 || b.Building {
		t.Errorf("after filling: %+v, want 2 documents of 2 passages, generation 1", b)
	}
	k.shut(t)

	k = open(t, dir, knowledge.Options{})
	again, err := k.Base("docs")
	if err != nil {
		t.Fatalf("Base: %v", err)
	}
	if diff := cmp.Diff(b, again); diff != "" {
		t.Errorf("base after reopening (-before +after):\n%s", diff)
	}
	if byID, err := k.BaseByID(b.ID); err != nil || byID.Name != "docs" {
		t.Errorf("BaseByID(%s) = %v, %v", b.ID, byID.Name, err)
	}
	if got, want := k.find(t, "docs", "walrus"),
		[]string{"https://a.test/1", "https://a.test/2"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

func TestSearchInABaseOfOnePageAmongMany(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	for n := range 250 {
		k.read(t, fmt.Sprintf("https://many.test/%d", n), prose("walrus", n), true)
	}
	k.newBase(t, "one", knowledge.SourceText)
	k.fill(t, "one", "https://one.test/",
		"A text that mentions a walrus once, among many other words of no account at all.")
	if got, want := k.find(t, "one", "walrus"), []string{"https://one.test/"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if got := k.find(t, "", "walrus"); len(got) != 251 {
		t.Errorf("found %d documents everywhere, want 251", len(got))
	}
}

func TestOldGenerationAnswersUntilTheNewOneIsCommitted(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.newBase(t, "docs", knowledge.SourceCrawl)
	k.fill(t, "docs", "https://a.test/same", prose("walrus", 1), "https://a.test/changed", prose("walrus", 2),
		"https://a.test/gone", prose("walrus", 3))

	b := k.build(t, "docs")
	if _, err := k.Build("docs"); !errors.Is(err, knowledge.ErrBuilding) {
		t.Errorf("a second build at once: error %v, want ErrBuilding", err)
	}
	add(t, b, "https://a.test/same", prose("walrus", 1))
	add(t, b, "https://a.test/changed", prose("lobster", 2))
	add(t, b, "https://a.test/new", prose("lobster", 4))
	k.drain(t)
	if got := k.find(t, "docs", "walrus"); len(got) != 3 {
		t.Errorf("while building: %v, want the three old documents", got)
	}
	if got := k.find(t, "docs", "lobster"); len(got) != 0 {
		t.Errorf("while building: %v, want nothing new", got)
	}
	if hash, ok := b.Known("https://A.test:443/same"); !ok || len(hash) != 64 {
		t.Errorf("Known of what the base holds = %q, %v", hash, ok)
	}
	if _, ok := b.Known("https://a.test/new"); ok {
		t.Errorf("Known of what the base did not hold is true")
	}

	base, err := b.Commit(t.Context())
	if err != nil {
		t.Fatalf("Commit: %v", err)
	}
	if base.Documents != 3 || base.Generation != 2 || base.LastCrawl.IsZero() {
		t.Errorf("after commit: %+v", base)
	}
	if got, want := k.find(t, "docs", "walrus"), []string{"https://a.test/same"}; !slices.Equal(got, want) {
		t.Errorf("after commit: %v, want %v", got, want)
	}
	if got, want := k.find(t, "docs", "lobster"),
		[]string{"https://a.test/changed", "https://a.test/new"}; !slices.Equal(got, want) {
		t.Errorf("after commit: %v, want %v", got, want)
	}
	k.drain(t)
	if s := k.Stats(); s.Documents != 3 {
		t.Errorf("%d documents are indexed, want the old ones gone: 3", s.Documents)
	}
	if err := b.Add(t.Context(), knowledge.Document{URL: "x", Markdown: []byte("x")}); err == nil {
		t.Errorf("Add after Commit gave no error")
	}
}

func TestAbortedBuildLeavesEverythingAsItWas(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.newBase(t, "docs", knowledge.SourceCrawl)
	k.fill(t, "docs", "https://a.test/1", prose("walrus", 1))
	before := k.counts()
	b := k.build(t, "docs")
	for n := range 5 {
		add(t, b, fmt.Sprintf("https://a.test/%d", n+1), prose("lobster", n))
	}
	if err := b.CrawlLog().Save([]byte("x")); err != nil {
		t.Fatalf("Save: %v", err)
	}
	k.drain(t)
	if err := b.Abort(t.Context()); err != nil {
		t.Fatalf("Abort: %v", err)
	}
	k.drain(t)
	if diff := cmp.Diff(before, k.counts()); diff != "" {
		t.Errorf("stats (-before +after):\n%s", diff)
	}
	if got := k.find(t, "docs", "walrus"); len(got) != 1 {
		t.Errorf("found %v, want the old document", got)
	}
	if left := k.keys("k/m/", "k/mo/", "k/d/", "k/dp/", "k/c/", "k/mg/", "k/q/"); left["k/m/"] != 1 ||
		left["k/mo/"] != 1 || left["k/d/"] != 1 || left["k/dp/"] != 1 ||
		left["k/c/"] != 0 || left["k/mg/"] != 0 || left["k/q/"] != 0 {
		t.Errorf("records left: %v, want those of one document", left)
	}
}

// keys counts the records of some prefixes.
func (o *opened) keys(prefixes ...string) map[string]int {
	counts := map[string]int{}
	for _, prefix := range prefixes {
		o.store.Records().Keys(prefix, "", func(string) bool { counts[prefix]++; return true })
	}
	return counts
}

func TestInterruptedBuildIsTakenUpAgain(t *testing.T) {
	dir := t.TempDir()
	k := open(t, dir, knowledge.Options{})
	k.newBase(t, "docs", knowledge.SourceCrawl)
	b := k.build(t, "docs")
	if b.Resumed() {
		t.Errorf("a new build says that it was begun before")
	}
	add(t, b, "https://a.test/1", prose("walrus", 1))
	add(t, b, "https://a.test/2", prose("walrus", 2))
	for _, batch := range []string{"one", "two"} {
		if err := b.CrawlLog().Save([]byte(batch)); err != nil {
			t.Fatalf("Save: %v", err)
		}
	}
	b.Close()
	k.shut(t)

	k = open(t, dir, knowledge.Options{})
	if base, err := k.Base("docs"); err != nil || !base.Building || base.Documents != 2 {
		t.Errorf("base %+v, %v: want one that is being built, with the two documents read so far", base, err)
	}
	b = k.build(t, "docs")
	if !b.Resumed() || b.Len() != 2 {
		t.Errorf("resumed %v with %d documents, want true and 2", b.Resumed(), b.Len())
	}
	var batches []string
	if err := b.CrawlLog().Load(func(batch []byte) error {
		batches = append(batches,
			string(batch))
		return nil
	}); err != nil || !slices.Equal(batches, []string{"one", "two"}) {
		t.Errorf("crawl log %v, %v, want what was saved", batches, err)
	}
	add(t, b, "https://a.test/2", prose("walrus", 2)) // yielded again
	add(t, b, "https://a.test/2", prose("lobster", 2))
	add(t, b, "https://a.test/3", prose("walrus", 3))
	base, err := b.Commit(t.Context())
	if err != nil || base.Documents != 3 || base.Building {
		t.Errorf("Commit = %+v, %v, want 3 documents", base, err)
	}
	if got, want := k.find(t, "docs", "walrus"),
		[]string{"https://a.test/1", "https://a.test/3"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if got, want := k.find(t, "docs", "lobster"), []string{"https://a.test/2"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

func TestDeletingABaseKeepsWhatOthersHave(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	visited := k.read(t, "https://a.test/visited", prose("walrus", 1), true)
	crawled := k.read(t, "https://a.test/crawled", prose("walrus", 2), false)
	shared := k.read(t, "https://a.test/shared", prose("walrus", 3), false)
	k.newBase(t, "one", knowledge.SourceCrawl)
	k.newBase(t, "two", knowledge.SourceCrawl)
	for name, keys := range map[string][]page.Key{"one": {visited, crawled, shared}, "two": {shared}} {
		b := k.build(t, name)
		for _, key := range keys {
			if err := b.Add(t.Context(), knowledge.Document{Key: key}); err != nil {
				t.Fatalf("Add: %v", err)
			}
		}
		add(t, b, "note:"+name, prose("walrus", 4)) // equal texts of two bases
		if _, err := b.Commit(t.Context()); err != nil {
			t.Fatalf("Commit: %v", err)
		}
	}
	if got := k.find(t, "one", "walrus"); len(got) != 4 {
		t.Errorf("found %v, want 4 documents", got)
	}
	base, err := k.DeleteBase(t.Context(), "one")
	if err != nil || base.Documents != 4 || base.Passages != 4 {
		t.Errorf("DeleteBase = %+v, %v, want 4 documents and passages gone", base, err)
	}
	k.drain(t)
	if got, want := k.find(t, "", "walrus"),
		[]string{"https://a.test/shared", "https://a.test/visited", "note:two"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if got, want := k.find(t, "two", "walrus"), []string{"https://a.test/shared", "note:two"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if _, err := k.DeleteBase(t.Context(), "one"); err == nil {
		t.Errorf("deleting it again gave no error")
	}
	if _, err := k.DeleteBase(t.Context(), "two"); err != nil {
		t.Errorf("DeleteBase(two): %v", err)
	}
	k.drain(t)
	if got, want := k.find(t, "", "walrus"), []string{"https://a.test/visited"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	for prefix, n := range k.keys("k/b/", "k/i/", "k/m/", "k/mo/", "k/d/", "k/dp/", "k/dw/", "k/mg/", "k/q/", "k/du/",
		"k/dl/") {
		t.Errorf("%d records of %s are left", n, prefix)
	}
}

func TestDeletedPageLeavesItsBases(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	key := k.read(t, "https://a.test/x", prose("walrus", 1), true)
	k.newBase(t, "docs", knowledge.SourceCrawl)
	b := k.build(t, "docs")
	if err := b.Add(t.Context(), knowledge.Document{Key: key}); err != nil {
		t.Fatalf("Add: %v", err)
	}
	if _, err := b.Commit(t.Context()); err != nil {
		t.Fatalf("Commit: %v", err)
	}
	if err := k.store.DeletePage(key); err != nil {
		t.Fatalf("DeletePage: %v", err)
	}
	k.drain(t)
	if base, _ := k.Base("docs"); base.Documents != 0 {
		t.Errorf("the base has %d documents, want none", base.Documents)
	}
}

func TestIngest(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.newBase(t, "notes", knowledge.SourceText)
	ingest := func(in knowledge.Ingestion) knowledge.Ingested {
		t.Helper()
		done, err := k.Ingest(t.Context(), in)
		if err != nil {
			t.Fatalf("Ingest: %v", err)
		}
		return done
	}
	first := ingest(knowledge.Ingestion{
		Title: "context7:next.js", Label: "context7-next.js",
		Text: "About routing walruses.",
	})
	if !first.Changed || first.Passages != 1 {
		t.Errorf("first ingestion: %+v", first)
	}
	if again := ingest(knowledge.Ingestion{
		Title: "another title", Label: "context7-next.js",
		Text: "About routing walruses.",
	}); again.Changed || again.Doc != first.Doc {
		t.Errorf("the same label and text again: %+v, want no change", again)
	}
	ingest(knowledge.Ingestion{Title: "context7:next.js", Label: "context7-next.js", Text: "About caching walruses."})
	in := ingest(knowledge.Ingestion{Title: "In a base", Text: "A walrus in a base.", KB: "notes"})
	ingest(knowledge.Ingestion{Label: "l", URL: "https://a.test/x", Text: "A walrus of version one.", KB: "notes"})
	ingest(knowledge.Ingestion{Label: "l", URL: "https://a.test/x#top", Text: "A walrus of version two.", KB: "notes"})
	k.drain(t)
	if got := k.find(t, "", "walrus"); len(got) != 4 {
		t.Errorf("found %v, want 4 texts", got)
	}
	if got, want := k.find(t, "notes", "walrus"), []string{in.URL, "https://a.test/x"}; !slices.Equal(got, sorted(want)) {
		t.Errorf("found %v, want %v", got, want)
	}
	if got := k.find(t, "", "version one"); slices.Contains(k.find(t, "", `"version one"`), "https://a.test/x") {
		t.Errorf("the text that was replaced is still found: %v", got)
	}
	// A text stays when its base is filled from its source.
	k.fill(t, "notes", "https://a.test/new", prose("lobster", 1))
	if got := k.find(t, "notes", "walrus"); len(got) != 2 {
		t.Errorf("after filling the base: %v, want both texts", got)
	}

	for name, in := range map[string]knowledge.Ingestion{
		"no text":      {Title: "t", Text: " \n"},
		"unknown base": {Text: "x", KB: "nope"},
		"credential":   {Text: "x", URL: "https://u:p@a.test/"},
	} {
		if _, err := k.Ingest(t.Context(), in); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := k.DeleteBase(t.Context(), "notes"); err != nil {
		t.Fatalf("DeleteBase: %v", err)
	}
	k.drain(t)
	if got := k.find(t, "", "walrus"); len(got) != 2 {
		t.Errorf("after deleting the base: %v, want the texts of none", got)
	}
}

func sorted(list []string) []string { slices.Sort(list); return list }

func TestDocumentsOfABaseAreListedInPages(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.newBase(t, "docs", knowledge.SourceFile)
	var documents []string
	for n := range 25 {
		documents = append(documents, fmt.Sprintf("id-%02d", n), prose("walrus", n))
	}
	k.fill(t, "docs", documents...)
	var urls []string
	for cursor := ""; ; {
		list, next, err := k.Documents("docs", cursor, 10)
		if err != nil {
			t.Fatalf("Documents: %v", err)
		}
		for _, e := range list {
			urls = append(urls, e.URL)
			if e.Passages != 1 {
				t.Errorf("%s has %d passages, want 1", e.URL, e.Passages)
			}
			for _, ref := range []string{e.Doc, e.URL, e.Key.String(), strings.ToUpper(e.Doc[:8])} {
				if d, err := k.FindDocument(ref); err != nil || d.Key != e.Key {
					t.Errorf("FindDocument(%s): %v", ref, err)
				}
			}
			if d, err := k.Document(e.Key); err != nil || d.Title != "Title of "+e.URL ||
				!strings.Contains(string(d.Markdown), "walrus") {
				t.Errorf("Document(%s) = %+v, %v", e.Doc, d, err)
			} else if note := string(d.Note()); !strings.HasPrefix(note, "---\ntitle: Title of "+e.URL+"\nurl: ") ||
				!strings.HasSuffix(note, string(d.Markdown)) {
				t.Errorf("Note = %q", note)
			}
		}
		if cursor = next; next == "" {
			break
		}
	}
	slices.Sort(urls)
	if len(slices.Compact(urls)) != 25 {
		t.Errorf("listed %d documents, want 25: %v", len(urls), urls)
	}
	for _, ref := range []string{"", "id-99", "0123456", "01234567", "https://a.test/"} {
		if _, err := k.FindDocument(ref); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("FindDocument(%q): error %v, want ErrNotFound", ref, err)
		}
	}
	if _, _, err := k.Documents("docs", "zz", 1); err == nil {
		t.Errorf("a cursor that is none gave no error")
	}
}

func TestLargeDocument(t *testing.T) {
	k := open(t, "", knowledge.Options{})
	k.newBase(t, "docs", knowledge.SourceFile)
	var b strings.Builder
	for n := 0; b.Len() < 6<<20; n++ {
		fmt.Fprintf(&b, "## Section %d\n\nparagraph%d %s\n\n", n, n,
			strings.Repeat(fmt.Sprintf("word%d ", n*7919%100_003), 40))
	}
	md := b.String()
	base := k.fill(t, "docs", "big", md, "empty", "")
	if base.Documents != 2 || base.Passages < 3000 {
		t.Errorf("base %+v, want 2 documents of thousands of passages", base)
	}
	list, _, err := k.Documents("docs", "", 10)
	if err != nil {
		t.Fatalf("Documents: %v", err)
	}
	for _, e := range list {
		d, err := k.Document(e.Key)
		if err != nil || e.URL == "big" && string(d.Markdown) != md {
			t.Errorf("the document of %d bytes does not come back: %v", len(md), err)
		}
	}
	if got := k.find(t, "docs", "paragraph4321"); !slices.Equal(got, []string{"big"}) {
		t.Errorf("found %v, want the large document", got)
	}
	err = k.build(t, "docs").Add(t.Context(), knowledge.Document{URL: "huge", Markdown: make([]byte, 65<<20)})
	if !errors.Is(err, knowledge.ErrTooLarge) {
		t.Errorf("a document over the limit: error %v, want ErrTooLarge", err)
	}
}
