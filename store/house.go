package store

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// flushEvery is how long counts, visits and uses wait in memory. A kill loses at most these.
	flushEvery = 200 * time.Millisecond

	// calmAfter is how long nothing must have happened before memory is given back. The engine lets go of the buffers of
	// its last tables one every two seconds.
	calmAfter = 20 * time.Second

	// muchMemory is what the process may keep without giving any back, in bytes.
	muchMemory = 40 << 20
)

// flushCounts queues what is counted in memory.
func (s *Store) flushCounts() {
	s.flushTouches()
	if !s.flushVisits() || !s.tallies.write(s.kv) {
		s.nudge()
	}
}

// nudge wakes the housekeeper, who acts a moment later.
func (s *Store) nudge() { poke(s.chores) }

// keepHouse writes counts, deletes condemned bodies and keeps the quota, a moment after something made it necessary.
// When nothing has been for a while, what a burst has left in memory goes back to the system.
func (s *Store) keepHouse(ctx context.Context) {
	var calm <-chan time.Time // nil: nothing to give back
	for {
		select {
		case <-ctx.Done():
			return
		case <-calm:
			calm = nil
			releaseMemory()
			continue
		case <-s.chores:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(flushEvery):
		}
		s.flushCounts()
		s.buryCondemned()
		if s.kv.totals().Bytes > s.maxSize {
			_, _ = s.evict(ctx) // ctx ended: closing
		}
		calm = time.After(calmAfter)
	}
}

// releaseMemory gives what the process does not need back to the system, if it holds much. By itself the runtime does
// so only when it allocates, so that an idle process would keep the most that it ever used.
func releaseMemory() {
	held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(held)
	if held[0].Value.Uint64()-held[1].Value.Uint64() > muchMemory {
		debug.FreeOSMemory()
	}
}
