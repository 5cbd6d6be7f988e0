package store

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// flushEvery is how long counts and visits stay in memory before they are written. A killed process loses no
	// more than these.
	flushEvery = 100 * time.Millisecond

	// calmAfter is how long nothing must happen before memory is returned. The engine frees the buffers of its last
	// tables one every two seconds.
	calmAfter = 20 * time.Second

	// muchMemory is how much memory the process may hold without returning any, in bytes.
	muchMemory = 40 << 20
)

// flushCounts queues the counts and visits held in memory.
func (s *Store) flushCounts() {
	s.addRepeated()
	if !s.flushVisits() || !s.tallies.write(s.kv) {
		s.wakeHousekeeper()
	}
}

// wakeHousekeeper makes the housekeeper run within flushEvery.
func (s *Store) wakeHousekeeper() { signal(s.chores) }

// housekeep waits to be woken; then it writes counts and wakes reclaim. When nothing has happened for calmAfter, it
// returns memory to the system.
func (s *Store) housekeep(ctx context.Context) {
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
		signal(s.reclaims)
		calm = time.After(calmAfter)
	}
}

// reclaim waits to be woken; then it writes uses, deletes condemned bodies and evicts responses over the quota. It has
// a goroutine of its own because it waits for the disk, and counts must not wait for it.
func (s *Store) reclaim(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.reclaims:
		}
		s.flushUses()
		s.deleteWaiting()
		if s.kv.totals().Bytes > s.maxSize.Load() {
			_, _ = s.evict(ctx) // ctx ended: closing
		}
	}
}

// releaseMemory returns unused memory to the system if the process holds much. The runtime returns memory only when it
// allocates, so an idle process would hold the most that it ever used.
func releaseMemory() {
	held := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(held)
	if held[0].Value.Uint64()-held[1].Value.Uint64() > muchMemory {
		debug.FreeOSMemory()
	}
}
