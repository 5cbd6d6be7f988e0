package cache

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/readthru/readthru/store"
)

// A policy holds the options that decisions of this package depend on, beside request, stored response and time. Its
// methods are pure.
type policy struct {
	shared       bool
	offline      bool
	maxBody      int64
	staleLimit   time.Duration
	heuristicMax time.Duration
	key          []byte // for the hashes of credentials
	targeted     []string
	secret       func(*url.URL) bool
	page         func(contentType string) bool
	markdown     func(contentType string) bool
	forPage      func(*http.Request) bool
	untrusted    func(error) bool
	pageLifetime time.Duration
	rule         func(*url.URL) Rule
}

// An action is the treatment of a request for which a response is stored.
type action int

const (
	validate        action = iota // validate with the origin
	reuse                         // answer with the stored response
	reuseRefreshing               // answer with it, and validate it in the background
)

// A verdict is the outcome of [policy.judge] about a stored response.
type verdict struct {
	action action
	ttl    time.Duration // remaining freshness lifetime; negative if stale
	why    string        // the fwd parameter of Cache-Status, if the request is forwarded
	detail string        // the detail parameter of Cache-Status, if any
	life   time.Duration // if not 0, the lifetime, which is not the origin's
	ruled  bool          // it is a rule's
}

// hit returns the outcome of a hit with this verdict.
func (v verdict) hit() Outcome {
	return Outcome{Hit: true, TTL: v.ttl, Detail: v.detail, Lifetime: v.life, Ruled: v.ruled}
}

// judge decides whether the stored response r, which q selects, may answer q at the time now (RFC 9111 §4).
func (p *policy) judge(q *request, r *store.Response, now time.Time) verdict {
	cc := p.control(r.Header)
	life, from := p.lifetime(q, r, &cc)
	current := age(r, now)
	v := verdict{action: reuse, ttl: remaining(life, r, now)}
	if from == ofPages || from == forced {
		v.detail, v.life, v.ruled = "override", life, from == forced
	}
	if p.offline {
		v.detail = DetailOffline
	}
	switch {
	case q.cc.noCache || q.cc.noStore, q.cc.maxAge != absent && current > q.cc.maxAge && !p.staleAllowed(q, &cc, &v):
		v.action, v.why = validate, "request"
	case cc.noCache && from != forced, p.forbids(r, &cc):
		v.action, v.why = validate, "stale"
	case v.ttl > 0 && (q.cc.minFresh == absent || v.ttl >= q.cc.minFresh):
	case v.ttl > 0:
		v.action, v.why = validate, "request"
	case p.staleAllowed(q, &cc, &v):
		if !p.offline {
			v.detail = detailMaxStale
		}
	case p.mayServeStale(&cc) && q.cc.maxAge == absent && q.cc.minFresh == absent && -v.ttl < cc.staleWhileRevalidate:
		v.action, v.detail = reuseRefreshing, detailRevalidate // RFC 5861 §3
	default:
		v.action, v.why = validate, "stale"
	}
	return v
}

// judgeSelected is [policy.judge] for r, a response of the selection s. A whole response than which a newer one is
// stored in another form is validated before it is reused: that shows what the origin has for q now.
func (p *policy) judgeSelected(q *request, s *selection, r *store.Response, now time.Time) verdict {
	v := p.judge(q, r, now)
	if r == s.complete && s.newer != nil {
		v.action, v.why = validate, "stale"
	}
	return v
}

// answer returns the stored response of the selection s that answers q at the time now, and how. asks says whether the
// origin may be asked: if not, a page in another form than q names answers before nothing does. It returns nil if the
// origin must be asked; the verdict then says why.
func (p *policy) answer(q *request, s *selection, asks bool, now time.Time) (*store.Response, verdict) {
	v := verdict{action: validate, why: s.missing()}
	if r := s.first(q); r != nil {
		if v = p.judgeSelected(q, s, r, now); v.action != validate {
			return r, v
		}
	}
	if r := s.lastResort(); !asks && r != nil && r != s.complete {
		if last := p.judge(q, r, now); last.action != validate {
			last.action = reuse
			return r, last
		}
	}
	return nil, v
}

