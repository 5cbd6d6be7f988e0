package render_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"readthru/render"
)

// TestAPageIsReadOnceItsWebSocketIsQuiet has a page whose text comes over a WebSocket, message by message.
func TestAPageIsReadOnceItsWebSocketIsQuiet(t *testing.T) {
	eachBrowser(t, func(t *testing.T, name string) {
		t.Helper()
		s := newSite(t)
		s.mux.HandleFunc("/feed", func(w http.ResponseWriter, r *http.Request) {
			c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"news"}})
			if err != nil {
				t.Errorf("Origin %q: %v", r.Header.Get("Origin"), err)
				return
			}
			defer c.CloseNow() //nolint:errcheck // it has ended
			for n := 0; ; n++ {
				_, asked, err := c.Read(r.Context())
				if err != nil {
					return
				}
				kind := websocket.MessageText
				if n%2 == 1 {
					kind = websocket.MessageBinary
				}
				if c.Write(r.Context(), kind, append([]byte("answer to "), asked...)) != nil {
					return
				}
			}
		})
		s.add("/news", `<p id=p></p><script>
		const ws = new WebSocket('/feed', 'news'), p = document.getElementById('p');
		let n = 0;
		ws.binaryType = 'arraybuffer';
		ws.onopen = () => { p.append('[' + ws.protocol + ' ' + ws.readyState + ']'); ws.send('0'); };
		ws.addEventListener('message', (e) => {
			p.append('[' + (typeof e.data === 'string' ? e.data : 'bytes of ' + new TextDecoder().decode(e.data)) + ']');
			if (n < 3) ws.send(new TextEncoder().encode(String(++n)));
		});
		const bad = new WebSocket('ws://127.0.0.1:9/'); bad.onerror = () => p.append('[refused]');
		try { new WebSocket('gopher://a.test/') } catch (e) { p.append('[' + e.name + ']') }
		</script>`)
		b := s.browser(t, func(o *render.Options) {
			o.Browser, o.Sockets, o.Timeout = name, guard{o.Client}, time.Minute
		})
		p := rendered(t, b, s.page(t, "/news"))
		for _, want := range []string{
			"[news 1]", "[answer to 0]", "[bytes of answer to 1]", "[answer to 2]", "[bytes of answer to 3]",
			"[refused]", "[SyntaxError]",
		} {
			if !strings.Contains(string(p.HTML), want) {
				t.Errorf("no %s in %s", want, p.HTML)
			}
		}
		if p.Ended != render.EndedByQuiet || p.Unsettled != "" {
			t.Errorf("ended by %s, %q", p.Ended, p.Unsettled)
		}
		said := ""
		for _, r := range p.Responses {
			said += fmt.Sprintln(r.URL, r.Status, r.Header.Get("Cache-Control"))
		}
		if !strings.Contains(said, "ws://www.example/feed 200 no-cache\n") {
			t.Errorf("responses %s, want the WebSocket's", said)
		}
	})
}
