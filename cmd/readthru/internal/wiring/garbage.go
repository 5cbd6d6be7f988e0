package wiring

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fault"
)

const (
	// garbagePercent is how much garbage the daemon may hold, in percent of what is in use, unless GOGC says otherwise.
	garbagePercent = 50
	// busyPercent is how much it may hold while it is busy, between least and most bytes. Collecting takes a fifth of the
	// processor time of a page that nobody has read before where half of what is in use is garbage.
	busyPercent  = 125
	leastGarbage = 24 << 20
	mostGarbage  = 64 << 20

	// busyWithin is how soon one collection follows another while the daemon is busy.
	busyWithin = time.Second
	// calmAfter is how long no collection comes until the daemon is no longer busy, and how long it is starting.
	calmAfter = 5 * time.Second
)

// collector sets how much garbage the Go heap of the daemon may hold: more while it is busy, so that collections do not
// take its time, and little when it is calm.
type collector struct {
	mu      sync.Mutex
	most    int64     // garbage it may hold beyond garbagePercent, in bytes
	percent int       // as set
	ready   time.Time // end of the start
	last    time.Time // of a collection after that
	calm    *time.Timer
}

// collectAsNeeded begins to set how much garbage may be held, for as long as the process lives.
func collectAsNeeded(most int64) {
	c := &collector{most: most, percent: garbagePercent, ready: time.Now().Add(calmAfter)}
	debug.SetGCPercent(c.percent)
	c.calm = time.AfterFunc(calmAfter, fault.Contain("serve: end a busy time", func() { c.set(garbagePercent) }))
	c.watch()
}

// watch has the next collection of garbage noted: it finalizes what nobody refers to.
func (c *collector) watch() {
	type sentinel struct{ _ [16]byte }
	end := fault.Contain("serve: end a collection", func() {
		c.collected(time.Now(), inUse())
		c.watch()
	})
	runtime.SetFinalizer(new(sentinel), func(*sentinel) { end() })
}

// collected notes a collection that found so many bytes in use. Two in short succession mean that the daemon is busy.
func (c *collector) collected(now time.Time, live int64) {
	if now.Before(c.ready) {
		return
	}
	c.mu.Lock()
	busy := now.Sub(c.last) < busyWithin
	c.last = now
	c.mu.Unlock()
	c.calm.Reset(calmAfter)
	if busy {
		c.set(busyPercentOf(live, c.most))
	}
}

// set sets the percentage, unless it hardly differs: that stops the program for a moment.
func (c *collector) set(percent int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := percent - c.percent; percent != garbagePercent && d*d < 100 || d == 0 {
		return
	}
	c.percent = percent
	debug.SetGCPercent(percent)
}

// busyPercentOf returns how much garbage a busy daemon may hold that has so much in use, in percent of that.
func busyPercentOf(live, most int64) int {
	garbage := min(max(live*busyPercent/100, leastGarbage), most)
	return int(max(garbage*100/max(live, 1<<20), garbagePercent))
}

// inUse returns how many bytes of the heap the last collection found in use.
func inUse() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(sample[0].Value.Uint64()) //nolint:gosec // a heap is smaller
}
