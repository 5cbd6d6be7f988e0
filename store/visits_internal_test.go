package store

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
)

// TestVisitsAreWrittenBeforeWhatWaits queues a visit behind more than a transaction holds.
func TestVisitsAreWrittenBeforeWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var db atomic.Pointer[badger.DB]
		var mu sync.Mutex
		var written []bool // whether a visit was on the disk at each look at its space, which comes before each commit
		s, err := open(Options{Dir: t.TempDir()}, func(string) (free, total uint64, err error) {
			if db := db.Load(); db != nil {
				txn := db.NewTransaction(false)
				defer txn.Discard()
				it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte("vi/")})
				defer it.Close()
				it.Rewind()
				mu.Lock()
				defer mu.Unlock()
				written = append(written, it.Valid())
			}
			return 10 << 30, 100 << 30, nil
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		db.Store(s.kv.Engine())
		// The writer waits a moment for more, which is over when nothing else happens: it gets all of it together.
		for i := range 3 { // no two fit into a transaction
			b := &kv.Batch{}
			for n := range kv.MaxBatchChanges/2 + 1 {
				b.Del(fmt.Sprintf("q/%d/%d", i, n))
			}
			if err := s.kv.Apply(b); err != nil {
				t.Fatal(err)
			}
		}
		s.AddVisit(page.KeyOf("https://a.test/"), Visit{URL: "https://a.test/"})
		s.flushVisits()
		s.settle()
		mu.Lock()
		if len(written) < 3 || !written[1] {
			t.Errorf("before the commits, a visit was on disk: %v; want it from the second commit on", written)
		}
		mu.Unlock()
		db.Store(nil)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestVisitsDoNotWaitForCounters adds visits while a write of counters does not end.
func TestVisitsDoNotWaitForCounters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := logHeld{slog.DiscardHandler, make(chan struct{})}
		s, err := Open(Options{Dir: t.TempDir(), Log: slog.New(log)})
		if err != nil {
			t.Fatal(err)
		}
		// who reads it says so in the log
		err = s.PutRaw(keys.PageTally(page.KeyOf("https://a.test/")), []byte("damaged"))
		if err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			s.AddVisit(page.KeyOf("https://a.test/"), Visit{URL: "https://a.test/"})
			time.Sleep(flushEvery)
			synctest.Wait()
			if got := visitsOnDisk(s); got != n+1 {
				t.Errorf("%d visits are on disk %v after the last of %d", got, flushEvery, n+1)
			}
		}
		close(log.release)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestRepeatedVisitsAreWrittenOnce visits pages again and again while their counts are read.
func TestRepeatedVisitsAreWrittenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		k := page.KeyOf("https://a.test/")
		v := s.Visitor(k, Visit{URL: "https://a.test/", Source: page.Local})
		const each = 10 * time.Millisecond
		for n := range int64(foldFor / each) {
			if got := visitsOnDisk(s); got != 0 {
				t.Errorf("%d visits are on disk %v after the first", got, time.Duration(n)*each)
			}
			v.Visit(time.Now())
			if got := s.Totals().Visits; got != n+1 {
				t.Errorf("%d visits are counted, want %d", got, n+1)
			}
			time.Sleep(each)
			synctest.Wait()
		}
		time.Sleep(flushEvery)
		synctest.Wait()
		visits, _, err := s.Visits(VisitQuery{})
		got := visitsOnDisk(s)
		if got != 1 || err != nil || len(visits) != 1 || visits[0].Count != int64(foldFor/each) {
			t.Errorf("%d visits are on disk: %+v, %v; want one that counts %d", got, visits, err, foldFor/each)
		}
		v.Visit(time.Now())
	})
}

// logHeld is a log that takes nothing until it is released.
type logHeld struct {
	slog.Handler
	release chan struct{}
}

func (l logHeld) Enabled(context.Context, slog.Level) bool { return true }

func (l logHeld) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "damaged record deleted" {
		<-l.release
	}
	return nil
}

// visitsOnDisk counts the records of visits that are committed.
func visitsOnDisk(s *Store) (n int) {
	s.kv.Walk(kv.Scan{Prefix: "vi/", Keys: true}, func(string, []byte) bool { n++; return true })
	return n
}

// No visit is missing from the totals while it is being written.
func TestTotalsHaveEveryVisitWhileVisitsAreWritten(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // it was only read
	k := page.KeyOf("https://a.test/")
	done := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				s.flushVisits()
			}
		}
	})
	for n := int64(1); n <= 3000; n++ {
		s.AddVisit(k, Visit{URL: "https://a.test/", Source: page.Local})
		if got := s.Totals().Visits; got != n {
			t.Errorf("%d visits after %d", got, n)
			break
		}
	}
	close(done)
	writing.Wait()
}
