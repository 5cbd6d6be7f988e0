package store

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/tally"
	"github.com/readthru/readthru/store/wire"
)

// Visit is one delivery of a page to a reader (rule E13).
type Visit struct {
	ID         string      `json:"visit_id"` // UUID; made when empty
	Time       time.Time   `json:"time"`     // now when zero
	Doc        string      `json:"doc"`      // from the page's key when empty
	URL        string      `json:"url"`
	Agent      string      `json:"agent,omitempty"` // User-Agent, shortened
	Session    string      `json:"session,omitempty"`
	User       string      `json:"user,omitempty"` // of the proxy; a session of theirs is user+name
	Source     page.Source `json:"source"`
	FromCache  bool        `json:"from_cache"`
	Stale      bool        `json:"stale,omitempty"` // from a stored response that was not fresh anymore
	Tokens     int         `json:"tokens"`          // of the markdown delivered; 0 if the reader got HTML
	HTMLTokens int         `json:"html_tokens"`     // of the HTML it stands for, 0 unknown

	// Count is how many deliveries this visit counts, the last one at Time: equal deliveries within a moment are
	// written together. If zero, one.
	Count int64 `json:"count,omitempty"`
}

const (
	// maxWaitingVisits bounds the visits in memory while the disk takes none. What is over is counted, not recorded.
	maxWaitingVisits = 10000

	// visitChunk is how many visits one batch writes at most.
	visitChunk = 500

	// maxVisit is the longest record of a visit, in bytes. What is longer (URLs may be of any length) is counted, not
	// recorded.
	maxVisit = 64 << 10

	// keepVisits is how long a visit's record is kept. Counters stay.
	keepVisits = 180 * 24 * time.Hour

	defaultLimit = 50
	maxLimit     = 1000
)

// visitLog holds visits of pages that the disk does not know yet, and what they add to the totals.
type visitLog struct {
	mu      sync.Mutex
	waiting []waitingVisit
	delta   kv.Totals
	n       uint32

	again    []*Visitor // with visits that are not counted
	anyAgain atomic.Bool
	kept     []*Visitor // with visits that are counted and not in waiting
}

// waitingVisit is a visit to be written, with the number that makes its key unlike others of the same millisecond.
type waitingVisit struct {
	page  page.Key
	n     uint32
	visit Visit
}

// totals returns the store's totals with those of the visits that wait in memory. Both are read at once: a write of
// visits moves counts from the one to the other.
func (l *visitLog) totals(k *kv.DB) kv.Totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := k.Totals()
	t.Add(l.delta, 1)
	return t
}

// AddVisit counts a visit. Counters and the visit are written in batches. It never fails and never waits.
func (s *Store) AddVisit(k page.Key, v Visit) {
	if v.Time.IsZero() {
		v.Time = time.Now()
	}
	v.Time = v.Time.UTC().Truncate(time.Millisecond)
	if v.ID == "" {
		v.ID = NewID()
	}
	if v.Doc == "" {
		v.Doc = k.Doc()
	}
	l := &s.visits
	l.mu.Lock()
	s.countVisitLocked(k, keys.HostOf(v.URL), &v)
	kept := l.recordLocked(k, v)
	l.mu.Unlock()
	if !kept {
		s.kv.Dropped.Add(1)
	}
	s.wakeHousekeeper()
}

// countVisitLocked counts a visit of a page of a host. The caller holds visits.mu.
func (s *Store) countVisitLocked(k page.Key, host string, v *Visit) {
	at, n := keys.Millis(v.Time), max(v.Count, 1)
	d := tally.Count{N: n, First: at, Last: at}
	if v.FromCache {
		d.Hits = n
	}
	s.tallies.Add(keys.PageTally(k), d)
	if host != "" {
		s.tallies.Add(keys.HostTally(host), d)
	}
	// Of a page that did not come as HTML nothing was saved.
	s.visits.delta.Add(kv.Totals{
		Visits: n, MarkdownTokens: n * int64(v.Tokens), HTMLTokens: n * int64(max(v.Tokens, v.HTMLTokens)),
		BySource: map[page.Source]int64{v.Source: n},
	}, 1)
}

