package cache

import (
	"net/http"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/store"
)

// head forwards a HEAD to the origin. The answer updates or removes stored responses (RFC 9111 §4.3.5).
func (c *Cache) head(q *request, sel selection, why string) (*http.Response, error) {
	q.why = why
	r, sent := sel.complete, time.Now()
	resp, fresh, fields, err := c.askHead(q, r)
	if err != nil || fresh == nil && serverError(resp.StatusCode) {
		var code int
		if err == nil {
			code = resp.StatusCode
		} else {
			code = c.policy().failure(err)
		}
		if stale := c.onError(q, sel, code); stale != nil {
			if err == nil {
				resp.Body.Close()
			}
			return stale, nil
		}
	}
	if err != nil {
		c.misses.Add(1)
		return nil, err
	}
	if fresh != nil {
		c.freshenOthers(q, &sel, fresh, c.update(q, r, fresh), fields, sent, time.Now())
		c.revalidated.Add(1)
		return c.fromStore(q, fresh, Outcome{Forward: why, Status: http.StatusNotModified}, true), nil
	}
	if r != nil && !q.cc.noStore && resp.StatusCode == http.StatusOK && r.Status == http.StatusOK {
		if sameAsHead(r, resp.Header) {
			received := time.Now()
			fresh := c.policy().freshen(q, r, resp.Header, sent, received)
			c.freshenOthers(q, &sel, fresh, c.update(q, r, fresh), resp.Header, sent, received)
		} else {
			c.warn("delete a stored response", q.key, c.store.DeleteResponse(q.key, r.ID))
		}
	}
	c.misses.Add(1)
	Outcome{Forward: why, Status: resp.StatusCode}.carry(resp)
	return resp, nil
}

// askHead sends a HEAD to the origin with the validators of the stored response r, if any. If a 304 names a
// representation that neither we nor the client have, it repeats the request without conditions. It returns the
// response, or r freshened by a 304 and the fields of the 304.
func (c *Cache) askHead(q *request, r *store.Response) (
	resp *http.Response, fresh *store.Response, fields http.Header, err error,
) {
	req := q.Clone(q.Context())
	var v validation
	if r != nil && !q.cc.noStore {
		v = c.policy().conditions(q, &selection{complete: r}, req.Header)
	}
	for {
		sent := time.Now()
		resp, err = c.next.RoundTrip(req)
		if err != nil {
			return nil, nil, nil, err
		}
		httpfield.RemoveConnection(resp.Header)
		if resp.StatusCode != http.StatusNotModified || len(v.candidates) == 0 {
			return resp, nil, nil, nil
		}
		switch naming, _ := v.named(q, resp.Header); naming {
		case namesOwn:
			return resp, nil, nil, nil
		case namesStored:
			resp.Body.Close()
			return nil, c.policy().freshen(q, r, resp.Header, sent, time.Now()), resp.Header, nil
		}
		resp.Body.Close()
		req, v = unconditional(q.Context(), q.Request), validation{}
	}
}

// pass forwards a request that the store cannot answer to the origin, and removes the stored responses that its answer
// invalidates (RFC 9111 §4.4).
func (c *Cache) pass(q *request, why string) (*http.Response, error) {
	q.why = why
	c.bypass.Add(1)
	if c.next == nil || c.policy().offline {
		return c.gatewayTimeout(q, why), nil
	}
	sent := time.Now()
	resp, err := c.next.RoundTrip(q.Request)
	if err != nil {
		return nil, err
	}
	for _, key := range invalidated(q, resp.StatusCode, resp.Header) {
		c.invalidate(key)
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp, nil
	}
	httpfield.RemoveConnection(resp.Header)
	if q.Method == http.MethodPost {
		if kept := c.keepPost(q, resp, sent); kept != nil {
			return kept, nil
		}
	}
	Outcome{Forward: why, Status: resp.StatusCode}.carry(resp)
	return resp, nil
}

// keepPost stores and returns the response to a POST if its Content-Location and its lifetime allow that (RFC 9110
// §9.3.3); otherwise it returns nil.
func (c *Cache) keepPost(q *request, resp *http.Response, sent time.Time) *http.Response {
	entry := c.policy().entry(q, resp, sent, time.Now())
	if !c.policy().storable(q, entry) || resp.ContentLength > c.policy().maxBody ||
		!c.budget.room(max(resp.ContentLength, 0)) {
		return nil
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	f := c.newFlight(q.Context(), q, selection{}, "")
	f.answered = resp.StatusCode
	f.join()
	c.live[f] = struct{}{}
	c.wg.Go(fault.Contain("cache: end a flight", func() {
		defer c.forget(f)
		if err := fault.Catch("cache: keep a response", func() error { f.keep(resp, entry); return nil }); err != nil {
			f.fail(err)
		}
		f.end(nil)
	}))
	c.mu.Unlock()
	<-f.ready
	defer f.count(-1)
	answer, _ := c.answerLeader(q, selection{}, "method", f)
	return answer
}
