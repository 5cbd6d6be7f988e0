package fetch

import (
	"context"
	"time"

	"readthru/convert"
	"readthru/page"
	"readthru/store"
)

// Step is one way to the markdown of a page. Steps share an attempt: what one has fetched or parsed, the next one uses.
type Step interface {
	// Name is the step's name in fetch.cascade.
	Name() string

	// Try returns a rendition, or says why it has none. It never ends the cascade by an error: the next step is tried.
	Try(ctx context.Context, a *attempt) result
}

// result is what a step has to say.
type result struct {
	rendition *store.Rendition // nil: none
	good      bool             // the cascade ends here
	outcome   string           // of page.Attempt; empty for a rendition
	reason    string           // for page.Attempt
}

func skipped(why string) result   { return result{outcome: page.Skipped, reason: why} }
func rejected(why string) result  { return result{outcome: page.Rejected, reason: why} }
func failedWith(err error) result { return result{outcome: page.Failed, reason: err.Error()} }

// absent is a step whose part is not there.
type absent struct{ name, why string }

func (s absent) Name() string                         { return s.name }
func (s absent) Try(context.Context, *attempt) result { return skipped(s.why) }

// try runs steps in order until one gives a good rendition. The best one stays in a.best; when none is good that is
// still what is served, with the warnings it carries.
func (f *Fetcher) try(ctx context.Context, a *attempt, names []string) {
	answered := -1
	for _, name := range names {
		step, ok := f.steps[name]
		if !ok {
			step = absent{name, "no such step"}
		}
		begun := time.Now()
		res := step.Try(ctx, a)
		told := page.Attempt{Step: name, Outcome: res.outcome, Reason: res.reason, MS: time.Since(begun).Milliseconds()}
		if res.rendition != nil {
			told.Outcome = page.Answered
			if better(res, a.best) {
				if answered >= 0 {
					a.attempts[answered].Outcome = page.Rejected
				}
				a.best, answered = res.rendition, len(a.attempts)
			} else {
				told.Outcome = page.Rejected
			}
		}
		a.attempts = append(a.attempts, told)
		if res.good || ctx.Err() != nil {
			return
		}
	}
}

// better reports whether a step's rendition takes the place of the best so far.
func better(res result, best *store.Rendition) bool {
	return best == nil || res.good || res.rendition.Tokens > best.Tokens
}

// weak are the warnings of a rendition that is not good in the sense of the cascade: later steps may have a better one.
var weak = []string{convert.WarnThin, convert.WarnShell, convert.WarnFallback, convert.WarnSoft404, convert.WarnError}
