package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fault"
)

// syncEvery is how long what is committed may wait for its sync.
const syncEvery = time.Second

// syncer syncs what the writer commits, in a goroutine of its own: a sync may take long, and new writes must not wait
// for it. What is committed survives the death of the process, what is synced that of the machine.
type syncer struct {
	mu      sync.Mutex
	dirty   bool   // something committed is not synced
	seq     uint64 // newest job committed
	waiting []waiter

	due, now, quit, done chan struct{} // due and now wake it, with capacity 1: in syncEvery, at once

	head *headFile // touched by the syncer's goroutine alone while that runs
}

// waiter is a barrier that wants everything before it synced.
type waiter struct {
	answer chan<- error
	err    error // what was lost before the sync
}

// newSyncer returns a syncer whose goroutine does not run yet.
func newSyncer() syncer {
	return syncer{
		due: make(chan struct{}, 1), now: make(chan struct{}, 1), quit: make(chan struct{}),
		done: make(chan struct{}),
	}
}

// committed notes that there is something to sync, up to job seq.
func (s *syncer) committed(seq uint64) {
	s.mu.Lock()
	s.dirty, s.seq = true, seq
	s.mu.Unlock()
	signal(s.due)
}

// touched notes that there is something to sync other than jobs.
func (s *syncer) touched() {
	s.mu.Lock()
	s.dirty = true
	s.mu.Unlock()
	signal(s.due)
}

// await has w answered when everything committed so far is synced.
func (s *syncer) await(w waiter) {
	s.mu.Lock()
	s.waiting = append(s.waiting, w)
	s.mu.Unlock()
	signal(s.now)
}

// stop ends the goroutine after a last sync. The writer has ended before.
func (s *syncer) stop() {
	close(s.quit)
	<-s.done
}

// signal wakes the syncer or another goroutine that waits on c, whose capacity is 1; one that was woken already is not
// waited for.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// runSyncer is the syncer's goroutine.
func (k *DB) runSyncer() {
	defer close(k.syncer.done)
	fault.Forever(context.Background(), "store: sync what is written", func(context.Context) { k.syncAll() })()
}

// syncAll syncs what was committed until the syncer is told to stop.
func (k *DB) syncAll() {
	s := &k.syncer
	var timer <-chan time.Time // nil: nothing waits
	for {
		select {
		case <-s.due:
			if timer == nil {
				timer = time.After(syncEvery)
			}
			continue
		case <-timer:
		case <-s.now:
		case <-s.quit:
			_ = k.sync() // said and noted by sync itself
			return
		}
		timer = nil
		if k.sync() != nil {
			timer = time.After(syncEvery)
		}
	}
}

// sync syncs what was committed before the call, then notes the end of the synced change log and wakes its waiters.
func (k *DB) sync() error {
	s := &k.syncer
	s.mu.Lock()
	dirty, seq, waiting := s.dirty, s.seq, s.waiting
	s.dirty, s.waiting = false, nil
	s.mu.Unlock()
	var err error
	if dirty {
		err = fault.Catch("store: sync the engine", func() error {
			return k.syncEngine()
		})
		if err == nil {
			err = s.head.write(seq)
		}
	}
	if err != nil {
		err = fmt.Errorf("sync: %w", err)
		s.mu.Lock()
		s.dirty = true
		s.mu.Unlock()
		k.fail(err)
	}
	for _, w := range waiting {
		if err != nil {
			w.err = err
		}
		w.answer <- w.err
	}
	return err
}

// syncEngine syncs the logs of the engine's memtables; its tables it syncs itself. The engine's own Sync leaves out the
// memtables that are full and not yet tables, and holds the lock that every commit and read needs: it comes only where
// syncing a file does not cover writes through a mapping, and after the rest, so that it finds little to do.
func (k *DB) syncEngine() error {
	if k.options.Sync != nil {
		return k.options.Sync()
	}
	logs, err := filepath.Glob(filepath.Join(k.dir, dbName, "*.mem"))
	if err != nil {
		return err
	}
	for _, name := range logs {
		if err := syncFile(name); err != nil {
			return err
		}
	}
	if fileSyncCoversMaps {
		return nil
	}
	return k.db.Sync()
}

// syncFile syncs a file, unless it is no more: then its content is in a table.
func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = f.Sync()
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
