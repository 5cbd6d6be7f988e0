package kv

import (
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/readthru/readthru/store/wire"
)

// enter announces a reader of the engine, which must not be closed under it. It reports false once closing has begun.
func (k *DB) enter() bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.db == nil || k.shut {
		return false
	}
	// under the lock that Close takes to set shut, so that it waits for this reader
	k.readers.Add(1)
	return true
}

// leave ends the reading that enter announced.
func (k *DB) leave() { k.readers.Done() }

// Get reads the value of a key, queued changes included, or returns ErrNotFound. The value is shared: never change it.
func (k *DB) Get(key string) ([]byte, error) {
	k.mu.RLock()
	p, ok := k.pending[key]
	k.mu.RUnlock()
	if ok {
		if p.gone {
			return nil, ErrNotFound
		}
		return p.value, nil
	}
	if !k.enter() {
		return nil, ErrNotFound
	}
	defer k.leave()
	return k.read(key)
}

// read returns a value from the disk, without what is queued. The caller has entered.
func (k *DB) read(key string) ([]byte, error) {
	r := k.reading.begin(k.db)
	defer k.reading.end(r)
	return k.readIn(r.txn, key)
}

// readIn is read as of a transaction's start. The engine may panic on a damaged file.
func (k *DB) readIn(txn *badger.Txn, key string) (value []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			k.Damaged.Add(1)
			k.log.Error("engine panic", "class", Class(key), "panic", fmt.Sprint(r))
			value, err = nil, ErrNotFound
		}
	}()
	item, err := txn.Get([]byte(key))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, ErrNotFound
	}
	if err == nil {
		err = item.Value(func(record []byte) error {
			value, err = k.seal.open(key, record)
			return err
		})
	}
	if err != nil {
		k.forget(key)
		return nil, ErrNotFound
	}
	return value, nil
}

// forget counts a damaged record that was read and queues its deletion.
func (k *DB) forget(key string) {
	k.Damaged.Add(1)
	k.log.Warn("damaged record deleted", "class", Class(key))
	b := &Batch{Must: true}
	b.add(op{key: key, ifDamaged: true})
	_ = k.Apply(b) // if it cannot be queued, the next read finds it again
}

// GetIn is Get within a batch: it sees the batch's own changes, too, so that a read-modify-write can build on an
// earlier one of the same batch.
func (k *DB) GetIn(b *Batch, key string) ([]byte, error) {
	if value, gone, ok := b.get(key); ok {
		if gone {
			return nil, ErrNotFound
		}
		return value, nil
	}
	return k.Get(key)
}

// GetJSON reads the value of a key and decodes it into v. A value that is no JSON counts as damaged.
func (k *DB) GetJSON(b *Batch, key string, v any) error {
	value, err := k.GetIn(b, key)
	if err != nil {
		return err
	}
	if !wire.Unmarshal(value, v) {
		k.Damaged.Add(1)
		return ErrNotFound
	}
	return nil
}

// Scan says which keys to walk over.
type Scan struct {
	Prefix string
	From   string // first key; if empty, the first (or, in reverse, the last) of the prefix
	Back   bool   // from the last key to the first
	Keys   bool   // only keys, no values
}

// Walk reads the records of a scan: it calls f for each key, in order, until f returns false. It sees what is on disk:
// callers wait for a barrier first. Values belong to f.
func (k *DB) Walk(sc Scan, f func(key string, value []byte) bool) {
	if !k.enter() {
		return
	}
	defer k.leave()
	r := k.reading.begin(k.db)
	defer k.reading.end(r)
	k.walkIn(r.txn, sc, f)
}

// walkIn is Walk, the reading of a scan, as of a transaction's start. Damaged records are skipped and deleted.
func (k *DB) walkIn(txn *badger.Txn, sc Scan, f func(key string, value []byte) bool) {
	// Values are never prefetched: what is small is read as fast without, and what is large should not be read ahead.
	it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte(sc.Prefix), Reverse: sc.Back})
	defer it.Close()
	from := sc.From
	if from == "" {
		from = sc.Prefix
		if sc.Back {
			// the engine seeks the last key at or before this one; no key goes on like this
			from += "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
		}
	}
	for it.Seek([]byte(from)); it.ValidForPrefix([]byte(sc.Prefix)); it.Next() {
		key := string(it.Item().Key())
		var value []byte
		if !sc.Keys {
			err := it.Item().Value(func(record []byte) (err error) {
				value, err = k.seal.open(key, record)
				return err
			})
			if err != nil {
				k.forget(key)
				continue
			}
		}
		if !f(key, value) {
			return
		}
	}
}
