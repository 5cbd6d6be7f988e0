package kv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/readthru/readthru/internal/fault"
)

// MaxBatchBytes and MaxBatchChanges bound a transaction, and so a batch. Badger's own limit is 15 % of a memtable, 1.2
// MiB; the largest record must fit.
const (
	MaxBatchBytes   = 9 << 17
	MaxBatchChanges = 8000
)

const (
	// gatherTime is how long the writer waits for more before it begins, unless somebody waits for it or much is
	// queued: to commit two batches together takes little longer than one. A killed process loses what waits.
	gatherTime = 5 * time.Millisecond
	// gatherBytes is how much is queued at most meanwhile.
	gatherBytes = 1 << 20

	// commitEvery is how long a transaction takes further batches while more wait: a killed process loses those that it
	// holds.
	commitEvery = 20 * time.Millisecond
)

// writer is the state of the goroutine that commits.
type writer struct {
	wake, quit, done chan struct{}
	hurry            chan struct{} // ends the gathering; capacity 1

	durable Totals   // as committed
	lost    error    // what became of batches dropped since the last barrier with sync
	broken  uint64   // batches up to this seq go the way of one that was dropped and queued together with them
	held    []*Batch // batches that must be written, and cannot be at the moment
	txn     *badger.Txn
	began   time.Time // of txn
	batches []*Batch  // in txn
	bytes   int
	ops     int
}

// newWriter returns a writer whose goroutine does not run yet.
func newWriter() writer {
	return writer{
		wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1), quit: make(chan struct{}),
		done: make(chan struct{}),
	}
}

// signal tells the writer that something is queued, and with hurry that it must not wait for more.
func (w *writer) signal(hurry bool) {
	if hurry {
		signal(w.hurry)
	}
	signal(w.wake)
}

// stop has the writer commit what is queued and end, and waits for that.
func (w *writer) stop() {
	close(w.quit)
	<-w.done
}

// runWriter is the writer's goroutine.
func (k *DB) runWriter() {
	defer close(k.w.done)
	fault.Forever(context.Background(), "store: write what is queued", func(context.Context) { k.write() })()
}

// write writes what is queued until the writer is told to stop.
func (k *DB) write() {
	for {
		select {
		case <-k.w.wake:
			k.w.gather()
			k.drain()
		case <-k.w.quit:
			k.drain()
			if len(k.w.held) > 0 {
				k.log.Error("deletions not written", "batches", len(k.w.held))
			}
			return
		}
	}
}

// gather waits up to gatherTime for more to write, so that it is committed together.
func (w *writer) gather() {
	timer := time.NewTimer(gatherTime)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.hurry:
	case <-w.quit:
	}
	select {
	case <-w.wake: // by what came meanwhile
	default:
	}
}

// drain has the writer commit what is queued, until the queue is empty.
func (k *DB) drain() {
	for {
		k.mu.Lock()
		batches, ahead := k.queue, len(k.ahead)
		k.queue = nil
		k.mu.Unlock()
		if len(batches)+ahead == 0 {
			return
		}
		if held := k.w.held; len(held) > 0 {
			k.w.held = nil
			batches = append(held, batches...)
		}
		for _, b := range batches {
			k.contained(b, func() { k.drainOne(b) })
		}
		k.contained(nil, func() {
			k.putAhead()
			k.commit()
		})
	}
}

// contained does some of the writer's work: b, or what is queued if b is nil. A panic in it drops the batches at hand,
// which whoever waits for them learns; the others are written.
func (k *DB) contained(b *Batch, write func()) {
	err := fault.Catch("store: write", func() error { write(); return nil })
	if err == nil {
		return
	}
	batches := k.w.batches
	k.w.discard()
	switch {
	case b == nil:
	case b.barrier != nil:
		b.barrier <- err
	default:
		batches = append(batches, b)
	}
	k.drop(batches, err)
}

// drainOne writes a batch, or, for a batch without changes, answers who waits for those before it.
func (k *DB) drainOne(b *Batch) {
	k.putAhead()
	if b.barrier == nil {
		k.put(b)
		if time.Since(k.w.began) > commitEvery {
			k.commit()
		}
		return
	}
	k.commit()
	if b.do != nil {
		b.barrier <- b.do()
		return
	}
	if !b.sync {
		b.barrier <- nil
		return
	}
	err := k.w.lost
	k.w.lost = nil
	if len(k.w.held) > 0 && err == nil {
		err = fmt.Errorf("%d deletions wait for the disk: %w", len(k.w.held), ErrFull)
	}
	k.syncer.await(waiter{b.barrier, err})
}

// putAhead has the writer commit the batches that are written first.
func (k *DB) putAhead() {
	k.mu.Lock()
	batches := k.ahead
	k.ahead = nil
	k.mu.Unlock()
	for _, b := range batches {
		k.put(b)
	}
	if len(batches) > 0 {
		k.commit()
	}
}

// put adds, as the writer does, a batch to the open transaction, committing before when it would grow too large.
func (k *DB) put(b *Batch) {
	w := &k.w
	if b.seq <= w.broken && !b.Must {
		k.drop([]*Batch{b}, fmt.Errorf("a part of it was not written: %w", ErrFull))
		return
	}
	records := make([][]byte, len(b.ops))
	bytes := 0
	for i := range b.ops {
		o := &b.ops[i]
		if !o.gone && !o.ifDamaged {
			records[i] = k.seal.seal(o.key, o.value)
		}
		bytes += len(o.key) + len(records[i]) + 32
	}
	if w.bytes+bytes > MaxBatchBytes || w.ops+len(b.ops) > MaxBatchChanges {
		k.commit()
	}
	if w.txn == nil {
		w.txn = k.db.NewTransaction(true)
		w.began = time.Now()
	}
	for i := range b.ops {
		if err := k.change(w.txn, &b.ops[i], records[i]); err != nil {
			// The batch cannot be written as a whole, so none of it is: start over with those before it.
			before := w.batches
			w.discard()
			k.drop([]*Batch{b}, fmt.Errorf("write %s record: %w", Class(b.ops[i].key), err))
			for _, earlier := range before {
				k.put(earlier)
			}
			return
		}
	}
	w.batches = append(w.batches, b)
	w.bytes += bytes
	w.ops += len(b.ops)
}

