package fetch_test

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/render/rendertest"
)

// shell is a page whose text comes with its script.
const shell = `<!doctype html><html lang=en><head><title>Harbour</title></head><body><div id=root></div><script>
fetch('/api/text').then((r) => r.text()).then((t) => {
	document.getElementById('root').innerHTML = '<main><h1>Harbour</h1>' + ('<p>' + t + '</p>').repeat(12) + '</main>';
});
</script></body></html>`

const shellText = "The harbour wakes before the town does, and the boats that left at dusk come home in single file."

// spa serves shell at every path but /api/text.
func spa(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/text" {
		_, _ = io.WriteString(w, shellText)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=600")
	if r.URL.Path == "/whole" {
		_, _ = io.WriteString(w, article("Whole"))
		return
	}
	_, _ = io.WriteString(w, shell)
}

// late is a client that is known only when the chain stands.
type late struct{ http.RoundTripper }

// mostTime is the time that a page gets in the browser of a machine that has very much else to do.
const mostTime = 10 * time.Minute

// withBrowser returns a chain that renders with the browser named; empty: the one of this machine, whose absence skips
// the test unless CI is set.
func withBrowser(t *testing.T, name string, h http.Handler, change ...func(*fetch.Options)) *chain {
	t.Helper()
	return withBrowserFor(t, mostTime, name, h, change...)
}

// withBrowserFor is withBrowser with a limit for each page.
func withBrowserFor(t *testing.T, limit time.Duration, name string, h http.Handler, change ...func(*fetch.Options),
) *chain {
	t.Helper()
	if testing.Short() && name == "" {
		t.Skip("short: it starts a browser")
	}
	client := new(late)
	b := render.New(render.Options{
		Browser: name, Client: fetch.PageClient(client, func(host string) bool { return host == "blocked.test" }),
		Dir: rendertest.Dir(t), UserAgent: "readthru/test", Timeout: limit,
	})
	t.Cleanup(func() { _ = b.Close() })
	if st := b.State(); name == "" && st.Mode != "browser" {
		needs.Missing(t, "no browser: %s", st.Reason)
	}
	c := newChain(t, h, append(change, func(o *fetch.Options) { o.Browser, o.Timeout = b, limit })...)
	client.RoundTripper = c.cache
	return c
}

// outcome returns what a step of the cascade did.
func outcome(p *page.Page, step string) string {
	for _, a := range p.Attempts {
		if a.Step == step {
			return a.Outcome
		}
	}
	return ""
}

func TestAShellIsRenderedOnceAndKept(t *testing.T) { // rules C2, AD3
	c := withBrowser(t, "", http.HandlerFunc(spa))
	first := c.read(t, "https://site.test/app")
	if first.Page.Source != page.Browser || !strings.Contains(string(first.Body), shellText) ||
		len(first.Page.Warnings) != 0 || first.Page.Info.RenderEnd != render.EndedByQuiet {
		t.Fatalf("source %s, warnings %q, attempts %+v:\n%s", first.Page.Source, first.Page.Warnings,
			first.Page.Attempts,
			first.Body)
	}
	if asked := c.origin.asked(); !slices.Equal(asked, []string{"GET site.test/app", "GET site.test/api/text"}) {
		t.Errorf("the origin was asked %q, want page and data once", asked)
	}
	if ua := c.origin.last(t).UserAgent(); ua != "readthru/test" {
		t.Errorf("data asked for as %q", ua)
	}
	again := c.read(t, "https://site.test/app")
	if again.Page.Source != page.Browser || string(again.Body) != string(first.Body) || len(c.origin.asked()) != 2 {
		t.Errorf("second answer by %s, origin asked %q", again.Page.Source, c.origin.asked())
	}
	if n := c.Stats().Render.Pages; n != 1 {
		t.Errorf("%d pages rendered, want 1", n)
	}
}

// ledger is an application whose text comes from data that may change.
type ledger struct {
	text, data, script, status atomic.Value
}

