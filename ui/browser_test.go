package ui_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/render/rendertest"
)

// browser is a tab, and what happened in it that must not.
type browser struct {
	ctx  context.Context
	t    *testing.T
	base string
	rows int // of a list that axe looks at, where all have one template; 0: all

	mu     sync.Mutex
	faults []string
}

func newBrowser(t *testing.T, base string) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("short: it starts a browser")
	}
	path := os.Getenv("READTHRU_TEST_BROWSER")
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome", "chrome"} {
		if path == "" {
			path, _ = exec.LookPath(name)
		}
	}
	if path == "" {
		needs.Missing(t, "there is no Chromium: .ci/clients installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.UserDataDir(rendertest.Dir(t)), chromedp.WSURLReadTimeout(3*time.Minute))
	allocated, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	ctx, close := chromedp.NewContext(allocated)
	t.Cleanup(close)
	b := &browser{ctx: ctx, t: t, base: base}
	if err := chromedp.Listen(ctx, b.watch); err != nil {
		t.Fatal(err)
	}
	call(b, log.Enable, cdp.Empty{})
	call(b, network.Enable, network.EnableParams{})
	return b
}

func (b *browser) watch(event any) {
	fault := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, b.base+"/") && !strings.HasPrefix(e.Request.URL, "about:") {
			fault = "it asks for " + e.Request.URL
		}
	case *log.EventEntryAdded:
		fault = fmt.Sprintf("the browser logs %s %s", e.Entry.Text, e.Entry.URL)
	case *runtime.EventConsoleAPICalled:
		fault = "a script logs " + string(e.Type)
	case *runtime.EventExceptionThrown:
		fault = "a script fails: " + e.ExceptionDetails.Text
	case *page.EventJavascriptDialogOpening:
		fault = "a dialog opens"
	}
	if fault != "" {
		b.mu.Lock()
		b.faults = append(b.faults, fault)
		b.mu.Unlock()
	}
}

func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// call sends a command of the browser's protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// value returns what an expression is in the page.
func value[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// see waits until the page has loaded, with its scripts, and the first element of an XPath is shown; press then clicks
// it, in one step: what is live may be replaced at any time, and a page may be left.
func (b *browser) see(xpath string)   { b.t.Helper(); b.find(xpath, "true") }
func (b *browser) press(xpath string) { b.t.Helper(); b.find(xpath, "(e.click(), true)") }

func (b *browser) find(xpath, then string) {
	b.t.Helper()
	find := fmt.Sprintf(`(() => {
		const e = document.evaluate(%q, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue;
		return document.readyState === 'complete' && !!e && e.getClientRects().length > 0 && %s;
	})()`, xpath, then)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for tries := 0; ; tries++ {
		found, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](find))
		switch {
		case err == nil && found:
			return
		case b.ctx.Err() != nil || tries == 6000:
			b.t.Fatalf("%s is not shown: %v", xpath, err)
		}
		<-tick.C
	}
}

// tooWide says whether a page must be scrolled sideways.
const tooWide = "document.documentElement.scrollWidth > innerWidth"

// widest names what stands out of the window.
const widest = `[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
	.slice(0, 4).map(e => e.outerHTML.slice(0, 120)).join(' | ')`

// open opens a page, and reports what has gone wrong since the one before.
func (b *browser) open(path string) {
	b.t.Helper()
	b.run(chromedp.Navigate(b.base+path), chromedp.WaitReady("footer"))
	b.check(path)
}

func (b *browser) check(path string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fault := range b.faults {
		b.t.Errorf("%s: %s", path, fault)
	}
	b.faults = nil
}

// accessible runs axe over the page that is open, in the dark or light.
func (b *browser) accessible(path, axe string) {
	b.t.Helper()
	value[int](b, axe+";0")
	parts := "document"
	if b.rows > 0 {
		parts = fmt.Sprintf("{exclude: [['tbody tr:nth-child(n+%d)'], ['ol.hits li:nth-child(n+%[1]d)']]}", b.rows+1)
	}
	for _, scheme := range []string{"light", "dark"} {
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
		rules := "{resultTypes: ['violations'], preload: false}" // what passes takes longer to list than to judge
		if scheme == "dark" {
			rules = "{resultTypes: ['violations'], preload: false, runOnly: ['color-contrast']}" // the rest is as in the light
		}
		found := value[[]string](b, `axe.run(`+parts+`, `+rules+`).then(r => r.violations
			.filter(v => v.impact === 'serious' || v.impact === 'critical')
			.map(v => v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(' | ')))`)
		for _, f := range found {
			b.t.Errorf("%s, %s: axe: %s", path, scheme, f)
		}
	}
}

// axe returns the script of axe-core.
func axe(t *testing.T) string {
	t.Helper()
	names, _ := filepath.Glob("testdata/npm/axe-core-*.tgz")
	if len(names) != 1 {
		needs.Missing(t, "there is no axe-core: .ci/npm fetches it")
	}
	f, err := os.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if err != nil {
			t.Fatal(err)
		}
		if h.Name == "package/axe.min.js" {
			script, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			return string(script)
		}
	}
}
