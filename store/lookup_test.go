package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestLookupReadsWhatAnswersARequestForAPage(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/"
	put(t, s, response(url), "older")
	other := response(url)
	other.Class = "other"
	newest := put(t, s, other, "newest")
	if err := s.PutRendition(&store.Rendition{Source: newest.Body, Recipe: "body", Title: "of the body"}); err != nil {
		t.Fatal(err)
	}
	if err := s.PutPageRendition(page.KeyOf(url), &store.Rendition{Recipe: "page", Title: "of the page"}); err != nil {
		t.Fatal(err)
	}
	putPage(t, s, url, "content")
	if _, _, err := s.Learn("a.test", store.Twins, "", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	q := store.Query{URI: url, Host: "a.test", Page: page.KeyOf(url)}
	q.Recipes = func(r *store.Response) (string, string) {
		if r.Body != newest.Body {
			t.Errorf("recipes wanted of the response with body %s, want the newest", r.Body)
		}
		return "page", "body"
	}
	found := s.Lookup(q)
	if len(found.Responses) != 2 || !found.Host.Knows(store.Twins, time.Now()) || found.OfPage == nil ||
		found.OfPage.Title != "of the page" || found.OfBody == nil || found.OfBody.Title != "of the body" {
		t.Errorf("found: %+v", found)
	}
	q.URI = "https://a.test/other"
	found = s.Lookup(q)
	if len(found.Responses) != 0 || found.OfPage != nil || !found.Host.Knows(store.Twins, time.Now()) {
		t.Errorf("found without responses: %+v", found)
	}
}

func TestPutResponseDeletesTheObsolete(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/"
	for _, class := range []string{"kept", "obsolete"} {
		r := response(url)
		r.Class = class
		put(t, s, r, class)
	}
	err := s.PutResponse(response(url), strings.NewReader("new"), func(o *store.Response) bool {
		return o.Class == "obsolete"
	})
	if err != nil {
		t.Fatal(err)
	}
	list := responses(t, s, url)
	if len(list) != 2 || list[0].Class == "obsolete" || list[1].Class == "obsolete" {
		t.Errorf("%d responses are left: %+v", len(list), list)
	}
}

func TestThatThereIsNoResponseHoldsUntilThereIsOne(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/"
	count := func(want int) {
		t.Helper()
		if list, err := s.Responses(url); err != nil || len(list) != want {
			t.Errorf("%d responses, %v; want %d", len(list), err, want)
		}
	}
	for range 3 {
		count(0)
		count(0)
		put(t, s, response(url), "content")
		count(1)
		flush(t, s)
		s.Chill()
		count(1)
		if got := s.Totals().Responses; got != 1 {
			t.Errorf("%d responses in all, want 1", got)
		}
		if n, err := s.DeleteResponses(url); n != 1 || err != nil {
			t.Fatalf("%d deleted, %v", n, err)
		}
	}
	count(0)
}

func TestAnotherNameOfAPageIsReadOnce(t *testing.T) {
	s := openStore(t, store.Options{})
	name, other := page.KeyOf("https://a.test/name"), page.KeyOf("https://a.test/other")
	for range 2 {
		if got := s.Named(name); got != (page.Key{}) {
			t.Fatalf("named %s before it is", got.Doc())
		}
		if got := s.Resolve(name); got != name {
			t.Fatalf("a key that names no page leads to %s", got.Doc())
		}
	}
	for _, of := range []page.Key{other, page.KeyOf("https://a.test/third")} {
		if err := s.NamePage(name, of); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got := s.Named(name); got != of {
				t.Fatalf("named %s, want %s", got.Doc(), of.Doc())
			}
			if got := s.Resolve(name); got != of {
				t.Fatalf("leads to %s, want %s", got.Doc(), of.Doc())
			}
		}
		flush(t, s)
		s.Chill()
	}
}

// A page is at its own key alone, and found by its other names.
func TestAPageIsAtItsOwnKey(t *testing.T) {
	s := openStore(t, store.Options{})
	own, name := page.KeyOf("https://a.test/own"), page.KeyOf("https://a.test/name")
	putPage(t, s, "https://a.test/own", "# Own")
	if err := s.NamePage(name, own); err != nil {
		t.Fatal(err)
	}
	if p, err := s.PageAt(own); err != nil || p.NormalizedURL != "https://a.test/own" {
		t.Errorf("at its key: %v, %v", p, err)
	}
	if _, err := s.Page(name); err != nil {
		t.Errorf("by its name: %v", err)
	}
	if _, err := s.PageAt(name); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("at its name: %v, want ErrNotFound", err)
	}
}

// inOnePiece is content in memory whose reader fails.
type inOnePiece []byte

func (inOnePiece) Read([]byte) (int, error) { return 0, errors.New("it was read") }
func (c inOnePiece) Whole() []byte          { return c }

func TestContentInOnePieceIsKeptUnread(t *testing.T) {
	s := openStore(t, store.Options{})
	for _, n := range []int{0, 1, 300 << 10} { // of no part, of one, and of two
		content := bytes.Repeat([]byte("x"), n)
		r := response(fmt.Sprint("https://a.test/", n))
		if err := s.PutResponse(r, inOnePiece(content), nil); err != nil {
			t.Fatal(err)
		}
		body, err := s.Body(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		_ = body.Close()
		if err != nil || !bytes.Equal(got, content) || r.Length != int64(n) {
			t.Errorf("%d bytes: got %d of length %d, error %v", n, len(got), r.Length, err)
		}
	}
}
