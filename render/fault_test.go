package render_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fault/faulttest"
	"github.com/readthru/readthru/render"
)

// A page whose work panics is given up at once, with the cause, and not when its time is over. The next one is read.
func TestAPanicInTheWorkOfAPageEndsThePage(t *testing.T) {
	s := newSite(t)
	b := s.browser(t)
	s.add("/", `<main>A text</main>`)
	rendered(t, b, s.page(t, "/"))
	defer fault.Inject(nil)
	for _, work := range []string{"render: take events", "render: take requests", "render: answer a request"} {
		fault.Inject(func(begun string) {
			if begun == work {
				panic("injected")
			}
		})
		if p, err := b.Render(t.Context(), s.page(t, "/")); !fault.Is(err) {
			t.Errorf("%s panics: %+v, %v, want the fault", work, p, err)
		}
		fault.Inject(nil)
		rendered(t, b, s.page(t, "/"))
	}
}

// So is a page whose WebSocket panics, or what is refused to it, or a question to its worker; asked again, it is read.
// Closing a WebSocket that panics leaves it to the end of the page.
func TestAPanicInWhatAPageAsksForEndsThePage(t *testing.T) {
	s := newSite(t)
	s.mux.HandleFunc("/feed", func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow() //nolint:errcheck // it has ended
		if c.Write(r.Context(), websocket.MessageText, []byte("news")) == nil {
			_, _, _ = c.Read(r.Context()) // until it ends
		}
	})
	s.add("/", `<p id=p></p><img src=/missing.png><script>
		const ws = new WebSocket('/feed');
		ws.onmessage = (e) => { document.getElementById('p').append(e.data); ws.close(1000); };
		</script>`)
	s.add("/worker", `<script>new Worker('data:text/javascript,')</script>`)
	b := s.browser(t, func(o *render.Options) { o.Sockets = guard{o.Client} })
	for work, at := range map[string]string{
		"render: refuse a request": "/", "render: read a WebSocket": "/", "render: close a WebSocket": "/",
		"render: ask a worker": "/worker",
	} {
		injected := faulttest.Once(t, work)
		p, err := b.Render(t.Context(), s.page(t, at))
		injected.Await()
		if work != "render: close a WebSocket" && !fault.Is(err) {
			t.Errorf("%s panics: %+v, %v, want the fault", work, p, err)
		}
		if p := rendered(t, b, s.page(t, "/")); !strings.Contains(string(p.HTML), "news") {
			t.Errorf("after %s: %s", work, p.HTML)
		}
	}
}
