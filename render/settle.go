package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A page is done when its load event has fired and virtualTime has passed since. The page's clock stands still while
// something loads and otherwise jumps to the next timer, so that five seconds of its time cost only their computation.
// A page that reacts to scrolling is then scrolled a few times, until nothing more appears.
const (
	virtualTime = 5000.0 // milliseconds
	scrollTime  = 1000.0 // milliseconds of virtual time after each scroll
	maxScrolls  = 15
	maxTasks    = 10_000 // tasks that a page may run before its clock is advanced
	frameTime   = 100.0  // milliseconds of virtual time after a frame that the page has waited for
	maxFrames   = 2      // such frames; an animation wants one after the other
	aheadTime   = 2000.0 // milliseconds that the page's clock is ahead of the real one before it paints
)

// stepTimes are real times of what must not take all the time of a page, as shares of Options.Timeout. They are the
// longest ones, but for rest, which is how long nothing has to happen.
type stepTimes struct {
	answer  time.Duration // until the page answers a call; a page that computes for ever does not answer
	request time.Duration // for one request to another site
	message time.Duration // until the next message of a WebSocket
	rest    time.Duration // without requests, for what has its own clock
}

// stepTimes returns the shares of Timeout in which a page settles; of 30 s they are 5, 10, 2 and 0.3 s.
func (o Options) stepTimes() stepTimes {
	return stepTimes{answer: o.Timeout / 6, request: o.Timeout / 3, message: o.Timeout / 15, rest: o.Timeout / 100}
}

// readTime is how much of a page's real time is left to read its document, at most; of a short time it is a quarter.
const readTime = 2 * time.Second

// left returns for how long the page may still settle, in real time, so that there is time to read its document.
func (t *tab) left() time.Duration {
	left := time.Until(t.deadline)
	return left - min(readTime, left/4)
}

// waited returns how long the page has taken to settle, rounded, for the sentences in Page.Unsettled.
func (t *tab) waited() time.Duration { return time.Since(t.begun).Round(100 * time.Millisecond) }

// errNoAnswer reports that a page does not answer because it computes without end.
var errNoAnswer = errors.New("the page does not answer")

// settle waits until the page is done, as long as there is time. It returns why the page may be incomplete, or "" if it
// is done. That the time is over is no error: the document is then taken as it is.
func (t *tab) settle(ctx context.Context) (unsettled string, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.left())
	defer cancel()
	if t.r.Selector != "" {
		unsettled, err = t.waitSelector(ctx)
	} else {
		unsettled, err = t.settleSteps(ctx)
	}
	if err != nil && ctx.Err() != nil && t.ctx.Err() == nil {
		return fmt.Sprintf("still busy after %s", t.waited()), nil // take the document as it is
	}
	return unsettled, err
}

// settleSteps is settle without its timeout: the steps in which a page that has loaded comes to rest, from those that
// concern every page to those that few need. Each returns at once if the time is over.
func (t *tab) settleSteps(ctx context.Context) (unsettled string, err error) {
	if unsettled, err = t.pass(ctx, virtualTime); unsettled != "" || err != nil {
		return unsettled, err
	}
	for t.sockets.talking() { // the page's clock moves a little between two messages
		if unsettled, err = t.pass(ctx, scrollTime); unsettled != "" || err != nil {
			return unsettled, err
		}
	}
	// One call tells which of the steps concern this page.
	has, err := evaluate[int](ctx, t, traits)
	if err != nil {
		return "", err
	}
	if has&hasWorkers != 0 || t.hasWorkers() {
		if unsettled, err = t.waitForWorkers(ctx); unsettled != "" || err != nil {
			return unsettled, err
		}
	}
	if unsettled, err = t.linger(ctx); unsettled != "" || err != nil {
		return unsettled, err
	}
	if unsettled, err = t.takeLists(ctx); unsettled != "" || err != nil {
		return unsettled, err
	}
	if has&lazy != 0 {
		if unsettled, err = t.scroll(ctx); unsettled != "" || err != nil {
			return unsettled, err
		}
	}
	if rest := float64(t.r.Wait.Milliseconds()) - virtualTime; rest > 0 {
		if unsettled, err = t.pass(ctx, rest); unsettled != "" || err != nil {
			return unsettled, err
		}
	}
	// This is told and not waited for: such a page never ends.
	grows, err := evaluate[bool](ctx, t, growsByItself)
	switch {
	case t.more != "":
	case t.workers.late:
		t.more = MoreComputing
	case grows:
		t.more = MoreGrowing
	}
	return "", err
}

