package store_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestPageKeepsAVersionForEachContent(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	const url = "https://a.test/x"
	for i, step := range []struct {
		markdown string
		changed  bool
	}{{"one", true}, {"one", false}, {"two", true}, {"one", true}} {
		if _, changed := putPage(t, s, url, step.markdown); changed != step.changed {
			t.Errorf("step %d: changed = %v, want %v", i, changed, step.changed)
		}
	}
	k := page.KeyOf(url)
	for pass := range 2 {
		versions, err := s.Versions(k)
		if err != nil || len(versions) != 3 {
			t.Fatalf("pass %d: Versions = %d, %v, want 3", pass, len(versions), err)
		}
		for i, want := range []string{"one", "two", "one"} {
			if md, err := s.VersionMarkdown(k, versions[i]); err != nil || string(md) != want {
				t.Errorf("pass %d: version %d = %q, %v, want %q", pass, i, md, err, want)
			}
		}
		if md, err := s.Markdown(k); err != nil || string(md) != "one" {
			t.Errorf("pass %d: Markdown = %q, %v", pass, md, err)
		}
		if got := s.Totals(); got.Pages != 1 || got.Versions != 3 || s.QueuedJobs("index") != 1 {
			t.Errorf("pass %d: Totals() = %+v", pass, got)
		}
		closeStore(t, s)
		s = openStore(t, store.Options{Dir: dir})
	}
}

// TestAVersionIsOfTheTimeAtWhichThePageWasRead: a cache may have had the response for a while before it became a page.
func TestAVersionIsOfTheTimeAtWhichThePageWasRead(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/x"
	read := time.Now().UTC().Truncate(time.Millisecond).Add(-time.Hour)
	put := func(markdown string, read time.Time) *page.Record {
		t.Helper()
		p := &page.Record{
			URL: url, NormalizedURL: url, ContentHash: fmt.Sprintf("%x", sha256.Sum256([]byte(markdown))), ReadAt: read,
		}
		if _, err := s.PutPage(p, []byte(markdown), store.Sum{}); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for i, tt := range []struct{ read, want time.Time }{
		{read, read},
		{read, read.Add(time.Millisecond)}, // the same response, converted by another rule
		{time.Now().Add(time.Hour), time.Time{}},
		{time.Time{}, time.Time{}},
	} {
		p := put(strconv.Itoa(i), tt.read)
		list, err := s.Versions(page.KeyOf(url))
		if err != nil || !list[0].Time.Equal(p.UpdatedAt) || p.UpdatedAt.Before(p.CreatedAt) {
			t.Errorf("%d: %+v, %v; created %v, updated %v", i, list, err, p.CreatedAt, p.UpdatedAt)
		}
		at := list[0].Time
		if tt.want.IsZero() && at.After(read.Add(90*time.Minute)) || !tt.want.IsZero() && !at.Equal(tt.want) {
			t.Errorf("%d: version of %v, want %v", i, at, tt.want)
		}
	}
}

// hiding is a cleaner that takes out what says HIDE, and from its second edition on what says VEIL, too.
func hiding(edition int) store.Cleaner {
	return store.Cleaner{Edition: edition, Clean: func(text []byte, markdown bool) []byte {
		text = bytes.ReplaceAll(text, []byte("\u202e"), nil)
		if markdown {
			text = bytes.ReplaceAll(text, []byte("HIDE"), nil)
		}
		if markdown && edition > 1 {
			text = bytes.ReplaceAll(text, []byte("VEIL"), nil)
		}
		return text
	}}
}

// An older program stored what it was given, or what an older edition of the cleaner left: that is cleaned when it is
// read, and nothing else is.
func TestVersionsOfAnOlderProgramAreCleaned(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	const url = "https://a.test/x"
	putPage(t, s, url, "one HIDE VEIL")
	// Whoever stores it has cleaned it: it is code.
	for edition, now := range []string{"two HIDE VEIL", "three HIDE VEIL"} {
		closeStore(t, s)
		s = openStore(t, store.Options{Dir: dir, Cleaner: hiding(edition + 1)})
		putPage(t, s, url, now)
	}
	k := page.KeyOf(url)
	versions, err := s.Versions(k)
	if err != nil || len(versions) != 3 {
		t.Fatalf("Versions = %d, %v, want 3", len(versions), err)
	}
	for i, want := range []string{"three HIDE VEIL", "two  ", "one  "} {
		if md, err := s.VersionMarkdown(k, versions[i]); err != nil || string(md) != want {
			t.Errorf("version %d = %q, %v, want %q", i, md, err, want)
		}
	}
}

// That its origin says that a page is gone stays known when a newer edition cleans what is told of it.
func TestAPageThatIsGoneStaysSoUnderANewEdition(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir, Cleaner: hiding(1)})
	const url = "https://a.test/x"
	putPage(t, s, url, "one")
	k := page.KeyOf(url)
	gone := page.Error{Kind: "http", Message: "HTTP 410", Status: 410}
	if err := s.PageFailed(k, gone); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = openStore(t, store.Options{Dir: dir, Cleaner: hiding(2)})
	if p, err := s.Page(k); err != nil || p.Error == nil || !reflect.DeepEqual(*p.Error, gone) {
		t.Errorf("Page = %+v, %v, want one with the error %+v", p, err, gone)
	}
}

