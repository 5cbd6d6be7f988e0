// Package repeat keeps answers that are given again to equal requests, without deciding anything again.
//
// A [Table] finds an answer by the exact bytes of the request's head and by its scope, which names everything else that
// the decision depended on. An [Answer] is what was written the first time. It is valid while it is fresh, until
// [Table.Changed] names a record that it was made of. All answers of a page share one copy of its content.
//
// An answer must not be kept if a record changes while the answer is being made. Its maker takes a [Table.Mark] before
// it looks at anything, and [Table.Add] refuses an answer that depends on a record that has changed since.
package repeat

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// perPage is the most answers of a page. Each spelling of a request's head needs its own; what is over replaces the
	// oldest.
	perPage = 16

	// share is the part of the memory that one answer may take at most.
	share = 8

	// remembered is how many changes are remembered. An answer that took longer to decide than so many changes is not
	// kept.
	remembered = 256

	// overhead is what an answer takes beside its bytes: itself, and its places in the table. It is an estimate.
	overhead = 700
)

// Answer is an answer that is given again.
type Answer struct {
	Scope   string
	Request []byte    // the head of the request
	Page    string    // what it is an answer about; answers about the same page share their content
	Records []string  // what it was made of
	At      time.Time // when it was decided, by the wall clock
	Until   time.Time // when it ends
	Age     time.Duration
	// the remaining lifetime at the time At, as Age is the age then
	TTL   time.Duration
	Head  []byte                                             // of the response, as it was written, with the empty line
	Body  []byte                                             // content, as it was written
	Given func(now time.Time, took time.Duration, err error) // called after each repetition

	parts [3][]byte // of Head: before the value of Age, between that and the value of ttl, and behind it
	hash  uint64
	body  *body
}

// body is the content that answers of a page share.
type body struct {
	content []byte
	users   int
}

// Cut finds the places of the age and of the remaining lifetime in Head. It returns false if Head does not state what
// Age and TTL say: the answer is not one that can be given again then.
func (a *Answer) Cut() bool {
	rest := a.Head
	for i, field := range []struct {
		before string
		value  time.Duration
	}{{"\r\nAge: ", a.Age}, {"\r\nCache-Status: readthru; hit; ttl=", a.TTL}} {
		at := bytes.LastIndex(rest, []byte(field.before))
		if at < 0 {
			return false
		}
		at += len(field.before)
		end := at
		for end < len(rest) && '0' <= rest[end] && rest[end] <= '9' {
			end++
		}
		stated, err := strconv.ParseInt(string(rest[at:end]), 10, 64)
		if want := int64(field.value / time.Second); err != nil || stated < want-1 || stated > want+1 {
			return false
		}
		a.parts[i], rest = rest[:at], rest[end:]
	}
	a.parts[2] = rest
	return true
}

// AppendHead appends the head as of now to buf.
func (a *Answer) AppendHead(buf []byte, now time.Time) []byte {
	since := now.Sub(a.At)
	buf = append(buf, a.parts[0]...)
	buf = strconv.AppendInt(buf, int64((a.Age+since)/time.Second), 10)
	buf = append(buf, a.parts[1]...)
	buf = strconv.AppendInt(buf, int64((a.TTL-since)/time.Second), 10)
	return append(buf, a.parts[2]...)
}

// Fresh reports whether the answer holds at the time now, by the wall clock. It does not before it was decided: the
// clock was set back.
func (a *Answer) Fresh(now time.Time) bool { return now.Before(a.Until) && !now.Before(a.At) }

// Table keeps answers. It is safe for concurrent use.
type Table struct {
	max  int64
	seed maphash.Seed

	mu       sync.Mutex
	answers  *simplelru.LRU[uint64, *Answer]
	pages    map[string][]*Answer // oldest first
	records  map[string][]*Answer
	bytes    int64
	changes  uint64 // ever
	latest   [remembered]string
	cleared  uint64 // the value of changes when everything was dropped
	repeated int64
}

// New returns a Table that takes about max bytes of memory.
func New(max int64) *Table {
	t := &Table{max: max, seed: maphash.MakeSeed(), pages: map[string][]*Answer{}, records: map[string][]*Answer{}}
	// bounded by bytes: the number is a limit that is never reached
	t.answers, _ = simplelru.NewLRU(1<<30, func(_ uint64, a *Answer) { t.removed(a) })
	return t
}

