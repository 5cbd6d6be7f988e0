package kv

import (
	"context"
	"path/filepath"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// maxMapped is how much of files the process may hold in memory before parts of the engine's tables are let go, in
// bytes. The program's own code takes some 30 MB of it.
const maxMapped = 72 << 20

// lookAtMapped is how often the engine's tables in memory are looked at. Reading the index at a start, or
// compaction, brings some 50 MB of them into memory in that time.
const lookAtMapped = 250 * time.Millisecond

// KeepMappedSmall lets the engine's tables go whenever the process holds more than maxMapped of files, until ctx ends,
// where the system tells.
func (k *DB) KeepMappedSmall(ctx context.Context) {
	if mappedBytes() > 0 {
		k.boundMapped(ctx, maxMapped)
	}
}

// boundMapped lets the engine's tables go when the process holds more than max bytes of files, whoever reads or writes
// them: requests, the index or the engine itself.
func (k *DB) boundMapped(ctx context.Context, max int64) {
	ticker := time.NewTicker(lookAtMapped)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			k.LetGo(max)
		}
	}
}

// LetGo takes the engine's mapped tables out of the process's memory if it holds more than max bytes of files. The
// engine maps its tables whole, and what it has read or written of them counts as the process's memory until the system
// is short of it. The system goes on caching the files, so that reading them again costs a page fault, not the disk.
func (k *DB) LetGo(max int64) {
	if mappedBytes() <= max || !k.enter() {
		return
	}
	defer k.leave()
	dir, err := realPath(filepath.Join(k.dir, dbName))
	if err != nil {
		return
	}
	listed := map[uint64]bool{}
	for _, t := range k.db.Tables() {
		listed[t.ID] = true
	}
	// An iterator over everything holds each table of its beginning. Those that were listed before and are listed
	// afterwards were there then, so that their addresses stay theirs until the iterator is closed.
	r := k.reading.begin(k.db)
	defer k.reading.end(r)
	all := r.txn.NewIterator(badger.IteratorOptions{})
	defer all.Close()
	held := map[string]bool{}
	for _, t := range k.db.Tables() {
		if listed[t.ID] {
			held[table.NewFilename(t.ID, dir)] = true
		}
	}
	forgetMapped(func(name string) bool { return held[name] })
}

// realPath returns, to find it among mapped files, the name by which the system knows a directory.
func realPath(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}