// recordLocked has a record of a visit written, and reports false if it is one too many or too long. The caller holds
// mu.
func (l *visitLog) recordLocked(k page.Key, v Visit) bool {
	if len(l.waiting) >= maxWaitingVisits || len(v.URL)+len(v.Agent)+len(v.Session)+len(v.User) > maxVisit {
		return false
	}
	l.n++
	l.waiting = append(l.waiting, waitingVisit{k, l.n, v})
	return true
}

// A Visitor is a reader who gets the same page again and again. Its visits are counted in memory and become one [Visit]
// at the next write.
type Visitor struct {
	s     *Store
	key   page.Key
	host  string
	visit Visit
	count atomic.Int64 // since its visits were last counted
	last  atomic.Int64 // Unix milliseconds
	kept  int64        // counted, but not recorded; under visits.mu
}

// Visitor returns a reader of a page whose visits are like v, but for ID, Time and Count.
func (s *Store) Visitor(k page.Key, v Visit) *Visitor {
	v.ID, v.Time, v.Count = "", time.Time{}, 0
	if v.Doc == "" {
		v.Doc = k.Doc()
	}
	return &Visitor{s: s, key: k, host: keys.HostOf(v.URL), visit: v}
}

// Visit counts a visit. It never fails and never waits.
func (v *Visitor) Visit(now time.Time) {
	v.last.Store(now.UnixMilli())
	if v.count.Add(1) > 1 {
		return // it is in the list
	}
	l := &v.s.visits
	l.mu.Lock()
	l.again = append(l.again, v)
	l.anyAgain.Store(true)
	l.mu.Unlock()
	v.s.wakeHousekeeper()
}

// countRepeated counts the visits that visitors hold, for who reads counts.
func (s *Store) countRepeated() {
	l := &s.visits
	if !l.anyAgain.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.again {
		visit := v.visit
		visit.Count, visit.Time = v.count.Swap(0), time.UnixMilli(v.last.Load())
		s.countVisitLocked(v.key, v.host, &visit)
		if v.kept == 0 {
			l.kept = append(l.kept, v)
		}
		v.kept += visit.Count
	}
	clear(l.again)
	l.again = l.again[:0]
	l.anyAgain.Store(false)
}

// holds reports whether visitors hold visits that are not recorded.
func (l *visitLog) holds() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.again)+len(l.kept) > 0
}

// recordRepeated has the visits recorded that visitors hold, those of each visitor as one.
func (s *Store) recordRepeated() {
	s.countRepeated()
	l := &s.visits
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.kept {
		visit := v.visit
		visit.ID, visit.Time = NewID(), time.UnixMilli(v.last.Load()).UTC()
		if v.kept > 1 {
			visit.Count = v.kept
		}
		v.kept = 0
		if !l.recordLocked(v.key, visit) {
			s.kv.Dropped.Add(1)
		}
	}
	l.kept = nil
}

// NewID returns a random UUID (RFC 9562 §5.4), for a visit or a rule.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	var text [36]byte
	at := 0
	for i, c := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text[at] = '-'
			at++
		}
		hex.Encode(text[at:], []byte{c})
		at += 2
	}
	return string(text[:])
}

// flushVisits queues the visits in memory, and reports whether all could be.
func (s *Store) flushVisits() bool {
	for {
		done, ok := s.flushVisitChunk()
		if done || !ok {
			return ok
		}
	}
}

// flushVisitChunk queues one batch of visits, with what they add to the totals. It holds the lock meanwhile, so that
// totals counts each visit once. done says that no visit waits any more, ok that the queue took the batch.
func (s *Store) flushVisitChunk() (done, ok bool) {
	l := &s.visits
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &kv.Batch{Delta: l.delta, Ahead: true}
	n := 0
	for _, w := range l.waiting[:min(len(l.waiting), visitChunk)] {
		if b.Bytes() > kv.MaxBatchBytes/2 {
			break
		}
		at := keys.Millis(w.visit.Time)
		b.Set(keys.Visit(at, w.page, w.n), wire.JSON(w.visit))
		b.Set(keys.PageVisit(w.page, at, w.n), nil)
		n++
	}
	if b.Len() == 0 && l.delta.Visits == 0 {
		return true, true
	}
	if s.kv.Apply(b) != nil {
		return false, false
	}
	l.delta = kv.Totals{}
	if l.waiting = l.waiting[n:]; len(l.waiting) == 0 {
		l.waiting = nil
	}
	return len(l.waiting) == 0, true
}

