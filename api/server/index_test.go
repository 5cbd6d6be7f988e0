package server_test

import (
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/readthru/readthru/api/server"
)

// TestTheIndexLinksWhatCanBeFollowed follows every link of the index: none is a pattern, or wants a parameter.
func TestTheIndexLinksWhatCanBeFollowed(t *testing.T) {
	addr := newWorld(t, func(o *server.Options) { o.Proxy = func() string { return "127.0.0.1:1" } }).listen(t)
	b, err := io.ReadAll(ask(t, addr, "GET", "/", "").Body)
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`href="([^"]+)"`).FindAllSubmatch(b, -1)
	if len(links) < 8 {
		t.Errorf("%d links in %s", len(links), b)
	}
	for _, l := range links {
		if resp := ask(t, addr, "GET", string(l[1]), ""); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d, want 200", l[1], resp.StatusCode)
		}
	}
}