// scroll has a page settle, and scrolls it to its end until nothing more appears, but maxScrolls times at most, and
// paints between, because pages learn by painting what has come into view.
func (t *tab) scroll(ctx context.Context) (unsettled string, err error) {
	for i := 0; ; i++ {
		if err := t.paint(ctx); err != nil {
			return "", err
		}
		if unsettled, err = t.pass(ctx, scrollTime); unsettled != "" || err != nil {
			return unsettled, err
		}
		more, unsettled, err := t.scrollDown(ctx, i > 0)
		if err == nil && !more && unsettled == "" {
			more, unsettled, err = t.growsLate(ctx)
		}
		if err != nil || !more || unsettled != "" {
			return unsettled, err
		}
		if i == maxScrolls {
			t.more = MoreScrolling
			return "", nil
		}
		if err := t.paint(ctx); err != nil {
			return "", err
		}
		if unsettled, err = t.pass(ctx, scrollTime); unsettled != "" || err != nil {
			return unsettled, err
		}
	}
}

// scrollDown scrolls to the end of the page, to let it settle, and reports whether the page had grown since it was
// scrolled before. A page that has grown before paints first, so that it notices that its end went out of sight, and
// then that it is there again.
func (t *tab) scrollDown(ctx context.Context, before bool) (more bool, unsettled string, err error) {
	if before {
		if err = t.paint(ctx); err == nil {
			unsettled, err = t.advance(ctx, frameTime)
		}
		if unsettled != "" || err != nil {
			return false, unsettled, err
		}
	}
	more, err = evaluate[bool](ctx, t, scroll)
	return more, "", err
}

// growsLate waits, before it has settled, at the end of a page, for a timer that may add to it, and then is scrollDown.
func (t *tab) growsLate(ctx context.Context) (more bool, unsettled string, err error) {
	is, err := evaluate[mayChange](ctx, t, stillDue)
	if err != nil || !is.Due {
		return false, "", err
	}
	if unsettled, err = t.pass(ctx, virtualTime); unsettled != "" || err != nil {
		return false, unsettled, err
	}
	return t.scrollDown(ctx, true)
}

// waitSelector waits for a page to settle until Request.Selector matches, and then a moment for what appears with it.
// It returns why the page may be incomplete, as settle does: there was no match while there was time, or while the page
// had all of that time by its own clock and has nothing more to do. A selector that is no selector is an error.
func (t *tab) waitSelector(ctx context.Context) (string, error) {
	name, err := json.Marshal(t.r.Selector) // a JSON string is a JavaScript string
	if err != nil {
		return "", err
	}
	found := fmt.Sprintf("!!document.querySelector(%s)", name)
	for passed := 0.0; ; {
		ok, err := evaluate[bool](ctx, t, found)
		if ok {
			t.matched = true
			moment, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := t.pass(moment, virtualTime)
			return "", err
		}
		if _, bad := errors.AsType[thrownError](err); bad {
			return "", fmt.Errorf("invalid selector %q", t.r.Selector)
		}
		if ctx.Err() == nil && err == nil && passed < t.o.Timeout.Seconds()*1000 {
			step, cancel := context.WithTimeout(ctx, time.Second)
			unsettled, err := t.pass(step, scrollTime)
			if err == nil && t.onlyListens() { // a stream follows no clock: the page's goes as ours does
				<-step.Done()
			}
			cancel()
			switch {
			case err != nil:
				return "", err
			case unsettled == "":
				passed += scrollTime
			}
			continue
		}
		return fmt.Sprintf("no match for %q after %s", t.r.Selector, t.waited()), nil
	}
}

