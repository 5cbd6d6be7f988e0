package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// graceHours is how long a body that nobody refers to is left alone, in hours: it may be being written or read.
const graceHours = 1

// evictTo is the share of MaxSize that eviction leaves, in percent.
const evictTo = 90

// sweepChunk is how many records a step of the sweep handles between two looks at the context.
const sweepChunk = 256

// Sweep deletes what is useless by now: stored responses past their Retain, expired renditions, bodies that nobody
// refers to, old visits, sets of sessions that are as old, and what was learnt about hosts long ago. It also enforces
// MaxSize. It returns how many stored responses went, with the damaged records that it met. It is meant to be called
// every few minutes. The end of ctx ends it early.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	now := time.Now()
	s.settle()
	damaged := s.kv.Damaged.Load()
	total, err := s.sweepExpired(ctx, now)
	total += int(s.kv.Damaged.Load() - damaged)
	if err == nil {
		err = s.sweepRenditions(ctx, now)
	}
	if err == nil {
		err = s.sweepBodies(ctx, now)
	}
	if err == nil {
		err = s.sweepVisits(ctx, now)
	}
	if err == nil {
		err = s.sweepFetched(now.Add(-keepVisits))
	}
	if err == nil {
		err = s.sweepHosts(now)
	}
	if err == nil {
		s.trimJobs()
		var n int
		n, err = s.evict(ctx)
		total += n
	}
	s.deleteWaiting()
	if err != nil {
		return total, fmt.Errorf("sweep store: %w", err)
	}
	return total, nil
}

// SweepExpired is [Store.Sweep], and deletes all stored responses that have expired, which expired tells. It must not
// call the store.
func (s *Store) SweepExpired(ctx context.Context, expired func(*Response) bool) (int, error) {
	damaged := s.kv.Damaged.Load()
	gone, err := s.deleteEverywhere(func(r *Response) bool { return ctx.Err() == nil && expired(r) })
	if err != nil {
		return gone, fmt.Errorf("sweep store: %w", err)
	}
	gone += int(s.kv.Damaged.Load() - damaged)
	swept, err := s.Sweep(ctx)
	return gone + swept, err
}

// due calls f, for a sweep, with the keys of an index by hour (expiries of responses and renditions, bodies to watch)
// that are due: up to now, or absurdly far ahead, as a clock that was wrong leaves them. It ends when f returns false.
func (s *Store) due(prefix string, now time.Time, f func(key string) bool) {
	more := true
	s.kv.Walk(kv.Scan{Prefix: prefix, Keys: true}, func(key string, _ []byte) bool {
		if binary.BigEndian.Uint32([]byte(key[len(prefix):])) > keys.Hour(now) {
			return false
		}
		more = f(key)
		return more
	})
	if more {
		limit := keys.Hour(now.Add(maxRetain)) + 2
		s.kv.Walk(kv.Scan{Prefix: prefix, From: prefix + keys.U32(limit), Keys: true},
			func(key string, _ []byte) bool { return f(key) })
	}
}

// sweepExpired deletes the stored responses whose Retain has passed, with the keys of such that are gone, and returns
// how many.
func (s *Store) sweepExpired(ctx context.Context, now time.Time) (total int, err error) {
	s.due("x/", now, func(key string) bool {
		if err = ctx.Err(); err != nil {
			return false
		}
		at := len("x/") + 4 + 1
		id := EntryID([]byte(key[at+len(keys.URI{})+1:]))
		value, getErr := s.kv.Get(keys.Entry(id))
		r, ok := decodeResponse(value)
		if getErr != nil || !ok || s.deleteDue(r, key) {
			// Its response is gone, with a record that was damaged: only the key is left.
			b := &kv.Batch{Must: true}
			b.Del(key)
			_ = s.kv.Apply(b)
			if getErr == nil && ok {
				total++
			}
		}
		return true
	})
	return total, err
}

// deleteDue deletes, for a sweep, the response that an expiry key names, unless it was freshened since: then the key
// was moved.
func (s *Store) deleteDue(r *Response, key string) bool {
	n, err := s.deleteWhere(r.URL, func(o *Response) bool {
		return o.ID == r.ID && !o.Retain.IsZero() && keys.Expiry(expiryHour(o.Retain), keys.URIOf(o.URL), o.ID) == key
	})
	return err == nil && n > 0
}

// sweepRenditions deletes the renditions kept by page that have expired. A rendition that was made again since has
// another key in the index.
func (s *Store) sweepRenditions(ctx context.Context, now time.Time) (err error) {
	s.due("xp/", now, func(key string) bool {
		if err = ctx.Err(); err != nil {
			return false
		}
		rendition := "rp" + key[len("xp/")+4:]
		s.mu.Lock()
		defer s.mu.Unlock()
		b := &kv.Batch{Must: true}
		b.Del(key)
		var dead []Sum
		if value, getErr := s.kv.Get(rendition); getErr == nil {
			var r renditionRecord
			if wire.Unmarshal(value, &r) && !r.Expires.IsZero() &&
				keys.PageRenditionExpiry(expiryHour(r.Expires), rendition) == key {
				if s.dropRendition(b, rendition, value, now) {
					dead = append(dead, renditionBody(value))
				}
			}
		}
		if s.kv.Apply(b) == nil {
			s.deleteLater(dead)
		}
		return true
	})
	return err
}

