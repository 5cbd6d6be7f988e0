package cache

import (
	"net/http"
	"time"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/store"
)

// A basis is the source of a freshness lifetime. The explanation names it, and a rule's lifetime overrides more than
// others do.
type basis int

const (
	unstated  basis = iota // nothing: the lifetime is 0
	explicit               // the response states it
	heuristic              // a guess from Last-Modified (RFC 9111 §4.2.2)
	ofPages                // Options.PageLifetime, because the response states none
	forced                 // a Rule, which overrides the response
)

// lifetime returns how long a stored response stays fresh after it was generated (RFC 9111 §4.2.1): s-maxage when
// shared, else max-age, else Expires − Date, else Options.PageLifetime for a page, else a tenth of Date −
// Last-Modified, at most HeuristicMax. A rule's lifetime overrides them all. It is 0 for a response without any of
// these, and never negative. A response to a request with credentials never stays fresh longer than its origin says.
func (p *policy) lifetime(q *request, r *store.Response, cc *control) (time.Duration, basis) {
	stated, ok := p.explicitLifetime(r, cc)
	if q.Method == http.MethodGet && r.Status == http.StatusOK && !q.credentials && !setsCookie(r) {
		switch {
		case q.rule.Lifetime > 0:
			return q.rule.Lifetime, forced
		case !ok && p.pageLifetime > 0 && p.isPage(r.Header):
			return p.pageLifetime, ofPages
		}
	}
	if ok {
		return stated, explicit
	}
	if d := p.heuristicLifetime(r, cc); d > 0 {
		return d, heuristic
	}
	return 0, unstated
}

// Stated returns for how long from now a response may be reused without asking its origin, by what it says itself, and
// whether it says anything about that. It is for what is made of responses: a guess and [Options.PageLifetime] do not
// count. shared says that the copy is for everybody.
func Stated(h http.Header, shared bool, now time.Time) (left time.Duration, ok bool) {
	p, cc := policy{shared: shared}, parseControl(h["Cache-Control"])
	if cc.noStore || cc.noCache || httpfield.Has(h, "Vary", "*") {
		return 0, true
	}
	r := &store.Response{Header: h, RequestTime: now, ResponseTime: now}
	if left, ok = p.explicitLifetime(r, &cc); !ok {
		return 0, false
	}
	return max(remaining(left, r, now), 0), true
}

// explicitLifetime returns the lifetime that a response states, and whether it states one. A malformed one counts as 0.
func (p *policy) explicitLifetime(r *store.Response, cc *control) (time.Duration, bool) {
	switch expires := r.Header["Expires"]; {
	case p.shared && cc.sMaxAge != absent:
		return cc.sMaxAge, true
	case cc.maxAge != absent:
		return cc.maxAge, true
	case len(expires) == 0 || cc.targeted:
		return 0, false
	default:
		for _, line := range expires[1:] {
			if line != expires[0] {
				return 0, true // contradictory values count as expired
			}
		}
		t, ok := parseDate(expires[0], r.ResponseTime)
		if !ok {
			return 0, true
		}
		return max(t.Sub(dateOf(r)), 0), true
	}
}

// heuristicLifetime guesses a lifetime from Last-Modified for a response that states none (RFC 9111 §4.2.2); 0 if none
// may be guessed.
func (p *policy) heuristicLifetime(r *store.Response, cc *control) time.Duration {
	if !heuristicStatus(r.Status) && !cc.public || setsCookie(r) {
		return 0
	}
	date := dateOf(r)
	modified, ok := parseDate(r.Header.Get("Last-Modified"), date)
	if !ok || !modified.Before(date) {
		return 0
	}
	return min(date.Sub(modified)/10, p.heuristicMax)
}

// heuristicStatus reports whether a status is defined as heuristically cacheable (RFC 9110 §15.1, RFC 7725 §3 for 451).
func heuristicStatus(status int) bool {
	switch status {
	case 200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 451, 501:
		return true
	}
	return false
}

// clockStep is how far a clock may be set back without a word: it is how computers correct theirs.
const clockStep = time.Minute

// remaining returns how much of a lifetime is left of a stored response, negative if it is stale. The age of one that
// arrived later than now, before the clock was set back, is not known: it has just become stale, and is validated.
func remaining(life time.Duration, r *store.Response, now time.Time) time.Duration {
	left := life - age(r, now)
	if r.ResponseTime.Sub(now) > clockStep {
		return min(left, -time.Second)
	}
	return left
}

// age returns the current age of a stored response (RFC 9111 §4.2.3). The time since its arrival is never negative,
// even if the clock was set back.
func age(r *store.Response, now time.Time) time.Duration {
	apparent := r.ResponseTime.Truncate(time.Second).Sub(dateOf(r)) // Date has only whole seconds
	corrected := statedAge(r.Header) + r.ResponseTime.Sub(r.RequestTime).Truncate(time.Second)
	resident := max(now.Sub(r.ResponseTime), 0)
	return max(apparent, corrected, 0) + resident
}

// statedAge returns the Age that a response arrived with: the first element of all lines, or 0 if that is not a number
// (RFC 9111 §5.1).
func statedAge(h http.Header) time.Duration {
	for element := range httpfield.Elements(h["Age"]) {
		d, _ := deltaSeconds(element)
		return d
	}
	return 0
}

// dateOf returns when a stored response was generated: its Date or, if that is malformed, its arrival.
func dateOf(r *store.Response) time.Time {
	if lines := r.Header["Date"]; len(lines) > 0 {
		if t, ok := parseDate(lines[0], r.ResponseTime); ok {
			return t
		}
	}
	return r.ResponseTime.Truncate(time.Second)
}
