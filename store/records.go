package store

import (
	"fmt"
	"strings"

	"github.com/readthru/readthru/store/kv"
)

// recordsPrefix is what the keys of [Records] begin with.
const recordsPrefix = "k/"

// The most that one [Records.Apply] takes.
const (
	MaxChanges     = kv.MaxBatchChanges - 8
	MaxChangeBytes = kv.MaxBatchBytes - 64<<10 // keys and values together, and 32 for each change
)

// Records are the keys under k/, whose layout package knowledge defines. They are checksummed, part of a backup, and
// never evicted.
//
// Changes do not pass through the queue of other writes: an index is written in large pieces by a writer that can
// wait, and the queue is held in memory. So Apply commits before it returns, and every later read sees what it wrote.
// It lets the queue be committed first, because a change may say something of what waits there: that a page was read,
// or deleted. As with all writes, a change survives the death of the process at once, and that of the machine after a
// second.
//
// The methods are safe for concurrent use, but conflicts are not detected: callers that change the same key from
// several goroutines must coordinate.
type Records struct{ kv *kv.DB }

// Change sets or deletes a key.
type Change struct {
	Key   string
	Value []byte // below 1 MiB
	Gone  bool   // delete it
}

// Records returns the records of package knowledge.
func (s *Store) Records() *Records { return &s.records }

// Get returns the value of a key, or ErrNotFound. The caller owns the value.
func (r *Records) Get(key string) ([]byte, error) {
	return r.kv.Get(key)
}

// Walk calls f for each key with the prefix, in ascending order beginning with from (with the first key if from is
// empty), until f returns false. It does not see later changes. f owns the value. Damaged records are skipped.
func (r *Records) Walk(prefix, from string, f func(key string, value []byte) bool) {
	r.kv.Walk(kv.Scan{Prefix: prefix, From: from}, f)
}

// Keys is like Walk, without values.
func (r *Records) Keys(prefix, from string, f func(key string) bool) {
	r.kv.Walk(kv.Scan{Prefix: prefix, From: from, Keys: true}, func(key string, _ []byte) bool { return f(key) })
}

// Apply makes all changes or none: at most MaxChanges changes of MaxChangeBytes together. The error wraps ErrFull
// while the disk is nearly full, unless all changes delete, and after Close.
func (r *Records) Apply(changes ...Change) error {
	if len(changes) == 0 {
		return nil
	}
	if len(changes) > MaxChanges {
		return fmt.Errorf("store %d changes together: the limit is %d", len(changes), MaxChanges)
	}
	b := &kv.Batch{Must: true}
	bytes := 0
	for i := range changes {
		c := &changes[i]
		if !strings.HasPrefix(c.Key, recordsPrefix) || len(c.Key) > 1<<12 {
			return fmt.Errorf("store record: %.40q is not a key of these records", c.Key)
		}
		bytes += len(c.Key) + len(c.Value) + 32
		if c.Gone {
			b.Del(c.Key)
		} else {
			b.Set(c.Key, c.Value)
			b.Must = false
		}
	}
	if bytes > MaxChangeBytes {
		return fmt.Errorf("store %d changes together: %d bytes, the limit is %d", len(changes), bytes, MaxChangeBytes)
	}
	if err := r.kv.WriteThrough(b); err != nil {
		return fmt.Errorf("store records: %w", err)
	}
	return nil
}

// Snapshot returns the records as they are now, or ErrNotFound without a disk or after Close. The caller closes it:
// Close of the store waits for it.
func (r *Records) Snapshot() (*RecordsSnapshot, error) {
	v, err := r.kv.View()
	if err != nil {
		return nil, err
	}
	return &RecordsSnapshot{v}, nil
}

// RecordsSnapshot is a snapshot of Records. It is safe for concurrent use until it is closed.
type RecordsSnapshot struct{ view *kv.View }

// Get is like [Records.Get].
func (s *RecordsSnapshot) Get(key string) ([]byte, error) { return s.view.Get(key) }

// Walk is like [Records.Walk].
func (s *RecordsSnapshot) Walk(prefix, from string, f func(key string, value []byte) bool) {
	s.view.Walk(kv.Scan{Prefix: prefix, From: from}, f)
}

// Close ends the snapshot. A second call does nothing.
func (s *RecordsSnapshot) Close() { s.view.Close() }