func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/text":
		w.Header().Set("Cache-Control", l.data.Load().(string))
		w.WriteHeader(l.status.Load().(int))
		_, _ = io.WriteString(w, l.text.Load().(string))
	case "/app.js":
		w.Header().Set("Content-Type", "text/javascript")
		w.Header().Set("Cache-Control", l.script.Load().(string))
		_, _ = io.WriteString(w,
			`fetch('/api/text').then((r) => r.text()).then((t) => { document.getElementById('root').innerHTML =
			'<main><h1>Harbour</h1>' + ('<p>' + t + '</p>').repeat(12) + '</main>'; });`)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Etag", `"shell"`)
		_, _ = io.WriteString(w,
			`<!doctype html><title>Harbour</title><body><div id=root></div><script src=/app.js></script>`)
	}
}

func newLedger(data string) *ledger {
	l := &ledger{}
	l.text.Store("The first " + shellText)
	l.data.Store(data)
	l.script.Store("max-age=600")
	l.status.Store(200)
	return l
}

func TestAShadowRootIsNoThinPage(t *testing.T) { // rule C2
	text := "<h1>Harbour</h1>" + strings.Repeat("<p>"+shellText+"</p>", 6)
	c := withBrowser(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/declared":
			_, _ = fmt.Fprintf(w, `<!doctype html><title>H</title>`+
				`<x-story><template shadowrootmode=open>%s</template></x-story>
				<script>void 0</script>`, text)
		case "/attached":
			_, _ = fmt.Fprintf(w, `<!doctype html><title>H</title><x-story></x-story><script>
				customElements.define('x-story', class extends HTMLElement {
					connectedCallback() { this.attachShadow({mode: 'closed'}).innerHTML = %q; }
				});</script>`, text)
		}
	}))
	for path, source := range map[string]page.Source{"/declared": page.Local, "/attached": page.Browser} {
		ans := c.read(t, "https://site.test"+path)
		n := strings.Count(string(ans.Body), shellText)
		if ans.Page.Source != source || len(ans.Page.Warnings) != 0 || n != 6 {
			t.Errorf("%s by %s, warnings %q, %d of 6 paragraphs", path, ans.Page.Source, ans.Page.Warnings, n)
		}
	}
}

func TestAForcedReadRunsTheBrowser(t *testing.T) { // rule A12
	l := newLedger("max-age=600")
	c := withBrowser(t, "", l)
	c.read(t, "https://site.test/app")
	l.text.Store("The second " + shellText)
	if ans := c.read(t, "https://site.test/app"); !strings.Contains(string(ans.Body), "The first") ||
		!ans.Page.FromCache {
		t.Errorf("what is fresh was made again, or is not from the cache:\n%s", ans.Body)
	}
	for n, r := range []fetch.Request{
		{Own: true, Force: true},
		{Own: true, Force: true, Render: fetch.RenderAlways},
		{Header: header("Cache-Control: no-cache")},
		{Header: header("Cache-Control: max-age=0")},
	} {
		text := fmt.Sprintf("Reading %d: ", n) + shellText
		l.text.Store(text)
		r.URL = parse(t, "https://site.test/app")
		ans, err := c.try(t, r)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(ans.Body), text) || ans.Page.FromCache {
			t.Errorf("request %d: from the cache %t:\n%s", n, ans.Page.FromCache, ans.Body)
		}
	}
	if asked := c.origin.asked(); !slices.Contains(asked[3:], "GET site.test/app.js") {
		t.Errorf("the origin was asked %q, and not for the script", asked[3:])
	}
	versions, err := c.store.Versions(page.KeyOf("https://site.test/app"))
	if err != nil || len(versions) != 5 {
		t.Errorf("%d versions, %v, want one for each text", len(versions), err)
	}
}

func TestARenderedPageIsFreshAsLongAsItsResponsesSay(t *testing.T) { // rule AD4
	for _, tt := range []struct {
		name         string
		data, script string
		change       func(*fetch.Options)
		fresh        bool
	}{
		{"data that must not be stored", "no-store", "max-age=600", nil, false},
		{"data that must be validated", "no-cache", "max-age=600", nil, false},
		{"a script that must be validated", "public", "no-cache", nil, false},
		{"both fresh", "max-age=600", "max-age=600", nil, true},
		{"both silent", "public", "public", nil, true},
		{
			"a rule for the page", "no-store", "no-store",
			func(o *fetch.Options) { o.Rules = hostrule.Rules{{Host: "site.test", TTL: time.Hour}} }, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLedger(tt.data)
			l.script.Store(tt.script)
			var change []func(*fetch.Options)
			if tt.change != nil {
				change = append(change, tt.change)
			}
			c := withBrowser(t, "", l, change...)
			c.read(t, "https://site.test/app")
			l.text.Store("The second " + shellText)
			ans := c.read(t, "https://site.test/app")
			if got := strings.Contains(string(ans.Body), "The first"); got != tt.fresh {
				t.Errorf("the first text again: %t, want %t:\n%s", got, tt.fresh, ans.Body)
			}
		})
	}
}