// Mark is a point in the history of changes.
type Mark uint64

// Mark returns the present.
func (t *Table) Mark() Mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Mark(t.changes)
}

// Find returns the answer to a request, or nil if there is none. It deletes an answer that is no longer valid.
func (t *Table) Find(scope string, request []byte, now time.Time) *Answer {
	hash := t.hash(scope, request)
	t.mu.Lock()
	defer t.mu.Unlock()
	a, ok := t.answers.Get(hash)
	if !ok || a.Scope != scope || !bytes.Equal(a.Request, request) {
		return nil
	}
	if !a.Fresh(now) {
		t.answers.Remove(hash)
		return nil
	}
	t.repeated++
	return a
}

func (t *Table) hash(scope string, request []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	h.WriteString(scope)
	h.Write(request)
	return h.Sum64()
}

// Add keeps an answer that was decided after the mark. It reports whether it did. The table keeps a, but not the memory
// of a.Body: never change a afterwards.
func (t *Table) Add(a *Answer, since Mark) bool {
	a.hash = t.hash(a.Scope, a.Request)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changedSince(a.Records, since) || a.size()+int64(len(a.Body)) > t.Largest() {
		return false
	}
	t.answers.Remove(a.hash)
	for _, other := range t.pages[a.Page] {
		if bytes.Equal(other.Body, a.Body) {
			a.body, a.Body = other.body, other.Body
			break
		}
	}
	if a.body == nil {
		a.Body = bytes.Clone(a.Body)
		a.body = &body{content: a.Body}
		t.bytes += int64(len(a.Body))
	}
	a.body.users++
	t.bytes += a.size()
	if same := t.pages[a.Page]; len(same) >= perPage {
		t.answers.Remove(same[0].hash)
	}
	t.answers.Add(a.hash, a)
	t.pages[a.Page] = append(t.pages[a.Page], a)
	for _, r := range a.Records {
		t.records[r] = append(t.records[r], a)
	}
	for t.bytes > t.max {
		t.answers.RemoveOldest()
	}
	return true
}

// Largest returns how many bytes an answer may have.
func (t *Table) Largest() int64 { return t.max / share }

// size is what an answer takes without its content.
func (a *Answer) size() int64 {
	n := overhead + len(a.Request) + len(a.Head) + len(a.Page)
	for _, r := range a.Records {
		n += len(r) + 32
	}
	return int64(n)
}

// changedSince reports whether one of the records may have changed after the mark.
func (t *Table) changedSince(records []string, since Mark) bool {
	if uint64(since) < t.cleared || t.changes-uint64(since) > remembered {
		return true
	}
	for n := uint64(since); n < t.changes; n++ {
		if slices.Contains(records, t.latest[n%remembered]) {
			return true
		}
	}
	return false
}

// Changed drops the answers that were made of a record.
func (t *Table) Changed(record string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latest[t.changes%remembered] = record
	t.changes++
	for len(t.records[record]) > 0 {
		t.answers.Remove(t.records[record][0].hash)
	}
}

// Clear drops all answers, also those that are being decided.
func (t *Table) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changes++
	t.cleared = t.changes
	t.answers.Purge()
}

// removed takes a removed answer out of the account.
func (t *Table) removed(a *Answer) {
	t.bytes -= a.size()
	if a.body.users--; a.body.users == 0 {
		t.bytes -= int64(len(a.body.content))
	}
	without(t.pages, a.Page, a)
	for _, r := range a.Records {
		without(t.records, r, a)
	}
}

// without takes an answer out of a list of an index.
func without(index map[string][]*Answer, key string, a *Answer) {
	list := slices.DeleteFunc(index[key], func(other *Answer) bool { return other == a })
	if len(list) == 0 {
		delete(index, key)
		return
	}
	index[key] = list
}

// Stats counts what a table holds, and how often it found an answer.
type Stats struct {
	Answers  int
	Bytes    int64 // of memory, about
	Repeated int64
}

// Stats returns the counts.
func (t *Table) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Stats{t.answers.Len(), t.bytes, t.repeated}
}
