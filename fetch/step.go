package fetch

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"

	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/fetch/media"
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
func skipped(why string) result { return result{outcome: page.Skipped, reason: why} }

// rejected is the result of a step whose rendition was refused.
func rejected(why string) result { return result{outcome: page.Rejected, reason: why} }

// failedWith is the result of a step that failed.
func failedWith(err error) result { return result{outcome: page.Failed, reason: err.Error()} }

// absent is a step that the cascade names and that is not available.
type absent struct{ name, why string }

// Name implements [Step].
func (s absent) Name() string { return s.name }

// Try implements [Step]: it says why there is no such step.
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

// runSuitableSteps looks at the content in hand and runs the steps of the cascade that suit it: behind a bot wall,
// after an error and without the origin fewer do.
func (f *Fetcher) runSuitableSteps(ctx context.Context, a *attempt) error {
	names := a.cascade
	said := a.content
	if a.kind == media.Document {
		said = nil // no wall looks like that, and data may speak of walls
	}
	if a.wall = convert.Wall(a.status, a.resp.Header, said); a.wall != "" {
		a.warn(page.WarnWall)
		a.page.Wall = &page.Wall{By: convert.WallOwner(a.wall), Copy: f.copyRead(a)}
		a.memorable = false
		f.deleteResponses(a)
		if a.kind != media.Document {
			a.kind = media.HTML // whatever it is labelled as
		}
		names = []string{"local"}
	}
	if a.status == http.StatusPaymentRequired {
		a.warn("payment-required")
	}
	if a.status != http.StatusOK && a.wall == "" {
		names = keepOnly(names, "negotiate", "local")
		if gate.IsRefusal(a.status) && slices.Contains(a.cascade, "markdown_new") {
			names = slices.Insert(names, 0, "markdown_new") // before the error page is converted
		}
	}
	if a.noTransform || a.req.CacheOnly {
		names = keepOnly(names, "negotiate", "local")
	}
	if a.req.View.chooses() {
		names = keepOnly(names, "negotiate", "local", "browser") // what others made has no elements to choose
	}
	return f.runSteps(ctx, a, names)
}

// keepOnly returns those names of steps of the cascade that are among some, in their order.
func keepOnly(names []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(some, n) })
}

// runSteps runs the steps, once for all requests that wait for the same page made from the same bytes. A client that
// leaves does not stop the others' run.
func (f *Fetcher) runSteps(ctx context.Context, a *attempt, names []string) error {
	a.found = nil // it may be out of date when the steps are done
	if !a.memorable || a.credentials || a.req.needsBrowser() || a.req.Method == http.MethodHead {
		f.try(ctx, a, names)
		return context.Cause(ctx)
	}
	key := fmt.Sprintf("%s %x %s %s %t %t %t %d", a.key, a.sum, a.pageRecipe(a.recipe()), strings.Join(names, ","),
		a.req.NoRemote, a.req.Own, a.forced, a.status)
	//nolint:contextcheck // it must not end with the request that began it
	done := f.flights.DoChan(key, func() (any, error) {
		b := *a
		info := *a.page
		b.page = &info
		return &b, f.detached(f.limit(&a.req), func(ctx context.Context) {
			if (b.kind.Converted() && b.status == http.StatusOK || gate.IsRefusal(b.status)) && f.recall(&b) {
				return // another flight ended while we read, or the origin refuses us still
			}
			if f.peers != nil {
				b.sharing = &sharing{asked: a.forced}
			}
			kept := false
			defer func() { f.endSharing(&b, kept) }()
			f.try(ctx, &b, names)
			kept = f.keep(&b)
		})
	})
	select {
	case res := <-done:
		if res.Err != nil {
			return res.Err
		}
		b := res.Val.(*attempt)
		a.takeOver(b)
		if !res.Shared { // else another may have recorded the page since
			a.known = b.known
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// failedRecently reports whether the step of a page identified by key failed recently.
func (f *Fetcher) failedRecently(key string, now time.Time) bool {
	until, ok := f.failedSteps.Get(digest(key))
	return ok && now.Before(until)
}

// noteFailedStep records that the step of a page identified by key failed, unless ctx ended it.
func (f *Fetcher) noteFailedStep(ctx context.Context, key string) {
	if ctx.Err() == nil {
		f.noteInVain(key, failedStepLifetime)
	}
}

// noteInVain records that the step of a page identified by key need not be repeated for a time.
func (f *Fetcher) noteInVain(key string, lifetime time.Duration) {
	f.failedSteps.Add(digest(key), time.Now().Add(lifetime))
}
