package kv

import (
	"fmt"
	"sync"

	"github.com/readthru/readthru/internal/fault"
)

// WriteThrough commits a batch before it returns: it does not pass through the queue, which is committed first. The
// index of package knowledge is written so. Only a batch that forgets something is taken while the disk is nearly full.
// What is written so, Apply must not write. The error wraps ErrFull, or is that of the commit.
func (k *DB) WriteThrough(b *Batch) error {
	if !k.enter() {
		return fmt.Errorf("the store takes no writes: %w", ErrFull)
	}
	defer k.leave()
	if err := checkRecords(b); err != nil {
		return err
	}
	_ = k.Barrier(false) // what was lost was logged
	k.committing.Lock()
	defer k.committing.Unlock()
	if room := k.room(); room == roomForNone || room == roomToForget && !b.Must {
		return fmt.Errorf("disk nearly full: %w", ErrFull)
	}
	err := k.commitThrough(b)
	k.reading.renew()
	if err != nil {
		k.fail(err)
		return err
	}
	k.syncer.touched()
	return nil
}

// commitThrough commits a batch in a transaction of its own. The caller holds committing.
func (k *DB) commitThrough(b *Batch) error {
	txn := k.db.NewTransaction(true)
	defer txn.Discard()
	for i := range b.ops {
		o := &b.ops[i]
		var record []byte
		if !o.gone {
			record = k.seal.seal(o.key, o.value)
		}
		if err := k.change(txn, o, record); err != nil {
			return err
		}
	}
	return fault.Catch("store: commit records", txn.Commit)
}

// View returns what is on disk as of now, or ErrNotFound without a disk or after close. The caller closes it: close of
// k waits for it.
func (k *DB) View() (*View, error) {
	if !k.enter() {
		return nil, ErrNotFound
	}
	return &View{kv: k, shared: k.reading.begin(k.db)}, nil
}

// View is what is on disk as of a moment. It is safe for concurrent use until it is closed.
type View struct {
	kv     *DB
	shared *snapshot
	once   sync.Once
}

// Get returns the value of a key, or ErrNotFound.
func (v *View) Get(key string) ([]byte, error) { return v.kv.readIn(v.shared.txn, key) }

// Walk is [DB.Walk] as of the moment.
func (v *View) Walk(sc Scan, f func(key string, value []byte) bool) { v.kv.walkIn(v.shared.txn, sc, f) }

// Close ends the view. A second call does nothing.
func (v *View) Close() {
	v.once.Do(func() {
		v.kv.reading.end(v.shared)
		v.kv.leave()
	})
}