// change makes, as the writer does, one change in a transaction. A deletion of a damaged record is made only if the
// record on disk still is damaged: it may have been written again since.
func (k *DB) change(txn *badger.Txn, o *op, record []byte) error {
	switch {
	case o.ifDamaged:
		item, err := txn.Get([]byte(o.key))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return nil
		}
		if err == nil && item.Value(func(r []byte) error {
			if !verifies(o.key, r) {
				return ErrDamaged
			}
			return nil
		}) == nil {
			return nil
		}
		return txn.Delete([]byte(o.key))
	case o.gone:
		return txn.Delete([]byte(o.key))
	}
	return txn.Set([]byte(o.key), record)
}

// discard ends the open transaction without a commit, and forgets its batches.
func (w *writer) discard() {
	if w.txn != nil {
		w.txn.Discard()
	}
	w.txn, w.batches, w.bytes, w.ops = nil, nil, 0, 0
}

// commit writes the open transaction, unless the disk is nearly full: a write to a full disk kills the process (the
// engine writes through mapped memory), so the free space is looked at before each.
func (k *DB) commit() {
	w := &k.w
	if len(w.batches) == 0 {
		w.discard()
		return
	}
	room := k.room()
	if len(w.held) > 0 && room != roomForNone { // what waits comes first: what follows may build on it
		batches := slices.Concat(w.held, w.batches)
		w.held = nil
		w.discard()
		for _, b := range batches {
			k.put(b)
		}
		k.commit()
		return
	}
	if room == roomForAll || room == roomToForget && allMust(w.batches) {
		k.commitNow()
		return
	}
	batches := w.batches
	w.discard()
	var must, rest []*Batch
	for _, b := range batches {
		if b.Must {
			must = append(must, b)
		} else {
			rest = append(rest, b)
		}
	}
	if len(rest) > 0 {
		k.drop(rest, fmt.Errorf("disk nearly full: %w", ErrFull))
	}
	if room == roomForNone {
		w.held = append(w.held, must...)
		return
	}
	for _, b := range must {
		k.put(b)
	}
	k.commitNow()
}

// allMust reports whether all batches that the writer has forget something, and so may be written to a disk that is
// nearly full.
func allMust(batches []*Batch) bool {
	for _, b := range batches {
		if !b.Must {
			return false
		}
	}
	return true
}

// commitNow commits the writer's open transaction with the totals that its batches make. A failed commit drops all of
// them.
func (k *DB) commitNow() {
	w := &k.w
	if len(w.batches) == 0 {
		w.discard()
		return
	}
	after := w.durable.Clone()
	for _, b := range w.batches {
		after.Add(b.Delta, 1)
	}
	err := w.txn.Set([]byte(totalsKey), k.seal.seal(totalsKey, after.encode()))
	if err == nil {
		err = fault.Catch("store: commit", w.txn.Commit)
	}
	batches := w.batches
	w.discard()
	if err != nil {
		k.fail(err)
		k.drop(batches, fmt.Errorf("commit: %w", err))
		return
	}
	k.reading.renew() // before what was queued is taken out of the overlay
	w.durable = after
	k.syncer.committed(after.Seq)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.settleLocked(batches)
	k.failing = ""
}

// drop has the writer give up batches that cannot be written: what they changed is as it was before.
func (k *DB) drop(batches []*Batch, why error) {
	k.Dropped.Add(int64(len(batches)))
	k.w.durable.Uncertain = true
	for _, b := range batches {
		if b.last > b.seq {
			k.w.broken = max(k.w.broken, b.last)
		}
	}
	if k.w.lost == nil {
		k.w.lost = why
	}
	k.mu.Lock()
	for _, b := range batches {
		k.live.Add(b.Delta, -1)
		for i := range b.ops {
			k.decoded.Remove(b.ops[i].key)
		}
	}
	k.seq++ // a reader of one of them must not keep it
	k.drops++
	k.settleLocked(batches)
	k.mu.Unlock()
	k.log.Warn("writes dropped", "batches", len(batches), "error", why)
	k.decoded.Clear()
	k.options.OnDrop()
}

// GivenUp counts how often writes were given up.
func (k *DB) GivenUp() uint64 {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.drops
}

// settleLocked takes batches that the writer has committed or dropped out of the overlay and the queue's count. A key
// that was queued again since stays. The caller holds mu.
func (k *DB) settleLocked(batches []*Batch) {
	for _, b := range batches {
		for i := range b.ops {
			if p, ok := k.pending[b.ops[i].key]; ok && p.seq == b.seq {
				delete(k.pending, b.ops[i].key)
			}
		}
		k.queued -= b.bytes
	}
}

// fail notes that the disk does not take writes.
func (k *DB) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failing == "" {
		k.log.Error("store write", "error", err)
	}
	k.failing = "the last write failed: " + err.Error()
}

// inWriter calls f in the writer's goroutine, after everything queued before is committed. The error is that of f, or
// ErrFull when there is no writer any more.
func (k *DB) inWriter(f func() error) error {
	taken, err := k.ask(&Batch{do: f})
	if !taken {
		return fmt.Errorf("the store is closed: %w", ErrFull)
	}
	return err
}
