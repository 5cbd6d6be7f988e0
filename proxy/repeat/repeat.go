// Package repeat keeps answers that are given again to equal requests, without deciding anything again.
//
// A [Table] finds an answer by the exact bytes of the request's head and by its scope, which names everything else that
// the decision depended on. An [Answer] is what was written the first time. It is valid while it is fresh, until
// [Table.Changed] names a record that it was made of. All answers of a page share one copy of its content, and content
// that can be read again leaves memory before its answers do.
//
// An answer must not be kept if a record changes while the answer is being made. Its maker takes a [Table.Mark] before
// it looks at anything, and [Table.Add] refuses an answer that depends on a record that has changed since.
package repeat

import (
	"bytes"
	"container/list"
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

	// makings is the part of the memory that copies of answers in the making may take together. One copy may take half of
	// what the others leave of that, so that a few long answers to slow clients do not keep out short ones.
	makings = 4

	// share is the part of the memory that one answer may take at most: that of a copy when there is no other one.
	share = 2 * makings

	// remembered is how many changes are remembered. An answer that took longer to decide than so many changes is not
	// kept.
	remembered = 256

	// contents is the part of the memory that content which can be read again may always take. Over that it goes before
	// answers do.
	contents = 4

	// recentShare is the part of that content's memory over which what was not read again goes first. With what is read
	// again soon kept in a queue of its own, that is 2Q (Johnson and Shasha, 1994); decision 024 has the measures.
	recentShare = 4

	// overhead is what an answer takes beside its bytes: itself, what it is counted by, and its places in the table. It is
	// an estimate.
	overhead = 2048
)

// Stored is the end of a content that can be read again, and its length. The zero value: it cannot.
type Stored struct {
	Sum    [32]byte
	Length int
}

// Content is what an answer consists of behind its head.
type Content struct {
	Before []byte // always in memory
	Rest   []byte
}

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
	Body  []byte                                             // content, as it was written; nil once it is added
	Again Stored                                             // the end of Body
	Given func(now time.Time, took time.Duration, err error) // called after each repetition

	// May is called before each repetition: if it returns false, the request is decided anew. If nil, all may be given.
	May func(now time.Time) bool

	parts  [3][]byte // of Head: before the value of Age, between that and the value of ttl, and behind it
	hash   uint64
	body   *body
	places []int // in the lists of Records
}

// body is the content that answers of a page share. The table's mu guards it.
type body struct {
	Content // Rest is nil while it must be read
	again   Stored
	held    *list.Element // in its queue; nil: Rest cannot be read again, or must be
	queue   *queue        // that held is in
	gone    uint64        // the table's count of what was let go, with itself; 0: it never was
	users   int
}

// equals reports whether b is the content of a new answer, which then needs no copy of its own.
func (b *body) equals(a *Answer) bool {
	at := len(b.Before)
	return b.again == a.Again && at <= len(a.Body) && bytes.Equal(b.Before, a.Body[:at]) &&
		(b.again != Stored{} || bytes.Equal(b.Rest, a.Body[at:]))
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

// AppendHead appends the head of the answer as of now to buf: its age has grown and its lifetime shrunk since it was
// decided.
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
	read func(Stored) ([]byte, error)

	mu       sync.Mutex
	answers  *simplelru.LRU[uint64, *Answer]
	pages    map[string][]*Answer // oldest first
	records  map[string][]*Answer
	bytes    int64
	making   int64  // reserved for copies of answers that are being written
	recent   queue  // content in memory that can be read again
	frequent queue  // of this, what was read again soon after it was let go
	lets     uint64 // how often content was let go
	changes  uint64 // ever
	latest   [remembered]string
	cleared  uint64 // the value of changes when everything was dropped
	repeated int64
	reread   int64
}

// New returns a Table that takes about max bytes of memory. The function reads content again; nobody changes what it
// returns.
func New(max int64, read func(Stored) ([]byte, error)) *Table {
	t := &Table{
		max: max, seed: maphash.MakeSeed(), read: read, pages: map[string][]*Answer{}, records: map[string][]*Answer{},
	}
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

// Find returns the answer to a request with its content, or nil if there is none. It deletes an answer that is no
// longer valid, and one whose content cannot be read. Content is read without the lock.
func (t *Table) Find(scope string, request []byte, now time.Time) (*Answer, Content) {
	a, c := t.find(t.hash(scope, request), scope, request, now)
	if a == nil || c.Rest != nil {
		return a, c
	}
	rest, err := t.read(a.body.again)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil || len(rest) != a.body.again.Length {
		if kept, _ := t.answers.Peek(a.hash); kept == a {
			t.answers.Remove(a.hash)
		}
		return nil, Content{}
	}
	t.repeated++
	t.reread++
	c.Rest = rest
	if a.body.Rest == nil && a.body.users > 0 {
		a.body.Rest = rest
		t.hold(a.body)
		t.shrink()
	}
	return a, c
}

// find is Find without reading: the Rest of content that must be read is nil.
func (t *Table) find(hash uint64, scope string, request []byte, now time.Time) (*Answer, Content) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a, ok := t.answers.Get(hash)
	if !ok || a.Scope != scope || !bytes.Equal(a.Request, request) {
		return nil, Content{}
	}
	if !a.Fresh(now) {
		t.answers.Remove(hash)
		return nil, Content{}
	}
	if a.body.held != nil {
		a.body.queue.MoveToFront(a.body.held)
	}
	if a.body.Rest != nil {
		t.repeated++
	}
	return a, a.body.Content
}

