package store_test

import (
	"errors"
	"testing"

	"github.com/readthru/readthru/store"
)

func TestLostContentOfAPageComesBackWithItsNextReading(t *testing.T) {
	s := openStore(t, store.Options{})
	const url, content = "https://a.test/", "# The content"
	putPage(t, s, url, content)
	flush(t, s)
	_, _, k := newPage(url, content)
	for _, key := range s.Keys("b/") {
		if err := s.PutRaw(key, []byte("damaged by the disk")); err != nil {
			t.Fatal(err)
		}
	}
	s.Chill()
	if _, err := s.Markdown(k); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("Markdown of damaged content: %v, want ErrNotFound", err)
	}
	if _, changed := putPage(t, s, url, content); changed {
		t.Error("equal content counts as changed")
	}
	flush(t, s)
	s.Chill()
	got, err := s.Markdown(k)
	if err != nil || string(got) != content {
		t.Errorf("Markdown = %q, %v, want the content again", got, err)
	}
	if err := s.DeletePage(k); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := append(s.Keys("d/"), s.Keys("b/")...); len(left) != 0 {
		t.Errorf("%d keys of bodies are left, want none: a reference was counted twice", len(left))
	}
}

func TestDamagedHeadsLeaveTheCounts(t *testing.T) {
	s := openStore(t, store.Options{})
	r := put(t, s, response("https://a.test/"), "one")
	flush(t, s)
	if err := s.PutRaw("e/"+string(r.ID[:]), []byte("damaged by the disk")); err != nil {
		t.Fatal(err)
	}
	s.Chill()
	put(t, s, response(r.URL), "two")
	if got, want := s.Totals().Responses, s.Recounted().Responses; got != want || got != 1 {
		t.Errorf("Totals().Responses = %d, counted %d, want 1", got, want)
	}
	if err := s.PutRaw("e/"+string(responses(t, s, r.URL)[0].ID[:]), []byte("damaged by the disk")); err != nil {
		t.Fatal(err)
	}
	s.Chill()
	if _, err := s.DeleteResponses(r.URL); err != nil {
		t.Fatal(err)
	}
	if got := s.Totals().Responses; got != 0 {
		t.Errorf("Totals().Responses = %d after a deletion, want 0", got)
	}
}
