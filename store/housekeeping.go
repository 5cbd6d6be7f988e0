package store

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// flushEvery is the least time between two writes of visits and counts. What comes meanwhile waits in memory.
	flushEvery = 50 * time.Millisecond

	// foldFor is how long the further visits of one reader to one page, and counts, wait in memory. With flushEvery it
	// stays within the 200 ms that a kill may lose.
	foldFor = 150 * time.Millisecond

	// calmAfter is how long nothing must happen before memory is returned. The engine frees the buffers of its last
	// tables one every two seconds.
	calmAfter = 20 * time.Second

	// muchMemory is how much memory the process may hold without returning any, in bytes.
	muchMemory = 40 << 20
)

// wake tells the goroutine that waits on c, a housekeeper's or a caller's, that there is something to do. The capacity
// of c is 1, so that a signal is neither lost nor waited for.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it was told and has not looked yet
	}
}

// wakeHousekeeper makes the housekeeper run, at the latest after flushEvery.
func (s *Store) wakeHousekeeper() { wake(s.chores) }

// housekeep waits to be woken; then it writes visits, wakes count, and a moment later reclaim. Repeated visits are
// written after foldFor. When nothing happened for calmAfter, it returns memory to the system.
func (s *Store) housekeep(ctx context.Context) {
	var calm <-chan time.Time // nil: nothing to give back
	var fold <-chan time.Time // nil: no repeated visit waits
	for {
		select {
		case <-ctx.Done():
			return
		case <-calm:
			calm = nil
			releaseMemory()
			s.kv.LetGo(0)
			continue
		case <-fold:
			fold = nil
			s.recordRepeated()
		case <-s.chores:
			if fold == nil && s.visits.holds() {
				fold = time.After(foldFor)
			}
		}
		if !s.flushVisits() {
			s.wakeHousekeeper()
		}
		wake(s.counts)
		calm = time.After(calmAfter)
		select { // what comes now is written together
		case <-ctx.Done():
			return
		case <-time.After(flushEvery):
		}
		wake(s.reclaims)
	}
}

// count waits to be woken by the housekeeper; then it writes counters, at most once in foldFor. It has a goroutine of
// its own because it reads those of new pages from the disk, and visits must not wait for that.
func (s *Store) count(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.counts:
		}
		if !s.tallies.Write() {
			s.wakeHousekeeper()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(foldFor):
		}
	}
}

// reclaim waits to be woken by the housekeeper; then it writes the uses of responses, deletes bodies without references
// and evicts responses over the quota. It has a goroutine of its own because it waits for the disk, and nothing else
// must wait for it.
func (s *Store) reclaim(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.reclaims:
		}
		s.flushUses()
		s.deleteWaiting()
		if s.kv.Totals().Bytes > s.maxSize.Load() {
			_, _ = s.evict(ctx) // ctx ended: closing
		}
	}
}

// releaseMemory returns, when the housekeeper finds nothing to do, unused memory to the system if the process holds
// much. The runtime returns memory only when it allocates, so an idle process would hold the most that it ever used.
func releaseMemory() {
	held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(held)
	if held[0].Value.Uint64()-held[1].Value.Uint64() > muchMemory {
		debug.FreeOSMemory()
	}
}
