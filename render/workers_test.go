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

func TestAPageWhoseWorkerIsBusyIsNotComplete(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t, func(o *render.Options) { o.Timeout = 30 * time.Second })
	s.add("/busy", `<p>Computing</p><script>const worker = new Worker(URL.createObjectURL(new Blob(["onmessage = () => { `+
		compute("Infinity")+`}"]))); worker.postMessage(1)</script>`)
	if p, err := b.Render(t.Context(), s.page(t, "/busy")); err == nil && p.Unsettled == "" { // slow machines err
		t.Errorf("it is complete: %s", p.HTML)
	} else {
		t.Log(p.Unsettled, err)
	}
}
