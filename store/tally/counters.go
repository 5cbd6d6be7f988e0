// Package tally counts visits of pages and hosts, and whatever else is counted by name: in memory, and on disk a moment
// later.
package tally

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

const (
	// maxCounters is how many counters stay in memory after they are written.
	maxCounters = 4096

	// chunk is how many counters one batch writes.
	chunk = 500
)

// Count is a counter's record. Times are Unix milliseconds, 0 for none.
type Count struct {
	N      int64 // visits, or whatever is counted
	Hits   int64 // of these, answered from the store
	First  int64
	Last   int64
	Listed int64 // pages: where pr/ has it; 0 when the page is not stored
}

// merge adds what a counter counted apart from t: one part in memory, the other on disk.
func (t *Count) merge(o Count) {
	t.N += o.N
	t.Hits += o.Hits
	if t.First == 0 || o.First != 0 && o.First < t.First {
		t.First = o.First
	}
	t.Last = max(t.Last, o.Last)
	t.Listed = max(t.Listed, o.Listed)
}

// encode returns the record of a counter.
func (t Count) encode() []byte {
	var e wire.Encoder
	for _, n := range []int64{t.N, t.Hits, t.First, t.Last, t.Listed} {
		e.Int(n)
	}
	return e
}

// Decode reads the record of a counter. One that is damaged counts nothing.
func Decode(b []byte) Count {
	d := wire.NewDecoder(b)
	t := Count{N: d.Int(), Hits: d.Int(), First: d.Int(), Last: d.Int(), Listed: d.Int()}
	if !d.OK() {
		return Count{}
	}
	return t
}

// Counters holds counters in memory. A counter that was only added to holds what was added, until it is loaded: then it
// is whole, and memory alone says what it is until it was written and evicted.
type Counters struct {
	mu    sync.Mutex
	db    *kv.DB
	all   map[string]*counter
	dirty map[string]*counter
	flush sync.Mutex // held over a flush
}

// counter is a Count in memory.
type counter struct {
	Count
	// whether it includes what the disk has
	loaded bool
}

// New returns the counters of a store.
func New(db *kv.DB) *Counters {
	return &Counters{db: db, all: map[string]*counter{}, dirty: map[string]*counter{}}
}

// Add counts into a counter, without looking at the disk.
func (t *Counters) Add(key string, d Count) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.entryLocked(key).merge(d)
}

// entryLocked returns a counter that is about to change, and has it written. The caller holds mu.
func (t *Counters) entryLocked(key string) *counter {
	c := t.all[key]
	if c == nil {
		c = &counter{}
		t.all[key] = c
	}
	t.dirty[key] = c
	return c
}

// loadLocked makes a counter whole, with what the disk has of it. It lets go of the lock while it reads the disk, so
// that what the caller knew of other counters may have changed.
func (t *Counters) loadLocked(key string) *counter {
	for {
		c := t.entryLocked(key)
		if c.loaded {
			return c
		}
		t.mu.Unlock()
		var base Count
		if value, err := t.db.Get(key); err == nil {
			base = Decode(value)
		}
		t.mu.Lock()
		if t.all[key] == c && !c.loaded {
			// Nobody writes a counter that is not loaded, so the record is still what was read.
			c.merge(base)
			c.loaded = true
			return c
		}
	}
}

// Read returns a counter as it is now.
func (t *Counters) Read(key string) Count {
	t.mu.Lock()
	c, ok := t.all[key]
	if ok && !c.loaded {
		c = t.loadLocked(key)
	}
	if ok {
		defer t.mu.Unlock()
		return c.Count
	}
	t.mu.Unlock()
	value, err := t.db.Get(key)
	if err != nil {
		return Count{}
	}
	return Decode(value)
}

// Increase adds n to a counter and returns its new number.
func (t *Counters) Increase(key string, n int64) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.loadLocked(key)
	c.N += n
	return c.N
}

