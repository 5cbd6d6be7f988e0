package store

import (
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/readthru/readthru/store/body"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// MaxActs is maxActs.
const MaxActs = maxActs

// FillActs adds acts without removing others.
func (s *Store) FillActs(n int, from time.Time) error {
	b := &kv.Batch{}
	for i := range n {
		b.Set(keys.Act(from.UnixMilli()+int64(i), 0), []byte(`{"act":"old"}`))
	}
	return s.kv.Apply(b)
}

// OpenWithSpace is Open on a disk whose space the test decides.
func OpenWithSpace(o Options, space func(dir string) (free, total uint64, err error)) (*Store, error) {
	return open(o, space, nil)
}

// OpenWithStuckSync is Open on a disk that never finishes a sync; begun is called when one begins.
func OpenWithStuckSync(o Options, begun func()) (*Store, error) {
	return open(o, nil, func() error {
		begun()
		select {}
	})
}

// OpenWithSync is Open on a disk that calls begun when a sync begins.
func OpenWithSync(o Options, begun func()) (*Store, error) {
	return open(o, nil, func() error {
		begun()
		return nil
	})
}

// SetSchema overwrites the schema record.
func (s *Store) SetSchema(version, oldestReader int) error {
	b := &kv.Batch{}
	b.Set("z/schema", wire.JSON(kv.Schema{Version: version, OldestReader: oldestReader}))
	return s.kv.Apply(b)
}

// Chill forgets what memory holds, so that the next read comes from the disk.
func (s *Store) Chill() {
	s.forgetUnwritten()
	s.kv.Decoded().Clear()
}

// Keys returns the keys on disk that begin with prefix.
func (s *Store) Keys(prefix string) (list []string) {
	s.settle()
	s.kv.Walk(kv.Scan{Prefix: prefix, Keys: true}, func(key string, _ []byte) bool {
		list = append(list, key)
		return true
	})
	return list
}

// Deletions returns how many deletions of keys that begin with prefix the disk holds.
func (s *Store) Deletions(prefix string) (n int) {
	s.settle()
	txn := s.kv.Engine().NewTransaction(false)
	defer txn.Discard()
	o := badger.DefaultIteratorOptions
	o.AllVersions, o.PrefetchValues, o.Prefix = true, false, []byte(prefix)
	it := txn.NewIterator(o)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if it.Item().IsDeletedOrExpired() {
			n++
		}
	}
	return n
}

// PutRaw writes bytes as the record of a key, without the engine or its reader noticing.
func (s *Store) PutRaw(key string, record []byte) error {
	err := s.kv.Engine().Update(func(txn *badger.Txn) error { return txn.Set([]byte(key), record) })
	if err != nil {
		return err
	}
	return s.records.Apply(Change{Key: "k/raw", Gone: true}) // from now on, readers see both
}

// Recounted returns the totals found by scanning, as Totals gives them.
func (s *Store) Recounted() Totals {
	s.settle()
	t := recount(s.kv, s.kv.Totals())
	return Totals{Pages: t.Pages, Versions: t.Versions, Responses: t.Responses, ResponseBytes: t.Bytes}
}

// RecountedJobs returns how many records the change log has, as counted and as found by scanning.
func (s *Store) RecountedJobs() (counted, found int64) {
	s.settle()
	t := s.kv.Totals()
	return t.Jobs, recount(s.kv, t).Jobs
}

// Names for tests.
const (
	PartSize    = body.PartSize
	MaxVersions = maxVersions
	MaxVariants = maxVariants
	MaxQueued   = kv.DefaultMemory / 5 * 4

	MaxSessions     = maxSessions
	MaxFetched      = maxFetched
	MaxFetchedBytes = maxFetchedBytes
)

// SweepFetched is sweepFetched.
func (s *Store) SweepFetched(until time.Time) error { return s.sweepFetched(until) }

// PartKey returns the key of a body's part.
func PartKey(sum Sum, i int) string { return keys.Part(sum, i) }

// RewriteTables has the engine write its memory to tables, and rewrite all tables if flatten, whatever is read of them.
func (s *Store) RewriteTables(flatten bool) error {
	s.settle()
	if err := s.kv.Engine().DropPrefix([]byte("z/none")); err != nil || !flatten {
		return err
	}
	return s.kv.Engine().Flatten(1)
}
