package cache

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"time"
)

// fetch answers q from the origin, or from what another request is bringing from there just now. at is when q was
// looked up.
func (c *Cache) fetch(q *request, sel selection, why string, at time.Time) (*http.Response, error) {
	if q.Method == http.MethodHead {
		return c.head(q, sel, why)
	}
	q.why = why
	if q.cc.noStore {
		sel = selection{} // what is stored stays as it is, too (RFC 9111 §5.2.1.5)
	}
	group := ""
	if c.policy.shareable(q) {
		group = groupOf(q)
	}
	if group != "" && c.missed(group, at) {
		if resp := c.meanwhile(q); resp != nil {
			return resp, nil
		}
	}
	f, leader := c.board(q, sel, group)
	if f == nil {
		return c.pass(q, why)
	}
	if !leader {
		resp, err, ok := c.follow(q, sel, why, f)
		if ok {
			return resp, err
		}
		if resp := c.meanwhile(q); resp != nil {
			return resp, nil
		}
		if f, _ = c.board(q, sel, ""); f == nil { // on our own
			return c.pass(q, why)
		}
	}
	var silence <-chan time.Time
	if sel.lastResort() != nil {
		timer := time.NewTimer(headWait)
		defer timer.Stop()
		silence = timer.C
	}
	for ready := false; !ready; {
		select {
		case <-f.ready:
			ready = true
		case <-silence:
			if resp := c.despiteSilence(q, sel); resp != nil {
				f.leave(true)
				return resp, nil
			}
			silence = nil
		case <-q.Context().Done():
			f.leave(true)
			return nil, context.Cause(q.Context())
		}
	}
	f.det.leave()
	defer f.count(-1)
	return c.lead(q, sel, why, f)
}

// missed reports whether the flight of a group may have ended since a lookup: what it brought may be stored.
func (c *Cache) missed(group string, lookup time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.landed.Before(lookup) && c.groups[group] == nil
}

// board returns the flight under way for a group, or a new one whose leader the caller is. An empty group is always
// new. Without a flight, the cache is closed.
func (c *Cache) board(q *request, sel selection, group string) (f *flight, leader bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.groups[group]; group != "" && f != nil {
		f.join()
		return f, false
	}
	if c.closed {
		return nil, false
	}
	f = c.newFlight(q.Context(), q, sel, group)
	f.join()
	c.depart(f)
	return f, true
}

// depart starts a flight. The caller holds mu.
func (c *Cache) depart(f *flight) {
	if f.group != "" {
		c.groups[f.group] = f
	}
	c.live[f] = struct{}{}
	c.wg.Go(f.run)
}

// ungroup lets no more followers on a flight.
func (c *Cache) ungroup(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.groups[f.group] == f {
		delete(c.groups, f.group)
		c.landed = time.Now()
	}
}

// forget forgets a flight that has ended.
func (c *Cache) forget(f *flight) {
	c.ungroup(f)
	f.limitAlone(0)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.live, f)
}

// refresh validates a stored response in the background, unless someone is about it.
func (c *Cache) refresh(q *request, sel selection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	group := groupOf(q)
	if c.closed || c.next == nil || c.groups[group] != nil {
		return
	}
	alone := *q
	alone.Request = q.Clone(context.WithoutCancel(q.Context()))
	alone.Method = http.MethodGet
	for _, name := range []string{"Range", "If-Range", "If-None-Match", "If-Modified-Since"} {
		alone.Header.Del(name)
	}
	f := c.newFlight(context.Background(), &alone, sel, group)
	f.leaderLeft = true
	f.count(0) // starts its clock: nobody waits
	c.depart(f)
}

// shareable reports whether the answer to q may be one that another request asked for.
func (p *policy) shareable(q *request) bool {
	return (!p.shared || !q.secret) && len(q.Header["Range"]) == 0 && !q.cc.noCache && !q.cc.noStore &&
		q.cc.maxAge == absent && q.cc.minFresh == absent
}

// groupOf names the requests that may follow one flight. Whether they do is decided when its head is there: this only
// spares those a wait that could never share it.
func groupOf(q *request) string {
	group := q.key + "\n" + q.authorization() + "\n" + strings.Join(q.Header["Cookie"], ";")
	if namesMarkdown(q.Header) {
		group += "\nmarkdown"
	}
	return group
}

