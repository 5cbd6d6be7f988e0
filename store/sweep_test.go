package store_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// later opens a store again when d has passed. Open, it would look for work many times in each second.
func later(t *testing.T, s *store.Store, o store.Options, d time.Duration) *store.Store {
	t.Helper()
	closeStore(t, s)
	time.Sleep(d)
	return openStore(t, o)
}

// TestSweepDeletesWhatIsPastItsRetain sweeps responses that are kept for an hour, for three, for good, and for an hour
// that became three.
func TestSweepDeletesWhatIsPastItsRetain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := store.Options{Dir: t.TempDir()}
		s := openStore(t, o)
		for i, hours := range []int{1, 3, 0, 1} {
			r := response(fmt.Sprintf("https://a.test/%d", i))
			if hours > 0 {
				r.Retain = time.Now().Add(time.Duration(hours) * time.Hour)
			}
			put(t, s, r, fmt.Sprint("content ", i))
		}
		fresh := *responses(t, s, "https://a.test/3")[0]
		fresh.Retain = time.Now().Add(3 * time.Hour)
		if err := s.UpdateResponse(&fresh); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			sleep time.Duration
			swept int
			left  []int
		}{{0, 0, []int{1, 1, 1, 1}}, {135 * time.Minute, 1, []int{0, 1, 1, 1}}, {2 * time.Hour, 2, []int{0, 0, 1, 0}}} {
			s = later(t, s, o, step.sleep)
			n, err := s.Sweep(t.Context())
			if n != step.swept || err != nil {
				t.Errorf("Sweep = %d, %v, want %d", n, err, step.swept)
			}
			for i, want := range step.left {
				if got := len(responses(t, s, fmt.Sprintf("https://a.test/%d", i))); got != want {
					t.Errorf("after %v: response %d: %d left, want %d", step.sleep, i, got, want)
				}
			}
		}
		if got := len(s.Keys("x/")); got != 0 {
			t.Errorf("%d keys of the expiry index are left", got)
		}
		if got := len(s.Keys("d/")); got != 1 {
			t.Errorf("%d bodies are left, want 1", got)
		}
	})
}

func TestQuotaEvictsWhatWasUsedLongestAgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 10_000
		o := store.Options{Dir: t.TempDir(), MaxSize: 10 * size}
		s := openStore(t, o)
		uri := func(i int) string { return fmt.Sprintf("https://a.test/%d", i) }
		for i := range 10 {
			put(t, s, response(uri(i)), strings.Repeat(fmt.Sprint(i), size))
			if i == 2 {
				s = later(t, s, o, time.Hour)
			}
		}
		s = later(t, s, o, time.Hour)
		s.Touch(uri(0)) // of the oldest, used again
		put(t, s, response(uri(10)), strings.Repeat("x", size))
		time.Sleep(5 * time.Second) // the housekeeper acts by itself
		synctest.Wait()
		if got := s.Totals().ResponseBytes; got > 9*size {
			t.Errorf("ResponseBytes = %d, want at most 9/10 of %d", got, 10*size)
		}
		for i, want := range map[int]int{0: 1, 1: 0, 2: 0, 3: 1, 10: 1} {
			if got := len(responses(t, s, uri(i))); got != want {
				t.Errorf("response %d: %d stored, want %d", i, got, want)
			}
		}
	})
}

// evictionHeld is a log that holds whoever says that responses were evicted until release is closed.
type evictionHeld struct {
	slog.Handler
	held, release chan struct{}
}

func (h evictionHeld) Enabled(context.Context, slog.Level) bool { return true }

func (h evictionHeld) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "evicted" {
		close(h.held)
		<-h.release
	}
	return nil
}

// TestVisitsAreWrittenDuringEviction adds a visit while an eviction does not end.
func TestVisitsAreWrittenDuringEviction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := evictionHeld{slog.DiscardHandler, make(chan struct{}), make(chan struct{})}
		s := openStore(t, store.Options{MaxSize: 10_000, Log: slog.New(log)})
		defer close(log.release)
		for i := range 3 {
			put(t, s, response(fmt.Sprintf("https://a.test/%d", i)), strings.Repeat(fmt.Sprint(i), 5000))
		}
		<-log.held
		k := page.KeyOf("https://a.test/")
		s.AddVisit(k, store.Visit{URL: "https://a.test/"})
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if got := len(s.Keys("vi/")); got != 1 {
			t.Errorf("%d visits are written 200 ms later, want 1", got)
		}
	})
}
