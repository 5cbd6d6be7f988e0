// Package kv is the key-value layer over the engine (Badger): records that prove themselves, a queue of writes, and an
// overlay through which point reads see what is queued. It knows no kind of record; whoever opens it says what it must
// know of them ([Options]), and is told of changes and of writes that were given up.
//
// To read the source, begin with kv.go (queue and reads), then writer.go (commits), sync.go (what survives the machine)
// and open.go (a directory that may be damaged).
package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/store/lru"
	"github.com/readthru/readthru/store/wire"
)

// DefaultMemory is Options.Memory unless that is set.
const DefaultMemory = 80 << 20

// ErrNotFound is returned for a record that does not exist or is damaged.
var ErrNotFound = errors.New("not found")

// ErrFull says that nothing can be stored at the moment: the queue is full, the disk is below the free-space mark, or
// there is no disk. Callers continue without storing.
var ErrFull = errors.New("store takes no writes")

// DB is the key-value layer over Badger: records that prove themselves, a queue of writes, and an overlay through which
// point reads see what is queued. It is the only place that touches Badger's values.
type DB struct {
	db   *badger.DB // nil: memory only, nothing is found or kept
	seal *sealer
	log  *slog.Logger
	dir  string // the store's directory; Badger's is inside
	why  string // why there is no db

	options Options

	SetAside string       // where Open moved a damaged directory, if it did
	Lost     bool         // Open met fewer records than had been written and synced
	Dropped  atomic.Int64 // writes rejected or given up
	Damaged  atomic.Int64 // damaged records met

	mu      sync.RWMutex
	pending map[string]pending // newest queued value of a key
	queue   []*Batch
	ahead   []*Batch // of the queue, those that are written first
	queued  int64    // bytes in queue or reserved
	most    int64    // that may be queued
	seq     uint64
	live    Totals // with everything in the queue
	readers sync.WaitGroup
	shut    bool   // no new readers, no new writes
	full    string // why nothing is stored: the disk is below the mark; empty if it is not
	failing string // the last write's error; empty if it went well
	checked int64  // when a caller last looked whether that is over, Unix seconds

	reading shared
	decoded *lru.Cache[string, any] // see Decode
	drops   uint64                  // how often the writer gave up accepted writes

	committing sync.Mutex // held over a commit that does not pass through the queue
	copying    sync.Mutex // held over what reads or rewrites everything

	w      writer
	syncer syncer
}

// pending is a queued change of a key, which point reads see before it is on disk.
type pending struct {
	value []byte
	gone  bool
	seq   uint64 // of its batch
}

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

// Set puts a value. The batch keeps the value, so the caller must not change it afterwards.
func (b *Batch) Set(key string, value []byte) { b.add(op{key: key, value: value}) }

// Del deletes a key.
func (b *Batch) Del(key string) { b.add(op{key: key, gone: true}) }

// Len returns the number of changes.
func (b *Batch) Len() int { return len(b.ops) }

// Bytes returns the bytes of all changes in the queue.
func (b *Batch) Bytes() int64 { return b.bytes }

// add appends a change, and counts what it takes in the queue: key, value and 64 bytes for the entries about it.
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

// leave ends what enter announced.
func (k *DB) leave() { k.readers.Done() }

// Get returns the value of a key, queued changes included, or ErrNotFound. The value is shared: never change it.
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

// shared is the transaction that all reads share until something is written: to begin and end one costs as much as to
// read a record. No read has one of its own: between a commit and renew it would see what a read after it does not.
type shared struct {
	mu  sync.Mutex
	now *snapshot              // nil: the next reader begins one
	old map[*snapshot]struct{} // that have not ended
}

// snapshot is what is on disk as of a moment.
type snapshot struct {
	txn   *badger.Txn
	users int
	ended chan struct{} // not nil: it is old, and ends with its last user, who closes this
}

// begin returns a snapshot with everything that was committed before the last call of renew, until end.
func (s *shared) begin(db *badger.DB) *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		s.now = &snapshot{txn: db.NewTransaction(false)}
	}
	s.now.users++
	return s.now
}

// end gives a snapshot back. The last reader of an old one ends its transaction.
func (s *shared) end(r *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.users--; r.ended != nil && r.users == 0 {
		r.txn.Discard()
		close(r.ended)
		delete(s.old, r)
	}
}

// renew lets no later reader have the present snapshot. It is called after each commit, before anybody may rely on it.
func (s *shared) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return
	}
	if s.now.users == 0 {
		s.now.txn.Discard()
	} else {
		s.now.ended = make(chan struct{})
		if s.old == nil {
			s.old = map[*snapshot]struct{}{}
		}
		s.old[s.now] = struct{}{}
	}
	s.now = nil
}