// lead answers the request that a flight was made for.
func (c *Cache) lead(q *request, sel selection, why string, f *flight) (*http.Response, error) {
	switch out := &f.out; {
	case out.err != nil:
		if resp := c.onError(q, sel, out.status); resp != nil {
			return resp, nil
		}
		c.misses.Add(1)
		return nil, out.err
	case out.resp != nil:
		c.misses.Add(1)
		Outcome{Forward: why, Status: f.answered}.carry(out.resp)
		out.resp.Request = q.Request
		return out.resp, nil
	case out.spool != nil:
		c.misses.Add(1)
		if out.reader == nil {
			return nil, context.Cause(q.Context())
		}
		return streamed(q, f, out.head, out.reader, Outcome{Forward: why, Status: f.answered}), nil
	default:
		c.revalidated.Add(1)
		resp := c.fromStore(q, out.entry, Outcome{Forward: why, Status: http.StatusNotModified}, true)
		if resp == nil {
			return nil, errLost(q)
		}
		maps.Copy(resp.Header, out.own)
		return resp, nil
	}
}

// follow answers q with what another request's flight brings, if that suits. If not, ok is false.
func (c *Cache) follow(q *request, sel selection, why string, f *flight) (_ *http.Response, err error, ok bool) {
	defer f.count(-1)
	wait := time.NewTimer(headWait)
	defer wait.Stop()
	select {
	case <-f.ready:
	case <-wait.C:
		resp := c.despiteSilence(q, sel)
		return resp, nil, resp != nil
	case <-q.Context().Done():
		return nil, context.Cause(q.Context()), true
	}
	out := &f.out
	if out.err != nil {
		if resp := c.onError(q, sel, out.status); resp != nil {
			return resp, nil, true
		}
		return nil, out.err, out.status <= 0
	}
	if out.entry == nil || out.alone || !c.policy.owns(q, out.entry) || !c.policy.matches(q, out.entry) || f.gone() {
		return nil, nil, false
	}
	if out.spool == nil { // validated while we asked for the same: as good as if we had done it
		resp := c.fromStore(q, out.entry, Outcome{Forward: why, Status: http.StatusNotModified, Collapsed: true}, true)
		if resp != nil {
			c.collapsed.Add(1)
		}
		return resp, nil, resp != nil
	}
	if c.policy.judge(q, out.entry, time.Now()).action != reuse {
		return nil, nil, false
	}
	reader := out.spool.join(q.Context())
	if reader == nil {
		return nil, nil, false
	}
	c.collapsed.Add(1)
	o := Outcome{Forward: why, Status: f.answered, Collapsed: true}
	return streamed(q, f, out.entry.Header.Clone(), reader, o), nil, true
}

// meanwhile answers q with what came into the store while it waited, if that is fresh: a short answer is there and done
// before the last of its followers wakes.
func (c *Cache) meanwhile(q *request) *http.Response {
	sel, _ := c.lookup(q, nil)
	r := sel.complete
	if r == nil {
		return nil
	}
	v := c.policy.judge(q, r, time.Now())
	if v.action != reuse {
		return nil
	}
	return c.fromStore(q, r, v.hit(), false)
}

// despiteSilence answers with a stored page, where that is allowed, when its origin has said nothing for long. The
// question goes on, so that its answer is stored.
func (c *Cache) despiteSilence(q *request, sel selection) *http.Response {
	if r := sel.lastResort(); r == nil || r.Status != http.StatusOK || !c.policy.isPage(r.Header) {
		return nil // an API may be slow
	}
	return c.onError(q, sel, unreachable)
}

// onError answers with what is stored when the origin did not answer, or with a server error, where that is allowed.
func (c *Cache) onError(q *request, sel selection, code int) *http.Response {
	r := sel.lastResort()
	if r == nil || q.Context().Err() != nil {
		return nil
	}
	v, ok := c.policy.reusableOnError(q, r, code, time.Now())
	if !ok {
		return nil
	}
	return c.fromStore(q, r, v.hit(), false)
}
