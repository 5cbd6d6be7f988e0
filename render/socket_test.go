package render_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/readthru/readthru/render"
)

// TestAPageIsReadOnceItsWebSocketIsQuiet has a page whose text comes over a WebSocket, message by message.
func TestAPageIsReadOnceItsWebSocketIsQuiet(t *testing.T) {
	t.Parallel()
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

// TestAPageWhoseWebSocketNeverPausesEndsInTime: its reader gets what came so far, and learns that there was more.
func TestAPageWhoseWebSocketNeverPausesEndsInTime(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.mux.HandleFunc("/feed", func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer c.CloseNow() //nolint:errcheck // the page has gone
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for c.Write(r.Context(), websocket.MessageText, []byte("news")) == nil {
			<-tick.C
		}
	})
	s.add("/news", `<h1>Ticker</h1><p id=p></p><script>
	new WebSocket('/feed').onmessage = (e) => { document.getElementById('p').textContent = e.data };
	</script>`)
	b := s.browser(t, func(o *render.Options) { o.Timeout = 10 * time.Second })
	p := rendered(t, b, s.page(t, "/news"))
	if !strings.Contains(string(p.HTML), "<p id=\"p\">news</p>") {
		t.Errorf("no message in %s", p.HTML)
	}
	if p.Ended != render.EndedByTimeout || p.Unsettled == "" {
		t.Errorf("ended by %s, %q, want the end of its time", p.Ended, p.Unsettled)
	}
}

// TestAPolicyOfConnectionsLeavesWebSockets has pages whose Content-Security-Policy names the origin of the feed alone.
func TestAPolicyOfConnectionsLeavesWebSockets(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.mux.HandleFunc("/feed", func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{OriginPatterns: []string{"*"}})
		if err != nil {
			return
		}
		_ = c.Write(r.Context(), websocket.MessageText, []byte("news"))
		_ = c.Close(websocket.StatusNormalClosure, "")
	})
	for n, policy := range []string{
		"connect-src ws://feed.example", "default-src 'unsafe-inline' ws://feed.example",
		"script-src 'unsafe-inline'; Connect-Src ws://feed.example;, img-src *",
	} {
		at := fmt.Sprintf("/news%d", n)
		s.mux.HandleFunc(at, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Security-Policy", policy)
			_, _ = w.Write([]byte(`<p id=p></p><script>
			new WebSocket('ws://feed.example/feed').onmessage = (e) => { document.getElementById('p').append(e.data) };
			fetch('http://other.example/').catch(() => { document.getElementById('p').append('[refused]') });
			</script>`))
		})
	}
	b := s.browser(t)
	for n := range 3 {
		p := rendered(t, b, s.page(t, fmt.Sprintf("/news%d", n)))
		if html := string(p.HTML); !strings.Contains(html, "news") || !strings.Contains(html, "[refused]") {
			t.Errorf("policy %d: %s", n, html)
		}
	}
}
