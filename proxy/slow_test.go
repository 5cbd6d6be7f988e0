package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The time limit of pages holds for who asks for a page. An API that is asked for anything may be slow; what turns out
// to be a page then passes as it is.
func TestASlowAnswerToWhoAskedForAnythingPasses(t *testing.T) {
	const limit = 50 * time.Millisecond
	held := make(chan struct{})
	h := func(w http.ResponseWriter, r *http.Request) {
		<-held
		switch r.URL.Path {
		case "/api":
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"slow":true}`)
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, article)
		}
	}
	b := newBenchAt(t, origins{"*:80": plainOrigin(t, h)}, limit, nil)
	for _, accept := range []string{"text/html", "text/markdown", "application/json, text/html;q=.5"} {
		if resp, body := b.get("http://a.test/page", "Accept: "+accept); resp.StatusCode != http.StatusGatewayTimeout ||
			!strings.Contains(resp.Header.Get("Proxy-Status"), "http_response_timeout") {
			t.Errorf("%s: %d %q", accept, resp.StatusCode, body)
		}
	}
	time.AfterFunc(4*limit, func() { close(held) })
	for _, accept := range []string{"*/*", "application/json"} {
		resp, body := b.get("http://a.test/api", "Accept: "+accept)
		if resp.StatusCode != http.StatusOK || body != `{"slow":true}` {
			t.Errorf("%s: %d %q", accept, resp.StatusCode, body)
		}
	}
}

func TestAPageThatComesLatePassesAsItIs(t *testing.T) {
	const limit = 50 * time.Millisecond
	b := newBenchAt(t, origins{"*:80": plainOrigin(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(10 * limit)
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Cache-Control", "max-age=600")
		io.WriteString(w, article)
	})}, limit, nil)
	resp, body := b.get("http://a.test/page", "Accept: */*")
	if resp.StatusCode != http.StatusOK || body != article || resp.Header.Get("X-Readthru-Warning") != "late" {
		t.Errorf("%d %q %q", resp.StatusCode, resp.Header, body)
	}
}
