package kv

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4"
)

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

// View returns a snapshot of what is on disk as of now, or ErrNotFound without a disk or after close. The caller closes
// it: close of k waits for it.
func (k *DB) View() (*View, error) {
	if !k.enter() {
		return nil, ErrNotFound
	}
	return &View{kv: k, shared: k.reading.begin(k.db)}, nil
}

// View is what is on disk as of a moment. It is safe for concurrent use until it is closed.
type View struct {
	kv     *DB
	shared *snapshot
	once   sync.Once
}

// Get returns the value of a key, or ErrNotFound.
func (v *View) Get(key string) ([]byte, error) { return v.kv.readIn(v.shared.txn, key) }

// Walk is [DB.Walk] as of the moment.
func (v *View) Walk(sc Scan, f func(key string, value []byte) bool) { v.kv.walkIn(v.shared.txn, sc, f) }

// Close ends the view. A second call does nothing.
func (v *View) Close() {
	v.once.Do(func() {
		v.kv.reading.end(v.shared)
		v.kv.leave()
	})
}
