package store

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/lru"
	"github.com/readthru/readthru/store/tally"
)

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
func open(o Options, space func(dir string) (free, total uint64, err error), sync func() error) (*Store, error) {
	if o.MaxSize == 0 {
		o.MaxSize = defaultMaxSize
	}
	if o.Decoded == 0 {
		o.Decoded = DefaultDecoded
	}
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
		Dir: o.Dir, Memory: o.Memory, Decoded: tiers.records, Log: o.Log, Space: space, Sync: sync,
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
