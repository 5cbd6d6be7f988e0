package kv

import (
	"fmt"
)

// op is a change of one key in a batch.
type op struct {
	key       string
	value     []byte
	gone      bool // delete it
	ifDamaged bool // delete it if it still does not verify when the writer gets there
}

// Batch is a list of changes that reach the disk together or not at all, with what they change in the totals.
type Batch struct {
	ops   []op
	bytes int64

	// Delta is what the changes make of the totals.
	Delta Totals

	// Must marks a batch that forgets something. It is taken when the queue is full, too, and is held, not dropped,
	// while the disk takes nothing: what was deleted must not come back.
	Must bool

	// Ahead marks a small batch that is written before all that waits. No other batch changes its keys before it is
	// committed.
	Ahead bool

	seq     uint64
	last    uint64       // seq of the last batch that was queued together with this one
	barrier chan error   // not nil: no changes; the writer answers when everything before is committed
	sync    bool         // with barrier: and synced
	do      func() error // with barrier: what the writer does then; its error is the answer
}

// Set puts a value into the batch. The batch keeps the value, so the caller must not change it afterwards.
func (b *Batch) Set(key string, value []byte) { b.add(op{key: key, value: value}) }

// Del has the batch delete a key.
func (b *Batch) Del(key string) { b.add(op{key: key, gone: true}) }

// Len returns the number of the batch's changes.
func (b *Batch) Len() int { return len(b.ops) }

// Bytes returns how many bytes the batch takes: those of all changes in the queue.
func (b *Batch) Bytes() int64 { return b.bytes }

// add appends a change to the batch, and counts what it takes in the queue: key, value and 64 bytes for the entries
// about it.
func (b *Batch) add(o op) {
	b.ops = append(b.ops, o)
	b.bytes += int64(len(o.key)+len(o.value)) + 64
}

// get returns what the batch itself would make of a key.
func (b *Batch) get(key string) (value []byte, gone, ok bool) {
	for i := len(b.ops) - 1; i >= 0; i-- {
		if o := &b.ops[i]; o.key == key && !o.ifDamaged {
			return o.value, o.gone, true
		}
	}
	return nil, false, false
}

// checkRecords returns an error if a record of a batch is too large.
func checkRecords(b *Batch) error {
	for i := range b.ops {
		if o := &b.ops[i]; len(o.value) > MaxRecord {
			return fmt.Errorf("store record of class %s: %d bytes, the limit is %d", Class(o.key), len(o.value),
				MaxRecord)
		}
	}
	return nil
}
