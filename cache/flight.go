package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"readthru/httpfield"
	"readthru/store"
)

const (
	// headWait is how long a request waits for the head of an answer that another request asked for. An answer that cannot
	// be shared must not make its followers slow.
	headWait = 10 * time.Second
	// headAlone is how long a flight whose clients have all left may wait for its head.
	headAlone = 30 * time.Second
	// bodyAlone is how long it may read a body that is to be stored.
	bodyAlone = 2 * time.Minute
)

// A flight is one exchange with the origin, on its own goroutine, for one client or for many. It does not end when its
// client leaves, as long as what it brings can be stored: an impatient agent asks again.
type flight struct {
	cache  *Cache
	group  string   // what its followers share; empty if it takes none
	q      *request // the leader's, a copy
	sel    selection
	leader context.Context // of the leader's request
	det    *detached
	ctx    context.Context
	end    context.CancelCauseFunc

	ready chan struct{} // closed when out is set
	out   outcome

	mu          sync.Mutex
	interest    int // clients waiting for the head, plus one while the body has readers
	alone       *time.Timer
	limit       time.Duration // what alone is set to; 0 for no clock
	leaderLeft  bool
	invalidated bool          // an unsafe request made what it brings unusable for others
	writing     chan struct{} // closed when the write to the store that is under way is done; nil if none is
}

// An outcome is what a flight brought.
type outcome struct {
	err    error           // the origin gave no answer, or none that is better than what is stored
	status int             // with err: the server error the origin answered; 0 if it did not answer
	resp   *http.Response  // an answer for the leader alone: not storable; its body comes straight from the origin
	entry  *store.Response // otherwise: a stored response, validated, or about to be stored
	alone  bool            // with a validated entry: it is not for others
	own    http.Header     // with a validated entry: fields for the leader alone
	reader *spoolReader    // the leader's body; nil with a validated entry
	head   http.Header     // the leader's fields, with reader
	length int64           // with reader: content length, -1 unknown
	spool  *spool          // with reader
	later  http.Header     // with reader: the trailer fields announced, without values
}

// newFlight prepares a flight for q. ctx is the leader's; the flight keeps its values but not its end.
func (c *Cache) newFlight(ctx context.Context, q *request, sel selection, group string) *flight {
	f := &flight{cache: c, group: group, sel: sel, ready: make(chan struct{}), limit: headAlone}
	f.det = detach(ctx)
	f.ctx, f.end = context.WithCancelCause(f.det)
	own := *q
	own.Request = q.Clone(f.ctx) //nolint:contextcheck // it comes from ctx, and outlives it on purpose
	f.q, f.leader = &own, ctx
	return f
}

// join counts one more client that waits for the head.
func (f *flight) join() { f.count(1) }

// leave counts one less. A leader that leaves closes what it did not take.
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
			reader.Close() //nolint:errcheck // it only leaves the spool
		}
	}
	f.count(-1)
}

// count changes the interest in the flight; without any it may go on only for a limited time.
func (f *flight) count(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.interest += n
	f.setAlone()
}

// setAlone starts or stops the clock of a flight that nobody waits for. The caller holds mu.
func (f *flight) setAlone() {
	if f.alone != nil {
		f.alone.Stop()
		f.alone = nil
	}
	if f.interest == 0 && f.limit > 0 && f.ctx.Err() == nil {
		f.alone = time.AfterFunc(f.limit, func() { f.end(errAbandoned) })
	}
}

// spoil keeps what the flight brings from followers and, from now on, out of the store. What it is writing there just
// now is there when the channel, if any, is closed.
func (f *flight) spoil() (writing <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.invalidated = true
	return f.writing
}

// write runs a write to the store, unless the flight was spoiled.
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

// gone reports whether the flight was spoiled.
func (f *flight) gone() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.invalidated
}

// limitAlone sets how long the flight may go on with nobody waiting, from now on; 0 is no limit. It reports whether the
// leader has left.
func (f *flight) limitAlone(d time.Duration) (leaderLeft bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit = d
	f.setAlone()
	return f.leaderLeft
}

// readers is the spool's word on whether it has any.
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

// run is the flight, from the request to the last byte. It ends f.ctx, except where the leader still reads from the
// origin.
func (f *flight) run() {
	defer f.cache.forget(f)
	resp, entry, out := f.exchange()
	switch {
	case resp == nil:
		f.cache.ungroup(f)
		f.publish(out)
		f.end(nil)
	case entry == nil:
		f.handOver(resp)
	default:
		f.keep(resp, entry)
		f.end(nil)
	}
}

// publish sets the outcome for all who wait, and reports whether the leader is still there.
func (f *flight) publish(out outcome) (led bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out = out
	close(f.ready)
	return !f.leaderLeft
}

// handOver gives the leader an answer that is for it alone: from now on the exchange is tied to the leader.
func (f *flight) handOver(resp *http.Response) {
	stop := context.AfterFunc(f.leader, func() { f.end(context.Cause(f.leader)) })
	resp.Body = &tiedBody{ReadCloser: resp.Body, release: func() { stop(); f.end(nil) }}
	f.limitAlone(0)
	f.cache.ungroup(f)
	if !f.publish(outcome{resp: resp}) {
		resp.Body.Close()
	}
}

// A tiedBody is a body that comes straight from the origin. Closing it ends the exchange.
type tiedBody struct {
	io.ReadCloser
	release func()
}

func (b *tiedBody) Close() error {
	err := b.ReadCloser.Close()
	b.release()
	return err
}

