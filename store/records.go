package store

import (
	"fmt"
	"strings"
	"sync"

	"github.com/readthru/readthru/internal/fault"
)

// recordsPrefix is what the keys of [Records] begin with.
const recordsPrefix = "k/"

// The most that one [Records.Apply] takes.
const (
	MaxChanges     = maxTxnOps - 8
	MaxChangeBytes = maxTxnBytes - 64<<10 // keys and values together, and 32 for each change
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
type Records struct {
	kv *kv
	mu sync.Mutex // one commit at a time
}

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
	if !r.kv.enter() {
		return nil, ErrNotFound
	}
	defer r.kv.leave()
	return r.kv.read(key)
}

// Walk calls f for each key with the prefix, in ascending order beginning with from (with the first key if from is
// empty), until f returns false. It does not see later changes. f owns the value. Damaged records are skipped.
func (r *Records) Walk(prefix, from string, f func(key string, value []byte) bool) {
	r.kv.walk(scan{prefix: prefix, from: from}, f)
}

// Keys is like Walk, without values.
func (r *Records) Keys(prefix, from string, f func(key string) bool) {
	r.kv.walk(scan{prefix: prefix, from: from, keys: true}, func(key string, _ []byte) bool { return f(key) })
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
	k := r.kv
	if !k.enter() {
		return fmt.Errorf("store records: the store takes no writes: %w", ErrFull)
	}
	defer k.leave()
	forgets := true
	bytes := 0
	for i := range changes {
		c := &changes[i]
		if !strings.HasPrefix(c.Key, recordsPrefix) || len(c.Key) > 1<<12 {
			return fmt.Errorf("store record: %.40q is not a key of these records", c.Key)
		}
		if len(c.Value) > maxRecord {
			return fmt.Errorf("store record of class %s: %d bytes, the limit is %d", class(c.Key), len(c.Value),
				maxRecord)
		}
		bytes += len(c.Key) + len(c.Value) + 32
		forgets = forgets && c.Gone
	}
	if bytes > MaxChangeBytes {
		return fmt.Errorf("store %d changes together: %d bytes, the limit is %d", len(changes), bytes, MaxChangeBytes)
	}
	_ = k.barrier(false) // what was lost was logged
	r.mu.Lock()
	defer r.mu.Unlock()
	if room := k.room(); room == roomForNone || room == roomToForget && !forgets {
		return fmt.Errorf("store records: disk nearly full: %w", ErrFull)
	}
	err := r.commit(changes)
	k.reading.renew()
	if err != nil {
		k.fail(err)
		return fmt.Errorf("store records: %w", err)
	}
	k.syncer.touched()
	return nil
}

func (r *Records) commit(changes []Change) error {
	txn := r.kv.db.NewTransaction(true)
	defer txn.Discard()
	for i := range changes {
		c := &changes[i]
		var err error
		if c.Gone {
			err = txn.Delete([]byte(c.Key))
		} else {
			err = txn.Set([]byte(c.Key), r.kv.seal.seal(c.Key, c.Value))
		}
		if err != nil {
			return err
		}
	}
	return fault.Catch("store: commit records", txn.Commit)
}

// Snapshot returns the records as they are now, or ErrNotFound without a disk or after Close. The caller closes it:
// Close of the store waits for it.
func (r *Records) Snapshot() (*RecordsSnapshot, error) {
	if !r.kv.enter() {
		return nil, ErrNotFound
	}
	return &RecordsSnapshot{kv: r.kv, shared: r.kv.reading.begin(r.kv.db)}, nil
}

// RecordsSnapshot is a snapshot of Records. It is safe for concurrent use until it is closed.
type RecordsSnapshot struct {
	kv     *kv
	shared *snapshot
	once   sync.Once
}

// Get is like [Records.Get].
func (s *RecordsSnapshot) Get(key string) ([]byte, error) { return s.kv.readIn(s.shared.txn, key) }

// Walk is like [Records.Walk].
func (s *RecordsSnapshot) Walk(prefix, from string, f func(key string, value []byte) bool) {
	s.kv.walkIn(s.shared.txn, scan{prefix: prefix, from: from}, f)
}

// Close ends the snapshot. A second call does nothing.
func (s *RecordsSnapshot) Close() {
	s.once.Do(func() {
		s.kv.reading.end(s.shared)
		s.kv.leave()
	})
}
