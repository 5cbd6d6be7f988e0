package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/store"
)

const (
	// headWait is how long several clients wait for the head of one answer before it is asked for a second time.
	headWait = 10 * time.Second
	// headAlone is how long a flight whose clients have all left may wait for its head, and how long a flight without a
	// head takes followers.
	headAlone = 30 * time.Second
	// bodyAlone is how long it may read a body that is to be stored.
	bodyAlone = 2 * time.Minute
)

// A flight is one exchange with the origin, on its own goroutine, for one client or for many. It continues after its
// client has left if its response can be stored, because an impatient agent repeats the request.
type flight struct {
	cache  *Cache
	group  string // identifies requests that may follow; empty if none may
	name   string // the group under which is noted what the flight learns; empty if nothing is
	began  time.Time
	q      *request // the leader's, a copy
	sel    selection
	leader context.Context // of the leader's request
	det    *detached
	ctx    context.Context
	end    context.CancelCauseFunc

	answered int // the origin's status; set before ready is closed

	ready chan struct{} // closed when out is set
	out   outcome

	mu          sync.Mutex
	interest    int // clients waiting for the head, plus one while the body has readers
	alone       *time.Timer
	limit       time.Duration // duration of the timer alone; 0 for none
	leaderLeft  bool
	invalidated bool          // an unsafe request made its response unusable for others
	writing     chan struct{} // closed when the current write to the store is done; nil if there is none
	failed      *failure      // with out.failed: what is left of the response at its end; nil if it is too much
}

// An outcome is the result of a flight, for the requests that wait for its head. It is set once, by publish.
type outcome struct {
	err    error           // the origin did not answer, or its answer is no better than the stored response
	status int             // with err: the server error the origin answered, unreachable or untrusted
	resp   *http.Response  // a response for the leader alone, not storable; its body comes directly from the origin
	entry  *store.Response // otherwise: a stored response, validated, or about to be stored
	alone  bool            // with a validated entry: it must not answer others
	ofPeer bool            // the entry was not validated: a peer had it
	failed bool            // the entry is a server error: it answers the clients that wait, and is not stored
	own    http.Header     // with a validated entry: fields for the leader alone
	reader *spoolReader    // the leader's body; nil with a validated entry
	head   http.Header     // the leader's fields, with reader
	length int64           // with reader: content length, -1 unknown
	spool  *spool          // with reader
	later  http.Header     // with reader: the trailer fields announced, without values
}

// newFlight returns a flight for q, which the caller registers and runs. ctx is the leader's; the flight keeps its
// values but not its cancellation.
func (c *Cache) newFlight(ctx context.Context, q *request, sel selection, group string) *flight {
	f := &flight{cache: c, group: group, sel: sel, began: time.Now(), ready: make(chan struct{}), limit: headAlone}
	f.det = detach(ctx)
	f.ctx, f.end = context.WithCancelCause(f.det)
	own := *q
	own.Request = q.Clone(f.ctx) //nolint:contextcheck // derived from ctx, and outlives it on purpose
	f.q, f.leader = &own, ctx
	return f
}

// join adds a client that waits for the head of the flight.
func (f *flight) join() { f.count(1) }

// leave removes a client that waited for the flight. If the leader leaves, it closes the response that it did not take.
func (f *flight) leave(leader bool) {
	if leader {
		f.det.leave()
		f.mu.Lock()
		f.leaderLeft = true
		resp, reader := f.out.resp, f.out.reader
		f.mu.Unlock()
		if resp != nil {
			resp.Body.Close()
		}
		if reader != nil {
			reader.Close() //nolint:errcheck // only detaches the reader from the spool
		}
	}
	f.count(-1)
}

// count changes the interest in the flight by n clients. Without interest the flight may continue only for a limited
// time.
func (f *flight) count(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.interest += n
	f.setAlone()
}

// setAlone starts the timer of a flight without interest, or stops it. The caller holds mu.
func (f *flight) setAlone() {
	if f.alone != nil {
		f.alone.Stop()
		f.alone = nil
	}
	if f.interest == 0 && f.limit > 0 && f.ctx.Err() == nil {
		f.alone = time.AfterFunc(f.limit, fault.Contain("cache: end a flight", func() { f.end(errAbandoned) }))
	}
}

// invalidate makes the flight's response unavailable to followers and prevents further writes to the store. If a write
// is in progress, it returns a channel that is closed when the write is done.
func (f *flight) invalidate() (writing <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.invalidated = true
	return f.writing
}

