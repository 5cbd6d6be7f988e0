package store_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/store"
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
	_ = s.PutResponse(response("https://a.test/late"), strings.NewReader("late"), nil) // taken before anybody looked
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

func TestResponseThatIsDroppedAsItIsStoredIsNotInMemory(t *testing.T) {
	var free atomic.Uint64
	space := func(string) (uint64, uint64, error) { return free.Load(), 100 << 30, nil }
	free.Store(10 << 30)
	s, err := store.OpenWithSpace(store.Options{Dir: t.TempDir()}, space)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for i := range 2000 { // the writer may drop it before PutResponse returns, or after
		free.Store(10 << 30)
		s.Health() // looks at the disk
		free.Store(200 << 20)
		uri := "https://a.test/" + strconv.Itoa(i)
		stored := s.PutResponse(response(uri), strings.NewReader("late"), nil)
		if err := s.Flush(); stored == nil && !errors.Is(err, store.ErrFull) {
			t.Fatalf("Flush: %v, want ErrFull", err)
		}
		if list := responses(t, s, uri); len(list) != 0 {
			t.Fatalf("response %d: dropped, and still there", i)
		}
	}
}

func TestStoreOnAFullDiskOpensInMemoryOnly(t *testing.T) {
	dir := t.TempDir()
	s, err := store.OpenWithSpace(store.Options{Dir: dir},
		func(string) (uint64, uint64, error) { return 1 << 20, 100 << 30, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if h := s.Health(); h.State != "memory-only" || h.Reason == "" {
		t.Errorf("Health() = %+v", h)
	}
	if err := s.PutResponse(response("https://a.test/"), strings.NewReader("x"), nil); !errors.Is(err, store.ErrFull) {
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

func TestNothingIsDisclosedThatIsNotOnRecord(t *testing.T) {
	var full atomic.Bool
	space := func(string) (uint64, uint64, error) {
		if full.Load() {
			return 200 << 20, 100 << 30, nil
		}
		return 10 << 30, 100 << 30, nil
	}
	s, err := store.OpenWithSpace(store.Options{Dir: t.TempDir()}, space)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 32 { // others ask, too, what was lost
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = s.Flush()
				}
			}
		})
	}
	want := map[string]bool{}
	for i := range 200 {
		full.Store(false)
		s.Health()
		full.Store(i%2 == 0)
		if name := strconv.Itoa(i); s.Disclose(store.Disclosure{Service: name}) == nil {
			want[name] = true
		}
	}
	full.Store(false)
	close(stop)
	wg.Wait()
	list, _, err := s.Disclosures("", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		delete(want, d.Service)
	}
	if len(want) != 0 {
		t.Errorf("%d disclosures were answered as recorded and are not: %v", len(want), want)
	}
}

func TestBodyOfSeveralPartsIsOnDiskWholeOrNotAtAll(t *testing.T) {
	// The disk has room at some looks and not at others: whatever was taken of a body, nobody is promised a part of it.
	for after := range 12 {
		var looks atomic.Int64
		looks.Store(1000)
		space := func(string) (uint64, uint64, error) {
			if looks.Add(-1) == 0 {
				return 200 << 20, 100 << 30, nil
			}
			return 10 << 30, 100 << 30, nil
		}
		s, err := store.OpenWithSpace(store.Options{Dir: t.TempDir()}, space)
		if err != nil {
			t.Fatal(err)
		}
		content := make([]byte, 12*store.PartSize)
		_, _ = rand.NewChaCha8([32]byte{1}).Read(content)
		looks.Store(int64(after) + 1)
		r := response("https://a.test/")
		if s.PutResponse(r, bytes.NewReader(content), nil) == nil {
			_ = s.Flush()
			s.Chill()
			for _, found := range responses(t, s, r.URL) {
				if b, err := s.Body(found.Body); err == nil {
					if _, err := io.Copy(io.Discard, b); err != nil {
						t.Errorf("no room at look %d: %v after the body was promised", after, err)
					}
					_ = b.Close()
				}
			}
		}
		if got, want := s.Totals(), s.Recounted(); got.Responses != want.Responses ||
			got.ResponseBytes != want.ResponseBytes {
			t.Errorf("no room at look %d: Totals() = %+v, counted %+v", after, got, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
