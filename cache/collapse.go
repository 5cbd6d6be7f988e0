package cache

import (
	"context"
	"maps"
	"net/http"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/store"
)

// maxFollowed is how many flights a request waits for: one whose answer turns out to be another variant, and one of its
// own variant.
const maxFollowed = 3

// fetch collapses requests: it answers q from the origin, or from what another request is bringing from there just now.
// why is the parameter fwd; at is when q was looked up.
func (c *Cache) fetch(q *request, sel selection, why string, at time.Time) (*http.Response, error) {
	if q.Method == http.MethodHead {
		return c.head(q, sel, why)
	}
	q.why = why
	if q.cc.noStore {
		sel = selection{} // what is stored stays as it is, too (RFC 9111 §5.2.1.5)
	}
	group := ""
	if c.policy().shareable(q) {
		group = groupOf(q)
		if len(sel.variants) > 0 {
			group = c.policy().variantOf(group, q, sel.variants[0])
		}
	}
	// Failures that happened twice in a row answer those that come right after.
	if failed := c.past.recentFailure(group); failed != nil && c.policy().failureSuits(q, failed) {
		if resp, err := c.answerFailure(q, sel, why, failed); resp != nil || err != nil {
			return resp, err
		}
	}
	// A flight that ended since the lookup may have stored what q asks for.
	if group != "" && c.missed(group, at) {
		if resp := c.answerStoredSince(q); resp != nil {
			return resp, nil
		}
	}
	for range maxFollowed {
		if group == "" || c.past.unshared(group) {
			break
		}
		f, leader := c.joinOrRegister(q, sel, group, group)
		if f == nil {
			return c.pass(q, why)
		}
		if leader {
			c.crew.fly(f)
			return c.awaitOwn(q, sel, why, f)
		}
		resp, next, err := c.answerFollower(q, sel, why, f)
		if resp != nil || err != nil {
			return resp, err
		}
		if resp := c.answerStoredSince(q); resp != nil {
			return resp, nil
		}
		if next == group {
			break
		}
		group = next
	}
	f, _ := c.joinOrRegister(q, sel, "", group) // on our own
	if f == nil {
		return c.pass(q, why)
	}
	c.crew.fly(f)
	return c.awaitOwn(q, sel, why, f)
}

// awaitOwn answers q, the leader of collapsed requests, from the flight that was made for it, once its head has come. A
// client that leaves does not end the flight.
func (c *Cache) awaitOwn(q *request, sel selection, why string, f *flight) (*http.Response, error) {
	resp, err := c.awaitHead(q, sel, f)
	if resp != nil || err != nil {
		f.leave(true)
		return resp, err
	}
	f.det.leave()
	defer f.count(-1)
	return c.answerLeader(q, sel, why, f)
}

// awaitHead waits for the head of a flight, for requests collapsed into it. It answers before that if the origin is
// silent for long and a stored page may stand for it, and returns an error if the client leaves.
func (c *Cache) awaitHead(q *request, sel selection, f *flight) (*http.Response, error) {
	var silence <-chan time.Time
	if sel.lastResort() != nil {
		timer := time.NewTimer(headWait)
		defer timer.Stop()
		silence = timer.C
	}
	for {
		select {
		case <-f.ready:
			return nil, nil
		case <-silence:
			if resp := c.answerDuringSilence(q, sel); resp != nil {
				return resp, nil
			}
			silence = nil
		case <-q.Context().Done():
			return nil, context.Cause(q.Context())
		}
	}
}

// missed reports, since requests are collapsed, whether the flight of a group may have ended since a lookup, so that a
// request looks up again. Its response may be stored then.
func (c *Cache) missed(group string, lookup time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.landed.Before(lookup) && c.groups[group] == nil
}

// joinOrRegister collapses a request into the flight under way for a group, or into a new one that the caller leads and
// runs. It is new too if the group is empty, or if the flight under way has waited too long for its head. What is
// learnt from the new flight is noted under name. It returns no flight if the cache is closed.
func (c *Cache) joinOrRegister(q *request, sel selection, group, name string) (f *flight, leader bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.groups[group]; group != "" && f != nil && !f.overdue() {
		f.join()
		return f, false
	}
	if c.closed {
		return nil, false
	}
	f = c.newFlight(q.Context(), q, sel, group)
	f.name = name
	f.join()
	c.register(f)
	return f, true
}