// write runs a write of the flight to the store, unless the flight is invalidated. Who invalidates it meanwhile waits
// for the end of the write, and deletes what was written.
func (f *flight) write(do func()) {
	f.mu.Lock()
	if f.invalidated {
		f.mu.Unlock()
		return
	}
	done := make(chan struct{})
	f.writing = done
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.writing = nil
		f.mu.Unlock()
		close(done)
	}()
	do()
}

// isInvalidated reports whether an unsafe request has invalidated the flight's response.
func (f *flight) isInvalidated() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.invalidated
}

// limitAlone sets how long the flight may continue without interest, from now on; 0 is no limit. It reports whether the
// leader has left.
func (f *flight) limitAlone(d time.Duration) (leaderLeft bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = d
	f.setAlone()
	return f.leaderLeft
}

// readers is the spool's idle callback: it counts the presence of readers as interest.
func (f *flight) readers(any, keeping bool) {
	switch {
	case any:
		f.count(1)
	case keeping:
		f.count(-1)
	default:
		f.end(errAbandoned)
	}
}

// run executes the flight, from the request to the last byte. It cancels f.ctx, except if the leader still reads from
// the origin.
func (f *flight) run() {
	defer f.cache.wg.Done()
	defer f.cache.forget(f)
	if err := fault.Catch("cache: ask the origin", func() error { f.fly(); return nil }); err != nil {
		f.fail(err)
	}
}

// fail ends a flight that panicked, for all who wait for its head or read its body.
func (f *flight) fail(err error) {
	f.cache.ungroup(f)
	select {
	case <-f.ready:
		if s := f.out.spool; s != nil {
			s.end(err, nil, nil)
		}
	default:
		f.publish(outcome{err: err})
	}
	f.end(err)
}

// fly asks peers and then the origin, and publishes what comes: an outcome without a response, a response for the
// leader alone, or one that is kept and may answer others.
func (f *flight) fly() {
	ofPeer, done := f.askPeers()
	defer done()
	if ofPeer != nil {
		f.conclude(outcome{entry: ofPeer, ofPeer: true})
		return
	}
	resp, entry, out := f.exchange()
	switch {
	case resp == nil:
		f.conclude(out)
	case entry == nil:
		f.cache.past.noteUnshared(f.name)
		f.outdate(resp.StatusCode)
		f.handOver(resp)
	default:
		f.keep(resp, entry)
		f.end(nil)
	}
}

// conclude ends a flight that brings no response, but an outcome.
func (f *flight) conclude(out outcome) {
	f.noteResult(out)
	f.cache.ungroup(f)
	f.publish(out)
	f.end(nil)
}

// noteResult notes what an outcome without a response says about the next requests of its group.
func (f *flight) noteResult(out outcome) {
	switch {
	case out.err == nil:
		f.cache.past.noteShared(f.name)
	case f.ctx.Err() == nil:
		f.cache.past.noteFailure(f.name, &failure{err: out.err, hidden: max(out.status, 0), forPage: f.q.forPage})
	}
}

// overdue reports whether the flight has waited too long for its head to take more followers.
func (f *flight) overdue() bool {
	select {
	case <-f.ready:
		return false
	default:
		return time.Since(f.began) > headAlone
	}
}

// failure returns what is left of a server error after its end; nil if nothing is.
func (f *flight) failure() *failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// others returns how many clients wait for the head beside the leader.
func (f *flight) others() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leaderLeft {
		return f.interest
	}
	return f.interest - 1
}

// publish sets the outcome of the flight for all waiting clients and reports whether the leader has not left. It is
// called once.
func (f *flight) publish(out outcome) (led bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out = out
	close(f.ready)
	return !f.leaderLeft
}

// handOver gives the leader a response of the flight for it alone, which nobody stores. From now on the exchange ends
// with the leader.
func (f *flight) handOver(resp *http.Response) {
	stop := context.AfterFunc(f.leader, fault.Contain("cache: end a flight", func() {
		f.end(context.Cause(f.leader))
	}))
	resp.Body = &tiedBody{ReadCloser: resp.Body, release: func() { stop(); f.end(nil) }}
	f.limitAlone(0)
	f.cache.ungroup(f)
	if !f.publish(outcome{resp: resp}) {
		resp.Body.Close()
	}
}

// A tiedBody is a body that comes directly from the origin. Closing it ends the exchange.
type tiedBody struct {
	io.ReadCloser
	release func()
}

// Close implements [io.Closer]: it also ends what the flight had tied to the body.
func (b *tiedBody) Close() error {
	err := b.ReadCloser.Close()
	b.release()
	return err
}

