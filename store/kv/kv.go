// Package kv is the key-value layer over the engine (Badger): records that prove themselves, a queue of writes, and an
// overlay through which point reads see what is queued. It knows no kind of record; whoever opens it says what it must
// know of them ([Options]), and is told of changes and of writes that were given up.
//
// To read the source, begin with kv.go (queue and reads), then writer.go (commits), sync.go (what survives the machine)
// and open.go (a directory that may be damaged).
package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/store/lru"
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

// Class returns the part of a database key that people may read: what kind of record it is of.
func Class(key string) string {
	for i := range len(key) {
		if key[i] == '/' {
			return key[:i]
		}
	}
	return ""
}

// Close closes the database: it lets the writer and the readers end and closes the engine. The second of two calls does
// nothing.
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

// Closed reports whether Close was called.
func (k *DB) Closed() bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.shut
}

// Engine returns Badger's database. It is nil if the store works in memory only.
func (k *DB) Engine() *badger.DB { return k.db }
