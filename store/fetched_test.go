package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func putFetched(t *testing.T, s *store.Store, session, url, content string) (gone int) {
	t.Helper()
	p, md, _ := newPage(url, content)
	p.ContentHash = ""
	gone, err := s.PutFetched(session, &page.Page{Record: *p}, md)
	if err != nil {
		t.Fatalf("PutFetched(%s, %s): %v", session, url, err)
	}
	return gone
}

// members are the URLs of a session's set, in its order.
func members(s *store.Store, session string) (urls []string) {
	for _, p := range s.Fetched(session).Pages {
		urls = append(urls, p.URL)
	}
	return urls
}

func TestASessionsSetLivesOnAndIsItsOwn(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	putFetched(t, s, "one", "https://a.test/x", "content of x")
	putFetched(t, s, "one", "https://a.test/y", "content of y")
	putFetched(t, s, "two", "https://a.test/z", "content of z")
	for pass := range 2 {
		if got := members(s, "one"); !slices.Equal(got, []string{"https://a.test/x", "https://a.test/y"}) {
			t.Errorf("pass %d: set of one: %v", pass, got)
		}
		if got := s.Fetched("one"); got.Bytes != 24 || got.Dropped != 0 ||
			got.Pages[0].Title != "Title of https://a.test/x" || got.Pages[0].LastVisitedAt.IsZero() {
			t.Errorf("pass %d: set of one: %+v", pass, got)
		}
		p, err := s.FetchedPage("two", page.KeyOf("https://a.test/z"))
		if err != nil || p.Content != "content of z" || p.ContentFormat != "markdown" {
			t.Errorf("pass %d: page of two: %+v, %v", pass, p, err)
		}
		if _, err := s.FetchedPage("two", page.KeyOf("https://a.test/x")); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("pass %d: a page of another session: %v", pass, err)
		}
		closeStore(t, s)
		s = openStore(t, store.Options{Dir: dir})
	}
}

func TestFetchedContentOutlivesItsPageVersionAndGoesWithThePage(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/x"
	putPage(t, s, url, "first")
	putFetched(t, s, "one", url, "first")
	for i := range store.MaxVersions + 1 { // the first version is dropped
		putPage(t, s, url, fmt.Sprint("content ", i))
	}
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Chill()
	if p, err := s.FetchedPage("one", page.KeyOf(url)); err != nil || p.Content != "first" {
		t.Fatalf("page of the set: %+v, %v, want what was fetched", p, err)
	}
	if err := s.DeletePage(page.KeyOf(url)); err != nil {
		t.Fatal(err)
	}
	if got := members(s, "one"); got != nil {
		t.Errorf("set after the page was deleted: %v", got)
	}
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := append(s.Keys("d/"), s.Keys("f/")...); len(got) != 0 {
		t.Errorf("%d bodies and entries are left", len(got))
	}
}

func TestWhatIsFetchedAgainTakesThePlaceOfWhatWasThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, store.Options{})
		putFetched(t, s, "one", "https://a.test/x", "old")
		putFetched(t, s, "one", "https://a.test/y", "content")
		time.Sleep(time.Second)
		putFetched(t, s, "one", "https://a.test/x", "old") // a moment later: nothing new
		if got := members(s, "one"); !slices.Equal(got, []string{"https://a.test/x", "https://a.test/y"}) {
			t.Errorf("set: %v, want it as it was", got)
		}
		time.Sleep(2 * time.Minute)
		putFetched(t, s, "one", "https://a.test/x", "old")
		if got := members(s, "one"); !slices.Equal(got, []string{"https://a.test/y", "https://a.test/x"}) {
			t.Errorf("set: %v, want the one obtained last at the end", got)
		}
		putFetched(t, s, "one", "https://a.test/x", "new content")
		p, err := s.FetchedPage("one", page.KeyOf("https://a.test/x"))
		if err != nil || p.Content != "new content" {
			t.Errorf("page: %+v, %v, want the new content", p, err)
		}
		if got := s.Fetched("one").Bytes; got != int64(len("content")+len("new content")) {
			t.Errorf("%d bytes", got)
		}
		closeStore(t, s)
	})
}

