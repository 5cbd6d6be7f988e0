package store_test

import (
	"errors"
	"strconv"
	"testing"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

func TestMemoryNeverKeepsARenditionThatWentMeanwhile(t *testing.T) {
	s := openStore(t, store.Options{})
	const url = "https://a.test/"
	k := page.KeyOf(url)
	beside(t, 4, func() { _, _ = s.PageRendition(k, "recipe") }) // it may not be there yet
	for n := range 100 {
		putPage(t, s, url, "content")
		r := &store.Rendition{Recipe: "recipe", Title: strconv.Itoa(n), Markdown: []byte("content " + strconv.Itoa(n))}
		s.Chill() // so that readers look at the disk
		if err := s.PutPageRendition(k, r); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if got, err := s.PageRendition(k, "recipe"); err != nil || got.Title != r.Title {
				t.Fatalf("after write %d: %+v, %v", n, got, err)
			}
		}
		s.Chill()
		if err := s.DeletePage(k); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if got, err := s.PageRendition(k, "recipe"); !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("after deletion %d: %+v, %v", n, got, err)
			}
		}
	}
}