// thrownError is the error that an expression threw in the page, as the first line of its description.
type thrownError string

// Error returns the first line of what the page threw.
func (e thrownError) Error() string { return string(e) }

// evaluate returns, to see whether a page has settled, the value of a JavaScript expression in the page's main frame,
// which must be data that JSON can hold. The error is errNoAnswer if the page does not answer in time, and a
// thrownError if the expression threw.
func evaluate[T any](ctx context.Context, t *tab, expression string) (v T, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.o.stepTimes().answer)
	defer cancel()
	res, err := chromedp.Call(ctx, runtime.Evaluate,
		runtime.EvaluateParams{Expression: expression, ReturnByValue: new(true)})
	switch {
	case err != nil && ctx.Err() != nil && t.ctx.Err() == nil:
		return v, errNoAnswer
	case err != nil:
		return v, err
	case res.ExceptionDetails != nil:
		text := res.ExceptionDetails.Text
		if e := res.ExceptionDetails.Exception; e != nil && e.Description != "" {
			text, _, _ = strings.Cut(e.Description, "\n")
		}
		return v, thrownError(text)
	case res.Result == nil:
		return v, errors.New("the page returned no value")
	}
	return v, json.Unmarshal(res.Result.Value, &v)
}

// prepare runs in each frame before the page's own scripts. It answers dialogs, prevents windows, opens shadow roots,
// and notes whether the page reacts to scrolling or uses workers, and which frames it waits for.
const prepare = `(() => {
	for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) {
		try { Object.defineProperty(window, name, {value: () => null, writable: true, configurable: true}); } catch {}
	}
	const traits = Symbol.for('readthru.traits'), note = (bit) => { window[traits] |= bit; };
	for (const [name, bit] of [['IntersectionObserver', 1], ['Worker', 2]]) {
		const made = window[name];
		if (made) window[name] = class extends made { constructor(...args) { super(...args); note(bit); } };
	}
	const messages = Symbol.for('readthru.messages');
	for (const sender of [window.Worker?.prototype, window.MessagePort?.prototype]) {
		const post = sender?.postMessage;
		if (post) sender.postMessage = function postMessage(...args) {
			window[messages] = -~window[messages]; // one more; undefined counts as 0
			return post.apply(this, args);
		};
	}
	if (window.Worker) {
		window.Worker = class extends window.Worker {
			constructor(...args) {
				super(...args);
				this.addEventListener('message', () => { window[messages] = -~window[messages]; });
			}
		};
	}
	const attach = Element.prototype.attachShadow; // a closed root is read like an open one
	Element.prototype.attachShadow = function attachShadow(init) { return attach.call(this, {...init, mode: 'open'}); };
	const frames = window[Symbol.for('readthru.frames')] = new Set();
	const ask = window.requestAnimationFrame, drop = window.cancelAnimationFrame;
	window.requestAnimationFrame = function requestAnimationFrame(draw) {
		const id = ask.call(window, typeof draw !== 'function' ? draw : (at) => { frames.delete(id); draw(at); });
		frames.add(id);
		return id;
	};
	const timers = window[Symbol.for('readthru.timers')] = new Map();
	const later = window.setTimeout, never = window.clearTimeout, never2 = window.clearInterval;
	window.setTimeout = function setTimeout(run, ms, ...args) {
		if (typeof run !== 'function' || !(ms > 1000)) return later.call(window, run, ms, ...args);
		const id = later.call(window, (...args) => { timers.delete(id); return run.apply(window, args); }, ms, ...args);
		timers.set(id, performance.now() + ms);
		return id;
	};
	const ticks = window[Symbol.for('readthru.ticks')] = new Map(), every = window.setInterval;
	const end = (id) => { timers.delete(id); ticks.delete(id); };
	window.clearTimeout = function clearTimeout(id) { end(id); return never.call(window, id); };
	window.clearInterval = function clearInterval(id) { end(id); return never2.call(window, id); };
	window.setInterval = function setInterval(run, ms, ...args) {
		if (typeof run !== 'function' || !(ms >= 200)) return every.call(window, run, ms, ...args);
		const sizes = [], id = every.call(window, (...args) => {
			sizes.push(document.getElementsByTagName('*').length);
			return run.apply(window, args);
		}, ms, ...args);
		ticks.set(id, sizes);
		return id;
	};
	window.cancelAnimationFrame = function cancelAnimationFrame(id) { frames.delete(id); return drop.call(window, id); };
	const listen = EventTarget.prototype.addEventListener;
	EventTarget.prototype.addEventListener = function addEventListener(type, ...rest) {
		if (type === 'scroll' || type === 'wheel') note(1);
		return listen.call(this, type, ...rest);
	};
})()`