// register lets requests of a flight's group be collapsed into it. The caller holds mu, and then runs the flight in a
// goroutine, which Close waits for.
func (c *Cache) register(f *flight) {
	if f.group != "" {
		c.groups[f.group] = f
	}
	c.live[f] = struct{}{}
	c.wg.Add(1)
}

// ungroup keeps further requests from being collapsed into a flight, whose result is known now.
func (c *Cache) ungroup(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.groups[f.group] == f {
		delete(c.groups, f.group)
		c.landed = time.Now()
	}
}

// forget forgets a flight that has ended, so that Close need not wait for it.
func (c *Cache) forget(f *flight) {
	c.ungroup(f)
	f.limitAlone(0)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.live, f)
}

// refresh validates a stored response in the background, collapsed into one flight, unless a flight already does.
func (c *Cache) refresh(q *request, sel selection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	group := c.policy().variantOf(groupOf(q), q, sel.variants[0])
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
	f.name, f.leaderLeft = group, true
	f.count(0) // starts the timer for flights that no client waits for
	c.register(f)
	c.crew.fly(f)
}

// shareable reports whether q may be collapsed with another request: q wants no part, no validation of its own and no
// bound of age.
func (p *policy) shareable(q *request) bool {
	return (!p.shared || !q.secret) && len(q.Header["Range"]) == 0 && !q.cc.noCache && !q.cc.noStore &&
		q.cc.maxAge == absent && q.cc.minFresh == absent
}

// groupOf names the group of requests that may be collapsed into one flight. Whether they do is decided when the head
// arrives. Requests that could never share the response belong to different groups, so that they do not wait for
// nothing.
func groupOf(q *request) string {
	group := q.key + "\n" + q.authorization() + "\n" + httpfield.Credentials(q.Header)
	if namesMarkdown(q.Header) {
		group += "\nmarkdown"
	}
	return group
}

// variantOf narrows a group of collapsed requests to the requests that, by r's Vary, get the same response.
func (p *policy) variantOf(group string, q *request, r *store.Response) string {
	for _, name := range r.Vary {
		value, sent := selectingValue(name, q.Header, p.key)
		group += "\n" + name
		if sent {
			group += ": " + value
		}
	}
	return group
}

// answerLeader answers the leader of collapsed requests, the one that a flight was made for, by the flight's outcome:
// an error, a response for it alone, a body that is still coming, or a stored response.
func (c *Cache) answerLeader(q *request, sel selection, why string, f *flight) (*http.Response, error) {
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
		if resp := c.despiteStall(q, sel, f, out.reader); resp != nil {
			return resp, nil
		}
		return streamed(q, f, out.head, out.reader, Outcome{Forward: why, Status: f.answered}), nil
	default:
		resp := c.fromFlight(q, why, out)
		if resp == nil {
			return nil, errLost(q)
		}
		maps.Copy(resp.Header, out.own)
		return resp, nil
	}
}

// fromFlight answers q, collapsed or not, from the store after a flight without a body: the stored response was
// validated, or is a peer's. It returns nil if the content is lost.
func (c *Cache) fromFlight(q *request, why string, out *outcome) *http.Response {
	if !out.ofPeer {
		c.revalidated.Add(1)
		return c.fromStore(q, out.entry, Outcome{Forward: why, Status: http.StatusNotModified}, true)
	}
	o := c.policy().judge(q, out.entry, time.Now()).hit()
	o.Detail = DetailPeer
	return c.fromStore(q, out.entry, o, false)
}