// hash returns the key of an answer by its scope and the head of its request. It is seeded by the process, so that no
// client can choose requests that collide; find compares the bytes all the same.
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
	slices.Sort(a.Records)
	a.Records = slices.Compact(a.Records)
	t.mu.Lock()
	defer t.mu.Unlock()
	// A record that has changed while the answer was made may be in it or not.
	if t.changedSince(a.Records, since) || a.size()+int64(len(a.Body)) > t.largest() {
		return false
	}
	t.answers.Remove(a.hash)
	for _, other := range t.pages[a.Page] {
		if other.body.equals(a) {
			a.body = other.body
			break
		}
	}
	if a.body == nil {
		a.body = &body{again: a.Again}
		whole, at := append([]byte{}, a.Body...), 0
		if a.Again != (Stored{}) {
			at = len(whole) - a.Again.Length
		}
		a.body.Before, a.body.Rest = whole[:at:at], whole[at:]
		t.bytes += int64(at)
		t.hold(a.body)
	}
	a.Body = nil
	a.body.users++
	t.bytes += a.size()
	if same := t.pages[a.Page]; len(same) >= perPage {
		t.answers.Remove(same[0].hash)
	}
	t.answers.Add(a.hash, a)
	t.pages[a.Page] = append(t.pages[a.Page], a)
	a.places = make([]int, len(a.Records))
	for i, r := range a.Records {
		a.places[i] = len(t.records[r])
		t.records[r] = append(t.records[r], a)
	}
	t.shrink()
	return true
}

// Reserve takes n bytes of the table's memory for the copy of an answer that is being written, and reports whether it
// could. Release gives them back.
func (t *Table) Reserve(n int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n > (t.max/makings-t.making)/2 {
		return false
	}
	t.making += n
	t.shrink()
	return true
}

// Release gives back n bytes that were reserved.
func (t *Table) Release(n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.making -= n
}

// shrink takes out the oldest of what is too much for the table's memory: content that can be read again while that has
// more than its part, else an answer. The caller holds mu.
func (t *Table) shrink() {
	for t.bytes+t.making > t.max {
		switch readable := t.recent.bytes + t.frequent.bytes; {
		case readable <= t.max/contents:
			t.answers.RemoveOldest()
		case t.recent.bytes > readable/recentShare:
			t.letGo(t.recent.oldest())
		default:
			t.letGo(t.frequent.oldest())
		}
	}
}

// A queue is content in memory that can be read again, the last used first, with its bytes.
type queue struct {
	list.List
	bytes int64
}

// oldest returns the content that was not used for longest; there must be one.
func (q *queue) oldest() *body { return q.Back().Value.(*body) }

// hold counts content that is in memory now, and puts it into a queue if it can be read again: into that for what comes
// back if it was let go a short while ago. The caller holds mu.
func (t *Table) hold(b *body) {
	t.bytes += int64(len(b.Rest))
	if b.again == (Stored{}) {
		return
	}
	b.queue = &t.recent
	if b.gone > 0 && t.lets-b.gone < uint64(t.recent.Len()+t.frequent.Len())/2 {
		b.queue = &t.frequent
	}
	b.queue.bytes += int64(len(b.Rest))
	b.held = b.queue.PushFront(b)
}

// letGo takes content out of memory. An answer with it stays, and has it read when it is given again. The caller holds
// mu.
func (t *Table) letGo(b *body) {
	t.bytes -= int64(len(b.Rest))
	if b.held != nil {
		b.queue.bytes -= int64(len(b.Rest))
		b.queue.Remove(b.held)
		t.lets++
		b.held, b.gone = nil, t.lets
	}
	b.Before, b.Rest = bytes.Clone(b.Before), nil // it may be a part of the same memory
}

// largest returns how many bytes an answer may have, with its content.
func (t *Table) largest() int64 { return t.max / share }

// size is about what an answer takes of memory without its content.
func (a *Answer) size() int64 {
	n := overhead + len(a.Request) + len(a.Head) + len(a.Page)
	for _, r := range a.Records {
		n += len(r) + 32
	}
	return int64(n)
}

// changedSince reports whether one of the records may have changed after the mark. Of changes longer ago than is
// remembered anything may be true.
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

// removed takes a removed answer out of the account and out of the lists by page and record. The LRU calls it.
func (t *Table) removed(a *Answer) {
	t.bytes -= a.size()
	if a.body.users--; a.body.users == 0 {
		t.bytes -= int64(len(a.body.Before))
		t.letGo(a.body)
	}
	if same := slices.DeleteFunc(t.pages[a.Page], func(o *Answer) bool { return o == a }); len(same) > 0 {
		t.pages[a.Page] = same
	} else {
		delete(t.pages, a.Page)
	}
	for i, r := range a.Records {
		t.forget(a, i, r)
	}
}

// forget takes an answer out of the list of a record, its i-th. The last of the list, which may be long, takes its
// place, so that the work does not grow with the list.
func (t *Table) forget(a *Answer, i int, record string) {
	all := t.records[record]
	last := len(all) - 1
	if last == 0 {
		delete(t.records, record)
		return
	}
	moved := all[last]
	all[a.places[i]], all[last] = moved, nil
	moved.places[slices.Index(moved.Records, record)] = a.places[i]
	t.records[record] = all[:last]
}

// Stats counts what a table holds, and how often it found an answer.
type Stats struct {
	Answers  int
	Bytes    int64 // of memory, about, with those of Making
	Making   int64 // bytes reserved for copies of answers that are being written
	Repeated int64
	Read     int64 // of these, with content that had to be read
}

// Stats returns the counts.
func (t *Table) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Stats{t.answers.Len(), t.bytes + t.making, t.making, t.repeated, t.reread}
}
