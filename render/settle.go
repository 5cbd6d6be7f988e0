package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// When is a page done? When its load event has fired, and then virtualTime has passed for it while it rested: the clock
// of the page stands still while something loads and jumps to the next timer when nothing does, so that five seconds of
// a page's life cost what they compute. Then, if the page waits for its reader to scroll, it is scrolled, a few times,
// until nothing comes.
const (
	virtualTime = 5000.0 // milliseconds
	scrollTime  = 1000.0 // milliseconds of virtual time after each scrolling
	maxScrolls  = 5
	restTime    = 300 * time.Millisecond // of real time, for what does not live by the page's clock
	maxTasks    = 10_000                 // that a page may run before its clock is pushed on
)

// patience is what the steps of a page may take of real time: shares of Options.Timeout.
type patience struct {
	load    time.Duration // until the load event; then what is there is taken
	settle  time.Duration // for virtual time to pass
	answer  time.Duration // for a page to answer a question; one that computes for ever does not
	request time.Duration // of one request
}

// patience returns the shares; of 30 s they are 10, 5, 5 and 10.
func (o Options) patience() patience {
	return patience{load: o.Timeout / 3, settle: o.Timeout / 6, answer: o.Timeout / 6, request: o.Timeout / 3}
}

// errSilent says that a page does not answer: it computes without end.
var errSilent = errors.New("the page does not answer")

// settle waits until the page is done. It returns why it may not be, empty when it is.
func (t *tab) settle(ctx context.Context) (unsettled string, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.share(t.o.patience().settle))
	defer cancel()
	unsettled, err = t.pursue(ctx)
	if err != nil && ctx.Err() != nil && t.ctx.Err() == nil {
		return fmt.Sprintf("still busy after %s", t.o.patience().settle), nil // what is there is taken
	}
	return unsettled, err
}

// pursue does what settle waits for.
func (t *tab) pursue(ctx context.Context) (unsettled string, err error) {
	if unsettled = t.pass(ctx, virtualTime); unsettled != "" {
		return unsettled, nil
	}
	if t.r.Selector != "" {
		return t.wait(ctx)
	}
	has, err := evaluate[int](ctx, t, traits)
	if err != nil {
		return "", err
	}
	if has&aside != 0 {
		t.rest(ctx)
		if unsettled = t.pass(ctx, scrollTime); unsettled != "" {
			return unsettled, nil
		}
	}
	if has&lazy == 0 {
		return "", nil
	}
	return t.scroll(ctx)
}

// scroll scrolls the page to its end until nothing more comes, a few times at most.
func (t *tab) scroll(ctx context.Context) (unsettled string, err error) {
	for i := 0; ; i++ {
		if err := t.draw(ctx); err != nil {
			return "", err
		}
		if unsettled = t.pass(ctx, scrollTime); unsettled != "" || i == maxScrolls {
			return unsettled, nil
		}
		more, err := evaluate[bool](ctx, t, scroll)
		if err != nil || !more {
			return "", err
		}
		if err := t.draw(ctx); err != nil {
			return "", err
		}
		if unsettled = t.pass(ctx, scrollTime); unsettled != "" {
			return unsettled, nil
		}
	}
}

// rest waits in real time until the page has asked for nothing for a while: workers do not live by the page's clock.
func (t *tab) rest(ctx context.Context) {
	tick := time.NewTicker(restTime / 4)
	defer tick.Stop()
	for t.quiet() < restTime {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// pass lets virtual time pass in the page, and says why it did not.
func (t *tab) pass(ctx context.Context, ms float64) string {
	ctx, cancel := context.WithCancel(ctx) // ends the subscription
	defer cancel()
	expired := chromedp.Events(ctx, emulation.VirtualTimeBudgetExpired)
	_, err := chromedp.Call(ctx, emulation.SetVirtualTimePolicy, emulation.SetVirtualTimePolicyParams{
		Policy: emulation.VirtualTimePolicyPauseIfNetworkFetchesPending, Budget: new(ms),
		MaxVirtualTimeTaskStarvationCount: maxTasks,
	})
	if err == nil {
		for _, err = range expired {
			break
		}
	}
	switch {
	case err == nil:
		return ""
	case t.loading() > 0:
		return fmt.Sprintf("still loading after %s", t.o.patience().settle)
	}
	return fmt.Sprintf("still busy after %s", t.o.patience().settle)
}

// draw has the page drawn, which is when it learns what has come into view: while its clock stands still it draws
// nothing.
func (t *tab) draw(ctx context.Context) error {
	_, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatJpeg, Quality: new(int64(1)), Clip: &page.Viewport{Width: 1, Height: 1, Scale: 1},
		OptimizeForSpeed: new(true),
	})
	return err
}

