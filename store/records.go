package store

import (
	"fmt"
	"strings"
	"sync"

	"github.com/dgraph-io/badger/v4"
)

// recordsPrefix is what the keys of [Records] begin with.
const recordsPrefix = "k/"

// The most that one [Records.Apply] takes.
const (
	MaxChanges     = maxTxnOps - 8
	MaxChangeBytes = maxTxnBytes - 64<<10 // keys and values together, and 32 for each change
)

// Records are the keys under k/, which package knowledge lays out as it likes. They are checksummed as every record is,
// are part of a backup, and are never evicted.
//
// A change does not pass through the queue that pages are written by: an index is written in large pieces by one that
// can wait, and what waits in the queue is held in memory. So Apply commits before it returns, and what it wrote is
// seen by every read that begins afterwards. Like everything it survives the death of the process at once, that of the
// machine within a second.
//
// Its methods are safe for concurrent use. There is no check for conflicts: who changes the same key from two
// goroutines keeps them apart himself.
type Records struct {
	kv *kv
	mu sync.Mutex // one commit at a time
}

// Change sets a key, or deletes it.
type Change struct {
	Key   string
	Value []byte // below 1 MiB
	Gone  bool   // delete it
}

// Records returns the records of package knowledge.
func (s *Store) Records() *Records { return &s.records }

// Get returns the value of a key, or ErrNotFound. The value belongs to the caller.
func (r *Records) Get(key string) ([]byte, error) {
	if !r.kv.enter() {
		return nil, ErrNotFound
	}
	defer r.kv.leave()
	return r.kv.read(key)
}

// Walk calls f for each key with the prefix, in ascending order from the key from on (from the first if that is empty),
// until f returns false. It sees what was there when it began. The value belongs to f. Damaged records are left out.
func (r *Records) Walk(prefix, from string, f func(key string, value []byte) bool) {
	r.kv.walk(scan{prefix: prefix, from: from}, f)
}

// Keys is Walk without the values.
func (r *Records) Keys(prefix, from string, f func(key string) bool) {
	r.kv.walk(scan{prefix: prefix, from: from, keys: true}, func(key string, _ []byte) bool { return f(key) })
}

// Apply makes changes together or not at all. At most [MaxChanges] changes of [MaxChangeBytes] together fit. The error
// wraps ErrFull while the disk is nearly full (changes that only delete still go through then) and after Close.
func (r *Records) Apply(changes ...Change) error {
	if len(changes) == 0 {
		return nil
	}
	if len(changes) > MaxChanges {
		return fmt.Errorf("store %d changes together: %d are the most", len(changes), MaxChanges)
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
			return fmt.Errorf("store record: %.40q is no key of these records", c.Key)
		}
		if len(c.Value) > maxRecord {
			return fmt.Errorf("store record of class %s: %d bytes, %d are the most", class(c.Key), len(c.Value), maxRecord)
		}
		bytes += len(c.Key) + len(c.Value) + 32
		forgets = forgets && c.Gone
	}
	if bytes > MaxChangeBytes {
		return fmt.Errorf("store %d changes together: %d bytes, %d are the most", len(changes), bytes, MaxChangeBytes)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if room := k.room(); room == roomForNone || room == roomToForget && !forgets {
		return fmt.Errorf("store records: disk nearly full: %w", ErrFull)
	}
	if err := r.commit(changes); err != nil {
		k.fail(err)
		return fmt.Errorf("store records: %w", err)
	}
	k.syncer.touched()
	return nil
}

func (r *Records) commit(changes []Change) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("engine panic: %v", p)
		}
	}()
	txn := r.kv.db.NewTransaction(true)
	defer txn.Discard()
	for i := range changes {
		c := &changes[i]
		if c.Gone {
			err = txn.Delete([]byte(c.Key))
		} else {
			err = txn.Set([]byte(c.Key), r.kv.seal.seal(c.Key, c.Value))
		}
		if err != nil {
			return err
		}
	}
	return txn.Commit()
}

// Snapshot returns the records as they are now, or ErrNotFound when there is no disk or the store is closed. It must be
// closed: Close of the store waits for it.
func (r *Records) Snapshot() (*RecordsSnapshot, error) {
	if !r.kv.enter() {
		return nil, ErrNotFound
	}
	return &RecordsSnapshot{kv: r.kv, txn: r.kv.db.NewTransaction(false)}, nil
}

// RecordsSnapshot is [Records] at a moment. It is safe for concurrent use until it is closed.
type RecordsSnapshot struct {
	kv   *kv
	txn  *badger.Txn
	once sync.Once
}

// Get is [Records.Get] as of the snapshot.
func (s *RecordsSnapshot) Get(key string) ([]byte, error) { return s.kv.readIn(s.txn, key) }

// Walk is [Records.Walk] as of the snapshot.
func (s *RecordsSnapshot) Walk(prefix, from string, f func(key string, value []byte) bool) {
	s.kv.walkIn(s.txn, scan{prefix: prefix, from: from}, f)
}

// Close ends the snapshot. The second of two calls does nothing.
func (s *RecordsSnapshot) Close() {
	s.once.Do(func() {
		s.txn.Discard()
		s.kv.leave()
	})
}
