package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/y"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/wire"
)

// compactKey is a record that exists only while the engine is compacted.
const compactKey = "z/compact"

// Compact rewrites the files of the engine, so that they no longer hold what was deleted before the call. First it
// deletes what deleted pages left: bodies, and stored responses that could be pages and are of none. It takes some
// seconds for each gigabyte; reads and writes go on, but for a moment. A body that a reader has open is deleted when
// the next sweep finds it closed. The end of ctx ends Compact early, except while the engine moves its tables.
//
// By itself the engine drops a deleted record only when it next rewrites the table that holds it, which may be never.
func (s *Store) Compact(ctx context.Context) error {
	if err := s.compact(ctx); err != nil {
		return fmt.Errorf("compact store: %w", err)
	}
	return nil
}

func (s *Store) compact(ctx context.Context) error {
	k := s.kv
	if !k.enter() {
		return fmt.Errorf("it is not open: %w", ErrNotFound)
	}
	defer k.leave()
	if !s.copying.TryLock() {
		return errors.New("it is being backed up or compacted already")
	}
	defer s.copying.Unlock()
	if k.room() != roomForAll {
		_, why := k.state()
		return fmt.Errorf("%s: %w", why, ErrFull)
	}
	if _, err := s.deleteStray(); err != nil {
		return err
	}
	s.deleteWaiting()
	if err := s.deleteDead(ctx); err != nil {
		return err
	}
	s.trimJobs()
	if err := s.Flush(); err != nil {
		return err
	}
	// The engine keeps what a transaction may still read: all that was deleted since the oldest one began. So no
	// transaction of before the deletions may be left, and one of after them must have ended.
	if err := s.alone(func() error { return k.fence() }); err != nil {
		return err
	}
	k.reading.renew()
	if err := k.reading.settle(ctx); err != nil {
		return err
	}
	if err := s.alone(func() error { return rewriteTables(k.db) }); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return k.db.Flatten(1)
}

// alone calls f while nothing else writes to the engine.
func (s *Store) alone(f func() error) error {
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	return s.kv.inWriter(f)
}

// fence commits twice, with a transaction that begins and ends in between.
func (k *kv) fence() error {
	for range 2 {
		err := k.db.Update(func(txn *badger.Txn) error {
			return txn.Set([]byte(compactKey), k.seal.seal(compactKey, nil))
		})
		if err != nil {
			return err
		}
		k.db.NewTransaction(false).Discard()
	}
	return nil
}

// rewriteTables has the engine move what it holds in memory to tables, and rewrite every table when it next flattens
// them. A table is rewritten when a newer one has a key in its range, so each is given one: a deletion of a key that
// does not exist. Nothing else may write meanwhile.
func rewriteTables(db *badger.DB) error {
	changes := db.NewWriteBatch()
	defer changes.Cancel()
	for _, t := range db.Tables() {
		left, right := y.ParseKey(t.Left), y.ParseKey(t.Right)
		err := db.View(func(txn *badger.Txn) error {
			key := append(bytes.Clone(left), 0) // the next one
			if _, err := txn.Get(key); errors.Is(err, badger.ErrKeyNotFound) && bytes.Compare(key, right) <= 0 {
				return changes.Delete(key)
			}
			item, err := txn.Get(left)
			if errors.Is(err, badger.ErrKeyNotFound) {
				return changes.Delete(bytes.Clone(left))
			}
			if err != nil {
				return err
			}
			value, err := item.ValueCopy(nil)
			if err != nil {
				return err
			}
			return changes.Set(bytes.Clone(left), value)
		})
		if err != nil {
			return fmt.Errorf("table %d: %w", t.ID, err)
		}
	}
	if err := changes.Flush(); err != nil {
		return err
	}
	// To drop a prefix is the engine's only way to write its memory to tables while it is open.
	return db.DropPrefix([]byte(compactKey))
}

// deleteDead deletes the bodies that nobody refers to, without the hour that the sweep gives them.
func (s *Store) deleteDead(ctx context.Context) error {
	var sums []Sum
	s.kv.walk(scan{prefix: "w/", keys: true}, func(key string, _ []byte) bool {
		sums = append(sums, Sum([]byte(key[len("w/")+4+1:])))
		return true
	})
	for _, sum := range sums {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.mu.Lock()
		if _, whole := s.manifest(&batch{}, sum); whole { // else it is being written
			s.deleteLater(s.deleteUnreferred(sum, time.Now()))
		}
		s.mu.Unlock()
	}
	s.deleteWaiting()
	return nil
}

// deleteStray removes the stored responses that could be pages, but are of no page that is stored: the markdown twins,
// further parts and frames of pages that were deleted, and of others, which are asked for again.
func (s *Store) deleteStray() (int, error) {
	s.settle()
	known := map[page.Key]bool{}
	s.kv.walk(scan{prefix: "p/"}, func(_ string, value []byte) bool {
		var record pageRecord
		if wire.Unmarshal(value, &record) {
			for _, raw := range []string{record.Page.URL, record.Page.FinalURL, record.Page.NormalizedURL} {
				known[keyOf(raw)] = true
			}
		}
		return true
	})
	s.kv.walk(scan{prefix: "pn/"}, func(key string, value []byte) bool {
		if len(value) == len(page.Key{}) && known[page.Key(value)] {
			known[page.Key([]byte(key[len("pn/"):]))] = true
		}
		return true
	})
	return s.deleteEverywhere(func(r *Response) bool {
		return page.IsPage(r.Header.Get("Content-Type")) && !known[keyOf(r.URL)]
	})
}

// keyOf returns the key of the page at a URL; zero if there can be none.
func keyOf(raw string) page.Key {
	u, err := page.Parse(raw)
	if err != nil {
		return page.Key{}
	}
	return page.KeyOf(page.Normalize(u))
}
