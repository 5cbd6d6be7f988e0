package render

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/readthru/readthru/internal/fault"
)

// Workers do not follow the page's clock: on a busy machine they start late, and some compute for seconds before they
// ask for anything or tell the page. So a page with workers is done when it makes no requests for a while, each of its
// workers answers a call, which it does between two of its tasks, and the page, given time for their messages,
// exchanges no more with them.
const (
	maxWorkers = 32 // workers that are asked
	maxRounds  = 10 // how often they are asked; some exchange messages for ever
)

// workers are the dedicated workers of a page.
type workers struct {
	mu   sync.Mutex
	live map[target.SessionID]target.ID
}

// listenToWorkers notes which workers the page has.
func (t *tab) listenToWorkers() {
	t.workers.live = map[target.SessionID]target.ID{}
	on(t, target.AttachedToTarget, func(ev target.EventAttachedToTarget) {
		t.workers.mu.Lock()
		defer t.workers.mu.Unlock()
		if ev.TargetInfo != nil && ev.TargetInfo.Type == "worker" && len(t.workers.live) < maxWorkers {
			t.workers.live[ev.SessionID] = ev.TargetInfo.TargetID
		}
	})
	on(t, target.DetachedFromTarget, func(ev target.EventDetachedFromTarget) {
		t.workers.mu.Lock()
		defer t.workers.mu.Unlock()
		delete(t.workers.live, ev.SessionID)
	})
}

// waitForWorkers waits until the page's workers have nothing to do, and gives the page time for what they tell it. It
// returns why the page may be incomplete, or "".
func (t *tab) waitForWorkers(ctx context.Context) (unsettled string, err error) {
	for range maxRounds {
		before, err := evaluate[int](ctx, t, messagesOfWorkers)
		if err != nil {
			return "", err
		}
		t.waitQuiet(ctx)
		requests := t.requestCount()
		if !t.workersAnswer(ctx) {
			return fmt.Sprintf("a worker is still busy after %s", t.waited()), nil
		}
		t.restartQuiet() // a worker that has just computed may make a request, which takes a moment to come here
		if t.waitQuiet(ctx); t.requestCount() != requests {
			continue
		}
		if unsettled, err = t.pass(ctx, scrollTime); unsettled != "" || err != nil {
			return unsettled, err
		}
		if now, err := evaluate[int](ctx, t, messagesOfWorkers); err != nil || now == before {
			return "", err
		}
	}
	return "", nil
}

// workersAnswer reports whether each worker answers in time, or is gone.
func (t *tab) workersAnswer(ctx context.Context) bool {
	t.workers.mu.Lock()
	ids := slices.Collect(maps.Values(t.workers.live))
	t.workers.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, t.o.stepTimes().answer)
	defer cancel()
	var all sync.WaitGroup
	var busy atomic.Bool
	for _, id := range ids {
		all.Go(fault.ContainTo(t.end, "render: ask a worker", func() {
			worker, detach := chromedp.NewContext(ctx, chromedp.WithTargetID(id), chromedp.WithDetachOnCancel())
			defer detach()
			if err := chromedp.Do(worker); errors.Is(err, context.DeadlineExceeded) { // attaching to it has it answer
				busy.Store(true)
			}
		}))
	}
	all.Wait()
	return !busy.Load()
}

// messagesOfWorkers is how many messages the page and its workers have sent each other.
const messagesOfWorkers = `window[Symbol.for('readthru.messages')] | 0`