// traits is a script that returns what prepare has noted: the bits lazy, and hasWorkers also of frames.
const traits = inFrames + `.reduce((all, w) => all | w[Symbol.for('readthru.traits')] & (w === window ? 3 : 2), 0)`

// inFrames is a script for the windows of the page and of its frames of the same origin, a hundred at most.
const inFrames = `(() => {
	const list = [];
	const add = (w) => {
		try { w.document; } catch { return; }
		list.push(w);
		for (let i = 0; i < w.length && list.length < 100; i++) add(w[i]);
	};
	add(window);
	return list;
})()`

// growsByItself is a script that tells whether the page had more elements at each of the last times that an interval of
// its own came, and has more since.
const growsByItself = `[...window[Symbol.for('readthru.ticks')]?.values() ?? []].some((sizes) => {
	const last = [...sizes, document.getElementsByTagName('*').length].slice(-3);
	return last.length === 3 && last[0] < last[1] && last[1] < last[2];
})`

// waitsForFrame is a script that tells whether the page has asked for a frame that was not painted yet.
const waitsForFrame = `!!window[Symbol.for('readthru.frames')]?.size`

// Traits of a page, as bits that prepare notes and traits returns.
const (
	lazy       = 1 // reacts to scrolling
	hasWorkers = 2
)

// scroll is a script that scrolls to the end of the page and reports whether the page had grown.
const scroll = `(() => {
	const d = document.scrollingElement || document.documentElement;
	const seen = Symbol.for('readthru.seen'), end = d ? d.scrollHeight : 0;
	if (end <= (window[seen] || innerHeight)) return false;
	window[seen] = end;
	window.scrollTo(0, end);
	return true;
})()`

// notWhole is what serialise throws for a document that is still being read.
const notWhole = "the document is not whole"

// maxStyles bounds the style sheets that writeStyles writes into a document, in characters: a thousand elements may
// share one.
const maxStyles = 2_000_000

// writeStyles writes into a tree, as style elements, the sheets that scripts have made: those that the tree adopts, and
// those of its style elements whose rules are no longer those of their text. StylesLeft counts those that are too large
// for what is left of the limit. Undo takes them out again.
const writeStyles = `
	const undo = [], texts = new Map();
	let room = %d, stylesLeft = 0;
	const textOf = (sheet) => {
		let text = texts.get(sheet);
		if (text === undefined) {
			text = [...sheet.cssRules].map((r) => r.cssText).join('\n').replaceAll('</', '<\\/');
			texts.set(sheet, text);
		}
		return text;
	};
	const write = (sheet, put, media) => {
		const text = textOf(sheet);
		if (!text) return;
		if (text.length > room) return void stylesLeft++;
		room -= text.length;
		const e = document.createElement('style');
		e.textContent = text;
		if (media) e.media = media;
		put(e);
		undo.push(() => e.remove());
	};
	const writeStyles = (tree, end) => {
		for (const e of tree.querySelectorAll('style')) {
			try {
				const sheet = e.sheet, said = new CSSStyleSheet();
				if (!sheet) continue;
				said.replaceSync(e.textContent);
				if (!sheet.disabled && said.cssRules.length === sheet.cssRules.length) continue;
				const media = e.getAttribute('media');
				if (!sheet.disabled) write(sheet, (own) => e.after(own), media);
				e.setAttribute('media', 'not all');
				undo.push(() => media === null ? e.removeAttribute('media') : e.setAttribute('media', media));
			} catch {}
		}
		for (const sheet of tree.adoptedStyleSheets ?? []) {
			try { if (!sheet.disabled) write(sheet, (own) => end.append(own), sheet.media.mediaText); } catch {}
		}
	};`

