package render

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/readthru/readthru/internal/fault"
)

// Workers do not follow the page's clock: on a busy machine they start late, and some compute for seconds before they
// ask for anything or tell the page. So a page with workers is done when it makes no requests for a while, each of its
// workers answers a call, which it does between two of its tasks, and the page, given time for their messages,
// exchanges no more with them. A worker that computes for longer is waited for until the page needs the rest of its
// time itself. The caller learns on which hosts that changed nothing. While a worker starts, which it does until its
// script has run once, the browser holds the page's clock: it is freed from one that computes there.
const (
	maxWorkers = 32 // workers that are asked
	maxRounds  = 10 // how often they are asked; some exchange messages for ever
)

// workers are the dedicated workers of a page, and what was learnt of them.
type workers struct {
	mu   sync.Mutex
	live map[target.SessionID]target.ID

	holdClock atomic.Bool // one does, for good: it does not come to the end of its script
	outlasted bool        // they got more time than any other step
	late      bool        // one did not answer all the same, or in time
	inVain    bool        // Vain.Workers
}

// listenToWorkers notes which workers the page has, by the events of their targets.
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

// hasWorkers reports whether the page has dedicated workers now.
func (t *tab) hasWorkers() bool {
	t.workers.mu.Lock()
	defer t.workers.mu.Unlock()
	return len(t.workers.live) > 0
}

// waitForWorkers waits until the page's workers have nothing to do, and gives the page time for what they tell it. It
// returns why the page may be incomplete, or "". If a worker does not answer, the page is what it shows.
func (t *tab) waitForWorkers(ctx context.Context) (unsettled string, err error) {
	if t.workers.holdClock.Load() {
		t.workers.late = true // freeClock has waited for it
		return "", nil
	}
	if unsettled, err = t.askWorkers(ctx); unsettled != "" || err != nil || !t.workers.outlasted {
		return unsettled, err
	}
	same, err := evaluate[bool](ctx, t, showsTheSame)
	t.workers.inVain = same || t.workers.late
	return "", err
}

