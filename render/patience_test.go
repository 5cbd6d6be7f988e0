package render_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/render"
)

// loadingUntil is a page that shows that it loads until a script calls show.
func loadingUntil(script string) string {
	return `<title>Late</title><main id=m>Please wait…</main><script>
		const show = (text) => { m.innerHTML = '<article>' + text + ' came in the end</article>'; };` + script + `</script>`
}

// eventAfter answers a stream of events: a comment, which is none, and the event once told is closed.
func eventAfter(told <-chan struct{}, event string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprint(w, ": none\n\n")
		w.(http.Flusher).Flush()
		select {
		case <-told:
			_, _ = fmt.Fprintf(w, "data: %s\n\n", event)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case <-r.Context().Done():
		}
	}
}

func TestAPageThatIsAboutToChangeIsNotQuiet(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	loaded := make(chan struct{})
	s.mux.HandleFunc("/loaded", func(http.ResponseWriter, *http.Request) { close(loaded) })
	s.mux.HandleFunc("/events", eventAfter(loaded, "it"))
	for name, script := range map[string]string{
		"a timer of 7 s":         `setTimeout(() => show('it'), 7000)`,
		"timers one after other": `setTimeout(() => setTimeout(() => show('it'), 4000), 4900)`,
		"60 frames": `let n = 0; const step = () => {
				++n < 60 ? requestAnimationFrame(step) : show('it'); }; step()`,
		"a timer of 18 s": `setTimeout(() => show('it'), 18000)`,
		"an EventSource": `new EventSource('/events').onmessage = (e) => show(e.data);
			addEventListener('load', () => fetch('/loaded'))`,
	} {
		t.Run(name, func(t *testing.T) {
			at := "/" + strings.ReplaceAll(name, " ", "-")
			s.add(at, loadingUntil(script))
			if p := rendered(t, b, s.page(t, at)); !strings.Contains(string(p.HTML), "<article>it came in the end") {
				t.Errorf("after %d requests, unsettled %q: %s", p.Requests, p.Unsettled, p.HTML)
			}
		})
	}
}

func TestAnExplicitWaitIsObeyed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	s.add("/late", `<main id=m>A text that says nothing of what is to come</main>
		<script>setTimeout(() => { m.innerHTML = '<article>' + 'late' }, 20000)</script>`)
	r := s.page(t, "/late")
	for wait, want := range map[time.Duration]bool{0: false, 10 * time.Second: false, 25 * time.Second: true} {
		r.Wait = wait
		if p := rendered(t, b, r); strings.Contains(string(p.HTML), "<article>late") != want {
			t.Errorf("after a wait of %s: %s", wait, p.HTML)
		}
	}
}

func TestAWaitForAnElementOutlastsASilentStream(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	tell := make(chan struct{})
	s.mux.HandleFunc("/tell", func(http.ResponseWriter, *http.Request) { close(tell) })
	s.mux.HandleFunc("/events", eventAfter(tell, "late"))
	s.mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s.add("/words", "late")
	for name, script := range map[string]string{
		"for an event":               `listen('/events'); setTimeout(() => fetch('/tell'), 2500)`,
		"for a timer, with a stream": `listen('/silent'); setTimeout(() => show('late'), 2500)`,
		"for words, with a stream":   `listen('/silent'); fetch('/words').then((r) => r.text()).then(show)`,
	} {
		t.Run(name, func(t *testing.T) {
			at := "/" + strings.ReplaceAll(name, " ", "-")
			s.add(at, `<main id=m>A text that says nothing of what is to come</main><script>
				const show = () => { m.innerHTML += '<p id=done>late' };
				const listen = (to) => { new EventSource(to).onmessage = show };`+script+`</script>`)
			r := s.page(t, at)
			r.Selector = "#done"
			if p := rendered(t, b, r); !strings.Contains(string(p.HTML), `<p id="done">late`) {
				t.Errorf("unsettled %q: %s", p.Unsettled, p.HTML)
			}
		})
	}
}

func TestEndlessPagesAreScrolled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	observed := func(do string) string {
		return `const o = new IntersectionObserver((l) => { if (l.some((e) => e.isIntersecting)) ` + do +
			` }); o.observe(end)`
	}
	for name, tt := range map[string]struct {
		items, want int
		more        string
		height      int
		script      string
	}{
		"after a moment":  {60, 60, "", 200, observed(`setTimeout(add, 300)`)},
		"after some time": {60, 60, "", 200, observed(`setTimeout(add, 1800)`)},
		"at once":         {60, 60, "", 200, observed(`add()`)},
		"small items": {60, 60, "", 40, observed(`setTimeout(() => { add();
				o.unobserve(end); o.observe(end); }, 300)`)},
		"by scroll events":  {60, 60, "", 200, `addEventListener('scroll', () => setTimeout(add, 400))`},
		"that does not end": {1_000_000, 100, "scrolling", 200, observed(`setTimeout(add, 300)`)},
	} {
		t.Run(name, func(t *testing.T) {
			at := "/" + strings.ReplaceAll(name, " ", "-")
			s.add(at, fmt.Sprintf(`<main id=m></main><div id=end>.</div><script>
				let n = 0;
				const add = () => { for (let i = 0; i < 10 && n < %d; i++) {
					m.insertAdjacentHTML('beforeend', '<p style="height: %dpx">' + 'Item ' + n++ + '</p>'); } };
				add();
				%s</script>`, tt.items, tt.height, tt.script))
			p := rendered(t, b, s.page(t, at))
			n := strings.Count(string(p.HTML), ">Item ")
			if n < tt.want || p.More != tt.more || tt.more == "" && n != tt.items {
				t.Errorf("%d items, more %q, want %d, %q", n, p.More, tt.want, tt.more)
			}
		})
	}
}

func TestWhatWasInVainIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	s.add("/late", loadingUntil(`setTimeout(() => show('it'), 18000)`))
	s.add("/never", loadingUntil(``))
	s.add("/events", "")
	s.add("/silent", `<main>A text</main><script>new EventSource('/events')</script>`)
	for _, tt := range []struct {
		at          string
		known, want render.Vain
		text        string
	}{
		{"/late", render.Vain{}, render.Vain{}, "<article>it came"},
		{"/late", render.Vain{Loading: true}, render.Vain{}, "Please wait"},
		{"/never", render.Vain{}, render.Vain{Loading: true}, "Please wait"},
		{"/silent", render.Vain{}, render.Vain{Events: true}, "A text"},
	} {
		r := s.page(t, tt.at)
		r.Vain = tt.known
		if p := rendered(t, b, r); p.Vain != tt.want || !strings.Contains(string(p.HTML), tt.text) {
			t.Errorf("%s, known %+v: %+v, want %+v: %s", tt.at, tt.known, p.Vain, tt.want, p.HTML)
		}
	}
}
