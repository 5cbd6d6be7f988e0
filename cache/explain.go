package cache

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/store"
)

// A Line is one step of an explanation by "cache get --explain".
type Line struct {
	Section string // of RFC 9111, as "4.2.1"; empty for a heading and for a conclusion
	Text    string
}

// Explain explains, by section of RFC 9111, why each stored response of req's URL is or is not reused for req now,
// newest first. It sends no request and changes nothing. Without stored responses it returns nil.
func (c *Cache) Explain(req *http.Request) ([]Line, error) {
	q := c.policy().request(req)
	stored, err := c.store.Responses(q.key)
	if err != nil {
		return nil, fmt.Errorf("read stored responses of %s: %w", c.mask(q.key), err)
	}
	return c.policy().explain(q, stored, c.asks(q), time.Now()), nil
}

// Fresh reports whether a stored response answers req now without validation. It sends no request and changes nothing.
func (c *Cache) Fresh(req *http.Request) (bool, error) {
	q := c.policy().request(req)
	stored, err := c.store.Responses(q.key)
	if err != nil {
		return false, fmt.Errorf("read stored responses of %s: %w", c.mask(q.key), err)
	}
	sel := c.policy().choose(q, stored)
	if q.bypasses() || c.policy().shared && q.secret {
		return false, nil
	}
	r, v := c.policy().answer(q, &sel, c.asks(q), time.Now())
	return r != nil && v.action == reuse && v.ttl > 0, nil
}

// mask removes the query, which may be secret, from a key for messages and explanations.
func (c *Cache) mask(key string) string {
	head, _, _ := strings.Cut(key, "?")
	return head
}

// explain implements [Cache.Explain] for these stored responses and this time. asks says whether the origin may be
// asked.
func (p *policy) explain(q *request, stored []*store.Response, asks bool, now time.Time) []Line {
	e := explanation{p: p, q: q, sel: p.choose(q, stored), asks: asks, now: now}
	e.answers, e.verdict = p.answer(q, &e.sel, asks, now)
	var lines []Line
	for i, r := range stored {
		lines = append(lines, Line{"", fmt.Sprintf("stored response %d of %d: %d, %d bytes, arrived %s", i+1, len(stored),
			r.Status, r.Length, r.ResponseTime.UTC().Format(time.RFC3339))})
		lines = append(lines, e.one(r)...)
	}
	return lines
}

// An explanation is what explains each stored response of a request's URL, with the decision that was made about all of
// them.
type explanation struct {
	p       *policy
	q       *request
	sel     selection
	asks    bool
	now     time.Time
	answers *store.Response // what policy.answer decided
	verdict verdict
}

// one explains one stored response: whether the request may see it, selects it, how long it is fresh, and what becomes
// of it.
func (e *explanation) one(r *store.Response) []Line {
	p, q, sel, now := e.p, e.q, &e.sel, e.now
	if q.bypasses() {
		return []Line{
			{"", "a rule, or the request itself, sends this request past the cache"},
			conclude("not reused"),
		}
	}
	if p.shared && q.secret {
		return []Line{
			{"7.1", "the URL carries a credential: a shared cache answers it with nothing stored"},
			conclude("not reused"),
		}
	}
	if !p.owns(q, r) {
		return []Line{{"3.5", "it was stored for other credentials, or in another mode of the cache"}, conclude("not reused")}
	}
	lines, selected := p.explainSelection(q, r)
	switch {
	case !selected && r == sel.complete:
		lines = append(lines, Line{"4.1", "what was sent to one naming it had the same content: this one is selected"})
	case r == e.answers && !selected:
		lines = append(lines, Line{"5.2.1.7", "the origin is not asked for another one"})
	case !selected:
		return append(lines, conclude("not reused; its entity tag may go along with the question to the origin (§4.3.1)"))
	case r != sel.complete && r != sel.part:
		if r.Status == http.StatusPartialContent {
			return append(lines, Line{"3.4", partText(r) + ": not what the request asks for, or a whole is stored"},
				conclude("not reused"))
		}
		return append(lines, Line{"4", "a newer stored response is selected, too, and is preferred"}, conclude("not reused"))
	case r.Status == http.StatusPartialContent:
		lines = append(lines, Line{"3.4", partText(r)})
	}
	cc := p.control(r.Header)
	if p.forbids(r, &cc) {
		lines = append(lines, Line{"3", "its fields forbid a cache of this kind to store it"})
	}
	life, from := p.lifetime(q, r, &cc)
	current := age(r, now)
	lines = append(lines,
		Line{"4.2.1", "lifetime " + short(life) + ": " + p.basisText(r, &cc, from)},
		Line{"4.2.3", fmt.Sprintf("age %s: %s in the store, the rest before", short(current),
			short(max(now.Sub(r.ResponseTime), 0)))})
	if left := remaining(life, r, now); left > 0 {
		lines = append(lines, Line{"4.2", "fresh for " + short(left)})
	} else {
		lines = append(lines, Line{"4.2", "stale for " + short(-left)}, p.staleLine(&cc))
	}
	if text := requestText(q); text != "" {
		lines = append(lines, Line{"5.2.1", text})
	}
	if cc.noCache && from != forced {
		lines = append(lines, Line{"5.2.2.4", "no-cache: validated before each reuse"})
	}
	if len(cc.noCacheFields) > 0 {
		lines = append(lines, Line{"5.2.2.4", "without validation, reused without its " + strings.Join(cc.noCacheFields,
			", ")})
	}
	if r == sel.complete && sel.newer != nil {
		names := "naming"
		if namesMarkdown(e.q.Header) {
			names = "not naming"
		}
		lines = append(lines, Line{
			"4",
			"a newer response of other content went to a request " + names +
				" text/markdown: this one is validated before reuse",
		})
	}
	lines = append(lines, Line{"4.3.1", validatorText(r)})
	return append(lines, e.conclusion(r))
}