// VisitQuery selects visits.
type VisitQuery struct {
	Page    *page.Key // nil: of all pages
	Session string    // empty: of all sessions
	User    string    // empty: of all users
	Host    string    // empty: of all hosts
	Agent   string    // a part of the agent's name, in whatever case; empty: of all agents
	Since   time.Time // zero: however old
	Cursor  string    // as returned by the call before
	Limit   int       // 0: 50; at most 1000
}

// Visits returns visits, newest first, and a cursor for the next call, empty when these were the last. Records are kept
// for 180 days.
func (s *Store) Visits(q VisitQuery) (visits []Visit, next string, err error) {
	sc := kv.Scan{Prefix: "vi/", Back: true}
	if q.Page != nil {
		sc = kv.Scan{Prefix: keys.PageVisits(*q.Page), Back: true, Keys: true}
	}
	if sc.From, err = decodeCursor(q.Cursor, sc.Prefix); err != nil {
		return nil, "", fmt.Errorf("list visits: %w", err)
	}
	s.flushCounts()
	s.settle()
	limit := clampLimit(q.Limit)
	last := ""
	s.kv.Walk(sc, func(key string, value []byte) bool {
		if key == sc.From {
			return true
		}
		if q.Page != nil {
			rest := key[len(sc.Prefix):]
			at, n := binary.BigEndian.Uint64([]byte(rest)), binary.BigEndian.Uint32([]byte(rest[9:]))
			if value, err = s.kv.Get(keys.Visit(int64(at), *q.Page, n)); err != nil {
				return true
			}
		}
		var v Visit
		if json.Unmarshal(value, &v) != nil || !q.selects(&v) {
			return true
		}
		if v.Time.Before(q.Since) {
			return false // as are all that follow
		}
		if len(visits) == limit {
			next = encodeCursor(last)
			return false
		}
		visits, last = append(visits, v), key
		return true
	})
	return visits, next, nil
}

// selects reports whether a visit is one that the query is about, whenever it was.
func (q *VisitQuery) selects(v *Visit) bool {
	return (q.Session == "" || v.Session == q.Session) && (q.User == "" || v.User == q.User) &&
		(q.Host == "" || keys.HostOf(v.URL) == keys.Host(q.Host)) &&
		strings.Contains(strings.ToLower(v.Agent), strings.ToLower(q.Agent))
}

// VisitsSince calls each for the visits on disk that were made at a time or later, oldest first, until it returns
// false.
func (s *Store) VisitsSince(t time.Time, each func(Visit) bool) {
	from := "vi/" + keys.U64(uint64(max(keys.Millis(t), 0)))
	s.kv.Walk(kv.Scan{Prefix: "vi/", From: from}, func(_ string, value []byte) bool {
		var v Visit
		return json.Unmarshal(value, &v) != nil || each(v)
	})
}

// deleteVisits removes the records of a page's visits.
func (s *Store) deleteVisits(k page.Key) {
	prefix := keys.PageVisits(k)
	b := &kv.Batch{Must: true}
	s.kv.Walk(kv.Scan{Prefix: prefix, Keys: true}, func(key string, _ []byte) bool {
		rest := key[len(prefix):]
		b.Del(key)
		b.Del(keys.Visit(int64(binary.BigEndian.Uint64([]byte(rest))), k, binary.BigEndian.Uint32([]byte(rest[9:]))))
		if b.Len() >= 2*visitChunk {
			_ = s.kv.Apply(b) // a deletion is refused only while closing
			b = &kv.Batch{Must: true}
		}
		return true
	})
	if b.Len() > 0 {
		_ = s.kv.Apply(b)
	}
}

// flushCounts queues the counts and visits held in memory, for a caller that goes on to read or sync them. What the
// queue refuses stays in memory, and the housekeeper tries again.
func (s *Store) flushCounts() {
	s.recordRepeated()
	if !s.flushVisits() || !s.tallies.Write() {
		s.wakeHousekeeper()
	}
}
