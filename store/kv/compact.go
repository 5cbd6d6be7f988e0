package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/y"
)

// compactKey is a record that exists only while the engine is compacted.
const compactKey = "z/compact"

// Compact rewrites the files of the engine, so that they no longer hold what was deleted before the call, or by forget,
// which deletes what is left to delete and waits until that is on disk. Reads and writes go on, but for a moment. It
// needs room on the disk, because old and new tables lie beside each other: without it the error is ErrFull. The end of
// ctx ends it early, except while the engine moves its tables.
func (k *DB) Compact(ctx context.Context, forget func() error) error {
	if !k.enter() {
		return fmt.Errorf("it is not open: %w", ErrNotFound)
	}
	defer k.leave()
	if !k.copying.TryLock() {
		return errors.New("it is being backed up or compacted already")
	}
	defer k.copying.Unlock()
	if k.room() != roomForAll {
		_, why := k.State()
		return fmt.Errorf("%s: %w", why, ErrFull)
	}
	if err := forget(); err != nil {
		return err
	}
	// The engine keeps what a transaction may still read: all that was deleted since the oldest one began. So no
	// transaction of before the deletions may be left, and one of after them must have ended.
	if err := k.alone(k.fence); err != nil {
		return err
	}
	k.reading.renew()
	if err := k.reading.settle(ctx); err != nil {
		return err
	}
	if err := k.alone(func() error { return rewriteTables(k.db) }); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return k.db.Flatten(1)
}

// alone calls f, to compact, in the writer's goroutine, while nothing else writes to the engine.
func (k *DB) alone(f func() error) error {
	k.committing.Lock()
	defer k.committing.Unlock()
	return k.inWriter(f)
}

// fence prepares compaction: it commits twice, with a transaction that begins and ends in between: then the engine's
// oldest transaction is one from after the deletions.
func (k *DB) fence() error {
	for range 2 {
		err := k.db.Update(func(txn *badger.Txn) error {
			return txn.Set([]byte(compactKey), k.seal.seal(compactKey, nil))
		})
		if err != nil {
			return err
		}
		k.db.NewTransaction(false).Discard()
	}
	return nil
}

// rewriteTables compacts: it has the engine move what it holds in memory to tables, and rewrite every table when it
// next flattens them. A table is rewritten when a newer one has a key in its range, so each is given one: a deletion of
// a key that does not exist. Nothing else may write meanwhile.
func rewriteTables(db *badger.DB) error {
	changes := db.NewWriteBatch()
	defer changes.Cancel()
	for _, t := range db.Tables() {
		left, right := y.ParseKey(t.Left), y.ParseKey(t.Right)
		err := db.View(func(txn *badger.Txn) error {
			// a deletion of what is not there changes nothing; of a table with one key, that key is written again as it is
			key := append(bytes.Clone(left), 0) // the next one
			if _, err := txn.Get(key); errors.Is(err, badger.ErrKeyNotFound) && bytes.Compare(key, right) <= 0 {
				return changes.Delete(key)
			}
			item, err := txn.Get(left)
			if errors.Is(err, badger.ErrKeyNotFound) {
				return changes.Delete(bytes.Clone(left))
			}
			if err != nil {
				return err
			}
			value, err := item.ValueCopy(nil)
			if err != nil {
				return err
			}
			return changes.Set(bytes.Clone(left), value)
		})
		if err != nil {
			return fmt.Errorf("table %d: %w", t.ID, err)
		}
	}
	if err := changes.Flush(); err != nil {
		return err
	}
	// To drop a prefix is the engine's only way to write its memory to tables while it is open.
	return db.DropPrefix([]byte(compactKey))
}