func TestAPassingFailureDoesNotStick(t *testing.T) { // rule C3
	l := newLedger("public")
	l.status.Store(503)
	l.text.Store("")
	c := withBrowser(t, "", l)
	if ans := c.read(t, "https://site.test/app"); strings.Contains(string(ans.Body), shellText) {
		t.Fatalf("text without data:\n%s", ans.Body)
	}
	l.status.Store(200)
	l.text.Store("The first " + shellText)
	whole := c.read(t, "https://site.test/app")
	if !strings.Contains(string(whole.Body), "The first") || len(whole.Page.Warnings) != 0 {
		t.Errorf("warnings %q:\n%s", whole.Page.Warnings, whole.Body)
	}
}

func TestWhatIsIncompleteIsNeverPreferred(t *testing.T) { // rule C3
	program, shown := filepath.Join(t.TempDir(), "chromium"), "The first "
	l := newLedger("no-store")
	c := withBrowser(t, "", l)
	c.read(t, "https://site.test/app")
	dying := render.New(render.Options{Browser: program, Client: c.cache, Dir: t.TempDir()})
	t.Cleanup(func() { _ = dying.Close() })
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	healthy := c.Browser()
	c.UseBrowser(dying)
	for _, force := range []bool{false, true} {
		ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/app"), Own: true, Force: force})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(ans.Body), shown) || !slices.Contains(ans.Page.Warnings, "stale") ||
			!slices.Contains(ans.Page.Warnings, "no-browser") {
			t.Errorf("force %t: warnings %q:\n%s", force, ans.Page.Warnings, ans.Body)
		}
	}
	if p := c.stored(t, "https://site.test/app"); p.Source != page.Browser {
		t.Errorf("the stored page is by %s", p.Source)
	}
	l.text.Store("The second " + shellText)
	c.UseBrowser(healthy)
	if ans := c.read(t, "https://site.test/app"); !strings.Contains(string(ans.Body), "The second") ||
		len(ans.Page.Warnings) != 0 {
		t.Errorf("warnings %q:\n%s", ans.Page.Warnings, ans.Body)
	}
}

func TestAScriptsRedirectIsSaid(t *testing.T) {
	c := withBrowser(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Host + r.URL.Path {
		case "site.test/script":
			respond(200, `<body><script>location = 'https://docs.site.test/page?a=1#top'</script>`, html)(w, r)
		case "site.test/meta":
			respond(200, `<head><meta http-equiv=refresh content="0; url=https://docs.site.test/page?a=1"></head>`+
				`<body>`+
				`<script></script>`,
				html)(w, r)
		case "site.test/secret":
			respond(200, `<body><script>
				location = 'https://docs.site.test/page?access_token=eyJhbGciOiJIUzI1NiJ9'</script>`,
				html)(w, r)
		case "site.test/route":
			respond(200,
				strings.Replace(shell, "<script>", "<script>history.replaceState(null, '', '/route/home');", 1),
				html)(w, r)
		case "site.test/api/text":
			_, _ = io.WriteString(w, shellText)
		default:
			respond(200, article("Elsewhere"), html)(w, r)
		}
	}))
	for _, tt := range []struct {
		path, final string
		said        bool
	}{
		{"script", "https://docs.site.test/page?a=1#top", true},
		{"meta", "https://docs.site.test/page?a=1", true},
		{"route", "https://site.test/route/home", false},
	} {
		for range 2 { // the second time from the store
			ans := c.read(t, "https://site.test/"+tt.path)
			if ans.Page.Source != page.Browser || ans.Page.FinalURL != tt.final ||
				slices.Contains(ans.Page.Warnings, "script-redirect") != tt.said {
				t.Errorf("%s: by %s, final URL %s, warnings %q", tt.path, ans.Page.Source, ans.Page.FinalURL,
					ans.Page.Warnings)
			}
		}
	}
	if h, _ := c.store.Host("site.test"); len(h.Facts) > 1 {
		t.Errorf("learnt of the first site: %+v", h)
	}
	ans := c.read(t, "https://site.test/secret")
	if ans.Page.Stored || c.stored(t, "https://site.test/secret") != nil {
		t.Error("a page is stored whose script led to a secret URL")
	}
	stay := func(*url.URL) error { return errors.New("stay here") }
	ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/script?2"), Own: true, Follow: stay})
	if err != nil || strings.Contains(string(ans.Body), "Elsewhere") {
		t.Errorf("who follows no redirect got the other page: %v", err)
	}
}