// Whatever an older program stored beside a page's content is told without what no reader sees, by every list.
func TestRecordsOfAnOlderProgramAreCleaned(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	const url = "https://a.test/x"
	r, content, _ := newPage(url, "Seen first. HIDE Seen last.")
	p := &page.Page{Record: *r}
	p.Title, p.Description, p.Excerpt = "T\u202ei", "D\u202ee", "Seen first. HIDE Seen last."
	p.Meta, p.Error = page.Meta{"og:\u202etitle": "O\u202e"}, &page.Error{Kind: "http", Message: "M\u202e"}
	k := page.KeyOf(url)
	if _, err := s.PutPage(&p.Record, content, store.Sum{}); err != nil {
		t.Fatal(err)
	}
	s.AddVisit(k, store.Visit{URL: url})
	if _, err := s.PutFetched("one", p, content); err != nil {
		t.Fatal(err)
	}
	sum := store.Summary{ContentHash: p.ContentHash, Kind: "brief", By: "extract 2", Text: "It says HIDE."}
	if err := s.AddSummary(k, sum); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)

	s = openStore(t, store.Options{Dir: dir, Cleaner: hiding(1)})
	fetched, err := s.FetchedPage("one", k)
	if err != nil || fetched.Content != "Seen first.  Seen last." {
		t.Errorf("the page of a set is %+v, %v", fetched, err)
	}
	one, err := s.Page(k)
	_, found, err2 := s.FindPage(k.Doc())
	recent, _, err3 := s.Pages(store.PageQuery{})
	sorted, _, err4 := s.Pages(store.PageQuery{Sort: "url"})
	ofHost, _, err5 := s.Pages(store.PageQuery{Host: "a.test", Sort: "visits"})
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	told := slices.Concat(s.Fetched("one").Pages, []*page.Page{fetched, one, found}, recent, sorted, ofHost)
	if len(told) != 7 {
		t.Fatalf("%d pages are told", len(told))
	}
	for i, p := range told {
		if p.Title != "Ti" || p.Description != "De" || p.Meta["og:title"] != "O" ||
			p.Excerpt != "Seen first. Seen last." ||
			p.Error.Message != "M" {
			t.Errorf("page %d is told as %q, %q, %q, %q, %+v", i, p.Title, p.Description, p.Meta, p.Excerpt, p.Error)
		}
	}
	if versions, err := s.Versions(k); err != nil || versions[0].Title != "Ti" {
		t.Errorf("its versions are %+v, %v", versions, err)
	}
	if list := s.Summaries(k); len(list) > 0 {
		t.Errorf("a summary of what nobody cleaned is told: %+v", list)
	}
	if err := s.AddSummary(k, sum); err != nil || len(s.Summaries(k)) != 1 {
		t.Errorf("a summary made now: %v, %+v", err, s.Summaries(k))
	}
}

