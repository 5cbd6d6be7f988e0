package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/readthru/readthru/internal/fault"
)

// waitQuiet waits by the real clock until the page rests: it has made no requests for stepTimes.rest. It is for what
// follows a clock of its own, such as a worker; the end of ctx ends it as well.
func (t *tab) waitQuiet(ctx context.Context) {
	rest := t.o.stepTimes().rest
	tick := time.NewTicker(rest / 4)
	defer tick.Stop()
	for t.quiet() < rest {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// pass advances the clock of a page like advance, and has the page paint if it waits for that: frames follow no clock,
// and on a busy machine the time of the page may be over before the next one. An animation asks for one frame after the
// other; it gets maxFrames.
func (t *tab) pass(ctx context.Context, ms float64) (unsettled string, err error) {
	unsettled, err = t.advance(ctx, ms)
	for i := 0; i < maxFrames && unsettled == "" && err == nil; i++ {
		var waits bool
		if waits, err = evaluate[bool](ctx, t, waitsForFrame); err == nil && !waits {
			return "", nil
		}
		if err == nil {
			err = t.paint(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return fmt.Sprintf("still busy after %s", t.waited()), nil //nolint:nilerr // its time is over
		case err == nil:
			unsettled, err = t.advance(ctx, frameTime)
		}
	}
	return unsettled, err
}

// advance advances the virtual clock of a page by ms milliseconds, for which it waits as long as the page works. It
// returns why the time was over before, or "". The error is errNoAnswer for a page that computes without end. All time
// that passes in a page passes here, after its load event.
func (t *tab) advance(ctx context.Context, ms float64) (unsettled string, err error) {
	if t.clock.IsZero() {
		t.clock = time.Now()
	}
	ctx, cancel := context.WithCancelCause(ctx) // ends the subscription
	defer cancel(nil)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil)
	watch.Go(fault.Contain("render: watch a page", func() { t.watch(ctx, cancel) }))
	watch.Go(fault.Contain("render: watch a page", func() { t.freeClock(ctx, ms) }))
	expired := chromedp.Events(ctx, emulation.VirtualTimeBudgetExpired)
	// The clock stands still while the network of the page is busy. That must not be where a worker holds it for good, or
	// where a stream of events never ends and the caller waits for an element.
	policy := emulation.VirtualTimePolicyPauseIfNetworkFetchesPending
	switch {
	case t.workers.holdClock.Load():
		t.waitQuiet(ctx)
		policy = emulation.VirtualTimePolicyAdvance
	case t.r.Selector != "" && t.onlyListens():
		policy = emulation.VirtualTimePolicyAdvance
	}
	_, err = chromedp.Call(ctx, emulation.SetVirtualTimePolicy, emulation.SetVirtualTimePolicyParams{
		Policy: policy, Budget: new(ms),
		MaxVirtualTimeTaskStarvationCount: maxTasks,
	})
	if err == nil {
		for _, err = range expired {
			break
		}
	}
	switch {
	case err == nil:
		t.clock = t.clock.Add(time.Duration(ms * float64(time.Millisecond)))
		return "", nil
	case errors.Is(context.Cause(ctx), errNoAnswer):
		return "", errNoAnswer
	case t.loading() > 0:
		return fmt.Sprintf("still loading after %s", t.waited()), nil
	}
	return fmt.Sprintf("still busy after %s", t.waited()), nil
}

// watch ends ctx by the real clock with the cause errNoAnswer when the page does not answer a call in time. It runs
// beside waits for events, which a page that computes without end never sends.
func (t *tab) watch(ctx context.Context, end context.CancelCauseFunc) {
	tick := time.NewTicker(t.o.stepTimes().answer / 5)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := evaluate[int](ctx, t, "1"); errors.Is(err, errNoAnswer) {
			end(errNoAnswer)
			return
		}
	}
}

// paint makes the page, whose clock stands, paint, by a screenshot of one pixel that is thrown away, so that it learns
// what has come into view. It does not paint while its clock stands still. Frames have real times: after one that is
// ahead of the page's clock, which stood still while the page waited for data or workers, the browser does not advance
// this clock any more. So it is advanced before.
func (t *tab) paint(ctx context.Context) error {
	if ahead := float64(time.Until(t.clock).Milliseconds()); ahead < aheadTime {
		if unsettled, err := t.advance(ctx, virtualTime-ahead); unsettled != "" || err != nil {
			return cmp.Or(err, ctx.Err(), errors.New(unsettled))
		}
	}
	_, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatJpeg, Quality: new(int64(1)), OptimizeForSpeed: new(true),
		Clip: &page.Viewport{Width: 1, Height: 1, Scale: 1},
	})
	return err
}