// settle waits until every snapshot of before the last call of renew has ended.
func (s *shared) settle(ctx context.Context) error {
	s.mu.Lock()
	old := slices.Collect(maps.Keys(s.old))
	s.mu.Unlock()
	for _, r := range old {
		select {
		case <-r.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
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

// forget counts a damaged record and queues its deletion.
func (k *DB) forget(key string) {
	k.Damaged.Add(1)
	k.log.Warn("damaged record deleted", "class", Class(key))
	b := &Batch{Must: true}
	b.add(op{key: key, ifDamaged: true})
	_ = k.Apply(b) // if it cannot be queued, the next read finds it again
}

// Class returns the part of a key that people may read.
func Class(key string) string {
	for i := range len(key) {
		if key[i] == '/' {
			return key[:i]
		}
	}
	return ""
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

// GetJSON decodes the value of a key into v. A value that is no JSON counts as damaged.
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

// Walk calls f for each key of a scan, in order, until f returns false. It sees what is on disk: callers wait for a
// barrier first. Values belong to f.
func (k *DB) Walk(sc Scan, f func(key string, value []byte) bool) {
	if !k.enter() {
		return
	}
	defer k.leave()
	r := k.reading.begin(k.db)
	defer k.reading.end(r)
	k.walkIn(r.txn, sc, f)
}

// walkIn is Walk as of a transaction's start. Damaged records are skipped and deleted.
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

// Apply queues batches, all or none. They are visible to get at once. The error is ErrFull, or says that a record is
// too large.
func (k *DB) Apply(batches ...*Batch) error { return k.ApplyReserved(0, batches...) }

// ApplyReserved is Apply for a caller who has reserved room before; the reservation is used up if it succeeds, and
// stays if it fails.
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

// checkRecords returns an error if a record is too large.
func checkRecords(b *Batch) error {
	for i := range b.ops {
		if o := &b.ops[i]; len(o.value) > MaxRecord {
			return fmt.Errorf("store record of class %s: %d bytes, the limit is %d", Class(o.key), len(o.value),
				MaxRecord)
		}
	}
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

// Release gives back what Reserve set apart.
func (k *DB) Release(n int64) {
	k.mu.Lock()
	k.queued -= n
	k.mu.Unlock()
}

// Totals returns the totals with everything in the queue.
func (k *DB) Totals() Totals {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.live.Clone()
}

// Barrier waits until everything queued before is committed, and with synced also synced. The error says what was lost
// since the last barrier with sync.
func (k *DB) Barrier(synced bool) error {
	_, err := k.ask(&Batch{sync: synced})
	return err
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

// Close lets the writer and the readers end and closes the engine. The second of two calls does nothing.
func (k *DB) Close() error {
	k.mu.Lock()
	before := k.shut
	k.shut = true
	k.mu.Unlock()
	if before {
		return nil
	}
	if k.db == nil {
		k.seal.close()
		return nil
	}
	k.w.stop()
	k.syncer.stop()
	k.readers.Wait()
	k.reading.renew()
	err := k.closeEngine()
	if err == nil {
		err = os.WriteFile(filepath.Join(k.dir, cleanName), nil, 0o600)
	}
	k.seal.close()
	return errors.Join(err, k.syncer.head.close())
}

const (
	closeWait  = 10 * time.Second // for the engine to write what it has in memory
	closeProbe = 100 * time.Millisecond
)

// closeEngine closes the engine. The engine tries for ever to write what it has in memory, so it is left to itself
// after closeWait, or as soon as its directory is gone. What it has not written is in its log, which the next start
// reads.
func (k *DB) closeEngine() error {
	done := make(chan error, 1)
	go fault.Contain("store: end the engine", func() { done <- fault.Catch("store: close the engine", k.db.Close) })()
	limit, probe := time.NewTimer(closeWait), time.NewTicker(closeProbe)
	defer limit.Stop()
	defer probe.Stop()
	gone := func() bool {
		_, err := os.Stat(filepath.Join(k.dir, dbName))
		return errors.Is(err, fs.ErrNotExist)
	}
	errGone := fmt.Errorf("close store %s: the directory is gone", k.dir)
	for {
		select {
		case err := <-done:
			if err != nil && gone() {
				return errGone
			}
			return err
		case <-limit.C:
			return fmt.Errorf("close store %s: it was not written within %s: the next start reads its log", k.dir,
				closeWait)
		case <-probe.C:
			if gone() {
				return errGone
			}
		}
	}
}

// Queued returns the size of what waits to be written.
func (k *DB) Queued() int64 {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.queued
}

// Changes counts the changes that were queued, and those that were given up. A reader that wants to keep in memory what
// it reads calls it first: see [DB.IfUnchanged].
func (k *DB) Changes() uint64 {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.seq
}

// IfUnchanged calls keep, which keeps in memory what a caller read, unless something was queued or given up since
// changed returned seq: what was read may lack that.
func (k *DB) IfUnchanged(seq uint64, keep func()) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.seq == seq && !k.shut {
		keep()
	}
}

// Closed reports whether Close was called.
func (k *DB) Closed() bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.shut
}
