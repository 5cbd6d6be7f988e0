package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/lru"
	"github.com/readthru/readthru/store/tally"
)

// ErrNotFound is returned for a record that does not exist or is damaged.
var ErrNotFound = kv.ErrNotFound

// ErrFull says that the store cannot store anything at the moment: the queue is full, the disk is below the free-space
// mark, or the store runs in memory only. Callers continue without storing.
var ErrFull = kv.ErrFull

// ErrNewer says that a newer version of this program wrote the store in a form that this version cannot read. The
// store is not changed.
var ErrNewer = kv.ErrNewer

// ErrCursor says that a cursor was not returned by the list that got it.
var ErrCursor = errors.New("not a cursor of this list")

// LockedError says that another process has opened the directory.
type LockedError struct {
	Dir string
	PID int // of that process; 0 if unknown
}

// Error names the process that has the store.
func (e *LockedError) Error() string {
	return fmt.Sprintf("open store %s: %s has it open", e.Dir, e.Holder())
}

// Holder names the process that has the store.
func (e *LockedError) Holder() string {
	if e.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d", e.PID)
}

// Options configures a Store.
type Options struct {
	// Dir is the directory to keep everything in. It is created with mode 0700 when missing.
	Dir string

	// MaxSize bounds the bodies of stored responses, in bytes as received; equal bodies count once. When it is
	// exceeded, the least recently used responses are evicted until nine tenths of it remain. If zero, 2 GiB. Pages and
	// their versions are not counted and never evicted.
	MaxSize int64

	// Cleaner cleans texts that were stored without it, or under a lower edition of it, when they are read. What is
	// stored is taken as cleaned by it.
	Cleaner Cleaner

	// Memory bounds what waits to be written, before compression, and the engine's caches, in bytes. A body must fit
	// into four fifths of it to be stored. If zero, 80 MiB.
	Memory int64

	// Decoded bounds the bodies, renditions, heads of responses and other records that are kept in memory as they are
	// answered, in bytes. If zero, DefaultDecoded.
	Decoded int64

	// Log receives what an operator should know. If nil, nothing is logged.
	Log *slog.Logger
}

// Health is the state of the store.
type Health struct {
	State    string // "ok", "read-only" (disk nearly full, or failing) or "memory-only" (there is no disk)
	Reason   string // for people; empty when ok
	SetAside string // where a damaged store was moved at start; empty if none was
	Queued   int64  // bytes that wait to be written
	Dropped  int64  // writes rejected since start
	Damaged  int64  // damaged records met since start
	Lost     bool   // at start, records were missing that had been written and synced
}

// Store is an open store. Open makes one; Close ends it.
type Store struct {
	kv      *kv.DB
	log     *slog.Logger
	maxSize atomic.Int64
	cleaner Cleaner

	dir string // Options.Dir

	// mu is held over every read-modify-write of records, so that each sees the one before. What happens under it
	// touches memory and point reads only, never waits for the writer.
	mu  sync.Mutex
	seq uint64 // newest job's sequence number; under mu
	// when pages were deleted lately, here or in another store; under mu
	deletions *simplelru.LRU[page.Key, time.Time]

	hot        responseCache
	bodies     *lru.Cache[Sum, []byte]
	renditions *lru.Cache[string, *Rendition]
	pins       pins
	tallies    *tally.Counters
	visits     visitLog
	uses       useLog
	feed       feed
	purges     purgeLog
	usersMutex sync.Mutex   // held over changes of users
	usersCount atomic.Int64 // of these changes
	hostCount  atomic.Int64 // changes of what is known about hosts
	disclosed  atomic.Int64 // disclosures since the start
	records    Records

	chores   chan struct{} // wakes the housekeeper; capacity 1
	counts   chan struct{} // wakes count; capacity 1
	reclaims chan struct{} // wakes reclaim; capacity 1
	added    chan struct{} // see JobsAdded; capacity 1
	cancel   context.CancelFunc
	wg       sync.WaitGroup
}

// Health returns the store's state now.
func (s *Store) Health() Health {
	h := Health{
		SetAside: s.kv.SetAside, Lost: s.kv.Lost, Queued: s.kv.Queued(), Dropped: s.kv.Dropped.Load(),
		Damaged: s.kv.Damaged.Load(),
	}
	h.State, h.Reason = s.kv.State()
	return h
}

