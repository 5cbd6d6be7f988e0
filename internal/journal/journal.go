package journal

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/page"
)

// The bounds of a journal: the oldest requests are dropped when it has more.
const (
	maxRequests = 5000
	maxBytes    = 16 << 20
)

// Outcomes of a request that the cache did not answer or forward. The others are those of the cache: hit, revalidated,
// stale, miss and bypass.
const (
	Tunnelled = "tunnel"  // the connection was passed on without a look at its content
	Refused   = "refused" // by this program
	Failed    = "failed"  // the origin did not answer
	Local     = "local"   // a page of this program
	Passed    = "passed"  // past the cache
)

// Gone is the error of a request whose client did not wait for the end of its answer.
const Gone = "the client went away"

// StatusGone is the status of requests whose client went away before the answer: nginx's 499.
const StatusGone = 499

// Entry is what is told of a request. URL and fields are masked. BytesIn counts the origin's content and BytesOut the
// bytes written to the client; for a tunnel (method CONNECT) they count the bytes that the client and the origin sent.
type Entry struct {
	ID   string    `json:"id"`
	Time time.Time `json:"time"` // when it began
	Door string    `json:"door"` // by which it came: one of Doors

	Client  string `json:"client,omitempty"` // the address it came from
	User    string `json:"user,omitempty"`   // of the proxy
	Session string `json:"session,omitempty"`
	Agent   string `json:"agent,omitempty"` // User-Agent, shortened
	Trace   string `json:"trace,omitempty"` // what the client calls it: X-Request-Id, or the trace of traceparent

	Method string `json:"method"`
	URL    string `json:"url"`
	Status int    `json:"status"`

	// Outcome is one word for what was done; Why says it in a sentence. Section is the section of a standard that
	// decided.
	Outcome string `json:"outcome,omitempty"`
	Why     string `json:"why,omitempty"`
	Section string `json:"section,omitempty"`
	// Form is what the client gets of a page: markdown, text, or the origin's bytes. Taken says why the connection was
	// intercepted, Tunnel why it was not, and Rule is the rule that the request met.
	Form   string `json:"form,omitempty"`
	Taken  string `json:"intercepted,omitempty"`
	Tunnel string `json:"tunnel,omitempty"`
	Rule   string `json:"rule,omitempty"`

	Cache    string `json:"cache,omitempty"`  // hit, miss, revalidated, stale or bypass
	Source   string `json:"source,omitempty"` // how the markdown was obtained
	Type     string `json:"type,omitempty"`   // media type of the answer
	Doc      string `json:"doc,omitempty"`    // of the page that was answered
	Visit    bool   `json:"visit,omitempty"`  // the page counts as read: figures have its tokens
	BytesIn  int64  `json:"bytes_in"`
	BytesOut int64  `json:"bytes_out"`
	MS       int64  `json:"ms"`
	Micros   int64  `json:"us"` // the same time, in microseconds

	Tokens       int            `json:"tokens,omitempty"`        // of the markdown
	HTMLTokens   int            `json:"html_tokens,omitempty"`   // of the HTML in its place
	OriginStatus int            `json:"origin_status,omitempty"` // of its answer; 0: there is none
	OriginMS     int64          `json:"origin_ms,omitempty"`     // what the origin took for the page
	SavedMS      int64          `json:"saved_ms,omitempty"`      // what it took for the stored response that answered
	Attempts     []page.Attempt `json:"attempts,omitempty"`
	Warnings     []string       `json:"warnings,omitempty"`
	Error        string         `json:"error,omitempty"`

	// Hidden: a rule keeps the request out of lists and figures. It is counted, and nothing else is told of it.
	Hidden bool `json:"-"`

	// Again: the answer is that of an equal request before, whose fields these are.
	Again bool `json:"again,omitempty"`

	Asked    Fields `json:"request_fields,omitempty"`
	Answered Fields `json:"response_fields,omitempty"`
}

// size is about how many bytes an entry takes.
func (e *Entry) size() int {
	n := 640 + len(e.URL) + len(e.Agent) + len(e.Session) + len(e.Error) + len(e.Asked) + len(e.Answered)
	for _, a := range e.Attempts {
		n += 64 + len(a.Reason)
	}
	return n
}

// Journal keeps the last requests. Its methods are safe for concurrent use.
type Journal struct {
	mu     sync.Mutex
	ring   []slot // of maxRequests, once it is full
	first  uint64 // number of the oldest request kept; the first one ever has number 1
	next   uint64 // number of the next one
	bytes  int
	run    uint32 // begins the ids of this process
	sums   sums
	agents agents

	sessions     sessions
	agentsBefore sync.Once // recalls agents of earlier processes
	before       before    // for Recent

	archive *archive      // nil: there are no files
	wake    chan struct{} // tells the archive that much is to be written
}

