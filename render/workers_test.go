package render_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/render"
)

// compute is a script of a worker that keeps it busy for some milliseconds.
func compute(ms string) string {
	return `Atomics.wait(new Int32Array(new WebAssembly.Memory({shared: true, initial: 1, maximum: 1}).buffer), 0, 0, ` +
		ms + `); `
}

// A worker may start late on a busy machine, and compute for long before it asks for anything or tells the page.
func TestAPageIsReadWhenItsWorkersAreDone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	s.mux.HandleFunc("/word", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "whole") })
	compute := compute("2500") // longer than a page without requests is waited for
	for name, script := range map[string]string{
		"computes before it asks": compute + `fetch(e.data).then((r) => r.text()).then(postMessage);`,
		"computes what it was told": `fetch(e.data).then((r) => r.text()).then((text) => { ` + compute +
			`postMessage(text); });`,
		"is asked again when it tells": compute + `postMessage(e.data === 'again' ? 'whole' : 'again');`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := "/" + strings.ReplaceAll(name, " ", "-")
			s.add(at, `<p id=p></p><script>
				const worker = new Worker(URL.createObjectURL(new Blob(["onmessage = (e) => { `+script+` }"])));
				worker.onmessage = (e) => {
					p.textContent = 'It is ' + e.data;
					if (e.data === 'again') worker.postMessage('again');
				};
				worker.postMessage(location.origin + '/word');</script>`)
			if p := rendered(t, b, s.page(t, at)); !strings.Contains(string(p.HTML), ">It is whole<") || p.Unsettled != "" {
				t.Errorf("it was read before (%s): %s", p.Unsettled, p.HTML)
			}
		})
	}
}

// Workers of frames are waited for like those of the page, and so are shared workers, whose requests are answered like
// all others. Those of one name are one, also for a page and its frames.
func TestWorkersOfFramesAndSharedWorkersAreWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	s.mux.HandleFunc("/word", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "whole") })
	script := func(at, text string) {
		s.mux.HandleFunc(at, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = io.WriteString(w, text)
		})
	}
	compute := compute("2500")
	script("/w/one.js", `onmessage = () => { `+compute+`fetch('../word').then((r) => r.text()).then(postMessage); };`)
	const answer = `port.onmessage = () => fetch('../word').then((r) => r.text()).then((text) => port.postMessage(text));`
	script("/w/shared.js", `onconnect = (e) => { const port = e.ports[0]; `+compute+answer+` };`)
	script("/w/part.js", `export const connect = (port) => { `+compute+answer+` };`)
	script("/w/module.js", `import {connect} from './part.js'; let n = 0;
		self.addEventListener('connect', (e) => connect(e.ports[0]));`)
	script("/w/count.js", `let n = 0; onconnect = (e) => { `+compute+`e.ports[0].postMessage('reader ' + ++n); };`)
	const shared = `worker.port.onmessage = (e) => { p.textContent = 'It is ' + e.data; };
		worker.port.postMessage('tell');</script>`
	s.add("/inner", `<p id=p></p><script>const worker = new Worker('/w/one.js');
		worker.onmessage = (e) => { p.textContent = 'It is ' + e.data; }; worker.postMessage('tell');</script>`)
	s.add("/inner-shared", `<p id=p></p><script>const worker = new SharedWorker('w/shared.js'); `+shared)
	s.add("/inner-count", `<p id=p></p><script>const worker = new SharedWorker('w/count.js', 'count'); `+shared)
	for name, page := range map[string]string{
		"of a frame":         `<p>Outside</p><iframe src=/inner width=500 height=400></iframe>`,
		"shared":             `<p id=p></p><script>const worker = new SharedWorker('w/shared.js'); ` + shared,
		"shared, of a frame": `<p>Outside</p><iframe src=/inner-shared width=500 height=400></iframe>`,
		"shared, a module": `<p id=p></p><script>const worker = new SharedWorker('w/module.js', {type: 'module'}); ` +
			shared,
		"shared, without a file": `<p id=p></p><script>
			const at = URL.createObjectURL(new Blob(["onconnect = (e) => { ` + compute + `fetch('" + location.origin +
				"/word').then((r) => r.text()).then((t) => e.ports[0].postMessage(t)); }"]));
			const worker = new SharedWorker(at); ` + shared,
		"shared, that are one": `<p id=p></p><script>const worker = new SharedWorker('w/count.js', {name: 'count'});
			worker.port.addEventListener('message', (e) => {
				p.textContent = 'It is ' + e.data;
				document.body.insertAdjacentHTML('beforeend', '<iframe src=/inner-count width=500 height=400></iframe>');
			});
			worker.port.start();</script>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := "/" + strings.NewReplacer(" ", "-", ",", "").Replace(name)
			s.add(at, page)
			want := ">It is whole<"
			if strings.HasSuffix(name, "one") {
				want = ">It is reader 2<"
			}
			if p := rendered(t, b, s.page(t, at)); !strings.Contains(string(p.HTML), want) || p.Unsettled != "" {
				t.Errorf("it was read before (%s): %s", p.Unsettled, p.HTML)
			}
		})
	}
}

// A worker that never answers, as of a pool that sleeps, is not waited for longer than any other step. The page is what
// it shows then, and says so.
func TestAPageIsReadWithoutAWorkerThatNeverAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t, func(o *render.Options) { o.Timeout = 30 * time.Second })
	s.add("/busy", `<p>Computing</p><script>const worker = new Worker(URL.createObjectURL(new Blob(["onmessage = () => { `+
		compute("Infinity")+`}"]))); worker.postMessage(1);
		addEventListener('scroll', () => { document.querySelector('p').textContent = 'Scrolled'; });
		document.body.style.height = '5000px';</script>`)
	p, err := b.Render(t.Context(), s.page(t, "/busy"))
	if err != nil || p.Unsettled != "" { // the machine is slow
		t.Log(err, p)
	} else if p.More != render.MoreComputing || p.Ended != render.EndedByQuiet ||
		!strings.Contains(string(p.HTML), "Scrolled") {
		t.Errorf("more %q, ended %q: %s", p.More, p.Ended, p.HTML)
	}
}