// SetMaxSize changes Options.MaxSize.
func (s *Store) SetMaxSize(n int64) { s.maxSize.Store(n) }

// Flush waits until all accepted writes are on disk and synced. The error says which of them were lost.
func (s *Store) Flush() error {
	s.flushCounts()
	s.flushUses()
	if err := s.kv.Barrier(true); err != nil {
		return fmt.Errorf("flush store: %w", err)
	}
	return nil
}

// settle waits until a walk can find everything queued before. A lost write is no error here: it was counted and
// logged when it was lost.
func (s *Store) settle() { _ = s.kv.Barrier(false) }

// Close writes what is queued, syncs and closes. It waits for running reads; later calls find nothing and store
// nothing.
func (s *Store) Close() error {
	s.cancel()
	s.wg.Wait()
	err := s.Flush()
	if e := s.kv.Close(); err == nil {
		err = e
	}
	return err
}

const (
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

// Open opens the store in o.Dir, or creates one. The error is a [*LockedError] when another process has opened it, and
// wraps ErrNewer when a newer version of this program wrote it. Open moves a damaged store aside (it never deletes
// one) and creates an empty one; Health reports that. When the disk is below the free-space mark, the store works
// without it: every read is a miss and nothing is stored, because opening the engine writes, and the engine kills the
// process when a write fails.
func Open(o Options) (*Store, error) { return open(o, nil, nil) }

// open is Open on a disk whose space and syncs a test decides. If nil, they are the machine's.
func open(o Options, space func(dir string) (free, total uint64, err error), toDisk func() error) (*Store, error) {
	o.MaxSize = cmp.Or(o.MaxSize, defaultMaxSize)
	o.Decoded = cmp.Or(o.Decoded, DefaultDecoded)
	tiers := tiersOf(o.Decoded)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	deletions, _ := simplelru.NewLRU[page.Key, time.Time](knownDeletions, nil) // fails for sizes below 1 only
	s := &Store{
		deletions:  deletions,
		log:        o.Log,
		dir:        o.Dir,
		chores:     make(chan struct{}, 1),
		counts:     make(chan struct{}, 1),
		reclaims:   make(chan struct{}, 1),
		added:      make(chan struct{}, 1),
		purges:     purgeLog{added: make(chan struct{}, 1)},
		bodies:     lru.New[Sum, []byte](tiers.bodies),
		renditions: lru.New[string, *Rendition](tiers.renditions),
	}
	s.maxSize.Store(o.MaxSize)
	s.cleaner = o.Cleaner
	s.hot.init(tiers.responses)
	var err error
	s.kv, err = kv.Open(kv.Options{
		Dir: o.Dir, Memory: o.Memory, Decoded: tiers.records, Log: o.Log, Space: space, Sync: toDisk,
		Schema: kv.Schema{Version: schemaVersion, OldestReader: oldestReader}, Heads: keys.HeadClasses,
		Recount: recount, LastJob: lastJob, OnChange: s.keyChanged, OnDrop: s.forgetUnwritten,
	})
	if errors.Is(err, kv.ErrLocked) {
		return nil, &LockedError{Dir: o.Dir, PID: kv.Holder(o.Dir)}
	}
	if err != nil {
		return nil, err
	}
	s.records.kv = s.kv
	s.tallies = tally.New(s.kv)
	s.seq = s.kv.Totals().Seq
	s.keepClosed()
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.wg.Go(fault.Forever(ctx, "store: keep house", s.housekeep))
	s.wg.Go(fault.Forever(ctx, "store: count", s.count))
	s.wg.Go(fault.Forever(ctx, "store: reclaim space", s.reclaim))
	s.wg.Go(fault.Forever(ctx, "store: bound mapped memory", s.kv.KeepMappedSmall))
	return s, nil
}

// keyChanged forgets what memory holds of a key that changes, and reports the change.
func (s *Store) keyChanged(key string) {
	if keys.IsRendition(key) {
		s.renditions.Remove(key)
	}
	s.feed.keyChanged(key)
}

// Backup writes a consistent copy of the store to w. Restore reads it.
func (s *Store) Backup(w io.Writer) error {
	if err := s.kv.Backup(w, s.Flush); err != nil {
		return fmt.Errorf("back up store: %w", err)
	}
	return nil
}

// Restore reads a backup into dir, which must be missing or empty. After an error it removes what it has written.
func Restore(dir string, r io.Reader) error { return kv.Restore(dir, r) }
