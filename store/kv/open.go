package kv

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
	boptions "github.com/dgraph-io/badger/v4/options"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/store/lru"
	"github.com/readthru/readthru/store/wire"
)

const (
	dbName   = "db"   // the engine's directory, inside Options.Dir
	headName = "head" // see headFile
)

// ErrNewer says that a newer version of this program wrote the store in a form that this version cannot read. The
// store is not changed.
var ErrNewer = errors.New("the store was written by a newer version of readthru")

// ErrLocked says that another process has opened the directory.
var ErrLocked = errors.New("another process has it open")

// Options configures a DB. Log, Schema, Recount, LastJob, OnChange and OnDrop must be there.
type Options struct {
	// Dir is the directory to keep everything in. It is created with mode 0700 when missing.
	Dir string

	// Memory bounds what waits to be written, before compression, and the engine's caches, in bytes. If zero,
	// DefaultMemory.
	Memory int64

	// Decoded bounds the records that are kept in memory as the values they stand for, in bytes.
	Decoded int64

	// Log receives what an operator should know.
	Log *slog.Logger

	// Schema is the form of the records that this program writes.
	Schema Schema

	// Heads are the classes of keys whose records a hit reads beside what it sends.
	Heads []string

	// Recount finds the totals by scanning, when their record is damaged or older than the rest. What no record tells
	// any more is taken from before.
	Recount func(k *DB, before Totals) Totals

	// LastJob returns the number of the newest job.
	LastJob func(k *DB) uint64

	// OnChange is called for each key that changes, under a lock: it must be quick, and must not call back.
	OnChange func(key string)

	// OnDrop is called after accepted writes were given up.
	OnDrop func()

	// Space tells how many bytes of the file system that dir lies on are free for this user, and how many it has. If
	// nil, the system is asked.
	Space func(dir string) (free, total uint64, err error)

	// Sync makes durable what was committed. If nil, the engine's files are synced.
	Sync func() error
}

// Schema is a form of the records: its version, and the oldest version that can read it.
type Schema struct {
	Version      int `json:"version"`
	OldestReader int `json:"oldest_reader"`
}

const (
	schemaKey = "z/schema"
	totalsKey = "z/totals"
)

// Open opens the directory, or creates it. The error wraps ErrLocked when another process has opened it, and ErrNewer
// when a newer version of this program wrote it. It moves a damaged directory aside (it never deletes one) and creates
// an empty one. When the disk is below the free-space mark, it works without it: every read is a miss and nothing is
// stored, because opening the engine writes, and the engine kills the process when a write fails.
func Open(o Options) (*DB, error) {
	o.Memory = cmp.Or(o.Memory, DefaultMemory)
	if o.Space == nil {
		o.Space = diskSpace
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	seal, err := newSealer(o.Heads)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	k := &DB{
		options: o, most: o.Memory / 5 * 4, seal: seal, log: o.Log, dir: o.Dir, pending: map[string]pending{},
		decoded: lru.New[string, any](o.Decoded), w: newWriter(), syncer: newSyncer(),
	}
	if err := k.openEngine(o.Memory); err != nil {
		seal.close()
		return nil, err
	}
	return k, nil
}

// openEngine opens the engine and reads what must be known from the start. A damaged directory is set aside, and an
// empty one takes its place; a lack of space, rights or other resources is no damage and comes back as an error, or as
// a store without a disk.
func (k *DB) openEngine(memory int64) error {
	if free, total, err := k.options.Space(k.dir); err == nil && roomFor(free, total) != roomForAll {
		k.why = nearlyFull(k.dir, free, total)
		k.log.Warn("store runs in memory only", "reason", k.why)
		return nil
	}
	dir := filepath.Join(k.dir, dbName)
	db, fresh, err := openBadger(dir, memory, k.log, &k.Damaged)
	if err == nil {
		err = k.readStart(db, fresh)
		if err != nil {
			_ = db.Close()
		}
	}
	if errors.Is(err, ErrLocked) || errors.Is(err, ErrNewer) || errors.Is(err, fs.ErrPermission) || lacksResource(err) {
		return err
	}
	if err != nil {
		cause := err
		if k.SetAside, err = setAside(dir, time.Now()); err != nil {
			return fmt.Errorf("open store: %w; it cannot be set aside: %w", cause, err)
		}
		k.log.Error("damaged store set aside", "path", k.SetAside, "error", cause)
		// The head belonged to what was set aside.
		if err := os.Remove(filepath.Join(k.dir, headName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("open store: %w", err)
		}
		if db, fresh, err = openBadger(dir, memory, k.log, &k.Damaged); err == nil {
			if err = k.readStart(db, fresh); err != nil {
				_ = db.Close()
			}
		}
		if err != nil {
			return fmt.Errorf("open store %s: %w", dir, err)
		}
	}
	k.db = db
	keepNoBuffers(db)
	go fault.Contain("store: end writing", k.runWriter)()
	go fault.Contain("store: end syncing", k.runSyncer)()
	return nil
}

// lacksResource reports whether an error of opening means that the machine lacks a resource at the moment, which says
// nothing about the store. The engine reports errors of the system as text.
func lacksResource(err error) bool {
	return err != nil && slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC},
		func(e error) bool {
			return strings.Contains(err.Error(), e.Error())
		})
}