// serialise returns the document and its URL. It includes open shadow roots, which outerHTML leaves out, the style
// sheets that scripts have made, and the content of each visible frame of the same origin after that frame, and counts
// the others. The content of a frame is in a shadow root, with the sheets of its document: those of the page are not
// about it. What linked sheets hide in it, or rules about its body, is hidden by its style attributes. A document that
// consists of frames gets a body with their contents. It throws if that is longer than a number of characters.
const serialise = `(() => {
	` + heldRows + writeStyles + `
	let left = 0;
	const mark = 'frame ' + Math.random() + ' ';
	const reach = (frame) => {
		if (frame.offsetWidth < 100 || frame.offsetHeight < 50) return;
		let body;
		try { body = frame.contentDocument?.body; } catch {}
		const empty = !frame.getAttribute('src') && !frame.hasAttribute('srcdoc'); // as scripts make them, for others
		if (body?.innerText?.trim() || body?.localName === 'frameset' || body?.querySelector('iframe')) return body;
		if (!empty) left++;
	};
	const unseen = (body) => {
		const view = body.ownerDocument.defaultView, seen = (e) => view.getComputedStyle(e);
		for (const e of body.querySelectorAll(':not(script, style, template, area, audio, video)')) {
			const own = seen(e), above = seen(e.parentElement ?? body), was = e.getAttribute('style');
			const set = (name) => e.style?.setProperty(name, own[name], 'important');
			if (own.display === 'none') set('display');
			else if (own.visibility !== above.visibility) set('visibility');
			else continue;
			undo.push(() => was === null ? e.removeAttribute('style') : e.style.cssText = was);
		}
	};
	const framed = (body, depth) => {
		if (body.localName === 'frameset') return parts(body, depth + 1);
		const own = body.ownerDocument;
		unseen(body);
		writeStyles(own, body);
		const styles = [...own.head?.querySelectorAll('style') ?? []].map((e) => e.outerHTML).filter((text) => {
			if (text.length > room) return void stylesLeft++;
			room -= text.length;
			return true;
		}).join('');
		for (const [which, name] of [['a[href]', 'href'], ['img[src]', 'src']])
			for (const link of body.querySelectorAll(which)) link.setAttribute(name, link[name]);
		return '<template shadowrootmode="open">' + styles + content(body, depth + 1) + '</template>';
	};
	const parts = (set, depth) => depth > 3 ? '' : [...set.querySelectorAll('frame')].map(reach).filter(Boolean)
		.map((body) => '<section>' + framed(body, depth) + '</section>').join('');
	const content = (node, depth) => {
		const roots = [], frames = [];
		const walk = (node) => {
			for (const e of node.querySelectorAll('*')) {
				if (e.shadowRoot) {
					roots.push(e.shadowRoot);
					walk(e.shadowRoot);
					writeStyles(e.shadowRoot, e.shadowRoot);
				}
				const body = e.localName === 'iframe' && depth < 3 && reach(e);
				if (!body) continue;
				frames.push({e, was: e.textContent, inner: framed(body, depth)});
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
	if (document.readyState === 'loading') throw new Error('the document is not whole');
	let inner;
	try {
		writeStyles(document, document.head ?? d);
		inner = document.body?.localName !== 'frameset' ? content(d, 0) :
			(document.head?.outerHTML ?? '') + '<body><main>' + parts(document.body, 0) + '</main></body>';
	} finally {
		undo.reverse().forEach((f) => f());
	}
	const outer = d.cloneNode(false).outerHTML, end = outer.lastIndexOf('</');
	const html = '<!DOCTYPE html>' + (end < 0 ? inner : outer.slice(0, end) + inner + outer.slice(end));
	if (html.length > %d) throw new Error('the document is too large');
	return {url: location.href, html, left, stylesLeft};
})()`
