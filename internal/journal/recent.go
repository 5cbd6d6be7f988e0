package journal

import (
	"iter"
	"slices"
	"sync"
	"time"
)

// before are requests of earlier processes, as far as Recent tells of them. They are read when somebody first looks,
// not when the process begins. The zero value was not read.
type before struct {
	mu   sync.Mutex
	read bool
	list []*Entry // oldest first
}

// forget has the files read anew, because requests were removed from them.
func (b *before) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read, b.list = false, nil
}

// last returns the last n requests of earlier processes than that of a journal, oldest first. They make room for its
// own, so that n never grows.
func (b *before) last(j *Journal, n int) []*Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.read && j.archive != nil {
		j.archive.latest(place{j.run, 1}, func(e *Entry) bool {
			if len(b.list) == n {
				return false
			}
			b.list = append(b.list, &Entry{
				Time: e.Time, Door: e.Door, User: e.User, Session: e.Session, Method: e.Method, URL: e.URL, Status: e.Status,
				Outcome: e.Outcome, Tunnel: e.Tunnel, Rule: e.Rule,
			})
			return true
		})
		slices.Reverse(b.list)
	}
	if b.read = true; len(b.list) > n {
		b.list = slices.Clone(b.list[len(b.list)-n:])
	}
	return b.list
}

// Recent yields the last requests, oldest first, with the time of each: as many as are kept in memory, and before the
// process has had so many, those that earlier ones left in files. The entries are shared and must not change; only
// user, session, method, URL and what was decided of them are as [Journal.List] has it.
func (j *Journal) Recent() iter.Seq2[*Entry, time.Time] {
	return func(yield func(*Entry, time.Time) bool) {
		j.mu.Lock()
		slots := j.slotsLocked(j.first, j.next-1)
		j.mu.Unlock()
		for _, e := range j.before.last(j, maxRequests-len(slots)) {
			if !yield(e, e.Time) {
				return
			}
		}
		for _, s := range slots {
			if s.of != nil && !yield(s.of, time.Unix(0, s.began).UTC()) {
				return
			}
		}
	}
}