// askWorkers is waitForWorkers without what is learnt for the host: rounds of waiting for workers and giving the page
// time, until neither has anything new.
func (t *tab) askWorkers(ctx context.Context) (unsettled string, err error) {
	for range maxRounds {
		before, err := evaluate[int](ctx, t, messagesOfWorkers)
		if err != nil {
			return "", err
		}
		t.waitQuiet(ctx)
		requests := t.requestCount()
		answered := t.workersAnswer(ctx, t.o.stepTimes().answer)
		if !answered {
			if answered, err = t.outlastWorkers(ctx); err != nil {
				return "", err
			}
		}
		if t.workers.late = !answered; t.workers.late {
			return "", nil
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

// outlastWorkers waits until workers answer that compute for longer than any other step may take, as long as there is
// time for it. It reports whether they did.
func (t *tab) outlastWorkers(ctx context.Context) (answered bool, err error) {
	if may, err := t.mayOutlast(ctx); err != nil || !may {
		return false, err
	}
	return t.workersAnswer(ctx, t.left()-t.o.stepTimes().answer), nil
}

// mayOutlast reports whether workers are waited for until the page needs the rest of its time itself, and notes what
// the page shows before. Those of a page that may share memory with them are not: there they sleep in pools until the
// page has work for them, which looks the same from outside.
func (t *tab) mayOutlast(ctx context.Context) (bool, error) {
	if t.r.Vain.Workers || t.left() <= t.o.stepTimes().answer {
		return false, nil
	}
	may, err := evaluate[bool](ctx, t, noteWhatShows+" && !window.crossOriginIsolated")
	t.workers.outlasted = t.workers.outlasted || may
	return may, err
}

// freeClock advances the page's clock by ms milliseconds, and from then on, once a worker that starts has held it for
// as long as outlastWorkers waits. A clock that stands still while the page makes no requests is held by a worker.
func (t *tab) freeClock(ctx context.Context, ms float64) {
	answer := t.o.stepTimes().answer
	tick := time.NewTicker(answer / 5)
	defer tick.Stop()
	at, since := -1.0, time.Now()
	for outlasts := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !t.hasWorkers() || t.workers.holdClock.Load() {
			continue
		}
		now, err := evaluate[float64](ctx, t, "performance.now()")
		if err != nil || now != at || t.loading() > 0 {
			at, since, outlasts = now, time.Now(), false
			continue
		}
		if outlasts && t.left() > answer || time.Since(since) < answer {
			continue
		}
		if !outlasts {
			if outlasts, err = t.mayOutlast(ctx); outlasts || err != nil {
				continue
			}
		}
		if t.workers.outlasted {
			same, err := evaluate[bool](ctx, t, showsTheSame)
			t.workers.inVain = err == nil && same
		}
		t.workers.holdClock.Store(true)
		// if this fails, the page gets no more time and is read as it is
		_, _ = chromedp.Call(ctx, emulation.SetVirtualTimePolicy, emulation.SetVirtualTimePolicyParams{
			Policy: emulation.VirtualTimePolicyAdvance, Budget: new(ms), MaxVirtualTimeTaskStarvationCount: maxTasks,
		})
		return
	}
}

// noteWhatShows notes the text that the page and its frames show, and showsTheSame tells whether they still show it.
const (
	noteWhatShows = `((window[Symbol.for('readthru.shown')] ??= ` + whatShows + `), true)`
	showsTheSame  = `window[Symbol.for('readthru.shown')] === ` + whatShows
	whatShows     = `JSON.stringify(` + inFrames + `.map((w) => w.document.body?.innerText))`
)

// workersAnswer reports whether each worker of the page answers within a time, or is gone. A worker answers between two
// of its tasks, so that one that computes does not.
func (t *tab) workersAnswer(ctx context.Context, within time.Duration) bool {
	t.workers.mu.Lock()
	ids := slices.Collect(maps.Values(t.workers.live))
	t.workers.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, within)
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

// messagesOfWorkers is how many messages the page, its frames and their workers have sent each other.
const messagesOfWorkers = inFrames + `.reduce((all, w) => all + (w[Symbol.for('readthru.messages')] | 0), 0)`

// A shared worker would be no part of the page: it is a target of its own, whose requests are those of no page. A page
// here shares its workers with its frames alone, so a dedicated worker of the topmost frame of their origin stands for
// it. That begins with connectShared, which makes messages with a port the events that its script expects.

// sharedMark is the fragment of the URL of a script that connectShared is put before.
const sharedMark = "#readthru-shared-worker"

const connectShared = `self.onconnect = null; self.SharedWorkerGlobalScope = self.constructor;` +
	` addEventListener('message', (e) => { if (e.data !== 'readthru.connect') return; e.stopImmediatePropagation();` +
	` const c = new MessageEvent('connect', {data: '', ports: e.ports, source: e.ports[0]});` +
	` dispatchEvent(c); self.onconnect?.call(self, c); });
`

// prepareShared replaces the class SharedWorker in each frame before the page's own scripts.
const prepareShared = `(() => {
	if (!window.SharedWorker) return;
	const begin = %q, mark = %q, shared = Symbol.for('readthru.shared'), messages = Symbol.for('readthru.messages');
	let top = window;
	try { while (top.parent !== top && top.parent.document) top = top.parent; } catch {}
	const known = top[shared] ??= new Map();
	const script = (url) => {
		if (/^https?:$/.test(url.protocol)) return url.href.split('#')[0] + mark;
		const ask = new XMLHttpRequest(); // of a blob or data
		ask.open('GET', url, false);
		ask.send();
		return URL.createObjectURL(new Blob([begin, ask.responseText], {type: 'text/javascript'}));
	};
	window.SharedWorker = class SharedWorker extends EventTarget {
		onerror = null;
		constructor(url, options = {}) {
			super();
			if (typeof options === 'string') options = {name: options};
			const at = new URL(url, document.baseURI), key = JSON.stringify([at.href, options.name ?? '']);
			let worker = known.get(key);
			if (!worker) known.set(key, worker = new top.Worker(script(at), options));
			worker.addEventListener('error', () => {
				const e = new Event('error');
				this.dispatchEvent(e);
				this.onerror?.call(this, e);
			});
			const {port1, port2} = new MessageChannel();
			port1.addEventListener('message', () => { window[messages] = -~window[messages]; });
			this.port = port1;
			worker.postMessage('readthru.connect', [port2]);
		}
	};
})()`
