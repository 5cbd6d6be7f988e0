package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestWhatIsReadIsWhatWasWrittenLast(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/"
	k := page.KeyOf(url)
	for range 2 { // the second answer comes from memory
		if _, err := s.Page(k); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("Page before it is put: %v, want ErrNotFound", err)
		}
		if h, err := s.Host("a.test"); err != nil || h.Knows(store.Twins, time.Now()) {
			t.Fatalf("Host before it is learnt: %+v, %v", h, err)
		}
	}
	title := func(want string) *page.Page {
		t.Helper()
		p, err := s.Page(k)
		if err != nil || p.Title != want {
			t.Fatalf("Page: %+v, %v, want the title %q", p, err, want)
		}
		return p
	}
	putPage(t, s, url, "content")
	first := title("Title of " + url)
	first.Title = "changed by its reader"
	title("Title of " + url)
	p, md, _ := newPage(url, "content")
	p.Title = "Another"
	if _, err := s.PutPage(p, md, store.Sum{}); err != nil {
		t.Fatal(err)
	}
	title("Another")
	flush(t, s)
	title("Another")
	if err := s.PageFailed(k, page.Error{Kind: "timeout"}); err != nil {
		t.Fatal(err)
	}
	if p := title("Another"); p.Error == nil || p.Error.Kind != "timeout" {
		t.Errorf("error %+v, want that noted last", p.Error)
	}
	if err := s.DeletePage(k); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Page(k); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Page after it is deleted: %v, want ErrNotFound", err)
	}
	if _, _, err := s.Learn("a.test", store.Twins, "", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	if h, err := s.Host("a.test"); err != nil || !h.Knows(store.Twins, time.Now()) {
		t.Errorf("Host after it is learnt: %+v, %v", h, err)
	}
}

func TestReadersBesideAWriterEndWithItsLastWord(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/"
	k := page.KeyOf(url)
	beside(t, 2, func() { _, _ = s.Page(k) }) // it may not be there yet
	for n := range 300 {
		p, md, _ := newPage(url, "content")
		p.Tokens = n
		if _, err := s.PutPage(p, md, store.Sum{}); err != nil {
			t.Fatal(err)
		}
		if n%50 == 0 {
			flush(t, s) // what comes next is read from the disk
		}
		if got, err := s.Page(k); err != nil || got.Tokens != n {
			t.Fatalf("after write %d: %+v, %v", n, got, err)
		}
	}
}