// fresh reports whether r, which q selects, answers q without validation, and not as a stale response.
func (p *policy) fresh(q *request, r *store.Response, now time.Time) bool {
	v := p.judge(q, r, now)
	return v.action == reuse && v.ttl > 0
}

// Expired reports whether a stored response is stale for everybody, or always validated: at best the origin can say
// that it still holds. Offline it is all there is, and never expired.
func (c *Cache) Expired(r *store.Response) bool {
	p := c.policy()
	return !p.offline && p.expired(r, time.Now())
}

// expired implements [Cache.Expired]. The request for r is known only as far as r tells. In doubt, r counts as fresh
// for the longest time that any request would allow.
func (p *policy) expired(r *store.Response, now time.Time) bool {
	u, err := url.Parse(r.URL)
	if err != nil {
		return true // no request has this key
	}
	q := p.request(&http.Request{Method: http.MethodGet, URL: u})
	q.credentials = q.credentials || strings.Contains(r.Class, classByName)
	return !p.fresh(q, r, now)
}

// staleAllowed reports whether the client accepts a response this stale (RFC 9111 §5.2.1.2), or we are offline.
func (p *policy) staleAllowed(q *request, cc *control, v *verdict) bool {
	limit := q.cc.maxStale
	if p.offline {
		limit = forever
	}
	return limit != absent && -v.ttl <= limit && p.mayServeStale(cc)
}

// mayServeStale reports whether a response allows caches to serve it stale (RFC 9111 §4.2.4).
func (p *policy) mayServeStale(cc *control) bool {
	return !cc.mustRevalidate && !cc.noCache && (!p.shared || !cc.proxyRevalidate && cc.sMaxAge == absent)
}

// What an origin can do instead of answering with a status.
const (
	unreachable = 0  // it did not answer
	untrusted   = -1 // what answered did not prove to be it: see Options.Untrusted
)

// reusableOnError decides whether r may answer q after the origin answered with a status that is hidable, or did not
// answer, unreachable or untrusted (RFC 9111 §4.2.4, RFC 5861 §4). For a page such a status counts as if the origin
// could not be reached: it never replaces a good page. Where the origin is untrusted, the client itself must have
// consented to a stale answer. A client that requested validation gets the error.
func (p *policy) reusableOnError(q *request, r *store.Response, status int, now time.Time) (verdict, bool) {
	cc := p.control(r.Header)
	life, _ := p.lifetime(q, r, &cc)
	v := verdict{action: reuse, ttl: remaining(life, r, now), detail: detailError}
	if q.cc.noCache || q.cc.noStore || q.cc.maxAge != absent || q.cc.minFresh != absent || !p.mayServeStale(&cc) {
		return v, false
	}
	limit := max(cc.staleIfError, q.cc.staleIfError)
	switch {
	case status == unreachable:
		v.detail = detailDisconnected
		limit = max(limit, p.staleLimit)
	case status == untrusted:
		limit = max(q.cc.staleIfError, q.cc.maxStale)
	case r.Status == http.StatusOK && p.isPage(r.Header):
		limit = max(limit, p.staleLimit)
	case !serverError(status):
		return v, false
	}
	return v, -v.ttl <= limit
}

// hidable reports whether a stored response may answer in place of one with this status, if everything else allows it:
// a server error, or the origin's wish not to be asked so often.
func hidable(status int) bool { return serverError(status) || status == http.StatusTooManyRequests }

// failure returns what an error of Options.Next says about the origin: unreachable or untrusted.
func (p *policy) failure(err error) int {
	if p.untrusted != nil && p.untrusted(err) {
		return untrusted
	}
	return unreachable
}

// serverError reports whether stale-if-error covers a status (RFC 5861 §4).
func serverError(status int) bool {
	switch status {
	case 500, 502, 503, 504:
		return true
	}
	return false
}

