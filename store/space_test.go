package store_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"readthru/store"
)

func TestFullDiskStopsWritesAndNothingElse(t *testing.T) {
	var free atomic.Uint64
	free.Store(10 << 30)
	space := func(string) (uint64, uint64, error) { return free.Load(), 100 << 30, nil }
	s, err := store.OpenWithSpace(store.Options{Dir: t.TempDir()}, space)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	kept, gone := put(t, s, response("https://a.test/kept"), "kept"), put(t, s, response("https://a.test/gone"), "gone")
	flush(t, s)

	free.Store(200 << 20)
	_ = s.PutResponse(response("https://a.test/late"), strings.NewReader("late")) // taken before anybody looked
	if err := s.Flush(); !errors.Is(err, store.ErrFull) {
		t.Errorf("Flush: %v, want ErrFull", err)
	}
	if list := responses(t, s, "https://a.test/late"); len(list) != 0 {
		t.Error("a dropped response is still there")
	}
	if h := s.Health(); h.State != "read-only" || h.Reason == "" || h.Dropped == 0 {
		t.Errorf("Health() = %+v, want read-only", h)
	}
	s.Chill()
	if got := bodyOf(t, s, kept.Body); got != "kept" {
		t.Errorf("hit while full = %q", got)
	}
	if err := s.Disclose(store.Disclosure{Service: "x"}); !errors.Is(err, store.ErrFull) {
		t.Errorf("Disclose: %v, want ErrFull", err)
	}
	free.Store(1 << 20) // not even a deletion fits
	if n, err := s.DeleteResponses(gone.URL); n != 1 || err != nil {
		t.Errorf("DeleteResponses = %d, %v", n, err)
	}
	_ = s.Flush()
	s.Chill()
	if list := responses(t, s, gone.URL); len(list) != 0 {
		t.Error("what was deleted came back")
	}

	free.Store(10 << 30)
	if h := s.Health(); h.State != "ok" {
		t.Errorf("Health() = %+v, want ok again", h)
	}
	put(t, s, response("https://a.test/new"), "new")
	flush(t, s)
	s.Chill()
	if len(responses(t, s, "https://a.test/new")) != 1 || len(responses(t, s, gone.URL)) != 0 {
		t.Error("writing does not go on where it stopped")
	}
	got, want := s.Totals(), s.Recounted()
	if got.Responses != want.Responses || got.ResponseBytes != want.ResponseBytes {
		t.Errorf("Totals() = %+v, counted %+v", got, want)
	}
}

func TestStoreOnAFullDiskOpensInMemoryOnly(t *testing.T) {
	dir := t.TempDir()
	s, err := store.OpenWithSpace(store.Options{Dir: dir}, func(string) (uint64, uint64, error) { return 1 << 20, 100 << 30, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if h := s.Health(); h.State != "memory-only" || h.Reason == "" {
		t.Errorf("Health() = %+v", h)
	}
	if err := s.PutResponse(response("https://a.test/"), strings.NewReader("x")); !errors.Is(err, store.ErrFull) {
		t.Errorf("PutResponse: %v, want ErrFull", err)
	}
	p, md, k := newPage("https://a.test/", "x")
	if _, err := s.PutPage(p, md, store.Sum{}); !errors.Is(err, store.ErrFull) {
		t.Errorf("PutPage: %v, want ErrFull", err)
	}
	s.AddVisit(k, store.Visit{URL: p.URL})
	if got := s.Count("a", "b", 1); got != 1 {
		t.Errorf("Count = %d, want 1", got)
	}
	if _, _, err := s.Pages(store.PageQuery{}); err != nil {
		t.Errorf("Pages: %v", err)
	}
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Errorf("Sweep: %v", err)
	}
}
