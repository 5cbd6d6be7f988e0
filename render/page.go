package render

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/readthru/readthru/internal/fault"
)

// The size of the browser's window for a page, in CSS pixels: that of a usual screen, on which pages show what they
// show people.
const viewportWidth, viewportHeight = 1280, 1024

// A tab is one page being rendered. Its methods are called by one goroutine, but for handlers of events, which take mu.
type tab struct {
	o   Options
	r   Request
	ctx context.Context // of the tab; ends with the caller's
	end func(error)     // ends ctx: a page whose work panics is of no use, and nobody waits for it

	begun       time.Time
	deadline    time.Time
	clock       time.Time      // of the page, which begins with the real one and is then advanced
	matched     bool           // Request.Selector
	more        string         // Page.More
	loadsInVain bool           // Page.Vain
	listening   sync.WaitGroup // handlers of the page's events
	workers     workers

	*traffic
	mu      sync.Mutex
	console []string
}

// render renders a page in a new browser context of the process, so that pages share no cookies and no storage. It
// returns when the page is done or ctx ends; the tab is closed afterwards, in the background.
func (p *process) render(ctx context.Context, o Options, r Request) (*Page, error) {
	// Set the proxy of the context for browsers that somebody else started.
	tabCtx, closeTab := chromedp.NewContext(p.ctx,
		chromedp.WithNewBrowserContext(func(c *target.CreateBrowserContextParams) {
			c.ProxyServer, c.ProxyBypassList = "http://"+p.proxy.addr, "<-loopback>"
		}))
	tabCtx, cancel := context.WithCancelCause(tabCtx)
	t := &tab{o: o, r: r, ctx: tabCtx, end: cancel, begun: time.Now()}
	t.traffic = newTraffic(t)
	// closing the tab waits for the browser; the caller does not
	defer p.closing.Go(fault.Contain("render: end a tab", func() {
		closeTab()
		t.listening.Wait()
		t.running.Wait()
	}))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	t.deadline, _ = ctx.Deadline() // Browser.Render sets one
	out, err := t.render(cancel)   //nolint:contextcheck // the tab has its own context, which ends with ctx
	if err != nil && tabCtx.Err() != nil && ctx.Err() == nil {
		err = context.Cause(tabCtx) //nolint:contextcheck // as above
	}
	return out, err
}

// render opens the tab, loads the page, waits until it is done and takes the document, and the screenshot if that is
// wanted.
func (t *tab) render(cancel context.CancelCauseFunc) (*Page, error) {
	if err := t.open(cancel); err != nil {
		return nil, fmt.Errorf("open a tab: %w", err)
	}
	unsettled, err := t.load()
	if err == nil && unsettled == "" {
		unsettled, err = t.settle(t.ctx)
	}
	if err != nil {
		return nil, err
	}
	out := &Page{Unsettled: unsettled, Ended: t.ended(unsettled), More: t.more}
	if err := t.read(out); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	if t.r.Screenshot {
		if err := t.screenshot(out); err != nil {
			return nil, fmt.Errorf("take a screenshot: %w", err)
		}
	}
	t.mu.Lock()
	out.Console = t.console
	t.mu.Unlock()
	out.Vain = Vain{Loading: t.loadsInVain, Events: t.silent.Load(), Workers: t.workers.inVain}
	t.report(out)
	return out, nil
}

// maxScreenshot is the maximum height of a screenshot in CSS pixels. Higher ones need too much of the browser's memory.
const maxScreenshot = 16_384

// screenshot takes the screenshot of the whole page, from its top. It sets out.Unsettled if the screenshot does not
// show all.
func (t *tab) screenshot(out *Page) error {
	size, err := chromedp.Call(t.ctx, page.GetLayoutMetrics, cdp.Empty{})
	if err != nil {
		return err
	}
	whole := size.CSSContentSize
	if whole == nil {
		return errors.New("the size of the page is not known")
	}
	shot, err := chromedp.Call(t.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatPng, CaptureBeyondViewport: new(true),
		Clip: &page.Viewport{Width: viewportWidth, Height: max(viewportHeight, min(whole.Height, maxScreenshot)), Scale: 1},
	})
	if err != nil {
		return err
	}
	if out.Screenshot = shot.Data; whole.Height > maxScreenshot && out.Unsettled == "" {
		out.Unsettled = fmt.Sprintf("the screenshot shows the first %d of %.0f pixels", maxScreenshot, whole.Height)
	}
	return nil
}

// read stops the page's clock and takes its final document into out. If the page is navigating, read takes the next
// document.
func (t *tab) read(out *Page) error {
	ctx, cancel := context.WithTimeout(t.ctx, t.o.stepTimes().answer)
	defer cancel()
	// If this fails, so does the reading.
	_, _ = chromedp.Call(ctx, emulation.SetVirtualTimePolicy,
		emulation.SetVirtualTimePolicyParams{Policy: emulation.VirtualTimePolicyPause})
	last := errors.New("no document")
	// Twenty tries, in the time of one answer: a page that leads to another one again and again has none that is whole.
	for range 20 {
		doc, err := evaluate[document](ctx, t, fmt.Sprintf(serialise, maxStyles, t.o.MaxBody))
		if err != nil {
			// The document was still being read by the browser.
			if _, thrown := errors.AsType[thrownError](err); thrown && strings.Contains(err.Error(), notWhole) {
				last = err
				_, _ = t.pass(ctx, virtualTime) // a script has led here, or it is long
				continue
			}
			if ctx.Err() != nil || !strings.Contains(err.Error(), "navigated") && !strings.Contains(err.Error(), "context") {
				return err
			}
			last = err
			continue
		}
		if doc.HTML == "" { // between two documents; the next one needs time to pass
			_, _ = t.pass(ctx, 1)
			continue
		}
		// A page may lead to a file or to about:blank, which are not what was asked for.
		at, err := url.Parse(doc.URL)
		if err != nil || at.Scheme != "http" && at.Scheme != "https" {
			return errors.New("the page navigated to a URL that is not http or https")
		}
		out.URL, out.HTML, out.FramesLeft, out.StylesLeft = at, []byte(doc.HTML), doc.Left, doc.StylesLeft
		return nil
	}
	return fmt.Errorf("the page does not come to its end: %w", last)
}