func TestVersionsOfAPageAreBounded(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/x"
	for i := range store.MaxVersions + 10 {
		putPage(t, s, url, fmt.Sprint("content ", i))
	}
	versions, err := s.Versions(page.KeyOf(url))
	if err != nil || len(versions) != store.MaxVersions ||
		versions[0].ContentHash != fmt.Sprint("content ", store.MaxVersions+9) {
		t.Errorf("Versions = %d, %v; want the newest %d", len(versions), err, store.MaxVersions)
	}
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(s.Keys("d/")); got != store.MaxVersions {
		t.Errorf("%d bodies, want those of %d versions", got, store.MaxVersions)
	}
}

func TestVisitsAreCountedAtOnceAndForGood(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	const url = "https://a.test/x"
	putPage(t, s, url, "content")
	k := page.KeyOf(url)
	for i := range 5 {
		s.AddVisit(k, store.Visit{
			URL: url, Session: fmt.Sprint("s", i%2), Source: page.Local, FromCache: i > 0, Tokens: 10,
			HTMLTokens: 100,
		})
	}
	for pass := range 2 {
		p, err := s.Page(k)
		if err != nil || p.VisitCount != 5 || p.FirstVisitedAt.IsZero() || p.LastVisitedAt.Before(p.FirstVisitedAt) {
			t.Errorf("pass %d: Page = %+v, %v", pass, p, err)
		}
		got := s.Totals()
		if got.Visits != 5 || got.VisitsBySource[page.Local] != 5 || got.MarkdownTokens != 50 || got.HTMLTokens != 500 {
			t.Errorf("pass %d: Totals() = %+v", pass, got)
		}
		hosts, err := s.TopHosts(3)
		if err != nil || !slices.Equal(hosts, []store.HostTotal{{Host: "a.test", Visits: 5, Hits: 4}}) {
			t.Errorf("pass %d: TopHosts = %v, %v", pass, hosts, err)
		}
		for _, q := range []struct {
			query store.VisitQuery
			want  int
		}{
			{store.VisitQuery{}, 5},
			{store.VisitQuery{Page: &k}, 5},
			{store.VisitQuery{Session: "s1"}, 2},
			{store.VisitQuery{Page: &page.Key{}}, 0},
		} {
			visits, _, err := s.Visits(q.query)
			if err != nil || len(visits) != q.want {
				t.Errorf("pass %d: Visits(%+v) = %d, %v, want %d", pass, q.query, len(visits), err, q.want)
			}
		}
		closeStore(t, s)
		s = openStore(t, store.Options{Dir: dir})
	}
}

