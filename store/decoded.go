package store

import (
	"github.com/readthru/readthru/store/lru"

	"github.com/readthru/readthru/store/wire"
)

// decoded keeps records that are read with every request as the values they stand for, and which of them are not there.
// A write to a key takes it out; so what it says is what [kv.get] would.
type decoded struct{ *lru.Cache[string, any] }

func newDecoded(max int64) decoded { return decoded{lru.New[string, any](max)} }

// decode returns the record of a key as a T, or ErrNotFound. It is shared: never change it.
func decode[T any](k *kv, key string) (*T, error) {
	if v, ok := k.decoded.Get(key); ok {
		if record, there := v.(*T); there {
			return record, nil
		}
		return nil, ErrNotFound
	}
	k.mu.RLock()
	seq := k.seq
	k.mu.RUnlock()
	var kept any // nil: not there
	record := new(T)
	value, err := k.get(key)
	if err == nil {
		if !wire.Unmarshal(value, record) {
			k.damaged.Add(1)
			return nil, ErrNotFound
		}
		kept = record
	}
	k.mu.RLock()
	if k.seq == seq && !k.shut { // nothing was queued since that it might lack
		k.decoded.Add(key, kept, int64(len(key)+2*len(value)+256))
	}
	k.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	return record, nil
}
