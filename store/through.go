package store

import (
	"fmt"
	"sync"

	"github.com/readthru/readthru/internal/fault"
)

// writeThrough commits a batch before it returns: it does not pass through the queue, which is committed first. Only a
// batch that forgets something is taken while the disk is nearly full. What is written so, apply must not write.
func (k *kv) writeThrough(b *batch) error {
	if !k.enter() {
		return fmt.Errorf("the store takes no writes: %w", ErrFull)
	}
	defer k.leave()
	if err := checkRecords(b); err != nil {
		return err
	}
	_ = k.barrier(false) // what was lost was logged
	k.committing.Lock()
	defer k.committing.Unlock()
	if room := k.room(); room == roomForNone || room == roomToForget && !b.must {
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

func (k *kv) commitThrough(b *batch) error {
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

// view returns what is on disk as of now, or ErrNotFound without a disk or after close. The caller closes it: close of
// k waits for it.
func (k *kv) view() (*view, error) {
	if !k.enter() {
		return nil, ErrNotFound
	}
	return &view{kv: k, shared: k.reading.begin(k.db)}, nil
}

// view is the store as of a moment. It is safe for concurrent use until it is closed.
type view struct {
	kv     *kv
	shared *snapshot
	once   sync.Once
}

// get returns the value of a key, or ErrNotFound.
func (v *view) get(key string) ([]byte, error) { return v.kv.readIn(v.shared.txn, key) }

// walk is [kv.walk] as of the moment.
func (v *view) walk(sc scan, f func(key string, value []byte) bool) { v.kv.walkIn(v.shared.txn, sc, f) }

// close ends the view. A second call does nothing.
func (v *view) close() {
	v.once.Do(func() {
		v.kv.reading.end(v.shared)
		v.kv.leave()
	})
}