// document is the value of the script serialise: the final document of a page.
type document struct {
	URL  string `json:"url"`
	HTML string `json:"html"`
	Left int    `json:"left"` // frames that are not in HTML

	StylesLeft int `json:"stylesLeft"` // style sheets that are not in HTML
}

// load navigates to the page's URL and waits for its load event. If the event does not come but there is a document,
// load returns why the page may be incomplete.
func (t *tab) load() (unsettled string, err error) {
	ctx, cancel := context.WithTimeout(t.ctx, t.left())
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer end(nil)
	watch.Go(fault.Contain("render: watch a page", func() { t.watch(ctx, end) }))
	err = chromedp.Do(ctx, chromedp.Navigate(t.r.URL.String()))
	switch {
	case errors.Is(context.Cause(ctx), errNoAnswer):
		return "", errNoAnswer
	case err == nil, t.document() != 0 && errors.Is(err, chromedp.ErrPageLoad):
		return "", nil
	case t.document() != 0 && ctx.Err() != nil && t.ctx.Err() == nil:
		return fmt.Sprintf("not loaded after %s", t.waited()), nil
	}
	return "", fmt.Errorf("load the page: %w", err)
}

// ended returns what ended the wait for a page, for Page.Ended.
func (t *tab) ended(unsettled string) string {
	switch {
	case t.matched:
		return EndedBySelector
	case unsettled != "":
		return EndedByTimeout
	}
	return EndedByQuiet
}

// open opens the tab and isolates it, before it loads anything: downloads are denied, requests paused, our scripts put
// before those of the page.
func (t *tab) open(cancel context.CancelCauseFunc) error {
	if err := chromedp.Do(t.ctx); err != nil {
		return err
	}
	// Before anything is loaded, so that no event is missed.
	t.listen(cancel)
	id := chromedp.FromContext(t.ctx).BrowserContextID
	_, err := chromedp.CallBrowser(t.ctx, browser.SetDownloadBehavior,
		browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: id})
	for _, step := range t.settings() {
		if err == nil {
			err = step()
		}
	}
	return err
}

// settings returns the commands that prepare a tab, in order. Scripts are added before the page has any of its own.
func (t *tab) settings() []func() error {
	list := []func() error{
		set(t, fetch.Enable, fetch.EnableParams{}),
		set(t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: prepare}),
		set(t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: fmt.Sprintf(prepareShared, connectShared, sharedMark),
		}),
		set(t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: fmt.Sprintf(prepareSockets, t.sockets.path),
		}),
		set(t, emulation.SetDeviceMetricsOverride,
			emulation.SetDeviceMetricsOverrideParams{Width: viewportWidth, Height: viewportHeight, DeviceScaleFactor: 1}),
		// Disable events that chromedp enables and we do not read: a page could fill our memory with them.
		set(t, network.Disable, cdp.Empty{}),
		set(t, css.Disable, cdp.Empty{}),
		set(t, dom.Disable, cdp.Empty{}),
	}
	if !t.r.Console {
		list = append(list, set(t, log.Disable, cdp.Empty{}), set(t, runtime.Disable, cdp.Empty{}))
	}
	return list
}

// set returns a function that calls a command of the browser in a tab, a page, and ignores its result.
func set[P, R any](t *tab, command cdp.Command[P, R], params P) func() error {
	return func() error {
		_, err := chromedp.Call(t.ctx, command, params)
		return err
	}
}

// on calls do for the events of a kind in a tab, a page, until the tab closes, in a goroutine of its own: do may call
// the browser, but the next event of the kind waits for it.
func on[E any](t *tab, kind cdp.Event[E], do func(E)) {
	events := chromedp.Events(t.ctx, kind)
	t.listening.Go(fault.ContainTo(t.end, "render: take events", func() {
		for ev, err := range events {
			if err != nil {
				return
			}
			do(ev)
		}
	}))
}

// listen handles the events of a page: requests, dialogs, crashes, workers, errors. Dialogs are dismissed, or scripts
// would wait for a person.
func (t *tab) listen(cancel context.CancelCauseFunc) {
	paused := chromedp.Events(t.ctx, fetch.RequestPaused)
	t.listening.Go(fault.ContainTo(t.end, "render: take requests", func() { t.serve(paused) }))
	on(t, page.JavascriptDialogOpening, func(page.EventJavascriptDialogOpening) {
		// the tab may be gone
		_, _ = chromedp.Call(t.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: false})
	})
	t.listenToWorkers()
	on(t, inspector.TargetCrashed, func(inspector.EventTargetCrashed) { cancel(errors.New("the page crashed")) })
	if t.r.Console {
		t.listenToConsole()
	}
}
