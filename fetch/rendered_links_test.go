package fetch_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/render"
)

func TestARenderedPageLeadsWhereItsScriptsSay(t *testing.T) {
	c := withBrowser(t, "", respond(200, `<!doctype html><title>App</title><body><div id=root></div><script>
		document.getElementById('root').innerHTML = '<nav><a href="/made">made</a></nav><main><h1>Harbour</h1>' +
			'<p>The boats come home in single file before the town wakes.</p>'.repeat(12) + '</main>'</script>`, html))
	for _, reading := range []string{"the first reading", "one from the store"} {
		ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/app"), Own: true, Links: true})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"https://site.test/made"}; !slices.Equal(ans.Links, want) {
			t.Errorf("%s: links %q, want %q", reading, ans.Links, want)
		}
	}
	if n := c.Browser().State().Pages; n != 1 {
		t.Errorf("rendered %d times, want 1", n)
	}
}

// A page that is given as it was rendered last leads where it led then: its scripts' links, those of its menu too, and
// none of the shell that its origin has.
func TestAPageAsItWasRenderedLastLeadsWhereItLed(t *testing.T) {
	made := `<nav><a href="/made">made</a></nav><main><h1>Harbour</h1>` + "<p>" +
		strings.Repeat("The boats come home in single file before the town wakes. ", 12) + "</p></main>"
	var shell atomic.Int64 // another one each time
	c := withBrowser(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		respond(200, fmt.Sprintf(`<!doctype html><title>App</title><body>`+
			`<div id=root><a href="/shell%d">…</a></div><script>
			document.getElementById('root').innerHTML = %q</script>`, shell.Add(1), made), html,
			"Cache-Control: no-cache")(w, r)
	}))
	want := []string{"https://site.test/made"}
	healthy := c.Browser()
	program := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	dying := render.New(render.Options{Browser: program, Client: c.cache, Dir: t.TempDir()})
	t.Cleanup(func() { _ = dying.Close() })
	for _, browser := range []*render.Browser{healthy, dying} {
		c.UseBrowser(browser)
		ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/app"), Own: true, Links: true})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(ans.Links, want) || slices.Contains(ans.Page.Warnings, "stale") != (browser == dying) {
			t.Errorf("links %q, want %q; warnings %q", ans.Links, want, ans.Page.Warnings)
		}
	}
}

// What is too long to be kept is left out at each reading, which says so, but for what the markdown names.
func TestTheLinksKeptWithARenderedPageAreBounded(t *testing.T) {
	c := withBrowser(t, "", respond(200, `<!doctype html><title>App</title><body><div id=root></div><script>
		let menu = ''; for (let i = 0; i < 3000; i++) menu += '<a href="/' + 'long/'.repeat(20) + i + '">made</a>';
		document.getElementById('root').innerHTML = '<nav>' + menu + '</nav><main><h1>Harbour</h1>' +
			'<p>The boats come home in single file before the town wakes.</p>'.repeat(12) +
			'<a href="/last">The last boat</a></main>'</script>`, html))
	for _, reading := range []string{"the first reading", "one from the store"} {
		ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/app"), Own: true, Links: true})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(ans.Links); n < 1000 || n > 2500 || ans.Links[n-1] != "https://site.test/last" ||
			!slices.Contains(ans.Page.Warnings, "links-cut") {
			t.Errorf("%s: %d links, warnings %q", reading, n, ans.Page.Warnings)
		}
	}
}