// sweepBodies looks at the bodies that were being written, or lost their last reference, more than an hour ago.
func (s *Store) sweepBodies(ctx context.Context, now time.Time) error {
	var sums []Sum
	var watches []string
	s.due("w/", now.Add(-graceHours*time.Hour), func(key string) bool {
		sums = append(sums, Sum([]byte(key[len("w/")+4+1:])))
		watches = append(watches, key)
		return true
	})
	for i, sum := range sums {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.mu.Lock()
		if !s.pins.pinned(sum) {
			s.deleteLater(s.deleteUnreferred(sum, now))
			b := &kv.Batch{Must: true}
			b.Del(watches[i])
			_ = s.kv.Apply(b)
		}
		s.mu.Unlock()
	}
	return nil
}

// sweepVisits deletes the records of visits that are older than keepVisits, from both indexes. Counters stay.
func (s *Store) sweepVisits(ctx context.Context, now time.Time) (err error) {
	until := uint64(keys.Millis(now.Add(-keepVisits)))
	b := &kv.Batch{Must: true}
	n := len("vi/")
	s.kv.Walk(kv.Scan{Prefix: "vi/", Keys: true}, func(key string, _ []byte) bool {
		at := binary.BigEndian.Uint64([]byte(key[n:]))
		if err = ctx.Err(); err != nil || at >= until {
			return false
		}
		k, number := [32]byte([]byte(key[n+9:])), binary.BigEndian.Uint32([]byte(key[n+9+32+1:]))
		b.Del(key)
		b.Del(keys.PageVisit(k, int64(at), number))
		if b.Len() >= 2*sweepChunk {
			_ = s.kv.Apply(b)
			b = &kv.Batch{Must: true}
		}
		return true
	})
	if b.Len() > 0 {
		_ = s.kv.Apply(b)
	}
	return err
}

// evict deletes, in a sweep and between sweeps, the stored responses used longest ago until their bodies take no more
// than nine tenths of MaxSize, if they take more than MaxSize now. It waits for the writer now and then, so that other
// writes do not queue behind all deletions.
func (s *Store) evict(ctx context.Context) (total int, err error) {
	if s.kv.Totals().Bytes <= s.maxSize.Load() {
		return 0, nil
	}
	s.settle()
	goal := s.maxSize.Load() / 100 * evictTo
	chunk := 0
	s.kv.Walk(kv.Scan{Prefix: "a/", Keys: true}, func(key string, _ []byte) bool {
		if err = ctx.Err(); err != nil || s.kv.Totals().Bytes <= goal {
			return false
		}
		if chunk++; chunk%sweepChunk == 0 {
			s.settle()
		}
		total += s.evictURI(keys.URI([]byte(key[len("a/")+4+1:])), key)
		return true
	})
	if total > 0 {
		s.log.Info("evicted", "responses", total, "max_bytes", s.maxSize.Load())
	}
	return total, err
}

// evictURI deletes, to make room, all stored responses of a URI, unless it was used since the key in the index of uses
// was written. It returns how many.
func (s *Store) evictURI(u keys.URI, key string) int {
	value, err := s.kv.Get(keys.Variants(u))
	v, ok := decodeVariants(value)
	if err != nil || !ok {
		b := &kv.Batch{Must: true}
		b.Del(key)
		_ = s.kv.Apply(b)
		return 0
	}
	if keys.LastUse(v.Used, u) != key {
		return 0
	}
	n, err := s.deleteWhere(v.URL, func(*Response) bool { return true })
	if err != nil {
		s.log.Debug("eviction skipped", "error", err)
	}
	return n
}

// useLog holds which URIs were used in the present hour, for eviction, until that is written.
type useLog struct {
	mu      sync.Mutex
	hour    uint32
	noted   map[keys.URI]bool // by URI; true: not written yet
	waiting int
}

// maxUses is the most URIs in a useLog. Beyond it, a use may be written twice.
const maxUses = 1 << 16

// note adds a use of a URI, for the eviction of what was used longest ago, and reports whether it must be written: once
// in an hour.
func (t *useLog) note(u keys.URI, hour uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hour != hour && t.waiting == 0 || t.noted == nil || len(t.noted) >= maxUses {
		t.hour, t.noted, t.waiting = hour, map[keys.URI]bool{}, 0
	}
	if _, ok := t.noted[u]; ok {
		return false
	}
	t.noted[u] = true
	t.waiting++
	return true
}

// take returns the uses to write, and forgets that they wait.
func (t *useLog) take() (hour uint32, all []keys.URI) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == 0 {
		return t.hour, nil
	}
	for u, waits := range t.noted {
		if waits {
			all = append(all, u)
			t.noted[u] = false
		}
	}
	t.waiting = 0
	return t.hour, all
}

// flushUses writes the uses that were noted to the index from which eviction takes the URI used longest ago.
func (s *Store) flushUses() {
	hour, all := s.uses.take()
	for _, u := range all {
		s.mu.Lock()
		b := &kv.Batch{}
		if value, err := s.kv.Get(keys.Variants(u)); err == nil {
			if v, ok := decodeVariants(value); ok && v.Used < hour {
				b.Del(keys.LastUse(v.Used, u))
				b.Set(keys.LastUse(hour, u), nil)
				v.Used = hour
				b.Set(keys.Variants(u), v.encode())
				_ = s.kv.Apply(b) // a lost use makes eviction only a little worse
			}
		}
		s.mu.Unlock()
	}
}