// New returns a journal of no requests, or of those in its files. Call Run to have it write these.
func New(o Options) *Journal {
	j := &Journal{first: 1, next: 1, run: max(1, rand.Uint32()), wake: make(chan struct{}, 1)}
	if o.Dir != "" {
		o.MaxSize = cmp.Or(o.MaxSize, 256<<20)
		j.archive = &archive{o: o, log: o.Log}
		if o.Log == nil {
			j.archive.log = slog.New(slog.DiscardHandler)
		}
	}
	return j
}

// Run writes requests to files, if it should, until ctx ends. Close writes the last ones.
func (j *Journal) Run(ctx context.Context) error {
	if j.archive != nil && j.archive.o.keeps() {
		j.archive.run(ctx, j)
	}
	return nil
}

// Close writes what was not written yet. No request may be added afterwards.
func (j *Journal) Close() {
	if j.archive != nil && j.archive.o.keeps() {
		j.archive.write(j)
		j.archive.mu.Lock()
		defer j.archive.mu.Unlock()
		j.archive.close()
	}
}

// Clear forgets all requests, also those in files.
func (j *Journal) Clear() error {
	j.agentsBefore.Do(func() {})
	j.mu.Lock()
	for j.first < j.next {
		j.dropLocked()
	}
	j.agents = agents{}
	last := j.next - 1
	j.mu.Unlock()
	defer j.before.forget()
	if j.archive == nil {
		return nil
	}
	return j.archive.clear(last)
}

// slot is one request. Requests that were answered again share their entry, which never changes.
type slot struct {
	of    *Entry // nil: the request was removed
	began int64  // Unix nanoseconds
	took  time.Duration
	again bool
	gone  bool // the client went away
}

// Add adds a request and returns its id, which is empty if it is hidden. The entry must not change afterwards.
func (j *Journal) Add(e *Entry) string {
	n := j.add(slot{of: e, began: e.Time.UnixNano(), took: time.Duration(e.Micros) * time.Microsecond})
	if n == 0 {
		return ""
	}
	return id(j.run, n)
}

// Again adds a request that got the answer of another one. gone says that the client did not take it.
func (j *Journal) Again(e *Entry, began time.Time, took time.Duration, gone bool) {
	j.add(slot{of: e, began: began.UnixNano(), took: took, again: true, gone: gone})
}

// wakeEvery is after how many requests they are written to files, if a second has not passed before.
const wakeEvery = 1024

// add puts a request into the ring, in the place of the oldest when it is full, and counts it in the sums. It returns
// the number of the request, 0 if it is hidden.
func (j *Journal) add(s slot) (n uint64) {
	size := s.of.size()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sessions.add(s.of)
	if s.of.Hidden {
		j.sums.hide(s)
		return 0
	}
	j.sums.add(s)
	j.agents.add(s, true)
	if len(j.ring) < maxRequests {
		j.ring = append(j.ring, s)
	} else {
		if j.next-j.first == maxRequests {
			j.dropLocked()
		}
		j.ring[(j.next-1)%maxRequests] = s
	}
	if j.next%wakeEvery == 0 {
		select {
		case j.wake <- struct{}{}:
		default:
		}
	}
	n = j.next
	j.next++
	for j.bytes += size; j.bytes > maxBytes && j.first < j.next-1; {
		j.dropLocked()
	}
	return n
}

// dropLocked drops the oldest request. An entry counts with each request that shares it: what is kept is less.
func (j *Journal) dropLocked() {
	j.removeLocked(j.first)
	j.first++
}

// removeLocked removes the request with a number, which is kept.
func (j *Journal) removeLocked(n uint64) {
	s := &j.ring[(n-1)%maxRequests]
	if s.of != nil {
		j.bytes -= s.of.size()
	}
	*s = slot{}
}

// entry returns the entry of the request with a number.
func (j *Journal) entry(n uint64, s slot) Entry {
	e := s.entry()
	e.ID = id(j.run, n)
	return e
}

// entry returns the request of a slot of the ring. Requests that were given the same answer again share an entry; this
// returns a copy, with what differs, and without an id.
func (s slot) entry() Entry {
	e := *s.of
	e.Time, e.MS, e.Micros = time.Unix(0, s.began).UTC(), s.took.Milliseconds(), s.took.Microseconds()
	if s.again {
		e.Again, e.Error = true, ""
		if s.gone {
			e.Error, e.BytesOut = Gone, 0
		}
	}
	return e
}

// id is the id of the request with a number.
func id(run uint32, n uint64) string {
	const digits = "0000000000000000"
	a, b := strconv.FormatUint(uint64(run), 16), strconv.FormatUint(n, 16)
	return digits[:8-len(a)] + a + digits[:max(0, 8-len(b))] + b
}

// number returns the number of the request with an id; 0 if it is not one of this process.
func (j *Journal) number(text string) uint64 {
	if len(text) < 16 || !strings.HasPrefix(text, id(j.run, 0)[:8]) {
		return 0
	}
	n, err := strconv.ParseUint(text[8:], 16, 64)
	if err != nil {
		return 0
	}
	return n
}

