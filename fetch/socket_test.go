package fetch_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/internal/transport/transporttest"
)

// TestWebSocketsOfPagesReachWhatPagesReach opens WebSockets as rendered pages do: to a site, and to what no page may
// reach.
func TestWebSocketsOfPagesReachWhatPagesReach(t *testing.T) {
	asked := 0
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		_ = c.Write(r.Context(), websocket.MessageText, []byte("hello"))
		_ = c.CloseNow()
	}))
	defer origin.Close()
	addr := origin.Listener.Addr().String()
	client := fetch.PageClient(transporttest.New(t, transport.Options{Resolve: []string{"site.test:80=" + addr}}),
		func(host string) bool { return host == "blocked.test" })
	dial := func(ctx context.Context, at string) (string, error) {
		c, resp, err := websocket.Dial(ctx, at, &websocket.DialOptions{HTTPClient: &http.Client{Transport: client}})
		if err != nil {
			return "", err
		}
		if resp.Body != nil {
			defer resp.Body.Close()
		}
		defer c.CloseNow() //nolint:errcheck // it was only read
		_, text, err := c.Read(ctx)
		return string(text), err
	}
	if text, err := dial(t.Context(), "ws://site.test/"); text != "hello" || err != nil {
		t.Errorf("%q, %v, want hello", text, err)
	}
	for at, want := range map[string]string{
		"ws://169.254.169.254/latest/meta-data/": "169.254.169.254",
		"ws://[fd00:ec2::254]/":                  "fd00:ec2::254",
		"ws://" + addr + "/":                     "127.0.0.1",
		"ws://10.0.0.1/":                         "10.0.0.1",
		"wss://blocked.test/":                    "blocked",
	} {
		if text, err := dial(t.Context(), at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v, want it refused", at, text, err)
		}
	}
	if asked != 1 {
		t.Errorf("the origin was asked %d times, want once", asked)
	}
}