func TestMislabelledHTMLIsRenderedAsHTML(t *testing.T) { // rule A3
	c := withBrowser(t, "", respond(200, article("Harbour"), "Content-Type: text/markdown"))
	needBrowser(t, c, time.Now())
	for _, mode := range []string{"", fetch.RenderAlways} {
		ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/"), Own: true, Force: true, Render: mode})
		if err != nil {
			t.Fatal(err)
		}
		if body := string(ans.Body); !strings.Contains(body, "# Harbour") || strings.Contains(body, "<!doctype") ||
			strings.Contains(body, "```") {
			t.Errorf("source %s:\n%.400s", ans.Page.Source, body)
		}
	}
}

func TestALargePageIsConvertedHere(t *testing.T) {
	var b strings.Builder
	b.WriteString("<!doctype html><title>Rivers</title><body><main><h1>Rivers</h1>")
	for b.Len() < 12<<20 {
		fmt.Fprintf(&b, "<p>River %d: %s</p>\n", b.Len(),
			strings.Repeat("it flows to the sea, as it does each spring; ", 200))
	}
	b.WriteString("<p>And that was the last one.</p></main>")
	for _, mode := range []string{"fallback", "prefer"} {
		remote, use := newConverter(t)
		c := withBrowser(t, "", respond(200, b.String(), html), use(mode, 0))
		needBrowser(t, c, time.Now())
		ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/"), Own: true})
		if err != nil || ans.Page == nil {
			t.Fatalf("%s: page %v, %v", mode, ans.Page, err)
		}
		if ans.Page.Source != page.Local || !strings.HasSuffix(string(ans.Body), "And that was the last one.\n") ||
			len(ans.Page.Warnings) != 0 {
			t.Errorf("%s: source %s, warnings %q, attempts %+v, %d bytes", mode, ans.Page.Source, ans.Page.Warnings,
				ans.Page.Attempts, len(ans.Body))
		}
		if len(remote.asked) != 0 || c.Stats().Render.Pages+c.Stats().Render.Failed != 0 {
			t.Errorf("%s: a third party was asked %q, or the browser", mode, remote.asked)
		}
	}
}

func TestWhatARenderedPageLoadsIsDecoded(t *testing.T) {
	c := withBrowser(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/text" {
			spa(w, r)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, shellText)
		_ = z.Close()
	}))
	if ans := c.read(t, "https://site.test/app"); ans.Page.Source != page.Browser ||
		!strings.Contains(string(ans.Body), shellText) {
		t.Errorf("source %s:\n%s", ans.Page.Source, ans.Body)
	}
}

// TestNoAddressOfTheCorpusIsReachedFromAPage has pages try the addresses and spellings of ssrf-targets.json, in
// testdata or the folder that READTHRU_CORPUS_SECURITY names, as data and as places to go to.
func TestNoAddressOfTheCorpusIsReachedFromAPage(t *testing.T) {
	dir := cmp.Or(os.Getenv("READTHRU_CORPUS_SECURITY"), "testdata")
	b, err := os.ReadFile(filepath.Join(dir, "ssrf-targets.json"))
	if err != nil {
		t.Fatal(err)
	}
	var targets []struct{ Kind, Value, Expect string }
	if err := json.Unmarshal(b, &targets); err != nil {
		t.Fatal(err)
	}
	victim := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request,
	) {
		t.Errorf("%s%s was reached", r.Host, r.URL)
	}))
	defer victim.Close()
	_, port, err := net.SplitHostPort(victim.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, x := range targets {
		host := x.Value
		if x.Kind == "ip" && x.Expect == "allow" || x.Kind != "ip" && x.Kind != "host" {
			continue
		}
		if x.Kind == "ip" && strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		urls = append(urls, "http://"+host+":"+port+"/")
	}
	list, err := json.Marshal(urls)
	if err != nil {
		t.Fatal(err)
	}
	c := withBrowser(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/to/")); err == nil {
			_, _ = fmt.Fprintf(w, `<body><div id=out></div><script>location = %q</script>`, urls[n])
			return
		}
		_, _ = fmt.Fprintf(w, `<body><div id=out></div><script>
			const ask = (u) => {
				try { return fetch(u, {mode: 'no-cors'}).then(() => 'got ' + u, () => 'refused')
				} catch { return 'refused' }
			};
			Promise.all(%s.map(ask))
				.then((all) => { document.getElementById('out').textContent = all.join(', '); });
		</script>`, list)
	}), func(o *fetch.Options) { o.Render = fetch.RenderAlways })
	ans := c.read(t, "https://site.test/")
	if got := string(ans.Body); strings.Count(got, "refused") != len(urls) || strings.Contains(got, "got ") {
		t.Errorf("got %s, want %d refused", got, len(urls))
	}
	for n, u := range urls {
		if ans := c.read(t, "https://site.test/to/"+strconv.Itoa(n)); ans.Page.Source == page.Browser &&
			ans.Page.FinalURL != "https://site.test/to/"+strconv.Itoa(n) {
			t.Errorf("%s gave a page of %s", u, ans.Page.FinalURL)
		}
	}
}