func TestPagesAreFiltered(t *testing.T) {
	s := openStore(t, store.Options{})
	old := time.Now().Add(-48 * time.Hour)
	for _, p := range []page.Record{
		{URL: "https://a.test/repo", Type: page.GitHubRepo, Source: page.Local, FetchedAt: time.Now()},
		{URL: "https://a.test/old", Type: page.Web, Source: page.Browser, FetchedAt: old},
		{
			URL: "https://a.test/cut", Type: page.Web, Source: page.Local, FetchedAt: time.Now(),
			Warnings: []string{"cut=3"},
		},
	} {
		p.NormalizedURL = p.URL
		if _, err := s.PutPage(&p, []byte(p.URL), store.Sum{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		query store.PageQuery
		want  string
	}{
		{store.PageQuery{Kind: "github_repo"}, "repo"},
		{store.PageQuery{Source: "browser"}, "old"},
		{store.PageQuery{Since: time.Now().Add(-time.Hour), Kind: "web"}, "cut"},
		{store.PageQuery{Warning: "any"}, "cut"},
		{store.PageQuery{Warning: "cut", Host: "a.test"}, "cut"},
	} {
		list, _, err := s.Pages(tt.query)
		if err != nil || len(list) != 1 || list[0].URL != "https://a.test/"+tt.want {
			t.Errorf("Pages(%+v) = %d pages, %v, want the page %s", tt.query, len(list), err, tt.want)
		}
	}
	if list, _, err := s.Pages(store.PageQuery{Warning: "none"}); err != nil || len(list) > 0 {
		t.Errorf("a warning that no page has: %d pages, %v", len(list), err)
	}
}

func TestListsGiveEachOnceAndInOrder(t *testing.T) {
	s := openStore(t, store.Options{})
	start := time.Now().Add(-time.Hour)
	const n = 23
	for i := range n {
		url := fmt.Sprintf("https://%c.test/%02d", 'a'+i%2, i)
		putPage(t, s, url, strings.Repeat("word ", i+1))
		for v := range 1 + i%5 {
			s.AddVisit(page.KeyOf(url), store.Visit{URL: url, Time: start.Add(time.Duration(100*i+v) * time.Second)})
		}
	}
	latestFirst := func(a, b *page.Page) bool { return a.LastVisitedAt.After(b.LastVisitedAt) }
	for _, tt := range []struct {
		query store.PageQuery
		want  int
		order func(a, b *page.Page) bool
	}{
		{store.PageQuery{}, n, latestFirst},
		{store.PageQuery{Host: "a.test"}, 12, latestFirst},
		{store.PageQuery{Sort: "visits"}, n, func(a, b *page.Page) bool { return a.VisitCount >= b.VisitCount }},
		{store.PageQuery{Sort: "tokens"}, n, func(a, b *page.Page) bool { return a.Tokens >= b.Tokens }},
		{store.PageQuery{Sort: "saved"}, n, func(a, b *page.Page) bool { return a.Saved() >= b.Saved() }},
		{store.PageQuery{Sort: "url", Host: "b.test"}, 11, func(a, b *page.Page) bool { return a.URL < b.URL }},
		{store.PageQuery{Text: "TEST/1"}, 10, latestFirst},
		{store.PageQuery{Host: "none.test"}, 0, nil},
		{store.PageQuery{Look: 3}, n, latestFirst},
		{
			store.PageQuery{Host: "b.test", Look: 3},
			11,
			func(a, b *page.Page) bool { return a.LastVisitedAt.After(b.LastVisitedAt) },
		},
		{store.PageQuery{Text: "test/07", Look: 3}, 1, nil},
	} {
		q := tt.query
		q.Limit = 4
		var all []*page.Page
		for {
			pages, next, err := s.Pages(q)
			if err != nil {
				t.Fatalf("Pages(%+v): %v", q, err)
			}
			all = append(all, pages...)
			if q.Cursor = next; next == "" {
				break
			}
		}
		seen := map[string]bool{}
		for i, p := range all {
			if seen[p.URL] {
				t.Errorf("Pages(%+v): %s twice", tt.query, p.URL)
			}
			seen[p.URL] = true
			if i > 0 && !tt.order(all[i-1], p) {
				t.Errorf("Pages(%+v): %s before %s", tt.query, all[i-1].URL, p.URL)
			}
		}
		if len(all) != tt.want {
			t.Errorf("Pages(%+v): %d pages, want %d", tt.query, len(all), tt.want)
		}
	}
	putPage(t, s, "https://a.test/crawled", "Nobody has read this.")
	for _, q := range []store.PageQuery{{}, {Host: "a.test"}} {
		q.Limit = 100
		all, _, err := s.Pages(q)
		if err != nil || len(all) == 0 || all[len(all)-1].URL != "https://a.test/crawled" {
			t.Errorf("Pages(%+v): a page that nobody read is not the last: %v", q, err)
		}
	}
	for _, q := range []store.PageQuery{
		{Sort: "odd"}, {Cursor: "%%"}, {Cursor: "eHh4"}, {Sort: "url", Cursor: "eHh4"},
	} {
		if _, _, err := s.Pages(q); err == nil {
			t.Errorf("Pages(%+v): no error", q)
		}
	}
}

func TestDeletedPageLeavesNothing(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/x"
	putPage(t, s, url, "one")
	putPage(t, s, url, "two")
	k := page.KeyOf(url)
	s.AddVisit(k, store.Visit{URL: url})
	if err := s.PutPageRendition(k, &store.Rendition{
		Recipe: "browser", Markdown: []byte("rendered"),
		Expires: time.Now().Add(time.Hour),
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.DeletePage(k); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"p/", "pv/", "pr/", "hp/", "rp/", "xp/", "vi/", "vp/", "c/p/", "b/", "d/"} {
		if keys := s.Keys(prefix); len(keys) != 0 {
			t.Errorf("%d keys %s are left", len(keys), prefix)
		}
	}
	if _, err := s.Page(k); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Page: %v, want ErrNotFound", err)
	}
	if err := s.DeletePage(k); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("DeletePage again: %v, want ErrNotFound", err)
	}
}

func TestPageIsFoundByItsID(t *testing.T) {
	s := openStore(t, store.Options{})
	p, _ := putPage(t, s, "https://a.test/x", "content")
	for _, doc := range []string{p.Doc, p.Doc[:8], p.Doc[:9], strings.ToUpper(p.Doc), page.KeyOf(p.URL).String()} {
		if k, found, err := s.FindPage(doc); err != nil || k != page.KeyOf(p.URL) || found.URL != p.URL {
			t.Errorf("FindPage(%q) = %s, %v", doc, k, err)
		}
	}
	if _, _, err := s.FindPage("0123456789abcdef"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("FindPage of another: %v, want ErrNotFound", err)
	}
	for _, doc := range []string{"", "abc", "not-hex-at-all", strings.Repeat("a", 66)} {
		if _, _, err := s.FindPage(doc); err == nil || errors.Is(err, store.ErrNotFound) {
			t.Errorf("FindPage(%q): %v, want another error than ErrNotFound", doc, err)
		}
	}
}

func TestRenditionsComeBack(t *testing.T) {
	s := openStore(t, store.Options{})
	source := put(t, s, response("https://a.test/"), "<h1>x</h1>").Body
	k := page.KeyOf("https://a.test/")
	want := &store.Rendition{
		Source: source, Recipe: "v1", Markdown: []byte("# x"), Title: "X", Tokens: 2,
		Warnings: []string{"thin"},
	}
	if err := s.PutRendition(want); err != nil {
		t.Fatal(err)
	}
	if err := s.PutPageRendition(k, &store.Rendition{
		Recipe: "b1", Markdown: []byte("# y"),
		Expires: time.Now().Add(-time.Second),
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := s.Rendition(source, "v1")
		if err != nil || string(got.Markdown) != "# x" || got.Title != "X" ||
			!slices.Equal(got.Warnings, want.Warnings) {
			t.Errorf("Rendition = %+v, %v", got, err)
		}
		if _, err := s.Rendition(source, "v2"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Rendition of another recipe: %v", err)
		}
		if _, err := s.PageRendition(k, "b1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("expired rendition: %v, want ErrNotFound", err)
		}
		flush(t, s)
		s.Chill()
	}
	if _, err := s.ClearResponses(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if keys := s.Keys("r/"); len(keys) != 0 {
		t.Errorf("%d renditions outlive their source", len(keys))
	}
}

func TestJobsComeUntilTheyAreDone(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	for i := range 5 {
		putPage(t, s, fmt.Sprint("https://a.test/", i), "content")
	}
	jobs := func() (seqs []uint64) {
		t.Helper()
		list, err := s.Jobs("index", 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range list {
			seqs = append(seqs, j.Seq)
		}
		return seqs
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want ...uint64) {
		t.Helper()
		if got := jobs(); !slices.Equal(got, want) {
			t.Errorf("jobs = %v, want %v", got, want)
		}
	}
	expect(1, 2, 3, 4, 5)
	must(s.AckJobs("index", 1, 3))
	expect(2, 4, 5)
	list, _ := s.Jobs("index", 1)
	must(s.RetryJob("index", list[0], errors.New("no luck")))
	if list, _ = s.Jobs("index", 1); len(list) != 1 || list[0].Attempts != 1 {
		t.Errorf("retried job = %+v, want one attempt", list)
	}
	putPage(t, s, "https://a.test/3", "changed") // job 4 is overtaken
	expect(2, 5, 6)
	must(s.DeletePage(page.KeyOf("https://a.test/4")))
	closeStore(t, s)
	s = openStore(t, store.Options{Dir: dir})
	expect(2, 6, 7)
	must(s.AckJobs("index", 2, 6, 7))
	expect()
	if got := s.QueuedJobs("index"); got != 0 {
		t.Errorf("QueuedJobs = %d, want 0", got)
	}
	if err := s.AckJobs("index", 99); err == nil {
		t.Error("a job that never was is acknowledged")
	}
	putPage(t, s, "https://a.test/new", "content")
	expect(8)
}

func TestBackupIsRestoredWhole(t *testing.T) {
	s := openStore(t, store.Options{})
	long := strings.Repeat("0123456789", store.PartSize/3)
	r := put(t, s, response("https://a.test/"), long)
	putPage(t, s, "https://a.test/", "content")
	var backup bytes.Buffer
	if err := s.Backup(&backup); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := store.Restore(dir, bytes.NewReader(backup.Bytes())); err != nil {
		t.Fatal(err)
	}
	copied := openStore(t, store.Options{Dir: dir})
	if got := bodyOf(t, copied, r.Body); got != long {
		t.Error("the body is another")
	}
	if got, want := copied.Totals(), s.Totals(); got.Pages != want.Pages || got.ResponseBytes != want.ResponseBytes ||
		copied.Health().State != "ok" {
		t.Errorf("Totals() = %+v, want %+v", got, want)
	}
	if err := store.Restore(dir, bytes.NewReader(backup.Bytes())); err == nil {
		t.Error("restored over a store")
	}
	for name, bad := range map[string][]byte{
		"empty": nil, "foreign": []byte("PK\x03\x04 something else entirely"), "cut": backup.Bytes()[:backup.Len()-13],
		"flipped": func() []byte { b := bytes.Clone(backup.Bytes()); b[len(b)/2] ^= 1; return b }(),
	} {
		if err := store.Restore(t.TempDir(), bytes.NewReader(bad)); err == nil {
			t.Errorf("%s backup: no error", name)
		}
	}
}

func TestPageKeysGivesEveryPageOnce(t *testing.T) {
	s := openStore(t, store.Options{})
	want := map[page.Key]bool{}
	for n := range 25 {
		url := fmt.Sprintf("https://a.test/%d", n)
		putPage(t, s, url, "content")
		want[page.KeyOf(url)] = true
	}
	flush(t, s)
	got := map[page.Key]bool{}
	var from page.Key
	for {
		keys := s.PageKeys(from, 10)
		if len(keys) == 0 {
			break
		}
		for _, k := range keys {
			if got[k] {
				t.Errorf("page %s comes twice", k.Doc())
			}
			got[k] = true
		}
		from = keys[len(keys)-1]
		from[len(from)-1]++ // no key of this test ends in 255
	}
	if !maps.Equal(got, want) {
		t.Errorf("%d pages, want %d", len(got), len(want))
	}
}