// openBadger opens the engine, after a look at its files. Damage can make it return an error or panic; both come back
// as an error. Fresh says that there was nothing before.
func openBadger(dir string, memory int64, log *slog.Logger, unreadable *atomic.Int64) (
	db *badger.DB, fresh bool, err error,
) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("open engine in %s: panic: %v", dir, r)
		}
	}()
	release, err := lockEngine(dir)
	if err != nil {
		return nil, false, err
	}
	clean := filepath.Join(filepath.Dir(dir), cleanName)
	_, dirty := os.Stat(clean)
	if err = moveUnreadable(dir, log, time.Now()); err == nil {
		fresh, err = inspect(dir, dirty != nil)
	}
	if err == nil && dirty != nil {
		tellCutLogs(dir, log)
	}
	if err == nil {
		err = os.Remove(clean)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	// the engine takes the lock itself
	release()
	if err != nil {
		return nil, false, err
	}
	db, err = badger.Open(badgerOptions(dir, memory, log, unreadable))
	if err != nil && strings.Contains(err.Error(), "Cannot acquire directory lock") {
		return nil, false, fmt.Errorf("open engine in %s: %w", dir, ErrLocked)
	}
	if err != nil {
		return nil, false, fmt.Errorf("open engine in %s: %w", dir, err)
	}
	return db, fresh, nil
}

// Holder reads which process has a directory open; 0 if that cannot be read.
func Holder(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, dbName, "LOCK"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

// setAside renames, when it cannot be opened, a damaged directory of the engine and returns its new name. It is never
// deleted: a person may want to save something from it.
func setAside(dir string, now time.Time) (string, error) {
	name := freeName(dir+".damaged-", now)
	return name, os.Rename(dir, name)
}

// freeName returns, for what cannot be opened, a name that begins with prefix and the time, and is not taken.
func freeName(prefix string, now time.Time) string {
	stem := prefix + now.UTC().Format("20060102T150405Z")
	name := stem
	for i := 2; ; i++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
		name = fmt.Sprintf("%s-%d", stem, i)
	}
}

// badgerOptions are the settings with which the engine is opened. Bodies lie in the tree itself (its value log is never
// given back), compressed by us: the engine's own compression is no smaller and takes 2 to 4 times the memory.
func badgerOptions(dir string, memory int64, log *slog.Logger, unreadable *atomic.Int64) badger.Options {
	o := badger.DefaultOptions(dir)
	o.Logger = &engineLog{log, unreadable}
	o.MetricsEnabled = false
	o.DetectConflicts = false // one writer
	o.SyncWrites = false      // the syncer syncs once a second
	o.Compression = boptions.None
	o.BlockCacheSize = 0 // allowed only without compression and encryption
	o.IndexCacheSize = memory / 5
	o.MemTableSize = 8 << 20
	o.NumMemtables = 2
	o.TableSizeMultiplier = 1 // tables that grow with the store would take memory with it
	o.BlockSize = 16 << 10    // blocks of 4 KiB would hold one record each, and waste as much again while they are made
	o.NumCompactors = 2
	o.ChecksumVerificationMode = boptions.OnBlockRead
	o.ValueThreshold = 1 << 20
	o.ValueLogFileSize = 64 << 20
	return o
}

