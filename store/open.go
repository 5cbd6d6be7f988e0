package store

import (
	"context"
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
	"github.com/dgraph-io/badger/v4/options"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/lru"
	"github.com/readthru/readthru/store/wire"
)

const (
	dbName   = "db"   // the engine's directory, inside Options.Dir
	headName = "head" // see headFile

	defaultMaxSize = 2 << 30

	// knownDeletions is how many of the last deletions of pages are kept in mind.
	knownDeletions = 4096
)

// schemaVersion is what this program writes, oldestReader the oldest version that can read it. Raise the second only
// for a change that an older program would misread.
const (
	schemaVersion = 2 // pages and renditions are packed
	oldestReader  = 2
)

type schema struct {
	Version      int `json:"version"`
	OldestReader int `json:"oldest_reader"`
}

// Open opens the store in o.Dir, or creates one. The error is a [*LockedError] when another process has opened it, and
// wraps ErrNewer when a newer version of this program wrote it. Open moves a damaged store aside (it never deletes
// one) and creates an empty one; Health reports that. When the disk is below the free-space mark, the store works
// without it: every read is a miss and nothing is stored, because opening the engine writes, and the engine kills the
// process when a write fails.
func Open(o Options) (*Store, error) { return open(o, disk{diskSpace, syncEngine}) }

// disk is what the store asks of the file system beside the engine.
type disk struct {
	space spaceFunc
	sync  func(db *badger.DB, dir string) error // makes durable what was committed to the engine in dir
}

