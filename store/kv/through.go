package kv

import (
	"fmt"

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