// keep spools and publishes a storable response, and stores it once it is complete and its content coding is valid.
// Readers see its end only after that. A server error for the clients that wait is spooled but not stored.
func (f *flight) keep(resp *http.Response, entry *store.Response) {
	defer resp.Body.Close()
	out := outcome{entry: entry, head: resp.Header, length: resp.ContentLength, later: resp.Trailer.Clone()}
	keep := f.cache.policy().maxBody
	if out.failed = f.isFailure(entry); out.failed {
		keep = maxFailureBody
	}
	s := newSpool(&f.cache.budget, keep, f.readers)
	out.spool = s
	f.noteShared(&out)
	left := f.limitAlone(bodyAlone)
	if !left {
		out.reader = s.join(f.leader)
	}
	if led := f.publish(out); !led && out.reader != nil {
		out.reader.Close() //nolint:errcheck // only detaches the reader from the spool
	}
	err := s.fill(f.ctx, resp.Body, resp.ContentLength)
	var stored func() (io.ReadSeekCloser, error)
	switch {
	case err != nil || !s.kept():
	case out.failed:
		f.noteFailure(entry, s)
	default:
		stored, err = f.commit(entry, s)
	}
	if err == nil && stored == nil {
		f.outdate(entry.Status)
	}
	if err == nil {
		err = io.EOF
	} else if !errors.Is(err, errAbandoned) {
		err = fmt.Errorf("read %s: %w", f.q.key, err)
	}
	f.cache.ungroup(f) // before readers see the end: later requests use the store or the origin
	s.end(err, resp.Trailer, stored)
}

// outdate drops what is stored for the flight's URL when its answer, which is not stored, says that it is no longer
// there: no reader gets an older response than another was given. An answer to credentials may be for them alone.
func (f *flight) outdate(status int) {
	c, q := f.cache, f.q
	shared := c.policy().shared
	switch {
	case q.Method != http.MethodGet || q.cc.noStore || !outdates(status) || shared && q.credentials:
	case !shared:
		for _, r := range f.sel.variants { // other readers have their own
			c.warn("delete a stored response", q.key, c.store.DeleteResponse(q.key, r.ID))
		}
	case len(f.sel.variants) > 0,
		c.peers != nil && f.name == "" && gone(status): // peers were not asked, and may have what is gone
		c.invalidate(q.key)
	}
}

// commit stores the complete body of a flight and returns how to open it if the store has accepted it, or nil. It
// returns an error, which readers get too, if the content is truncated or damaged.
func (f *flight) commit(entry *store.Response, s *spool) (open func() (io.ReadSeekCloser, error), err error) {
	stored := *entry // a copy, because other goroutines read entry
	if entry.Status == http.StatusPartialContent {
		if stored.Length = s.size; !storablePart(f.q, &stored) {
			return nil, nil // pass it on but do not store it
		}
	}
	state, err := verifyCoding(entry.Header["Content-Encoding"], s.content(), f.cache.policy().maxBody)
	if entry.Status == http.StatusPartialContent {
		state, err = codingWhole, nil // a part of coded content may end anywhere
	}
	if state != codingWhole {
		return nil, err
	}
	f.write(func() {
		if entry.Status == http.StatusPartialContent {
			open = f.combine(&stored, s)
		}
		if open == nil && f.cache.put(f.q, &stored, s.content()) {
			open = func() (io.ReadSeekCloser, error) { return f.cache.store.Body(stored.Body) }
		}
	})
	return open, nil
}

