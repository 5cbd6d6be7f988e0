package fetch_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
)

func TestASecretURLIsNoPageInAnyMode(t *testing.T) { // AD4
	c := newChain(t, respond(200, article("H"), html), func(o *fetch.Options) { o.Private = true })
	if _, err := c.own(t, "https://user:hunter2@site.test/a"); err != nil {
		t.Fatal(err)
	}
	if p := c.stored(t, "https://site.test/a"); p != nil {
		t.Errorf("stored as %s", p.URL)
	}
}

func TestAnErrorSaysNothingOfAHostsMarkdown(t *testing.T) {
	c := newChain(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			respond(404, "", "Content-Type: text/markdown")(w, r)
			return
		}
		respond(200, twin, "Content-Type: text/markdown")(w, r)
	}))
	c.read(t, "https://site.test/gone")
	c.read(t, "https://site.test/page")
	if got := c.origin.last(t).Header.Get("Accept"); !strings.HasPrefix(got, "text/markdown") {
		t.Errorf("asked with Accept %q, want markdown first still", got)
	}
}