// answerFollower answers q, collapsed, with the result of another request's flight, if that suits. If it does not,
// answerFollower returns neither response nor error, but the group of a flight that may suit better. That may be f's
// own group.
func (c *Cache) answerFollower(q *request, sel selection, why string, f *flight) (
	_ *http.Response, next string, _ error,
) {
	defer f.count(-1)
	if resp, err := c.awaitHead(q, sel, f); resp != nil || err != nil {
		return resp, "", err
	}
	out := &f.out
	switch {
	case out.err != nil:
		if resp := c.onError(q, sel, out.status); resp != nil {
			return resp, "", nil
		}
		if out.status <= 0 && f.q.forPage == q.forPage {
			return nil, "", out.err
		}
		return nil, f.group, nil
	case out.entry == nil || out.alone || !c.policy().owns(q, out.entry) || f.isInvalidated():
		return nil, f.group, nil
	case !c.policy().matches(q, out.entry):
		return nil, c.policy().variantOf(groupOf(q), q, out.entry), nil
	case out.ofPeer: // it is stored: a lookup finds it
		return nil, f.group, nil
	case out.spool == nil: // validated while we asked for the same: as good as if we had done it
		resp := c.fromStore(q, out.entry, Outcome{Forward: why, Status: http.StatusNotModified, Collapsed: true}, true)
		if resp != nil {
			c.collapsed.Add(1)
		}
		return resp, f.group, nil
	case out.failed && f.q.forPage != q.forPage,
		!out.failed && c.policy().judge(q, out.entry, time.Now()).action != reuse:
		return nil, f.group, nil
	}
	reader := out.spool.join(q.Context())
	switch {
	case reader == nil && out.failed:
		if failed := f.failure(); failed != nil { // it is over
			resp, err := c.answerFailure(q, sel, why, failed)
			return resp, "", err
		}
		return nil, f.group, nil
	case reader == nil:
		return nil, f.group, nil
	}
	if resp := c.despiteStall(q, sel, f, reader); resp != nil {
		return resp, "", nil
	}
	c.collapsed.Add(1)
	o := Outcome{Forward: why, Status: f.answered, Collapsed: true}
	return streamed(q, f, out.entry.Header.Clone(), reader, o), "", nil
}

// answerStoredSince answers q with a response that was stored while q waited for a flight, if that is fresh; nil if
// not. A short response may be stored, and its flight over, before the last follower wakes.
func (c *Cache) answerStoredSince(q *request) *http.Response {
	sel, _ := c.lookup(q, nil)
	r := sel.complete
	if r == nil {
		return nil
	}
	v := c.policy().judgeSelected(q, &sel, r, time.Now())
	if v.action != reuse {
		return nil
	}
	return c.fromStore(q, r, v.hit(), false)
}

// answerDuringSilence answers q with a stored page, where that is allowed, when the origin has not answered for
// headWait. The request to the origin continues, so that its response is stored.
func (c *Cache) answerDuringSilence(q *request, sel selection) *http.Response {
	if !c.policy().standIn(&sel) {
		return nil
	}
	return c.onError(q, sel, unreachable)
}

// despiteStall answers with a stored page, where that is allowed, when its origin breaks off in the middle of the body
// of a new one, or stops sending. For that it holds the new one back until it is whole, or takes its time but goes on.
// If it does not answer, reader is still at the first byte. The exchange goes on, so that what comes is stored.
func (c *Cache) despiteStall(q *request, sel selection, f *flight, reader *spoolReader) *http.Response {
	r := sel.lastResort()
	if f.out.entry.Status != http.StatusOK || !c.policy().standIn(&sel) {
		return nil
	}
	if _, ok := c.policy().reusableOnError(q, r, unreachable, time.Now()); !ok ||
		f.out.spool.awaitEnd(q.Context(), q.forPage) {
		return nil
	}
	resp := c.onError(q, sel, unreachable)
	if resp != nil {
		reader.Close() //nolint:errcheck // only detaches the reader from the spool
	}
	return resp
}

// onError answers q with a stored response, where that is allowed, if the origin did not answer or answered with a
// server error; nil if it is not. code is the origin's status, unreachable or untrusted.
func (c *Cache) onError(q *request, sel selection, code int) *http.Response {
	r := sel.lastResort()
	if r == nil || q.Context().Err() != nil {
		return nil
	}
	v, ok := c.policy().reusableOnError(q, r, code, time.Now())
	if !ok {
		return nil
	}
	o := v.hit()
	o.Failed = max(code, 0)
	return c.fromStore(q, r, o, false)
}
