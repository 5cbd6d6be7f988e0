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

	"readthru/store"
)

const (
	// passTime is for how long requests do not wait for each other after a wait was in vain.
	passTime = 2 * time.Minute
	// maxPassing bounds the groups of which that is known.
	maxPassing = 4096

	// failTime is for how long a failure that has just repeated itself answers further requests.
	failTime = time.Second
	// maxFailures and maxFailureBody bound the failures that are known, and their content in bytes.
	maxFailures    = 64
	maxFailureBody = 64 << 10
)

// tried is what flights found out that the store does not keep, by group: which answers cannot be shared, and which
// exchanges failed. It is small, and forgets.
type tried struct {
	seed    maphash.Seed
	passing *lru.Cache[uint64, time.Time] // until when
	failed  *lru.Cache[string, *failure]
}

// A failure is an exchange that gave nothing to store: no answer, or a server error that may be told to others.
type failure struct {
	at       time.Time
	repeated bool // the exchange before it failed, too, a moment earlier
	forPage  bool // of the request
	err      error
	entry    *store.Response // without err
	body     []byte          // with entry
}

func newTried() *tried {
	t := &tried{seed: maphash.MakeSeed()}
	t.passing, _ = lru.New[uint64, time.Time](maxPassing) // fails for sizes below 1 only
	t.failed, _ = lru.New[string, *failure](maxFailures)
	return t
}

// pass notes that the answers to a group cannot be shared.
func (t *tried) pass(group string) {
	if group != "" {
		t.passing.Add(maphash.String(t.seed, group), time.Now().Add(passTime))
	}
}

// shared notes that an answer to a group could be shared.
func (t *tried) shared(group string) {
	t.passing.Remove(maphash.String(t.seed, group))
	t.failed.Remove(group)
}

// passes reports whether requests of a group should not wait for each other.
func (t *tried) passes(group string) bool {
	until, ok := t.passing.Get(maphash.String(t.seed, group))
	return ok && time.Now().Before(until)
}

// fail notes a failure of a group.
func (t *tried) fail(group string, f *failure) {
	if group == "" {
		return
	}
	f.at = time.Now()
	before, ok := t.failed.Get(group)
	f.repeated = ok && f.at.Sub(before.at) < 2*failTime || retried(f.err)
	t.failed.Add(group, f)
}

// retried reports whether an error says that the request failed on more than one connection.
func retried(err error) bool {
	r, ok := errors.AsType[interface {
		error
		Retried() bool
	}](err)
	return ok && r.Retried()
}

// failing returns the failure of a group that has just repeated itself; nil if there is none. One failure alone says
// little: who tries again at once reaches the origin.
func (t *tried) failing(group string) *failure {
	if f, ok := t.failed.Get(group); ok && f.repeated && time.Since(f.at) < failTime {
		return f
	}
	return nil
}

// forget forgets the failures of a key.
func (t *tried) forget(key string) {
	for _, group := range t.failed.Keys() {
		if strings.HasPrefix(group, key+"\n") {
			t.failed.Remove(group)
		}
	}
}

// tellable reports whether a server error that is not stored may be told to others who asked for the same while it was
// under way. A cache may collapse requests whose answer it could store (RFC 9111 §4); we go further for errors, because
// a hundred requests more do not heal an origin: unless the origin forbids to store it, or it may be meant for one
// client.
func (p *policy) tellable(q *request, r *store.Response) bool {
	cc := p.control(r.Header)
	return r.Status >= 500 && storableStatus(r.Status) && !p.forbids(r, &cc) && !cc.private && !cc.noCache &&
		!setsCookie(r) && !q.credentials && mediaType(r.Header) != "text/event-stream"
}

// tells reports whether the failure of an exchange may answer q. Fetches of our own reach other addresses than those of
// clients.
func (p *policy) tells(q *request, f *failure) bool {
	return f.forPage == q.forPage && (f.err != nil || p.owns(q, f.entry) && p.matches(q, f.entry))
}

// retell answers q with a failure that another request met, or with what is stored where that may stand for it.
func (c *Cache) retell(q *request, sel selection, why string, f *failure) (*http.Response, error) {
	var status int
	if f.err == nil {
		status = f.entry.Status
	} else {
		status = c.policy().failure(f.err)
	}
	if resp := c.onError(q, sel, status); resp != nil {
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
