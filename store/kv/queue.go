package kv

import (
	"fmt"
)

// pending is a queued change of a key, which point reads see before it is on disk.
type pending struct {
	value []byte
	gone  bool
	seq   uint64 // of its batch
}

// Apply queues batches, all or none. They are visible to get at once. The error is ErrFull, or says that a record is
// too large.
func (k *DB) Apply(batches ...*Batch) error { return k.ApplyReserved(0, batches...) }

// ApplyReserved is Apply for a caller who has reserved room in the queue before; the reservation is used up if it
// succeeds, and stays if it fails.
func (k *DB) ApplyReserved(reserved int64, batches ...*Batch) error {
	var bytes int64
	must := true
	for _, b := range batches {
		bytes += b.bytes
		must = must && b.Must
		if err := checkRecords(b); err != nil {
			return err
		}
		if b.bytes > MaxBatchBytes {
			return fmt.Errorf("store %d records together: %d bytes, the limit is %d", len(b.ops), b.bytes,
				MaxBatchBytes)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.db == nil || k.shut || !must && (k.queued-reserved+bytes > k.most || !k.admitsLocked()) {
		k.Dropped.Add(1)
		return ErrFull
	}
	k.queued += bytes - reserved
	for n, b := range batches {
		k.seq++
		b.seq = k.seq
		// if the writer drops this batch, those that came with it go, too
		b.last = b.seq + uint64(len(batches)-1-n)
		for i := range b.ops {
			o := &b.ops[i]
			k.decoded.Remove(o.key)
			k.options.OnChange(o.key)
			if !o.ifDamaged {
				k.pending[o.key] = pending{o.value, o.gone, b.seq}
			}
		}
		k.live.Add(b.Delta, 1)
		if b.Ahead {
			k.ahead = append(k.ahead, b)
		} else {
			k.queue = append(k.queue, b)
		}
	}
	k.w.signal(len(k.ahead) > 0 || k.queued > gatherBytes)
	return nil
}

// Reserve sets n bytes of the queue apart for a body that is being read, or reports ErrFull.
func (k *DB) Reserve(n int64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.db == nil || k.shut || k.queued+n > k.most || !k.admitsLocked() {
		k.Dropped.Add(1)
		return ErrFull
	}
	k.queued += n
	return nil
}

// Release gives back to the queue what Reserve set apart.
func (k *DB) Release(n int64) {
	k.mu.Lock()
	k.queued -= n
	k.mu.Unlock()
}

// Barrier waits until everything queued before is committed, and with synced also synced. The error says what was lost
// since the last barrier with sync.
func (k *DB) Barrier(synced bool) error {
	_, err := k.ask(&Batch{sync: synced})
	return err
}

// ask queues a batch without changes and waits until the writer has committed what was queued before, and answers.
// Without a writer (no disk, or closed) the batch is not taken.
func (k *DB) ask(b *Batch) (taken bool, err error) {
	b.barrier = make(chan error, 1)
	k.mu.Lock()
	if k.db == nil || k.shut {
		k.mu.Unlock()
		return false, nil
	}
	k.queue = append(k.queue, b)
	k.mu.Unlock()
	k.w.signal(true)
	return true, <-b.barrier
}

// Queued returns the size of what waits to be written.
func (k *DB) Queued() int64 {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.queued
}
