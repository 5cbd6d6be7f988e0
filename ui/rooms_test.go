package ui_test

import (
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// perShape is how many pages of one shape, as /pages/{doc}, a walk opens. Pictures are taken of the first one, and axe
// looks at it, which takes ten times as long as all else: what follows has the same templates.
const perShape = 2

// name is a part of a path that stands for a thing: a number, a hash, a host, or what a query asks for.
var name = regexp.MustCompile(`[0-9a-f]{12,}|\d+|\b(cursor|q|host|name|subject|section|url)=[^&]*|` +
	`[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?`)

// scrolling scrolls a page to its end, a quarter of a screen in each frame, and is how long the longest frame took.
const scrolling = `new Promise(done => {
	let at = 0, last = 0, longest = 0;
	const step = now => {
		longest = Math.max(longest, last ? now - last : 0);
		last = now;
		scrollTo(0, at += innerHeight / 4);
		if (at < document.documentElement.scrollHeight) requestAnimationFrame(step);
		else { scrollTo(0, 0); done(longest); }
	};
	requestAnimationFrame(step);
})`

// TestRoomsOfADaemon walks the dashboard of a daemon that runs, from the sign-in link in READTHRU_DASHBOARD ("make
// rooms"), through the links of its pages, a few of each shape. No page has a serious fault of axe's, logs to the
// console, asks another host, is wider than a phone, or shows text that templates leave when something is missing.
func TestRoomsOfADaemon(t *testing.T) {
	link, err := url.Parse(os.Getenv("READTHRU_DASHBOARD"))
	if err != nil || link.Host == "" {
		t.Skip("READTHRU_DASHBOARD names no daemon's dashboard")
	}
	b := newBrowser(t, link.Scheme+"://"+link.Host)
	b.rows = 12
	b.run(chromedp.Navigate(link.String()), chromedp.WaitReady("main"))
	if !value[bool](b, "!!document.querySelector('footer')") {
		t.Fatalf("nobody is signed in: a link is good once and for a minute, so make another now that all is compiled")
	}
	script := axe(t)
	call(b, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
	var paints, works []float64
	var jump float64 // the longest frame while a page is scrolled, in ms
	slowest, jumps := "", ""
	waiting, seen, shapes, looked := []string{"/"}, map[string]bool{"/": true}, map[string]int{}, map[string]bool{}
	for len(waiting) > 0 {
		path := waiting[0]
		waiting = waiting[1:]
		before := b.worked()
		b.open(path)
		work := b.worked()
		if work >= before { // else the browser counts anew for the page
			work -= before
		}
		works = append(works, 1000*work)
		paint := value[float64](b, "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
		if paint > 0 { // else nothing was painted yet
			if paints = append(paints, paint); paint == slices.Max(paints) {
				slowest = path
			}
		}
		if frame := value[float64](b, scrolling); frame > jump {
			jump, jumps = frame, path
		}
		if at := value[string](b, "location.pathname + location.search"); at != path && !strings.Contains(path, "section=") {
			t.Errorf("%s leads to %s", path, at)
		}
		if b.run(chromedp.EmulateViewport(360, 740)); value[bool](b, tooWide) {
			t.Errorf("%s: wider than a phone: %s", path, value[string](b, widest))
		}
		b.run(chromedp.EmulateViewport(1280, 900))
		text := value[string](b, "document.body.innerText")
		for _, left := range []string{"<nil>", "%!", "NaN", "undefined", "[object ", "<no value>", "0001-01-01"} {
			if strings.Contains(value[string](b, `[...document.querySelectorAll("main h1, main h2, main dl, main th, main nav, `+
				`main form, footer, header")].map(e => e.innerText).join("\n")`), left) {
				t.Errorf("%s shows %q", path, left)
			}
		}
		if len(text) < 100 {
			t.Errorf("%s is empty: %q", path, text)
		}
		b.check(path)
		if shape := name.ReplaceAllString(path, "*"); !looked[shape] {
			looked[shape] = true
			b.accessible(path, script)
			pictures(t, b, []string{path})
		}
		for _, next := range value[[]string](b, `[...document.querySelectorAll("main a[href], header a[href]")]
			.filter(a => a.origin === location.origin && !a.hasAttribute("download"))
			.filter(a => !/\.(json|pem|crt)$|^\/(metrics|openapi|api)/.test(a.pathname))
			.map(a => a.pathname + a.search)`) {
			shape := name.ReplaceAllString(next, "*")
			if strings.Contains(next, "images=1") || seen[next] || shapes[shape] >= perShape { // hosts may lack an image
				continue
			}
			seen[next] = true
			shapes[shape]++
			waiting = append(waiting, next)
		}
	}
	t.Logf("%d pages of %d shapes", len(seen), len(shapes))
	if slices.Sort(paints); len(paints) > 0 {
		t.Logf("first paint of %d pages after %.0f ms in the middle, and after %.0f at most, of %s", len(paints),
			paints[len(paints)/2], paints[len(paints)-1], slowest)
	}
	if slices.Sort(works); len(works) > 0 {
		t.Logf("%d pages took %.0f ms of the browser's processor time in the middle, and %.0f at most, until they had loaded",
			len(works), works[len(works)/2], works[len(works)-1])
	}
	t.Logf("the longest frame of scrolling took %.0f ms, of %s", jump, jumps)
}

// worked returns for how long the main thread of the page has had a processor for its tasks, in seconds.
func (b *browser) worked() float64 {
	b.t.Helper()
	got, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range got.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value
		}
	}
	return 0
}
