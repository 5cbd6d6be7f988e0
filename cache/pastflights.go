package cache

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"net/http"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/readthru/readthru/store"
)

const (
	// passTime is how long requests of a group do not wait for each other after an answer could not be shared.
	passTime = 2 * time.Minute
	// maxPassing bounds the number of such groups that are remembered.
	maxPassing = 4096

	// failTime is how long a failure that happened twice in a row answers further requests.
	failTime = time.Second
	// maxFailures bounds the failures that are remembered, maxFailureBody the content of each in bytes.
	maxFailures    = 64
	maxFailureBody = 64 << 10
)

// pastFlights remembers for a short while, by group, what flights found out that the store does not keep: which answers
// cannot be shared, and which exchanges failed.
type pastFlights struct {
	seed    maphash.Seed
	passing *lru.Cache[uint64, time.Time] // until when
	failed  *lru.Cache[string, *failure]
}

// A failure is an exchange without a response to store: no answer at all, or a server error that may answer others too.
type failure struct {
	at       time.Time
	repeated bool // the exchange before it failed, too, a moment earlier
	forPage  bool // of the request
	err      error
	hidden   int             // with err: the status that a stored response answered in place of; 0 if the origin gave none
	entry    *store.Response // without err
	body     []byte          // with entry
}

// newPastFlights returns a memory of no flights.
func newPastFlights() *pastFlights {
	t := &pastFlights{seed: maphash.MakeSeed()}
	t.passing, _ = lru.New[uint64, time.Time](maxPassing) // fails for sizes below 1 only
	t.failed, _ = lru.New[string, *failure](maxFailures)
	return t
}

// noteUnshared notes that the answers to the requests of a group cannot be shared: they are not to wait for each other.
func (t *pastFlights) noteUnshared(group string) {
	if group != "" {
		t.passing.Add(maphash.String(t.seed, group), time.Now().Add(passTime))
	}
}

// noteShared notes that an answer to a group of requests could be shared, and that it was no failure.
func (t *pastFlights) noteShared(group string) {
	t.passing.Remove(maphash.String(t.seed, group))
	t.failed.Remove(group)
}

// unshared reports whether requests of a group should not wait for each other's flight.
func (t *pastFlights) unshared(group string) bool {
	until, ok := t.passing.Get(maphash.String(t.seed, group))
	return ok && time.Now().Before(until)
}

// noteFailure notes that a flight of a group has failed.
func (t *pastFlights) noteFailure(group string, f *failure) {
	if group == "" {
		return
	}
	f.at = time.Now()
	before, ok := t.failed.Get(group)
	f.repeated = ok && f.at.Sub(before.at) < 2*failTime || retried(f.err)
	t.failed.Add(group, f)
}

// retried reports, for a past flight, whether an error of the transport says that the request failed on more than one
// connection, so that another try says nothing new.
func retried(err error) bool {
	r, ok := errors.AsType[interface {
		error
		Retried() bool
	}](err)
	return ok && r.Retried()
}

// recentFailure returns a group's failure if it happened twice in a row a moment ago; nil if it did not. A single
// failure says little, so a retry after it reaches the origin.
func (t *pastFlights) recentFailure(group string) *failure {
	if f, ok := t.failed.Get(group); ok && f.repeated && time.Since(f.at) < failTime {
		return f
	}
	return nil
}

// forget forgets the failures of all groups of a cache key.
func (t *pastFlights) forget(key string) {
	for _, group := range t.failed.Keys() {
		if strings.HasPrefix(group, key+"\n") {
			t.failed.Remove(group)
		}
	}
}

// sharesError reports whether a past flight's server error, which is not stored, may also answer other requests for the
// same that arrived while it was under way. A cache may collapse requests whose response it could store (RFC 9111 §4).
// We go further for errors, because a hundred more requests do not help an origin that fails. Errors that the origin
// forbids to store, or that may be meant for one client, are not shared.
func (p *policy) sharesError(q *request, r *store.Response) bool {
	cc := p.control(r.Header)
	return r.Status >= 500 && storableStatus(r.Status) && !p.forbids(r, &cc) && !cc.private && !cc.noCache &&
		!setsCookie(r) && !q.credentials && mediaType(r.Header) != "text/event-stream"
}

// failureSuits reports whether the failure of a past flight may answer q. Our own fetches may reach fewer addresses
// than clients' requests, so neither gets the failure of the other.
func (p *policy) failureSuits(q *request, f *failure) bool {
	return f.forPage == q.forPage && (f.err != nil || p.owns(q, f.entry) && p.matches(q, f.entry))
}

// answerFailure answers q with the failure of another request's past flight, or with a stored response where one may
// replace it. It returns neither response nor error if only a stored response could answer, and none may.
func (c *Cache) answerFailure(q *request, sel selection, why string, f *failure) (*http.Response, error) {
	status := f.hidden
	switch {
	case f.err == nil:
		status = f.entry.Status
	case status == 0:
		status = c.policy().failure(f.err)
	}
	if resp := c.onError(q, sel, status); resp != nil || f.hidden != 0 {
		return resp, nil
	}
	c.collapsed.Add(1)
	if f.err != nil {
		return nil, f.err
	}
	resp := &http.Response{
		Status: statusLine(f.entry.Status), StatusCode: f.entry.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: f.entry.Header.Clone(), Body: io.NopCloser(bytes.NewReader(f.body)),
		ContentLength: int64(len(f.body)), Request: q.Request,
	}
	Outcome{Forward: why, Status: f.entry.Status, Collapsed: true}.carry(resp)
	return resp, nil
}
