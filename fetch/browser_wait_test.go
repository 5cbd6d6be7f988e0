package fetch_test

import (
	"io"
	"net/http"
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