// exchange sends the flight's request to the origin, with the validators of what is stored. It returns the origin's
// response and, if it may be stored, the entry for it; or no response, and the outcome. An answer that fits none of the
// conditions is asked for once more, without any.
func (f *flight) exchange() (*http.Response, *store.Response, outcome) {
	p := f.cache.policy()
	req := f.q.Request // a copy already
	if len(f.sel.variants) > 0 {
		req = req.Clone(f.ctx) // for conditions
	}
	v := p.conditions(f.q, &f.sel, req.Header)
	for attempt := 0; ; attempt++ {
		sent := time.Now()
		resp, err := f.ask(req)
		received := time.Now()
		if err != nil {
			if cause := context.Cause(f.ctx); cause != nil && !errors.Is(cause, context.Canceled) {
				err = cause
			}
			return nil, nil, outcome{err: err, status: p.failure(err)}
		}
		httpfield.RemoveConnection(resp.Header)
		f.answered = resp.StatusCode // before complete makes a 206 a 200
		if resp.StatusCode == http.StatusNotModified && len(v.candidates) > 0 {
			resp.Body.Close()
			naming, r := v.named(f.q, resp.Header)
			if naming == namesOwn {
				return resp, nil, outcome{}
			}
			if naming == namesStored {
				if entry, shared, ok := f.validated(r, resp.Header, sent, received); ok {
					return nil, nil, outcome{entry: entry, alone: !shared, own: p.own(resp.Header)}
				}
			}
			if attempt > 0 {
				return nil, nil, outcome{err: fmt.Errorf("validate %s: the origin's 304 names no stored response", f.q.key)}
			}
			req, v = unconditional(f.ctx, f.q.Request), validation{}
			continue
		}
		if r := v.completing; r != nil && attempt == 0 &&
			(resp.StatusCode == http.StatusPartialContent || resp.StatusCode == http.StatusRequestedRangeNotSatisfiable) {
			if completes(r, resp) {
				if entry, ok := f.complete(r, resp, sent, received); ok {
					return resp, f.keepable(entry), outcome{}
				}
			}
			resp.Body.Close()
			req, v = unconditional(f.ctx, f.q.Request), validation{}
			continue
		}
		if r := f.sel.lastResort(); r != nil && hidable(resp.StatusCode) {
			if _, ok := p.reusableOnError(f.q, r, resp.StatusCode, received); ok {
				resp.Body.Close()
				return nil, nil, outcome{
					err:    fmt.Errorf("validate %s: the origin answered %d", f.q.key, resp.StatusCode),
					status: resp.StatusCode,
				}
			}
		}
		return resp, f.keepable(p.entry(f.q, resp, sent, received)), outcome{}
	}
}

// isFailure reports whether entry, which is kept, is a server error for the clients that wait, and not for the store.
func (f *flight) isFailure(entry *store.Response) bool {
	return f.q.Method == http.MethodGet && entry.Status >= 500 && !f.cache.policy().storable(f.q, entry)
}

// noteShared notes whether the response that begins answers other requests, too. One that can be validated, and is the
// first of its kind, may be shared the next time: its validation is.
func (f *flight) noteShared(out *outcome) {
	switch p := f.cache.policy(); {
	case out.failed:
	case p.judge(f.q, out.entry, time.Now()).action == reuse:
		f.cache.past.noteShared(f.name)
	case f.sel.complete != nil || !validatorsOf(out.entry.Header):
		f.cache.past.noteUnshared(f.name)
	}
}

// noteFailure notes a server error whose body is complete, for the requests that come right after.
func (f *flight) noteFailure(entry *store.Response, s *spool) {
	body, err := io.ReadAll(s.content())
	if err != nil {
		return
	}
	failed := &failure{forPage: f.q.forPage, entry: entry, body: body}
	f.mu.Lock()
	f.failed = failed
	f.mu.Unlock()
	f.cache.past.noteFailure(f.name, failed)
}

// keepable returns entry if it may be stored and fits, or if it is a server error for the clients that wait; otherwise
// nil: the leader alone gets the response.
func (f *flight) keepable(entry *store.Response) *store.Response {
	c := f.cache
	switch {
	case c.policy().storable(f.q, entry):
		if entry.Length > c.policy().maxBody || !c.budget.room(max(entry.Length, 0)) {
			return nil
		}
	case f.name == "" || !c.policy().sharesError(f.q, entry) || !c.budget.room(maxFailureBody):
		return nil
	}
	return entry
}

// unconditional returns a request of the flight without any condition, the client's own included.
func unconditional(ctx context.Context, from *http.Request) *http.Request {
	req := from.Clone(ctx)
	req.Header.Del("If-None-Match")
	req.Header.Del("If-Modified-Since")
	return req
}

// validated freshens and stores the stored response r that a 304 with the fields h names. If r is not the response that
// the request selected, it also stores r's content under this request's selecting fields. shared reports whether it may
// answer others, ok whether its content still exists.
func (f *flight) validated(r *store.Response, h http.Header, sent,
	received time.Time,
) (fresh *store.Response, shared, ok bool) {
	c := f.cache
	body, err := c.store.Body(r.Body)
	if err != nil {
		return nil, false, false
	}
	defer body.Close() //nolint:errcheck // it was only read
	fresh = c.policy().freshen(f.q, r, h, sent, received)
	f.write(func() {
		if r == f.sel.complete {
			shared = c.update(f.q, r, fresh)
			c.freshenOthers(f.q, &f.sel, fresh, shared, h, sent, received)
			return
		}
		fresh.ID, fresh.Selecting = store.EntryID{}, selecting(fresh.Vary, f.q.Header, c.policy().key)
		if shared = c.policy().storable(f.q, fresh); shared {
			c.put(f.q, fresh, body)
		} else {
			c.freshenOthers(f.q, &f.sel, fresh, false, h, sent, received)
		}
	})
	return fresh, shared, true
}