// readStart reads, when it was opened, schema, totals and the newest job, and writes the first schema of a fresh store.
func (k *DB) readStart(db *badger.DB, fresh bool) error {
	k.db = db
	defer func() { // nothing else may use it until the writer runs
		k.reading.renew()
		k.db = nil
	}()
	head, err := openHead(filepath.Join(k.dir, headName))
	if err != nil {
		return err
	}
	if err := k.checkSchema(fresh, head.seq); err != nil {
		_ = head.close()
		return err
	}
	k.syncer.head = head
	t, known := readTotals(k)
	last := k.options.LastJob(k)
	if !fresh && (!known || t.Uncertain || t.Seq < head.seq || t.Seq < last) {
		k.Lost = t.Seq < head.seq
		k.log.Warn("store recounts its totals", "lost_records", k.Lost)
		t = k.options.Recount(k, t)
	}
	t.Seq = max(t.Seq, head.seq, last)
	k.w.durable, k.live = t, t.Clone()
	return nil
}

// checkSchema reads, when the database was opened, z/schema, or writes it into a fresh store, with totals of nothing.
// That of an older program is raised: from now on it may misread what it finds. Seq is the newest job that was ever
// synced in the store's directory.
func (k *DB) checkSchema(fresh bool, seq uint64) error {
	value, err := k.read(schemaKey)
	if err != nil {
		if !fresh && !k.empty() {
			return errors.New("the schema record is unreadable")
		}
		return k.writeSchema(&Totals{Seq: seq})
	}
	var found Schema
	if err := json.Unmarshal(value, &found); err != nil {
		return fmt.Errorf("read schema record: %w", err)
	}
	if found.OldestReader > k.options.Schema.Version {
		return fmt.Errorf("open store %s: %w: schema %d, readable from %d on, this is %d", k.dir, ErrNewer,
			found.Version, found.OldestReader, k.options.Schema.Version)
	}
	if found.Version < k.options.Schema.Version {
		return k.writeSchema(nil)
	}
	return nil
}

// writeSchema writes, when the database was opened, which form of records this program writes, and totals unless they
// are nil, past the queue: the writer does not run yet.
func (k *DB) writeSchema(t *Totals) error {
	defer k.reading.renew()
	return k.db.Update(func(txn *badger.Txn) error {
		if t != nil {
			if err := txn.Set([]byte(totalsKey), k.seal.seal(totalsKey, t.encode())); err != nil {
				return err
			}
		}
		return txn.Set([]byte(schemaKey), k.seal.seal(schemaKey, wire.JSON(k.options.Schema)))
	})
}

// empty reports whether the engine that was opened holds no record at all, as after a first start that was killed at
// once.
func (k *DB) empty() bool {
	found := false
	k.Walk(Scan{Keys: true}, func(string, []byte) bool { found = true; return false })
	return !found
}

// engineLog hands Badger's log on. Badger reports a value that it cannot read only here.
type engineLog struct {
	log        *slog.Logger
	unreadable *atomic.Int64
}

func (l *engineLog) Errorf(format string, args ...any) {
	if strings.HasPrefix(format, "Unable to read") {
		l.unreadable.Add(1)
	}
	l.log.Error("engine", "text", fmt.Sprintf(strings.TrimSpace(format), args...))
}

func (l *engineLog) Warningf(format string, args ...any) {
	l.log.Warn("engine", "text", fmt.Sprintf(strings.TrimSpace(format), args...))
}

func (l *engineLog) Infof(format string, args ...any) {
	l.log.Debug("engine", "text", fmt.Sprintf(strings.TrimSpace(format), args...))
}

func (l *engineLog) Debugf(string, ...any) {}