// Find returns a request by its id.
func (j *Journal) Find(id string) (Entry, bool) {
	j.mu.Lock()
	n := j.number(id)
	if n < j.first || n >= j.next {
		j.mu.Unlock()
		if j.archive == nil {
			return Entry{}, false
		}
		return j.archive.find(id)
	}
	s := j.ring[(n-1)%maxRequests]
	j.mu.Unlock()
	if s.of == nil {
		return Entry{}, false
	}
	return j.entry(n, s), true
}

// Last returns the number of the last request, 0 before the first.
func (j *Journal) Last() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.next - 1
}

// chunk is how many requests are copied at once: those that are being answered wait meanwhile.
const chunk = 256

// List returns the requests that a filter matches, newest first and at most limit, and a cursor for those that follow,
// which is empty at the end; with files, a part may be shorter and have one. An unknown cursor has none. Damage says
// what of the files could not be read.
func (j *Journal) List(f Filter, cursor string, limit int) (_ []Entry, next string, damage []string) {
	list, next, down := j.recent(f, cursor, limit)
	if next != "" || j.archive == nil {
		return list, next, nil
	}
	end := place{j.run, down}
	if cursor != "" && down == 0 {
		var ok bool
		if end, ok = placeOf(cursor); !ok {
			return nil, "", nil
		}
	}
	older, next, damage := j.archive.list(f, end, limit-len(list), j.run)
	return append(list, older...), next, damage
}

// All returns the requests that a filter matches, oldest first. Damage is called with what of the files could not be
// read.
func (j *Journal) All(f Filter, damage func(string)) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		list, _, dropped := j.since(0)
		if j.archive != nil {
			all, err := j.archive.segments()
			if err != nil {
				damage(err.Error())
			}
			end := place{j.run, dropped + 1}
			for _, s := range all {
				more, err := j.archive.walk(s, end, false, f, func(e *Entry) bool {
					return !f.Match(e) || yield(*e)
				})
				for _, text := range j.archive.damage(err) {
					damage(text)
				}
				if !more {
					return
				}
			}
		}
		for _, e := range list {
			if f.Match(&e) && !yield(e) {
				return
			}
		}
	}
}

// recent lists requests in memory, as List does. All from the number down on were looked at.
func (j *Journal) recent(f Filter, cursor string, limit int) (list []Entry, next string, down uint64) {
	end := j.Last() + 1
	if cursor != "" {
		end = j.number(cursor)
	}
	var part [chunk]slot
	for end > 1 {
		j.mu.Lock()
		begin := max(j.first, uint64(max(1, int64(end)-chunk)))
		n := 0
		for i := end; i > begin && i <= j.next; i-- {
			part[n] = j.ring[(i-2)%maxRequests]
			n++
		}
		j.mu.Unlock()
		for i, s := range part[:n] {
			if s.of == nil {
				continue
			}
			e := j.entry(end-1-uint64(i), s)
			if !f.Match(&e) {
				continue
			}
			if len(list) == limit {
				return list, list[limit-1].ID, end
			}
			list = append(list, e)
		}
		if n == 0 {
			break
		}
		end -= uint64(n)
	}
	return list, "", end
}

// After returns the requests that a filter matches after that with a number, oldest first: the last ones, if they are
// more than limit. It returns the number of the last request, and how many were left out: those that match and are over
// the limit, and all that the ring has lost meanwhile, of which nobody knows whether they match.
func (j *Journal) After(n uint64, f Filter, limit int) (list []Entry, last uint64, dropped int) {
	j.mu.Lock()
	from := max(n+1, j.first)
	last = j.next - 1
	left := from - n - 1
	if all := last + 1 - from; len(f.terms) == 0 && all > uint64(limit) { // nobody looks at them
		left += all - uint64(limit)
		from = last + 1 - uint64(limit)
	}
	slots := j.slotsLocked(from, last)
	j.mu.Unlock()
	for i, s := range slices.Backward(slots) {
		if s.of == nil {
			continue
		}
		e := s.entry()
		switch {
		case !f.Match(&e):
		case len(list) == limit:
			left++
		default:
			e.ID = id(j.run, from+uint64(i))
			list = append(list, e)
		}
	}
	slices.Reverse(list)
	return list, last, int(min(left, math.MaxInt32))
}

// since returns the requests after that with a number, oldest first, the number of the last one, and how many were
// dropped before they could be told.
func (j *Journal) since(n uint64) (list []Entry, last, lost uint64) {
	j.mu.Lock()
	from := max(n+1, j.first)
	last = j.next - 1
	slots := j.slotsLocked(from, last)
	j.mu.Unlock()
	list = make([]Entry, 0, len(slots))
	for i, s := range slots {
		if s.of != nil {
			list = append(list, j.entry(from+uint64(i), s))
		}
	}
	return list, last, from - n - 1
}

// slotsLocked copies the slots of the requests from one number to another.
func (j *Journal) slotsLocked(from, last uint64) []slot {
	slots := make([]slot, 0, last+1-from)
	for i := from; i <= last; i++ {
		slots = append(slots, j.ring[(i-1)%maxRequests])
	}
	return slots
}
