package fetch

import (
	"context"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Step is a way to obtain the markdown of a page. Steps share an attempt, so that each uses what earlier ones fetched
// or parsed.
type Step interface {
	// Name is the step's name in fetch.cascade.
	Name() string

	// Try returns a rendition, or the reason why it has none. An error never ends the cascade: the next step is tried.
	Try(ctx context.Context, a *attempt) result
}

// result is the result of a step of the cascade.
type result struct {
	rendition *store.Rendition // may be nil
	good      bool             // the cascade ends here
	outcome   string           // for page.Attempt; empty if there is a rendition
	reason    string           // for page.Attempt
}

// skipped, rejected and failedWith are the results of a step without a rendition: it was not tried, what came was
// refused, or it failed.
func skipped(why string) result   { return result{outcome: page.Skipped, reason: why} }
func rejected(why string) result  { return result{outcome: page.Rejected, reason: why} }
func failedWith(err error) result { return result{outcome: page.Failed, reason: err.Error()} }

// absent is a step that the cascade names and that is not available.
type absent struct{ name, why string }

func (s absent) Name() string                         { return s.name }
func (s absent) Try(context.Context, *attempt) result { return skipped(s.why) }

// try runs steps of the cascade in order until one gives a good rendition. It sets a.best to the best rendition, which
// is served with its warnings even if it is not good, and notes each step in a.attempts.
func (f *Fetcher) try(ctx context.Context, a *attempt, names []string) {
	defer a.rest()
	answered := -1
	for _, name := range names {
		step, ok := f.steps[name]
		if !ok {
			step = absent{name, "no such step"}
		}
		if name != "local" {
			a.rest() // others may wait for somebody
		}
		begun := time.Now()
		res := step.Try(ctx, a)
		entry := page.Attempt{Step: name, Outcome: res.outcome, Reason: res.reason, MS: time.Since(begun).Milliseconds()}
		if a.wall != "" {
			entry.Reason = "bot wall: " + a.wall
		}
		if res.rendition != nil {
			entry.Outcome = page.Answered
			if better(res, a.best) {
				if answered >= 0 {
					a.attempts[answered].Outcome = page.Rejected
				}
				a.best, answered = res.rendition, len(a.attempts)
			} else {
				entry.Outcome = page.Rejected
			}
		}
		a.attempts = append(a.attempts, entry)
		if res.good || ctx.Err() != nil {
			return
		}
	}
}

// better reports whether a step's rendition replaces the best one so far: it is good, or has more text.
func better(res result, best *store.Rendition) bool {
	return best == nil || res.good || res.rendition.Tokens > best.Tokens
}

// weak are the warnings that make a rendition not good for the cascade: later steps may have a better one.
var weak = []string{convert.WarnThin, convert.WarnShell, convert.WarnFallback, convert.WarnSoft404, convert.WarnError}
