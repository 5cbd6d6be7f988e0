package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/render/rendertest"
	"github.com/readthru/readthru/store"
)

// mostTime is the time that a page gets in the browser of a machine that has very much else to do.
const mostTime = 10 * time.Minute

const shell = `<!doctype html><title>App</title><body><div id=root></div><script>console.error('went wrong');
	setTimeout(() => {
	root.innerHTML = '<main><h1 id=late>Made</h1>' +
		'<p>A script wrote this paragraph, which is long enough to be read.</p>'.repeat(12) + '</main>' }, 50)</script>`

// withBrowser serves the operations over a fetcher that renders with the browser named (empty: the one of this machine,
// whose absence skips the test unless CI is set), from an origin that answers every path with shell.
func withBrowser(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() && name == "" {
		t.Skip("short: it starts a browser")
	}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, shell)
	}))
	t.Cleanup(origin.Close)
	origins, err := transport.New(transport.Options{Resolve: []string{"*:80=" +
		origin.Listener.Addr().String()}, UserAgent: "readthru/test"})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c := cache.New(cache.Options{Store: st, Next: origins})
	b := render.New(render.Options{
		Browser: name, Client: fetch.PageClient(c, func(string) bool { return false }),
		Dir: rendertest.Dir(t), Timeout: mostTime,
	})
	f := fetch.New(fetch.Options{
		Client: c, Direct: origins, Store: st, MarkdownNew: fetch.MarkdownNew{Mode: "off"},
		Browser: b, Timeout: mostTime,
	})
	t.Cleanup(func() {
		origins.CloseIdleConnections()
		for _, part := range []io.Closer{f, b, c, st} {
			if err := part.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	if s := b.State(); name == "" && s.Mode != "browser" {
		needs.Missing(t, "no browser: %s", s.Reason)
	}
	front := httptest.NewServer(server.New(server.Options{
		Fetch: f, Store: st, Version: "test", TrustUser: true,
		Proxy: func() string { return "127.0.0.1:7887" },
	}))
	t.Cleanup(front.Close)
	return front.Listener.Addr().String()
}

// got decodes the answer to a request into a T.
func got[T any](t *testing.T, addr, method, path, body string) (v T) {
	t.Helper()
	resp := ask(t, addr, method, path, body, "Content-Type: application/json")
	if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
		t.Fatalf("%s %s: status %d: %v", method, path, resp.StatusCode, err)
	}
	return v
}

func TestPagesAreRenderedAsTheCallerSays(t *testing.T) { // rules C2, C7
	addr := withBrowser(t, "")
	for _, tt := range []struct {
		body   string
		source page.Source
	}{
		{`{"url":"http://site.test/a"}`, page.Browser},
		{`{"url":"http://site.test/a","render":"never"}`, page.Local},
		{`{"url":"http://site.test/b","render":"always","wait_for":"#late"}`, page.Browser},
	} {
		p := got[page.Page](t, addr, "POST", "/api/v1/fetch", tt.body)
		if p.Source != tt.source || strings.Contains(p.Content, "# Made") != (tt.source == page.Browser) ||
			p.Console != nil {
			t.Errorf("%s: source %s, warnings %q, attempts %+v: %s", tt.body, p.Source, p.Warnings, p.Attempts, p.Content)
		}
	}
	p := got[page.Page](t, addr, "POST", "/api/v1/fetch",
		`{"url":"http://site.test/c","format":"screenshot","console":true}`)
	if !strings.HasPrefix(string(p.Screenshot), "\x89PNG") || !slices.Equal(p.Console, []string{"went wrong"}) ||
		p.Content != "" {
		t.Errorf("screenshot of %d bytes, console %q, content %q", len(p.Screenshot), p.Console, p.Content)
	}
	if st := got[api.Stats](t, addr, "GET", "/stats", ""); st.Render.State != "browser" || st.Render.Pages != 3 ||
		st.Render.Browser == "" {
		t.Errorf("stats %+v", st.Render)
	}
	if rd := got[api.Readiness](t, addr, "GET", "/readyz", ""); rd.Parts["render"].State != "browser" {
		t.Errorf("ready %+v", rd.Parts["render"])
	}
}

func TestWithoutABrowserEveryPlaceSaysSo(t *testing.T) { // rules C1, C4
	addr := withBrowser(t, filepath.Join(t.TempDir(), "none"))
	p := got[page.Page](t, addr, "POST", "/api/v1/fetch", `{"url":"http://site.test/a"}`)
	if p.Source != page.Local || !slices.Contains(p.Warnings, "js-shell") || !slices.Contains(p.Warnings, "no-browser") {
		t.Errorf("source %s, warnings %q", p.Source, p.Warnings)
	}
	if p := got[page.Page](t, addr, "POST", "/api/v1/fetch",
		`{"url":"http://site.test/a","format":"screenshot"}`); p.Error == nil || p.Error.Kind != "unsupported" {
		t.Errorf("screenshot without a browser: %+v", p.Error)
	}
	if st := got[api.Stats](t, addr, "GET", "/stats", ""); st.Render.State != "http" || st.Render.Reason == "" {
		t.Errorf("stats %+v", st.Render)
	}
	if rd := got[api.Readiness](t, addr, "GET", "/readyz", ""); rd.Parts["render"].State != "http" ||
		rd.Parts["render"].Reason == "" || !rd.Ready {
		t.Errorf("ready %v, %+v: a missing browser is no reason not to be", rd.Ready, rd.Parts["render"])
	}
}