// keep spools an answer that may be stored, publishes it at once, and stores it when it is whole and its content coding
// ended well. Only then do readers see its end.
func (f *flight) keep(resp *http.Response, entry *store.Response) {
	defer resp.Body.Close()
	s := newSpool(&f.cache.budget, f.cache.maxBody, f.readers)
	left := f.limitAlone(bodyAlone)
	out := outcome{entry: entry, spool: s, head: resp.Header, length: resp.ContentLength, later: resp.Trailer.Clone()}
	if !left {
		out.reader = s.join(f.leader)
	}
	if led := f.publish(out); !led && out.reader != nil {
		out.reader.Close() //nolint:errcheck // it only leaves the spool
	}
	err := s.fill(f.ctx, resp.Body, resp.ContentLength)
	var stored func() (io.ReadSeekCloser, error)
	if err == nil && s.kept() {
		var sum store.Sum
		var ok bool
		if sum, ok, err = f.commit(entry, s); ok {
			stored = func() (io.ReadSeekCloser, error) { return f.cache.store.Body(sum) }
		}
	}
	if err == nil {
		err = io.EOF
	} else if !errors.Is(err, errAbandoned) {
		err = fmt.Errorf("read %s: %w", f.q.key, err)
	}
	f.cache.ungroup(f) // before anyone sees the end: who asks now finds the store, or asks the origin
	s.end(err, resp.Trailer, stored)
}

// commit stores a whole body, and returns its sum if the store has taken it. The error, if any, is the readers', too:
// the content is cut or damaged.
func (f *flight) commit(entry *store.Response, s *spool) (sum store.Sum, ok bool, err error) {
	stored := *entry // others read entry meanwhile
	if entry.Status == http.StatusPartialContent {
		if stored.Length = s.size; !storablePart(f.q, &stored) {
			return sum, false, nil // passed on as it is, never stored
		}
	}
	state, err := verifyCoding(entry.Header["Content-Encoding"], s.content(), f.cache.maxBody)
	if entry.Status == http.StatusPartialContent {
		state, err = codingWhole, nil // a part of a coded whole ends anywhere
	}
	if state != codingWhole {
		return sum, false, err
	}
	f.write(func() { ok = f.cache.put(f.q, &stored, s.content()) })
	return stored.Body, ok, nil
}

// exchange asks the origin. It returns the origin's response with the entry that it would become, or without one if it
// may not be stored; or no response, and the outcome.
func (f *flight) exchange() (*http.Response, *store.Response, outcome) {
	c, p := f.cache, &f.cache.policy
	req := f.q.Clone(f.ctx)
	v := p.conditions(f.q, &f.sel, req.Header)
	for attempt := 0; ; attempt++ {
		sent := time.Now()
		resp, err := c.next.RoundTrip(req)
		received := time.Now()
		if err != nil {
			if cause := context.Cause(f.ctx); cause != nil && !errors.Is(cause, context.Canceled) {
				err = cause
			}
			return nil, nil, outcome{err: err}
		}
		httpfield.RemoveConnection(resp.Header)
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
		if r := f.sel.complete; r != nil && serverError(resp.StatusCode) {
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

// keepable returns entry if it may be stored and there is room for it, otherwise nil.
func (f *flight) keepable(entry *store.Response) *store.Response {
	c := f.cache
	if !c.policy.storable(f.q, entry) || entry.Length > c.maxBody || !c.budget.room(max(entry.Length, 0)) {
		return nil
	}
	return entry
}

// unconditional returns a request without any condition, the client's own included.
func unconditional(ctx context.Context, from *http.Request) *http.Request {
	req := from.Clone(ctx)
	req.Header.Del("If-None-Match")
	req.Header.Del("If-Modified-Since")
	return req
}

// validated freshens the stored response r that a 304 with the fields h names, and stores it so. When r is not what the
// request selected, its content is stored for this request's selecting fields, too. shared says that it may answer
// others, ok that its content is there.
func (f *flight) validated(r *store.Response, h http.Header, sent,
	received time.Time,
) (fresh *store.Response, shared, ok bool) {
	c := f.cache
	body, err := c.store.Body(r.Body)
	if err != nil {
		return nil, false, false
	}
	defer body.Close() //nolint:errcheck // it was only read
	fresh = c.policy.freshen(f.q, r, h, sent, received)
	f.write(func() {
		if r == f.sel.complete {
			if shared = c.update(f.q, r, fresh); shared {
				f.freshenOthers(fresh, h, sent, received)
			}
			return
		}
		fresh.ID, fresh.Selecting = store.EntryID{}, selecting(fresh.Vary, f.q.Header, c.policy.key)
		if shared = c.policy.storable(f.q, fresh); shared {
			c.put(f.q, fresh, body)
		}
	})
	return fresh, shared, true
}

// freshenOthers updates the other stored responses that the request selects and the 304 with the fields h names (RFC
// 9111 §4.3.4). One that answers no request that fresh does not answer goes.
func (f *flight) freshenOthers(fresh *store.Response, h http.Header, sent, received time.Time) {
	c := f.cache
	for _, o := range f.sel.variants {
		if o.ID == fresh.ID || o.Status != http.StatusOK || !strongMatch(o.Header.Get("ETag"), h.Get("ETag")) ||
			!c.policy.matches(f.q, o) {
			continue
		}
		if other := c.policy.freshen(f.q, o, h, sent, received); slices.Equal(other.Vary, fresh.Vary) &&
			maps.Equal(other.Selecting, fresh.Selecting) {
			c.warn("delete a stored response", f.q.key, c.store.DeleteResponse(f.q.key, o.ID))
		} else {
			c.update(f.q, o, other)
		}
	}
}
