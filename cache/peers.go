package cache

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/store"
)

// DetailPeer is the detail of an outcome for a response that another cache has stored.
const DetailPeer = "peer"

// Peers are other caches that share their stored responses. Its methods are safe for concurrent use.
type Peers interface {
	// Ask looks for what peers have stored of a URI, before its origin is asked, and waits for a peer that asks just now.
	// If choose takes one of their stored responses, Ask puts it into the cache's store and returns it. If it returns
	// none, the caller asks the origin, and calls done when the answer is stored, or known not to be.
	Ask(ctx context.Context, uri string, choose func([]*store.Response) *store.Response) (r *store.Response, done func())

	// Tell has peers told of a stored response that may answer anybody, fresh until a time. It does not wait.
	Tell(r *store.Response, freshUntil time.Time)
}

// Join has c share its stored responses with peers. It must be called before the first request.
func (c *Cache) Join(p Peers) { c.peers = p }

// askPeers asks peers for a response to the flight's request, and returns one that answers; nil if there is none. One
// that must be validated first becomes the flight's selection. Done must be called when the flight is over.
func (f *flight) askPeers() (r *store.Response, done func()) {
	c, p := f.cache, f.cache.policy()
	if c.peers == nil || f.group == "" || f.q.Method != http.MethodGet || !p.shared || f.q.secret || f.q.credentials ||
		c.past.unshared(f.name) {
		return nil, func() {}
	}
	r, done = c.peers.Ask(f.ctx, f.q.key, func(list []*store.Response) *store.Response {
		sel := p.choose(f.q, list)
		if r := sel.complete; r != nil && sel.newer == nil && p.forEverybody(r) &&
			p.newer(f.q, r, cmp.Or(f.sel.newer, f.sel.complete)) {
			return r
		}
		return nil
	})
	if r != nil && p.judge(f.q, r, time.Now()).action != reuse {
		f.sel, _ = c.lookup(f.q, nil)
		return nil, done
	}
	return r, done
}

// newer reports whether a peer's stored response r is of more use for q than own, the newest one here, which may be
// nil.
func (p *policy) newer(q *request, r, own *store.Response) bool {
	if own != nil && !r.ResponseTime.After(own.ResponseTime) {
		return false
	}
	return p.judge(q, r, time.Now()).action == reuse || validatorsOf(r.Header)
}

// forEverybody reports whether a stored response says the same whoever asks, so that it may be any peer's.
func (p *policy) forEverybody(r *store.Response) bool {
	return p.shared && r.Partition == "" && r.Status != http.StatusPartialContent && !setsCookie(r) &&
		!strings.Contains(r.Class, classByName) &&
		!slices.ContainsFunc(r.Vary, func(name string) bool { return !httpfield.Impersonal(http.CanonicalHeaderKey(name)) })
}

// tellPeers tells other nodes' caches of the answer r to q, which was stored, if it may be anybody's.
func (c *Cache) tellPeers(q *request, r *store.Response) {
	if p := c.policy(); c.peers != nil && !q.credentials && !q.secret && p.forEverybody(r) {
		now := time.Now()
		c.peers.Tell(r, now.Add(max(p.judge(q, r, now).ttl, 0)))
	}
}
