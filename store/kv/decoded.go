package kv

import "github.com/readthru/readthru/store/wire"

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