// wait waits until the selector matches.
func (t *tab) wait(ctx context.Context) (string, error) {
	name, err := json.Marshal(t.r.Selector) // a string of JSON is one of JavaScript
	if err != nil {
		return "", err
	}
	found := fmt.Sprintf("!!document.querySelector(%s)", name)
	for {
		ok, err := evaluate[bool](ctx, t, found)
		if ok {
			return "", nil
		}
		if _, bad := errors.AsType[thrownError](err); bad {
			return "", fmt.Errorf("selector %q cannot be read", t.r.Selector)
		}
		if err != nil || t.pass(ctx, scrollTime) != "" {
			//nolint:nilerr // the page is there all the same
			return fmt.Sprintf("%q is not there after %s", t.r.Selector, t.o.patience().settle), nil
		}
	}
}

// thrownError is what an expression threw.
type thrownError string

func (e thrownError) Error() string { return string(e) }

// evaluate returns the value of an expression that a page in order answers at once.
func evaluate[T any](ctx context.Context, t *tab, expression string) (v T, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.o.patience().answer)
	defer cancel()
	res, err := chromedp.Call(ctx, runtime.Evaluate,
		runtime.EvaluateParams{Expression: expression, ReturnByValue: new(true)})
	switch {
	case err != nil && ctx.Err() != nil && t.ctx.Err() == nil:
		return v, errSilent
	case err != nil:
		return v, err
	case res.ExceptionDetails != nil:
		text := res.ExceptionDetails.Text
		if e := res.ExceptionDetails.Exception; e != nil && e.Description != "" {
			text, _, _ = strings.Cut(e.Description, "\n")
		}
		return v, thrownError(text)
	case res.Result == nil:
		return v, errors.New("the page gave no value")
	}
	return v, json.Unmarshal(res.Result.Value, &v)
}

// still runs in each frame before the page's own scripts: dialogs are answered, windows do not open, shadow roots are
// open, and it is noted whether the page does something when it is scrolled.
const still = `(() => {
	for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) {
		try { Object.defineProperty(window, name, {value: () => null, writable: true, configurable: true}); } catch {}
	}
	const traits = Symbol.for('readthru.traits'), note = (bit) => { window[traits] |= bit; };
	for (const [name, bit] of [['IntersectionObserver', 1], ['Worker', 2], ['SharedWorker', 2]]) {
		const made = window[name];
		if (made) window[name] = class extends made { constructor(...args) { super(...args); note(bit); } };
	}
	const attach = Element.prototype.attachShadow; // a closed root is read like an open one
	Element.prototype.attachShadow = function attachShadow(init) { return attach.call(this, {...init, mode: 'open'}); };
	const listen = EventTarget.prototype.addEventListener;
	EventTarget.prototype.addEventListener = function addEventListener(type, ...rest) {
		if (type === 'scroll' || type === 'wheel') note(1);
		return listen.call(this, type, ...rest);
	};
})()`

// traits tells what still has noted: bits lazy and aside.
const traits = `window[Symbol.for('readthru.traits')] | 0`

// Traits of a page.
const (
	lazy  = 1 // it does something when it is scrolled
	aside = 2 // it has workers
)

// scroll brings the end of the page into view and reports whether there was more to see.
const scroll = `(() => {
	const d = document.scrollingElement || document.documentElement;
	const seen = Symbol.for('readthru.seen'), end = d ? d.scrollHeight : 0;
	if (end <= (window[seen] || innerHeight)) return false;
	window[seen] = end;
	window.scrollTo(0, end);
	return true;
})()`

// serialise gives the document and where it is: with open shadow roots, which outerHTML leaves out, and after each
// frame in view that the page itself may read, what is in it. It throws when that is more than so many characters.
const serialise = `(() => {
	const mark = 'frame ' + Math.random() + ' ';
	const reach = (frame) => {
		try { return frame.offsetWidth >= 100 && frame.offsetHeight >= 50 && frame.contentDocument?.body; } catch {}
	};
	const content = (node, depth) => {
		const roots = [], frames = [];
		const walk = (node) => {
			for (const e of node.querySelectorAll('*')) {
				if (e.shadowRoot) { roots.push(e.shadowRoot); walk(e.shadowRoot); }
				const body = e.localName === 'iframe' && depth < 3 && reach(e);
				if (!body) continue;
				for (const [which, name] of [['a[href]', 'href'], ['img[src]', 'src']])
					for (const link of body.querySelectorAll(which)) link.setAttribute(name, link[name]);
				frames.push({e, was: e.textContent, inner: content(body, depth + 1)});
			}
		};
		walk(node);
		frames.forEach((f, i) => { f.e.textContent = mark + depth + ' ' + i + ' '; });
		let html = node.getHTML ? node.getHTML({serializableShadowRoots: true, shadowRoots: roots}) : node.innerHTML;
		frames.forEach((f, i) => {
			f.e.textContent = f.was;
			html = html.split(mark + depth + ' ' + i + ' </iframe>').join('</iframe><section>' + f.inner + '</section>');
		});
		return html;
	};
	const d = document.documentElement;
	if (!d) return {url: location.href, html: ''};
	const inner = content(d, 0), outer = d.cloneNode(false).outerHTML, end = outer.lastIndexOf('</');
	const html = '<!DOCTYPE html>' + (end < 0 ? inner : outer.slice(0, end) + inner + outer.slice(end));
	if (html.length > %d) throw new Error('the document is too large');
	return {url: location.href, html};
})()`
