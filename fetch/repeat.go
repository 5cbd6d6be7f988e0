package fetch

import (
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// A Repeat is why an equal request for a page gets an equal answer again, as long as the cache's own reasons hold
// (Outcome.Reuse), none of Records changes, and it is before Until.
type Repeat struct {
	Records []store.Record
	Until   time.Time // zero: no limit

	// Content is what the store probably has as the end of a page, Length bytes. The zero value stands for the content of
	// the stored response.
	Content store.Sum
	Length  int64

	f       *Fetcher
	from    page.Source    // empty for a response that is not a page
	visitor *store.Visitor // nil if no visit is counted
}

// sessionRepeats is how long the answers to a session are repeated: less than the time for which its set of fetched
// pages does not note that it got the same page again.
const sessionRepeats = 30 * time.Second

// repeatPage returns the Repeat of a page made from a stored rendition; nil if the next request might go another way.
// Weak renditions are left out: whether another step is tried for one depends on more than the store.
func (f *Fetcher) repeatPage(a *attempt) *Repeat {
	p, r := a.page, a.best
	if !a.req.Repeat || a.outcome.Reuse == nil || a.found == nil || !f.becomesPage(a) || !p.Stored || a.req.NoVisit ||
		page.HasWarning(a.warnings, weak...) || len(a.warnings) != len(r.Warnings) {
		return nil
	}
	repeat := f.repeatResponse(a)
	repeat.Records = append(repeat.Records, store.RenditionsOf(a.sum), store.PageOf(a.named),
		store.PageRenditionsOf(a.root))
	repeat.until(r.Expires)
	if set := a.set(); set != "" {
		repeat.Records = append(repeat.Records, store.FetchedOf(set, a.named))
		repeat.until(a.started.Add(sessionRepeats))
	}
	_ = repeat.Content.UnmarshalText([]byte(r.ContentHash)) // of content made by others it may not be the sum
	repeat.Length = int64(len(r.Markdown))
	if repeat.from = r.From; p.VisitID != "" {
		repeat.visitor = f.o.Store.Visitor(a.named, a.visit())
	}
	return repeat
}

// repeatResponse returns the Repeat of a stored response that passes as it is; nil for other responses.
func (f *Fetcher) repeatResponse(a *attempt) *Repeat {
	if !a.req.Repeat || a.outcome.Reuse == nil {
		return nil
	}
	repeat := &Repeat{f: f, Records: []store.Record{store.HostOf(a.url.Hostname())}}
	for _, fact := range a.host.Holding(a.started) {
		repeat.until(fact.Until)
	}
	return repeat
}

// until ends the repetitions of an answer at t, unless that is zero or they end before.
func (r *Repeat) until(t time.Time) {
	if !t.IsZero() && (r.Until.IsZero() || t.Before(r.Until)) {
		r.Until = t
	}
}

// Repeated counts a request that was given the answer again, with a visit of its reader.
func (r *Repeat) Repeated(now time.Time) {
	if r.visitor != nil {
		r.f.count(r.from)
		r.visitor.Visit(now)
	}
}
