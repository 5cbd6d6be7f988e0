package fetch_test

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/store"
)

func TestAWaitIsObeyedAndMoreIsTold(t *testing.T) { // rule C8
	c := withBrowser(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		text := "<h1>Harbour</h1>" + strings.Repeat("<p>"+shellText+"</p>", 9)
		switch r.URL.Path {
		case "/late":
			_, _ = io.WriteString(w, "<!doctype html><title>H</title><main id=m>"+text+"</main><script>setTimeout(() => "+
				"m.insertAdjacentHTML('beforeend', '<p>The tide' + ' is late.</p>'), 40000)</script>")
		case "/endless":
			_, _ = io.WriteString(w, "<!doctype html><title>H</title><main id=m>"+text+"<p style='height: 2000px'></main>"+
				"<script>const one = '<p style=\"height: 900px\">"+shellText+"</p>';"+
				"addEventListener('scroll', () => m.insertAdjacentHTML('beforeend', one))</script>")
		}
	}))
	for wait, want := range map[time.Duration]bool{time.Second: false, 50 * time.Second: true} {
		ans, err := c.try(t, fetch.Request{
			URL: parse(t, "https://site.test/late"), Own: true, Render: fetch.RenderAlways, Wait: wait,
		})
		if err != nil || strings.Contains(string(ans.Body), "The tide is late.") != want {
			t.Errorf("after a wait of %s: %v\n%s", wait, err, ans.Body)
		}
	}
	ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/endless"), Own: true, Render: fetch.RenderAlways})
	if err != nil || !slices.Contains(ans.Page.Warnings, "more=scrolling") {
		t.Errorf("%v, warnings %q", err, ans.Page.Warnings)
	}
}

func TestStyleSheetsThatAreLeftOutAreTold(t *testing.T) {
	c := withBrowser(t, "", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<title>Tides</title><main>`+strings.Repeat(`<p>The tide is high at noon, and low at six.
			Ships leave the harbour an hour before it, and come back in the evening.</p>`, 10)+`</main><script>
			const sheet = new CSSStyleSheet(), large = '.a{--b:"' + 'c'.repeat(1_000_000) + '"}';
			sheet.replaceSync(large + large);
			document.adoptedStyleSheets = [sheet];</script>`)
	}))
	ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/"), Own: true, Render: fetch.RenderAlways})
	if err != nil || !slices.Contains(ans.Page.Warnings, "styles-left-out=1") {
		t.Errorf("%v, warnings %q, want styles-left-out=1", err, ans.Page.Warnings)
	}
}

// What the sheets of a frame's document hide is left out, and what the page's hide is of the page alone.
func TestFramesOfARenderedPageHaveTheirOwnSheets(t *testing.T) { // rule A8a
	files := map[string]string{
		"/": `<title>Tides</title><style>.page{display:none}</style><p class=page>Hidden by the page.</p>
			<div id=root></div><script>setTimeout(() => {
				document.getElementById('root').innerHTML = '<h1>Tides</h1><p>The tide is high at noon, and low at six.</p>' +
					'<iframe src=/frame width=500 height=400></iframe>';
			}, 100)</script>`,
		"/frame": `<style>.head{display:none} .faint{opacity:0}</style><link rel=stylesheet href=/linked.css>
			<body class=dark><p>Ships leave the harbour an hour before it.</p><p class=page>They come back in the evening.</p>
			<p class=head>Hidden by the head.</p><p class=faint>Hidden by being faint.</p>
			<div class=linked>Hidden by a linked sheet.<b>Seen in it all the same.</b></div>
			<p class=body>Hidden by a rule about the body.</p><p id=made>Hidden by a sheet of scripts.</p>
			<details><summary>More</summary>Seen when it is opened.</details><script>
			const s = new CSSStyleSheet(); s.replaceSync('#made{display:none}'); document.adoptedStyleSheets = [s];</script>`,
		"/linked.css": `.linked{visibility:hidden} .linked b{visibility:visible} body.dark .body{display:none}`,
	}
	c := withBrowser(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if strings.HasSuffix(r.URL.Path, ".css") {
			w.Header().Set("Content-Type", "text/css")
		}
		_, _ = io.WriteString(w, files[r.URL.Path])
	}))
	ans := c.read(t, "https://site.test/")
	for line := range strings.SplitSeq(files["/"]+files["/frame"], "\n") {
		for _, text := range regexp.MustCompile(`(Hidden|Ships|They|Seen) [^<.]+\.`).FindAllString(line, -1) {
			if got := strings.Contains(string(ans.Body), text); got == strings.HasPrefix(text, "Hidden") {
				t.Errorf("%q arrives: %t", text, got)
			}
		}
	}
	if !strings.HasPrefix(strings.Join(ans.Page.Warnings, " "), "hidden-text-removed=") {
		t.Errorf("warnings %q, want hidden-text-removed", ans.Page.Warnings)
	}
}

func TestWaitingInVainIsRemembered(t *testing.T) { // rule C8
	c := withBrowser(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" {
			w.Header().Set("Content-Type", "text/event-stream")
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<title>Late</title><div id=root>Please wait…</div><script>
			new EventSource('/events'); setTimeout(() => { document.getElementById('root').textContent += '.' }, 9000)</script>
			<iframe src="http://other.test/" width=300 height=200></iframe>`)
	}))
	ans := c.read(t, "https://site.test/")
	if !slices.Contains(ans.Page.Warnings, "frame-left-out=1") {
		t.Errorf("warnings %q, want frame-left-out=1", ans.Page.Warnings)
	}
	h, err := c.store.Host("site.test")
	if err != nil || !h.Knows(store.LoadsInVain, time.Now()) || !h.Knows(store.SilentEvents, time.Now()) {
		t.Errorf("host %+v, %v: it is not known that patience was in vain", h, err)
	}
}

// A worker that never answers is waited for once: the host's other pages are read without. A machine that has other
// things to do needs more time.
func TestAWorkerThatNeverAnswersIsRemembered(t *testing.T) { // rule C8
	busy := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<title>Busy</title><div id=root>Computing</div><script>
			new Worker(URL.createObjectURL(new Blob(["onmessage = () => { Atomics.wait(new Int32Array(" +
				"new WebAssembly.Memory({shared: true, initial: 1, maximum: 1}).buffer), 0, 0); }"]))).postMessage(1)
			</script>`)
	})
	// learnt returns when it was learnt that waiting was in vain, from a page that may take limit.
	learnt := func(limit time.Duration, before time.Time) time.Time {
		c := withBrowserFor(t, limit, "", busy)
		if !before.IsZero() {
			if _, _, err := c.store.Learn("site.test", store.VainWorkers, "", "another page", before); err != nil {
				t.Fatal(err)
			}
		}
		c.read(t, "https://site.test/")
		h, err := c.store.Host("site.test")
		if err != nil {
			t.Fatal(err)
		}
		f, _ := h.Fact(store.VainWorkers, "")
		return f.Since
	}
	limit := 15 * time.Second
	for learnt(limit, time.Time{}).IsZero() {
		if limit *= 2; limit > mostTime {
			t.Fatal("it is not known that a worker was waited for in vain")
		}
	}
	// so long ago that it would be learnt again, and holds for some minutes
	before := time.Now().Add(-40 * time.Minute)
	if at := learnt(limit, before); !at.Equal(before) {
		t.Errorf("another page waited, too: it was learnt at %s, not at %s", at, before)
	}
}