func TestWithoutABrowserAShellSaysWhatIsMissing(t *testing.T) { // rules C4, AD7
	c := withBrowser(t, filepath.Join(t.TempDir(), "none"), http.HandlerFunc(spa))
	for range 2 { // the second time from the store
		ans := c.read(t, "https://site.test/app")
		if w := ans.Header.Values("X-Readthru-Warning"); !slices.Contains(w, "js-shell") ||
			!slices.Contains(w, "no-browser") {
			t.Errorf("warnings %q, want js-shell and no-browser", w)
		}
		if strings.Contains(string(ans.Body), "browser") {
			t.Errorf("the marker is in the markdown: %s", ans.Body)
		}
	}
	if ans := c.read(t, "https://site.test/whole"); len(ans.Header.Values("X-Readthru-Warning")) != 0 {
		t.Errorf("warnings %q for a page that needs none", ans.Header.Values("X-Readthru-Warning"))
	}
}

func TestABrowserThatFailsLeavesThePlainResult(t *testing.T) { // rule C3
	fake := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := withBrowser(t, fake, http.HandlerFunc(spa))
	ans := c.read(t, "https://site.test/app")
	if ans.Page.Source != page.Local || outcome(ans.Page, "browser") != page.Failed ||
		!slices.Contains(ans.Page.Warnings, "no-browser") {
		t.Errorf("source %s, warnings %q, attempts %+v", ans.Page.Source, ans.Page.Warnings, ans.Page.Attempts)
	}
}

func TestAPageInTheBrowserKeepsToTheGuard(t *testing.T) {
	c := withBrowser(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "site.test" {
			t.Errorf("%s was asked", r.Host)
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<body><div id=out></div><script>
			Promise.all(['http://169.254.169.254:8080/latest/meta-data/', 'http://127.0.0.1:1/',
				'http://[::1]:8080/', 'http://0x7f.1:8080/', 'http://2130706433:8080/', 'http://10.0.0.1:8080/',
				'https://blocked.test/']
				.map((u) => fetch(u, {mode: 'no-cors'}).then(() => 'got ' + u, () => 'refused')))
				.then((all) => { document.getElementById('out').textContent = all.join(', ') });
		</script>`)
	}), func(o *fetch.Options) { o.Render = fetch.RenderAlways })
	ans := c.read(t, "https://site.test/")
	if got := string(ans.Body); strings.Count(got, "refused") != 7 || strings.Contains(got, "got ") {
		t.Errorf("got %s", got)
	}
}

func TestAScreenshotAndTheConsoleComeOnRequest(t *testing.T) {
	c := withBrowser(t, "", respond(200, article("Noisy", "<script>console.error('it went wrong')</script>"), html))
	ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/"), Screenshot: true, Console: true, Own: true})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(ans.Screenshot), "\x89PNG") || !slices.Equal(ans.Console, []string{"it went wrong"}) {
		t.Errorf("screenshot of %d bytes, console %q", len(ans.Screenshot), ans.Console)
	}
	if again := c.read(t, "https://site.test/"); again.Screenshot != nil || again.Console != nil {
		t.Error("they come without being asked for")
	}
}