// conclusion returns what becomes of a stored response that is selected, or answers, as the last line of its
// explanation.
func (e *explanation) conclusion(r *store.Response) Line {
	v, detail := e.verdict, ""
	switch {
	case r == e.answers:
	case e.answers != nil:
		return conclude("not reused: another one answers")
	case !e.asks:
		return conclude("not reused: the answer is 504, because the origin is not asked (§5.2.1.7)")
	case r == e.sel.part && e.sel.complete != nil:
		return conclude("not reused: a whole is stored")
	case r == e.sel.part && r != e.sel.first(e.q):
		return conclude("completed: the origin is asked for the rest (§3.4)")
	default:
		return conclude("validated, or fetched again, before reuse")
	}
	if v.detail != "" {
		detail = " (" + v.detail + ")"
	}
	switch {
	case v.action == reuse && v.ttl > 0:
		return conclude("reused" + detail)
	case v.action == reuse:
		return conclude("reused though stale" + detail)
	}
	return conclude("reused though stale, and validated in the background (RFC 5861 §3)")
}

// conclude returns the last line of an explanation.
func conclude(text string) Line { return Line{"", "→ " + text} }

// explainSelection explains, field by field, whether q selects r.
func (p *policy) explainSelection(q *request, r *store.Response) (lines []Line, selected bool) {
	if variesOnAll(r.Header) {
		lines = append(lines, Line{"4.1", "Vary: *: no request selects it"})
	}
	for _, name := range r.Vary {
		one := *r
		one.Vary = []string{name}
		verdict := "selects it"
		if !selects(&one, q.Header, p.key) {
			verdict = "does not select it"
		}
		lines = append(lines, Line{"4.1", fmt.Sprintf("Vary: %s: the request's value %s", name, verdict)})
	}
	if strings.Contains(r.Class, classMarkdown) && !namesMarkdown(q.Header) {
		lines = append(lines, Line{
			"4.1",
			"markdown sent to a request naming text/markdown, without Vary: Accept: only requests naming it select it",
		})
	}
	if unnamed(q, r) {
		lines = append(lines, Line{
			"4.1",
			"sent to a request not naming text/markdown, without Vary: Accept: its origin may have markdown for this one",
		})
	}
	if len(lines) == 0 {
		lines = append(lines, Line{"4.1", "no Vary: every request selects it"})
	}
	return lines, p.matches(q, r)
}

// basisText describes in an explanation where a lifetime comes from.
func (p *policy) basisText(r *store.Response, cc *control, from basis) string {
	switch {
	case from == ofPages:
		return "this cache's own, for a page that states none (cache.page_ttl)"
	case from == forced:
		return "a rule of this cache, whatever the response states"
	case from == heuristic:
		return "a tenth of the time from Last-Modified to Date (§4.2.2)"
	case from == unstated:
		return "none is stated, and none may be guessed"
	case p.shared && cc.sMaxAge != absent:
		return "s-maxage"
	case cc.maxAge != absent:
		return "max-age"
	case len(r.Header["Expires"]) == 1:
		return "Expires: " + r.Header.Get("Expires")
	}
	return "several Expires"
}

// staleLine describes in an explanation whether a stale response may be served.
func (p *policy) staleLine(cc *control) Line {
	switch {
	case cc.mustRevalidate:
		return Line{"5.2.2.2", "must-revalidate: never served stale"}
	case cc.noCache:
		return Line{"5.2.2.4", "no-cache: never served stale"}
	case p.shared && cc.proxyRevalidate:
		return Line{"5.2.2.8", "proxy-revalidate: never served stale"}
	case p.shared && cc.sMaxAge != absent:
		return Line{"5.2.2.10", "s-maxage: never served stale"}
	}
	return Line{"4.2.4", "served stale when the origin cannot be reached, for at most " + short(p.staleLimit)}
}

// requestText describes in an explanation the request's own cache directives; empty if it has none.
func requestText(q *request) string {
	var asks []string
	for _, d := range []struct {
		said bool
		name string
	}{
		{q.cc.noCache, "no-cache"},
		{q.cc.noStore, "no-store"},
		{q.cc.onlyIfCached, "only-if-cached"},
		{q.cc.maxAge != absent, "max-age"},
		{q.cc.maxStale != absent, "max-stale"},
		{q.cc.minFresh != absent, "min-fresh"},
	} {
		if d.said {
			asks = append(asks, d.name)
		}
	}
	if len(asks) == 0 {
		return ""
	}
	return "the request says " + strings.Join(asks, ", ")
}

// validatorText describes in an explanation how a stored response can be validated.
func validatorText(r *store.Response) string {
	switch tag, modified := r.Header.Get("ETag"), r.Header.Get("Last-Modified"); {
	case tag != "":
		return "can be validated by its entity tag " + tag
	case modified != "":
		return "can be validated by its Last-Modified, " + modified
	}
	return "has no validator: once stale it is fetched again"
}

// partText describes in an explanation which bytes a stored part has.
func partText(r *store.Response) string {
	return fmt.Sprintf("a part: %d bytes from %d on", r.Length, r.Offset)
}

// short formats a duration of an explanation in whole seconds.
func short(d time.Duration) string { return clip.Duration(d.Truncate(time.Second)) }