// ListPage applies batches that store a page, and puts the page into the list of recent ones if it is not there.
func (t *Counters) ListPage(p page.Key, now time.Time, b *kv.Batch, before []*kv.Batch) error {
	key := keys.PageTally(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.loadLocked(key)
	listed := c.Listed
	if listed == 0 {
		c.Listed = cmp.Or(c.Last, Unread(now))
		b.Set(keys.Recent(c.Listed, p), nil)
		b.Set(key, c.encode())
	}
	err := t.db.Apply(append(before, b)...)
	if err != nil {
		c.Listed = listed
	}
	return err
}

// Unread is where a page that nobody has read stands among those that were: after them, the latest first. Seconds in
// the place of milliseconds are a day in January 1970.
func Unread(stored time.Time) int64 { return max(keys.Millis(stored)/1000, 1) }

// DeletePage applies a batch that deletes a page, and deletes its counter and its place in the list of recent pages. A
// visit that is counted meanwhile waits.
func (t *Counters) DeletePage(p page.Key, b *kv.Batch) error {
	key := keys.PageTally(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.loadLocked(key)
	if c.Listed != 0 {
		b.Del(keys.Recent(c.Listed, p))
	}
	b.Del(key)
	if err := t.db.Apply(b); err != nil {
		return err
	}
	c.Count = Count{}
	delete(t.all, key)
	delete(t.dirty, key)
	return nil
}

// Delete deletes a counter.
func (t *Counters) Delete(key string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := &kv.Batch{Must: true}
	b.Del(key)
	if err := t.db.Apply(b); err != nil {
		return err
	}
	delete(t.all, key)
	delete(t.dirty, key)
	return nil
}

// Write queues all counters that changed, in chunks. Pages that were visited move in the list of recent ones. It
// reports whether all could be queued.
func (t *Counters) Write() bool {
	t.flush.Lock()
	defer t.flush.Unlock()
	for {
		t.mu.Lock()
		if len(t.dirty) == 0 {
			t.evictLocked()
			t.mu.Unlock()
			return true
		}
		ok := t.writeChunkLocked()
		t.mu.Unlock()
		if !ok {
			return false
		}
	}
}

// writeChunkLocked queues one batch of counters that changed, and moves visited pages in the list of recent ones. It
// reports whether the queue took them. The caller holds mu, which is let go of while counters are loaded.
func (t *Counters) writeChunkLocked() bool {
	changed := make([]string, 0, chunk)
	for key := range t.dirty {
		if changed = append(changed, key); len(changed) == chunk {
			break
		}
	}
	for _, key := range changed {
		if t.dirty[key] != nil {
			t.loadLocked(key)
		}
	}
	b := &kv.Batch{}
	written := make([]string, 0, len(changed))
	for _, key := range changed {
		c := t.dirty[key] // nil when it was deleted while another was loaded
		if c == nil || !c.loaded {
			continue
		}
		after := c.Count
		if p, isPage := strings.CutPrefix(key, "c/p/"); isPage && c.Listed != 0 && c.Last != 0 && c.Last != c.Listed {
			after.Listed = c.Last
			b.Del(keys.Recent(c.Listed, page.Key([]byte(p))))
			b.Set(keys.Recent(after.Listed, page.Key([]byte(p))), nil)
		}
		b.Set(key, after.encode())
		written = append(written, key)
	}
	if b.Len() > 0 && t.db.Apply(b) != nil {
		return false
	}
	for _, key := range written {
		c := t.dirty[key]
		if c.Listed != 0 && c.Last != 0 {
			c.Listed = c.Last
		}
		delete(t.dirty, key)
	}
	return true
}

// evictLocked forgets counters that are written, when there are many.
func (t *Counters) evictLocked() {
	if len(t.all) <= maxCounters {
		return
	}
	for key := range t.all {
		if t.dirty[key] == nil {
			delete(t.all, key)
		}
		if len(t.all) <= maxCounters/2 {
			return
		}
	}
}
