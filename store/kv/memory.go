package kv

import (
	"github.com/readthru/readthru/store/lru"

	"github.com/readthru/readthru/store/wire"
)

// Decoded returns the memory of records that [Decode] fills.
func (k *DB) Decoded() *lru.Cache[string, any] { return k.decoded }

// Decode returns the record of a key as a T, or ErrNotFound. It is shared: never change it. Records that are read with
// every request (pages, hosts, names) are kept in memory as the values they stand for, and which of them are not there.
// A write to a key takes it out; so what is kept says what [DB.Get] would.
func Decode[T any](k *DB, key string) (*T, error) {
	if v, ok := k.decoded.Get(key); ok {
		if record, there := v.(*T); there {
			return record, nil
		}
		return nil, ErrNotFound
	}
	seq := k.Changes()
	var kept any // nil: not there
	record := new(T)
	value, err := k.Get(key)
	if err == nil {
		if !wire.Unmarshal(value, record) {
			k.Damaged.Add(1)
			return nil, ErrNotFound
		}
		kept = record
	}
	k.IfUnchanged(seq, func() { k.decoded.Add(key, kept, int64(len(key)+2*len(value)+256)) })
	if err != nil {
		return nil, err
	}
	return record, nil
}

// Changes counts the changes that were queued, and those that were given up. A reader that wants to keep in memory what
// it reads calls it first: see [DB.IfUnchanged].
func (k *DB) Changes() uint64 {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.seq
}

// IfUnchanged calls keep unless the queue has changed: keep keeps in memory what a caller read, unless something was
// queued or given up since changed returned seq: what was read may lack that.
func (k *DB) IfUnchanged(seq uint64, keep func()) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.seq == seq && !k.shut {
		keep()
	}
}

// IfKept calls f, which keeps in memory what a caller wrote, unless writes were given up since GivenUp returned drops:
// what the caller wrote may be among them, or be made of them. What f keeps goes with the next that are given up. It
// reports whether it called f.
func (k *DB) IfKept(drops uint64, f func()) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.drops != drops {
		return false
	}
	f()
	return true
}