func open(o Options, d disk) (*Store, error) {
	if o.MaxSize == 0 {
		o.MaxSize = defaultMaxSize
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	if o.Decoded == 0 {
		o.Decoded = DefaultDecoded
	}
	tiers := tiersOf(o.Decoded)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	seal, err := newSealer()
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	deletions, _ := simplelru.NewLRU[page.Key, time.Time](knownDeletions, nil) // fails for sizes below 1 only
	s := &Store{
		deletions:  deletions,
		log:        o.Log,
		chores:     make(chan struct{}, 1),
		counts:     make(chan struct{}, 1),
		reclaims:   make(chan struct{}, 1),
		added:      make(chan struct{}, 1),
		purges:     purgeLog{added: make(chan struct{}, 1)},
		bodies:     lru.New[Sum, []byte](tiers.bodies),
		renditions: lru.New[string, *Rendition](tiers.renditions),
		kv: &kv{
			most: o.Memory / 5 * 4,
			seal: seal, log: o.Log, dir: o.Dir, disk: d, pending: map[string]pending{},
			decoded: newDecoded(tiers.records),
			w: writer{
				wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
				quit: make(chan struct{}), done: make(chan struct{}),
			},
			syncer: newSyncer(),
		},
	}
	s.maxSize.Store(o.MaxSize)
	s.cleaner = o.Cleaner
	s.records.kv = s.kv
	s.hot.init(tiers.responses)
	s.tallies.init()
	s.kv.onDrop = s.forgetUnwritten
	s.kv.onChange = func(key string) {
		if isRendition(key) {
			s.renditions.Remove(key)
		}
		s.feed.keyChanged(key)
	}
	if err := s.openEngine(o.Memory); err != nil {
		seal.close()
		return nil, err
	}
	s.keepClosed()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.wg.Go(fault.Forever(ctx, "store: keep house", s.housekeep))
	s.wg.Go(fault.Forever(ctx, "store: count", s.count))
	s.wg.Go(fault.Forever(ctx, "store: reclaim space", s.reclaim))
	if mappedBytes() > 0 { // the system tells
		s.wg.Go(fault.Forever(ctx, "store: bound mapped memory", func(ctx context.Context) {
			s.boundMapped(ctx, maxMapped)
		}))
	}
	return s, nil
}

// openEngine opens the engine and reads what must be known from the start.
func (s *Store) openEngine(memory int64) error {
	k := s.kv
	if free, total, err := k.disk.space(k.dir); err == nil && roomFor(free, total) != roomForAll {
		k.why = nearlyFull(k.dir, free, total)
		s.log.Warn("store runs in memory only", "reason", k.why)
		return nil
	}
	dir := filepath.Join(k.dir, dbName)
	db, fresh, err := openBadger(dir, memory, s.log, &k.damaged)
	if err == nil {
		err = s.readStart(db, fresh)
		if err != nil {
			_ = db.Close()
		}
	}
	var locked *LockedError
	if errors.As(err, &locked) || errors.Is(err, ErrNewer) || errors.Is(err, fs.ErrPermission) || lacksResource(err) {
		return err
	}
	if err != nil {
		cause := err
		if s.setAside, err = setAside(dir, time.Now()); err != nil {
			return fmt.Errorf("open store: %w; it cannot be set aside: %w", cause, err)
		}
		s.log.Error("damaged store set aside", "path", s.setAside, "error", cause)
		// The head belonged to what was set aside.
		if err := os.Remove(filepath.Join(k.dir, headName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("open store: %w", err)
		}
		if db, fresh, err = openBadger(dir, memory, s.log, &k.damaged); err == nil {
			if err = s.readStart(db, fresh); err != nil {
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

// lacksResource reports whether an error means that the machine lacks a resource at the moment, which says nothing
// about the store. The engine reports errors of the system as text.
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
	release()
	if err != nil {
		return nil, false, err
	}
	db, err = badger.Open(badgerOptions(dir, memory, log, unreadable))
	if err != nil && strings.Contains(err.Error(), "Cannot acquire directory lock") {
		return nil, false, &LockedError{Dir: filepath.Dir(dir), PID: lockHolder(dir)}
	}
	if err != nil {
		return nil, false, fmt.Errorf("open engine in %s: %w", dir, err)
	}
	return db, fresh, nil
}

// lockHolder reads which process has the engine's directory open; 0 if that cannot be read.
func lockHolder(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, "LOCK"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0
	}
	return pid
}

// setAside renames a damaged directory and returns its new name.
func setAside(dir string, now time.Time) (string, error) {
	name := freeName(dir+".damaged-", now)
	return name, os.Rename(dir, name)
}

// freeName returns a name that begins with prefix and the time, and is not taken.
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

// badgerOptions are the engine's settings. Bodies lie in the tree itself (its value log is never given back),
// compressed by us: the engine's own compression is no smaller and takes 2 to 4 times the memory.
func badgerOptions(dir string, memory int64, log *slog.Logger, unreadable *atomic.Int64) badger.Options {
	o := badger.DefaultOptions(dir)
	o.Logger = &engineLog{log, unreadable}
	o.MetricsEnabled = false
	o.DetectConflicts = false // one writer
	o.SyncWrites = false      // the syncer syncs once a second
	o.Compression = options.None
	o.BlockCacheSize = 0 // allowed only without compression and encryption
	o.IndexCacheSize = memory / 5
	o.MemTableSize = 8 << 20
	o.NumMemtables = 2
	o.TableSizeMultiplier = 1 // tables that grow with the store would take memory with it
	o.BlockSize = 16 << 10    // blocks of 4 KiB would hold one record each, and waste as much again while they are made
	o.NumCompactors = 2
	o.ChecksumVerificationMode = options.OnBlockRead
	o.ValueThreshold = 1 << 20
	o.ValueLogFileSize = 64 << 20
	return o
}

// readStart reads schema, totals and the newest job, and writes the first schema of a fresh store.
func (s *Store) readStart(db *badger.DB, fresh bool) error {
	k := s.kv
	k.db = db
	defer func() { // nothing else may use it until the writer runs
		k.reading.renew()
		k.db = nil
	}()
	head, err := openHead(filepath.Join(k.dir, headName))
	if err != nil {
		return err
	}
	if err := checkSchema(k, fresh, head.seq); err != nil {
		_ = head.close()
		return err
	}
	k.syncer.head = head
	t, known := readTotals(k)
	last := lastJob(k)
	if !fresh && (!known || t.Uncertain || t.Seq < head.seq || t.Seq < last) {
		s.lost = t.Seq < head.seq
		s.log.Warn("store recounts its totals", "lost_records", s.lost)
		t = recount(k, t)
	}
	t.Seq = max(t.Seq, head.seq, last)
	k.w.durable, k.live = t, t.clone()
	s.seq = t.Seq
	return nil
}

// checkSchema reads z/schema, or writes it into a fresh store, with totals of nothing. That of an older program is
// raised: from now on it may misread what it finds. Seq is the newest job that was ever synced in the store's
// directory.
func checkSchema(k *kv, fresh bool, seq uint64) error {
	value, err := k.read(schemaKey)
	if err != nil {
		if !fresh && !empty(k) {
			return errors.New("the schema record is unreadable")
		}
		return writeSchema(k, &totals{Seq: seq})
	}
	var found schema
	if err := json.Unmarshal(value, &found); err != nil {
		return fmt.Errorf("read schema record: %w", err)
	}
	if found.OldestReader > schemaVersion {
		return fmt.Errorf("open store %s: %w: schema %d, readable from %d on, this is %d", k.dir, ErrNewer,
			found.Version, found.OldestReader, schemaVersion)
	}
	if found.Version < schemaVersion {
		return writeSchema(k, nil)
	}
	return nil
}

// writeSchema writes the schema of what this program writes, and totals unless they are nil.
func writeSchema(k *kv, t *totals) error {
	defer k.reading.renew()
	return k.db.Update(func(txn *badger.Txn) error {
		if t != nil {
			if err := txn.Set([]byte(totalsKey), k.seal.seal(totalsKey, t.encode())); err != nil {
				return err
			}
		}
		return txn.Set([]byte(schemaKey), k.seal.seal(schemaKey, wire.JSON(schema{schemaVersion, oldestReader})))
	})
}

// empty reports whether the engine holds no record at all, as after a first start that was killed at once.
func empty(k *kv) bool {
	found := false
	k.walk(scan{keys: true}, func(string, []byte) bool { found = true; return false })
	return !found
}

func readTotals(k *kv) (t totals, ok bool) {
	value, err := k.read(totalsKey)
	return t, err == nil && json.Unmarshal(value, &t) == nil
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
