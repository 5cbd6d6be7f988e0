package cache

import (
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/store"
)

// A Reuse is how a fresh stored response answered a request. An equal request gets an equal answer, but for its age,
// until [Reuse.Expires] or until [Reuse.Record] changes.
type Reuse struct {
	At  time.Time     // when it was decided
	Age time.Duration // of the stored response, then
	TTL time.Duration // its remaining freshness lifetime, then

	Content store.Sum // of the stored response
	Length  int64     // of its content

	c    *Cache
	uri  string
	used atomic.Int64 // the hour of the last noted use, Unix time
}

// reuse returns the Reuse by which an answer is repeated, for a hit with the whole stored response r at the time now;
// nil if another request might get another answer.
func (c *Cache) reuse(q *request, r *store.Response, o Outcome, now time.Time) *Reuse {
	if !o.Hit || o.TTL <= 0 || c.policy().offline {
		return nil
	}
	u := &Reuse{At: now.Round(0), Age: age(r, now), TTL: o.TTL, Content: r.Body, Length: r.Length, c: c, uri: q.key}
	u.used.Store(now.Unix() / 3600)
	return u
}

// Expires returns until when an answer may be repeated: when the stored response is no longer fresh.
func (u *Reuse) Expires() time.Time { return u.At.Add(u.TTL) }

// Record returns what an answer that is repeated depends on in the store: the stored responses of its URI.
func (u *Reuse) Record() store.Record { return store.ResponsesOf(u.uri) }

// Repeated counts a request that was given the answer again as a hit, and once an hour as a use of the stored response.
func (u *Reuse) Repeated(now time.Time) {
	u.c.hits.Add(1)
	if hour := now.Unix() / 3600; u.used.Swap(hour) != hour {
		u.c.store.Touch(u.uri)
	}
}