// A selection holds the stored responses for a request.
type selection struct {
	variants []*store.Response // all stored responses of its URI that its client may see, newest first
	complete *store.Response   // the newest selected one that is not a part; nil if none
	unasked  *store.Response   // a page of classUnasked that would be selected; nil if none
	// newer than complete, with other content, and sent to a request of the other class; nil if none
	newer *store.Response
	part  *store.Response // a part that contains the requested range, or the beginning of the whole; nil if none
	other bool            // another part would be selected
}

// first returns the stored response of the selection that answers q if it may; nil if there is none.
func (s *selection) first(q *request) *store.Response {
	if s.complete == nil && len(q.Header["Range"]) > 0 {
		return s.part // of a GET: choose sees to it
	}
	return s.complete
}

// missing returns the fwd parameter of Cache-Status where nothing answers even if it may (RFC 9211 §2.2).
func (s *selection) missing() string {
	switch {
	case s.part != nil, s.other:
		return "partial"
	case len(s.variants) > 0:
		return "vary-miss"
	}
	return "uri-miss"
}

// lastResort returns the stored response that answers when the origin cannot, where that is allowed; nil if none.
func (s *selection) lastResort() *store.Response {
	return cmp.Or(s.newer, s.complete, s.unasked)
}

// standIn reports whether a page is stored that may stand for an origin that is silent. An API may be slow.
func (p *policy) standIn(s *selection) bool {
	r := s.lastResort()
	return r != nil && r.Status == http.StatusOK && p.isPage(r.Header)
}

// choose returns the selection of q among the stored responses of its URI (RFC 9111 §4, §4.1).
func (p *policy) choose(q *request, stored []*store.Response) selection {
	var s selection
	for _, r := range stored {
		if !p.owns(q, r) {
			continue
		}
		s.variants = append(s.variants, r)
		if !p.matches(q, r) {
			if selects(r, q.Header, p.key) {
				s.skip(q, r)
			}
			continue
		}
		switch {
		case r.Status != http.StatusPartialContent:
			s.take(r)
		case s.part == nil && s.complete == nil && usablePart(q, r):
			s.part = r
		default:
			s.other = true
		}
	}
	if s.complete == nil || !namesMarkdown(q.Header) && !p.isMarkdown(s.complete.Header) {
		s.newer = nil // markdown says nothing of the HTML of an origin that negotiates
	}
	if s.part != nil && s.complete != nil && strongMatch(s.part.Header.Get("ETag"), s.complete.Header.Get("ETag")) {
		s.part = nil // prefer the whole to a part of the same representation
	}
	return s
}

// skip notes r, a stored response that q would select if it were not for its class. A later error never replaces a good
// page.
func (s *selection) skip(q *request, r *store.Response) {
	if s.unasked == nil && r.Status == http.StatusOK && unnamed(q, r) {
		s.unasked = r
	}
	if s.newer == nil && s.complete == nil && r.Status != http.StatusPartialContent && !hidable(r.Status) {
		s.newer = r
	}
}

// take notes r, a selected response that is not a part. If the newer one in another form has the same content, the
// origin does not negotiate: then the newer one is selected.
func (s *selection) take(r *store.Response) {
	if s.complete != nil {
		return
	}
	s.complete = r
	if n := s.newer; n != nil && n.Status == r.Status && n.Body == r.Body && !strings.Contains(r.Class, classMarkdown) {
		s.complete, s.newer = n, nil
	}
}

// matches reports whether q selects the stored response r, by Vary and by class.
func (p *policy) matches(q *request, r *store.Response) bool {
	if strings.Contains(r.Class, classMarkdown) && !namesMarkdown(q.Header) || unnamed(q, r) {
		return false
	}
	return selects(r, q.Header, p.key)
}

// unnamed reports whether q names markdown and r was sent to a request that did not, by an origin that may have
// markdown for q.
func unnamed(q *request, r *store.Response) bool {
	return strings.Contains(r.Class, classUnasked) && namesMarkdown(q.Header)
}