func TestASetIsBoundedInNumberAndSize(t *testing.T) {
	s := openStore(t, store.Options{})
	for i := range store.MaxFetched {
		if gone := putFetched(t, s, "many", fmt.Sprint("https://a.test/", i), "content"); gone != 0 {
			t.Fatalf("page %d: %d went", i, gone)
		}
	}
	if gone := putFetched(t, s, "many", "https://a.test/last", "content"); gone != 1 {
		t.Errorf("one more than fit: %d went, want 1", gone)
	}
	set := s.Fetched("many")
	if len(set.Pages) != store.MaxFetched || set.Dropped != 1 || set.Pages[0].URL != "https://a.test/1" {
		t.Errorf("set of %d pages from %s on, %d dropped", len(set.Pages), set.Pages[0].URL, set.Dropped)
	}

	third := strings.Repeat("x", store.MaxFetchedBytes/3)
	for i := range 3 {
		putFetched(t, s, "large", fmt.Sprint("https://a.test/", i), third)
	}
	if gone := putFetched(t, s, "large", "https://a.test/3", third+"y"); gone != 1 {
		t.Errorf("more bytes than fit: %d went, want 1", gone)
	}
	huge := strings.Repeat("x", store.MaxFetchedBytes+1)
	if gone := putFetched(t, s, "large", "https://a.test/huge", huge); gone != 1 {
		t.Errorf("a page that does not fit at all: %d went, want itself", gone)
	}
	if got := members(s, "large"); !slices.Equal(got,
		[]string{"https://a.test/1", "https://a.test/2", "https://a.test/3"}) {
		t.Errorf("set: %v", got)
	}
}

func TestTheSessionUsedLongestAgoMakesRoom(t *testing.T) {
	s := openStore(t, store.Options{})
	for i := range store.MaxSessions + 1 {
		putFetched(t, s, fmt.Sprint("session ", i), "https://a.test/x", "content")
	}
	if got := members(s, "session 0"); got != nil {
		t.Errorf("the first session still has %v", got)
	}
	if got := members(s, "session 1"); len(got) != 1 {
		t.Errorf("the second session has %v", got)
	}
	if n, err := s.ForgetFetched(page.KeyOf("https://a.test/x")); err != nil || n != store.MaxSessions {
		t.Errorf("ForgetFetched = %d, %v, want all %d", n, err, store.MaxSessions)
	}
}

func TestSetsAreEmptiedOneByOneAndTogether(t *testing.T) {
	s := openStore(t, store.Options{})
	for _, session := range []string{"one", "two"} {
		for _, url := range []string{"https://a.test/x", "https://a.test/y"} {
			putFetched(t, s, session, url, "content")
		}
	}
	k := page.KeyOf("https://a.test/x")
	for _, want := range []bool{true, false} {
		if was, err := s.DropFetched("one", k); err != nil || was != want {
			t.Errorf("DropFetched = %v, %v, want %v", was, err, want)
		}
	}
	for _, want := range []int{1, 0} {
		if n, err := s.ClearFetched("one"); err != nil || n != want {
			t.Errorf("ClearFetched = %d, %v, want %d", n, err, want)
		}
	}
	if n, err := s.ClearAllFetched(); err != nil || n != 2 {
		t.Errorf("ClearAllFetched = %d, %v, want 2", n, err)
	}
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := slices.Concat(s.Keys("d/"), s.Keys("f/")); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
}

func TestSetsOfSessionsLongUnusedAreSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, store.Options{})
		putFetched(t, s, "old", "https://a.test/x", "content")
		time.Sleep(10 * time.Minute)
		putFetched(t, s, "new", "https://a.test/x", "content")
		if err := s.SweepFetched(time.Now().Add(-5 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		if got := members(s, "old"); got != nil {
			t.Errorf("set of a session long unused: %v", got)
		}
		if got := members(s, "new"); len(got) != 1 {
			t.Errorf("set of the session in use: %v", got)
		}
		closeStore(t, s)
	})
}

func TestNamesOfSessions(t *testing.T) {
	for name, ok := range map[string]bool{
		"default": true, "Größe 1": true, strings.Repeat("n", 200): true,
		"": false, strings.Repeat("n", 201): false, "a\x00b": false, "a\nb": false, "\xff": false,
	} {
		if err := store.CheckSession(name); (err == nil) != ok || err != nil && !errors.Is(err, store.ErrNoSession) {
			t.Errorf("CheckSession(%q) = %v", name, err)
		}
	}
	s := openStore(t, store.Options{})
	p, md, _ := newPage("https://a.test/x", "content")
	if _, err := s.PutFetched("a\x00b", &page.Page{Record: *p}, md); !errors.Is(err, store.ErrNoSession) {
		t.Errorf("PutFetched: %v", err)
	}
}

func TestSessionsAreListedWithWhatTheyFetched(t *testing.T) {
	s := openStore(t, store.Options{})
	putFetched(t, s, "one", "https://a.test/1", "one")
	putFetched(t, s, "two", "https://a.test/1", "one")
	putFetched(t, s, "two", "https://a.test/2", "second")
	list := s.FetchedSessions()
	if len(list) != 2 || list[0].Name != "two" || list[0].Pages != 2 || list[0].Bytes != int64(len("onesecond")) ||
		list[1].Name != "one" || list[0].Used.IsZero() {
		t.Errorf("FetchedSessions = %+v", list)
	}
	if _, err := s.ClearFetched("two"); err != nil || len(s.FetchedSessions()) != 1 {
		t.Errorf("after one was cleared: %+v, %v", s.FetchedSessions(), err)
	}
}
