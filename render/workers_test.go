package render_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
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

// While a page waits for a worker, or for data, its own clock stands still. It is scrolled all the same afterwards.
func TestAPageWhoseClockIsBehindIsScrolled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.add("/", `<p id=p></p><script>const worker = new Worker(URL.createObjectURL(new Blob(["onmessage = () => { `+
		compute("9500")+`postMessage('whole'); }"])));
		worker.onmessage = (e) => { p.textContent += 'It is ' + e.data; }; worker.postMessage(1);
		addEventListener('scroll', () => { p.textContent += ' and scrolled'; }, {once: true});
		document.body.style.height = '5000px';</script>`)
	p := rendered(t, s.browser(t), s.page(t, "/"))
	if p.Unsettled != "" || !strings.Contains(string(p.HTML), ">It is whole and scrolled<") {
		t.Errorf("it is incomplete (%s): %s", p.Unsettled, p.HTML)
	}
}

// A worker that computes for longer than any other step may take is waited for while there is time.
func TestAWorkerThatComputesForLongIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const limit = time.Minute // of which a page that does not answer gets ten seconds
	b := s.browser(t, func(o *render.Options) { o.Timeout = limit })
	s.mux.HandleFunc("/word", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "whole") })
	compute := compute("12500")
	s.mux.HandleFunc("/shared.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, `onconnect = (e) => { `+compute+`e.ports[0].postMessage('whole'); };`)
	})
	for name, script := range map[string]string{
		"dedicated": `const worker = new Worker(URL.createObjectURL(new Blob(["onmessage = (e) => { ` + compute +
			`fetch(e.data).then((r) => r.text()).then(postMessage); }"])));
			worker.onmessage = (e) => { p.textContent = 'It is ' + e.data; }; worker.postMessage(location.origin + '/word');`,
		"starting": `const worker = new Worker(URL.createObjectURL(new Blob(["` + compute + `postMessage('whole')"])));
			worker.onmessage = (e) => { p.textContent = 'It is ' + e.data; };`,
		"shared": `const worker = new SharedWorker('/shared.js');
			worker.port.onmessage = (e) => { p.textContent = 'It is ' + e.data; };`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.add("/"+name, `<p id=p>Computing</p><script>`+script+`</script>`)
			p, err := b.Render(t.Context(), s.page(t, "/"+name))
			if err != nil || p.Ended == render.EndedByTimeout || p.Vain.Workers {
				t.Log("the machine is slow:", err, p)
			} else if !strings.Contains(string(p.HTML), ">It is whole<") || p.More != "" {
				t.Errorf("it was read before (more %q): %s", p.More, p.HTML)
			}
		})
	}
}

// A worker that never answers is waited for until the page needs the rest of its time, and the page says that this was
// in vain. Other pages of its host then wait no longer than for any other step; nor do pages that share memory with
// workers, which may sleep in a pool. The page is what it shows then, and says that a worker did not answer.
func TestAPageIsReadWithoutAWorkerThatNeverAnswers(t *testing.T) {
	t.Parallel()
	const body = `<!doctype html><p>Computing</p><script>const worker = new Worker(URL.createObjectURL(new Blob([
		"%s"]))); worker.postMessage(1);
		addEventListener('scroll', () => { document.querySelector('p').textContent = 'Scrolled'; });
		if (crossOriginIsolated) document.title = 'Isolated';
		document.body.style.height = '5000px';</script>`
	for name, tt := range map[string]struct {
		known, want render.Vain
		starting    bool // it does not even come to the end of its script: the browser holds the page's clock
		header      http.Header
	}{
		"of a host that is not known":    {want: render.Vain{Workers: true}},
		"of a host where it was in vain": {known: render.Vain{Workers: true}},
		"that starts":                    {starting: true, want: render.Vain{Workers: true}},
		"that starts, in vain before":    {starting: true, known: render.Vain{Workers: true}},
		"of a page that shares memory": {header: http.Header{
			"Cross-Origin-Opener-Policy": {"same-origin"}, "Cross-Origin-Embedder-Policy": {"require-corp"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			header := http.Header{"Content-Type": {"text/html"}}
			maps.Copy(header, tt.header)
			script := compute("Infinity")
			if !tt.starting {
				script = "onmessage = () => { " + script + "}"
			}
			for limit := 15 * time.Second; ; limit *= 2 {
				b := s.browser(t, func(o *render.Options) { o.Timeout = limit })
				p, err := b.Render(t.Context(), render.Request{
					URL: &url.URL{Scheme: "https", Host: "www.example", Path: "/"}, Status: http.StatusOK,
					Header: header, Body: fmt.Appendf(nil, body, script), Vain: tt.known,
				})
				if err != nil || p.Ended == render.EndedByTimeout || p.Unsettled != "" { // the machine is slow
					if limit > mostTime {
						t.Fatal(err, p)
					}
					continue
				}
				if p.Vain != tt.want || p.More != render.MoreComputing || p.Ended != render.EndedByQuiet ||
					!strings.Contains(string(p.HTML), "Scrolled") ||
					strings.Contains(string(p.HTML), "<title>Isolated<") != (tt.header != nil) {
					t.Errorf("%+v, more %q, ended %q: %s", p.Vain, p.More, p.Ended, p.HTML)
				}
				return
			}
		})
	}
}
