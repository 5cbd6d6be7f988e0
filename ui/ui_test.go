package ui_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/knowledge"
	own "github.com/readthru/readthru/page"
	"github.com/readthru/readthru/render/rendertest"
	"github.com/readthru/readthru/store"
	"github.com/readthru/readthru/ui"
)

// world is an admin port with a dashboard, and what its journal is told.
type world struct {
	server  *server.Server
	restart func(instance, token string) // replaces the server
	base    string
	told    *journal.Journal
	kept    string // the directory of its files
	store   *store.Store

	switches atomic.Pointer[api.Switches]
	sessions atomic.Pointer[[]api.SessionStats]
	system   atomic.Pointer[api.System]
	trust    atomic.Pointer[[]api.Trust]
	renewed  atomic.Int64
	open     atomic.Int64 // requests in progress

	origin string // that answers what setOrigin says
	pages  map[string]func(http.ResponseWriter)
	know   *knowledge.Knowledge
}

func newWorld(t *testing.T) *world {
	t.Helper()
	st, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{store: st, kept: t.TempDir(), pages: map[string]func(http.ResponseWriter){}}
	w.told = journal.New(journal.Options{Dir: w.kept})
	origin := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if answer := w.pages[r.URL.Path]; answer != nil {
			answer(rw)
			return
		}
		http.NotFound(rw, r)
	}))
	t.Cleanup(origin.Close)
	w.origin = origin.URL
	c := cache.New(cache.Options{
		Page: own.IsPage, Markdown: own.IsMarkdown, Store: st, Next: http.DefaultTransport,
	})
	f := fetch.New(fetch.Options{Client: c, Direct: c, Store: st, MarkdownNew: fetch.MarkdownNew{Mode: "off"}})
	k, err := knowledge.Open(knowledge.Options{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	w.know = k
	proxy := func() string { return "127.0.0.1:7887" }
	w.switches.Store(&api.Switches{})
	w.system.Store(&api.System{})
	w.trust.Store(&[]api.Trust{})
	authority, err := certs.Open(certs.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	w.sessions.Store(&[]api.SessionStats{})
	node, err := fleet.New(fleet.Options{ // which is not run: its database is nowhere
		Database: "postgres://127.0.0.1:1/readthru?sslmode=disable", Node: "desk:7887", Store: st,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Close)
	start := func(instance, token string) *server.Server {
		return server.New(server.Options{
			Fetch: f, Store: st, Knowledge: k, Dir: t.TempDir(), Version: "test", Instance: instance, Token: token,
			Fleet: node, CA: authority.PEM, Trust: func(context.Context) []api.Trust { return *w.trust.Load() },
			RenewCA: func() error { w.renewed.Add(1); return nil },
			System:  func(context.Context) (*api.System, error) { return new(*w.system.Load()), nil },
			Journal: w.told, Proxy: proxy, Sessions: func() []api.SessionStats { return *w.sessions.Load() },
			Treatment: func(host string) (string, string) {
				if host == "hostile.test" || strings.HasPrefix(host, "longlong-") {
					return "tunnel", `preset; category="chat"`
				}
				return "intercept", "default"
			},
			Open:     func() (int, int) { return int(w.open.Load()), 1 },
			Switches: func() api.Switches { return *w.switches.Load() },
			Switch:   func(to api.Switches) error { w.switches.Store(&to); return nil },
			Dashboard: func(s *server.Server) *http.ServeMux {
				return ui.New(ui.Options{Client: s.Client("ui"), Version: "test", Instance: instance, Proxy: proxy})
			},
		})
	}
	w.server = start("one", "token")
	var answering atomic.Pointer[server.Server]
	answering.Store(w.server)
	w.restart = func(instance, token string) {
		before := w.server
		w.server = start(instance, token)
		answering.Store(w.server)
		before.Stop()
	}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		answering.Load().ServeHTTP(rw, r)
	}))
	w.base = s.URL
	t.Cleanup(func() {
		w.server.Stop()
		s.Close()
		if err := errors.Join(f.Close(), c.Close(), k.Close(), st.Close()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// vectors run a script in a browser that takes them for HTML, attributes, URLs or scripts: elements with an event that
// nobody need cause, and what else does.
func vectors() (list []string) {
	for _, tag := range []string{
		"img src=x onerror", "svg onload", "body onload", "iframe src=x onload", "input autofocus onfocus",
		"video src=x onerror",
		"details open ontoggle", "marquee onstart", "audio src=x onerror", "object data=x onerror", "style onload",
		"link rel=stylesheet href=x onerror", "select autofocus onfocus", "textarea autofocus onfocus",
	} {
		list = append(list, "<"+tag+"=hit()>")
	}
	return append(list, "<script>hit()</script>", "</script><script>hit()</script>", "</title><script>hit()</script>",
		`"><script>hit()</script>`, `'><script>hit()</script>`, "javascript:hit()",
		"data:text/html,<script>parent.hit()</script>",
		`" autofocus onfocus="hit()`, "' autofocus onfocus='hit()", "<a href=javascript:hit()>x</a>", "{{hit()}}", "${hit()}",
		"<base href=https://evil.test/>", "<meta http-equiv=refresh content='0;url=javascript:hit()'>",
		"--><script>hit()</script>",
		"<math><mtext><table><mglyph><style><img src=x onerror=hit()>",
		"<noscript><p title='</noscript><img src=x onerror=hit()>'>",
		"\u202egnp.exe\u202c", "\x00<script>hit()</script>", "<template><script>hit()</script></template>")
}

// hostile is a request that says text wherever an origin or a client can have a say.
func hostile(text string) *journal.Entry {
	return &journal.Entry{
		Time: time.Now(), Method: "GET", URL: "https://a.test/" + text, Status: 200, Outcome: text, Why: text, Section: text,
		Client: text, User: text, Session: text, Agent: text, Trace: text, Form: text,
		Taken: text, Tunnel: text, Rule: text, Source: text,
		Type: text, Error: text, Warnings: []string{text}, Tokens: 10, HTMLTokens: 90, OriginMS: 3, MS: 9, Micros: 9000,
		Attempts: []own.Attempt{{Step: text, Outcome: text, Reason: text, MS: 2}},
		Asked:    journal.RequestFields(http.Header{"User-Agent": {text}}),
		Answered: journal.ResponseFields(http.Header{"Content-Type": {text}, "X-" + text: {text}}),
	}
}

// browser is a tab, and what happened in it that must not.
type browser struct {
	ctx  context.Context
	t    *testing.T
	base string

	mu     sync.Mutex
	faults []string
}

func newBrowser(t *testing.T, base string) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("short: it starts a browser")
	}
	path := os.Getenv("READTHRU_TEST_BROWSER")
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome", "chrome"} {
		if path == "" {
			path, _ = exec.LookPath(name)
		}
	}
	if path == "" {
		needs.Missing(t, "there is no Chromium: .ci/clients installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.UserDataDir(rendertest.Dir(t)), chromedp.WSURLReadTimeout(3*time.Minute))
	allocated, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	ctx, close := chromedp.NewContext(allocated)
	t.Cleanup(close)
	b := &browser{ctx: ctx, t: t, base: base}
	if err := chromedp.Listen(ctx, b.watch); err != nil {
		t.Fatal(err)
	}
	call(b, log.Enable, cdp.Empty{})
	call(b, network.Enable, network.EnableParams{})
	return b
}

func (b *browser) watch(event any) {
	fault := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, b.base+"/") && !strings.HasPrefix(e.Request.URL, "about:") {
			fault = "it asks for " + e.Request.URL
		}
	case *log.EventEntryAdded:
		fault = fmt.Sprintf("the browser logs %s %s", e.Entry.Text, e.Entry.URL)
	case *runtime.EventConsoleAPICalled:
		fault = "a script logs " + string(e.Type)
	case *runtime.EventExceptionThrown:
		fault = "a script fails: " + e.ExceptionDetails.Text
	case *page.EventJavascriptDialogOpening:
		fault = "a dialog opens"
	}
	if fault != "" {
		b.mu.Lock()
		b.faults = append(b.faults, fault)
		b.mu.Unlock()
	}
}

func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// call sends a command of the browser's protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// value returns what an expression is in the page.
func value[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// see waits until the page has loaded, with its scripts, and the first element of an XPath is shown; press then clicks
// it, in one step: what is live may be replaced at any time, and a page may be left.
func (b *browser) see(xpath string)   { b.t.Helper(); b.find(xpath, "true") }
func (b *browser) press(xpath string) { b.t.Helper(); b.find(xpath, "(e.click(), true)") }

func (b *browser) find(xpath, then string) {
	b.t.Helper()
	find := fmt.Sprintf(`(() => {
		const e = document.evaluate(%q, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue;
		return document.readyState === 'complete' && !!e && e.getClientRects().length > 0 && %s;
	})()`, xpath, then)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for tries := 0; ; tries++ {
		found, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](find))
		switch {
		case err == nil && found:
			return
		case b.ctx.Err() != nil || tries == 6000:
			b.t.Fatalf("%s is not shown: %v", xpath, err)
		}
		<-tick.C
	}
}

// tooWide says whether a page must be scrolled sideways.
const tooWide = "document.documentElement.scrollWidth > innerWidth"

// widest names what stands out of the window.
const widest = `[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)
	.slice(0, 4).map(e => e.outerHTML.slice(0, 120)).join(' | ')`

// open opens a page, and reports what has gone wrong since the one before.
func (b *browser) open(path string) {
	b.t.Helper()
	b.run(chromedp.Navigate(b.base+path), chromedp.WaitReady("footer"))
	b.check(path)
}

func (b *browser) check(path string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fault := range b.faults {
		b.t.Errorf("%s: %s", path, fault)
	}
	b.faults = nil
}

// accessible runs axe over the page that is open, in the dark or light.
func (b *browser) accessible(path, axe string) {
	b.t.Helper()
	value[int](b, axe+";0")
	for _, scheme := range []string{"light", "dark"} {
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
		rules := "{}"
		if scheme == "dark" {
			rules = "{runOnly: ['color-contrast']}" // the rest is as in the light
		}
		found := value[[]string](b, `axe.run(`+rules+`).then(r => r.violations
			.filter(v => v.impact === 'serious' || v.impact === 'critical')
			.map(v => v.id + ': ' + v.help + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200)).join(' | ')))`)
		for _, f := range found {
			b.t.Errorf("%s, %s: axe: %s", path, scheme, f)
		}
	}
}

// axe returns the script of axe-core.
func axe(t *testing.T) string {
	t.Helper()
	names, _ := filepath.Glob("testdata/npm/axe-core-*.tgz")
	if len(names) != 1 {
		needs.Missing(t, "there is no axe-core: .ci/npm fetches it")
	}
	f, err := os.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if err != nil {
			t.Fatal(err)
		}
		if h.Name == "package/axe.min.js" {
			script, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			return string(script)
		}
	}
}

func TestPagesInABrowser(t *testing.T) {
	w := newWorld(t)
	all := vectors()
	for _, v := range all {
		w.told.Add(hostile(v))
	}
	w.told.Add(hostile(strings.Join(all, " ")))
	w.told.Add(hostile(strings.Repeat("long", 2500)))
	calm := &journal.Entry{
		Time: time.Now(), Method: "GET", URL: "https://calm.test/page", Status: 200, Outcome: "hit", Cache: "hit",
		Why: "A stored response is fresh.", Section: "RFC 9111 §4.2", Micros: 120, Asked: "Accept: */*\n",
	}
	w.told.Add(calm)
	list, err := w.server.Client("test").Requests(t.Context(), api.RequestQuery{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	w.fillSites(t, all)
	w.fillSystem(append(all, strings.Repeat("long", 2500)))
	w.fillSessions(t, append([]string{"calm"}, all...))
	w.fillLedger(t, append(all, strings.Repeat("long", 2500), "calm.test"))
	b := newBrowser(t, w.base)
	link, err := w.server.Client("test").SigninLink(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	b.open(link.Path)
	script := axe(t)
	paths := append([]string{
		"/", "/?span=30d", "/requests", "/requests/" + list.Requests[0].ID, "/requests/" + list.Requests[2].ID, "/sites",
		"/sites/hostile.test", "/left",
		"/system?all=1", "/sessions", "/session?name=calm", "/session?name=" + url.QueryEscape(all[0]),
	}, hostilePages(t, w)...)
	for i, path := range paths {
		b.open(path)
		at := value[string](b, "location.href")
		ran, wide := value[bool](b, "'hit' in window || frames.length > 0"), value[bool](b, tooWide)
		if at != w.base+path || ran || wide {
			t.Errorf("%s: it is at %s; foreign text ran: %v; wider than the window: %v", path, at, ran, wide)
		}
		if script != "" && (i < 4 || strings.HasPrefix(path, "/s") || path == "/left") {
			b.accessible(path, script)
		}
		if b.run(chromedp.EmulateViewport(360, 740)); value[bool](b, tooWide) {
			t.Errorf("%s: wider than a phone: %s", path, value[string](b, widest))
		}
		b.run(chromedp.EmulateViewport(1280, 900))
		b.check(path)
	}
	for _, path := range calmPages(t, w) {
		b.open(path)
		if script != "" {
			b.accessible(path, script)
		}
		b.check(path)
	}
	useNow(t, w, b)
	useKeys(t, w, b)
	useSites(t, w, b)
	useLeft(t, w, b)
	useSessions(t, w, b)
	useSystem(t, w, b)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open("/requests?q=host:calm.test")
	b.see(`//a[contains(., "calm.test/page")]`)
	b.check("without scripts")
}

// useKeys filters, opens and goes back by keys, and waits for a request that ends meanwhile.
func useKeys(t *testing.T, w *world, b *browser) {
	t.Helper()
	w.put(t, "typed", "Typed", "# Typed\n\nA page about quinces.\n")
	if err := w.know.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.open("/search")
	b.run(chromedp.KeyEvent("q"), chromedp.KeyEvent("u"), chromedp.KeyEvent("i"), chromedp.KeyEvent("*"))
	b.see("//mark")
	if at := value[string](b, "location.search"); at != "?q=qui*" {
		t.Errorf("while somebody types, the address is %q", at)
	}
	value[bool](b, "document.activeElement.blur(), true")
	b.run(chromedp.KeyEvent("j"), chromedp.KeyEvent("o"))
	b.see(`//*[contains(concat(" ", @class, " "), " md ")]`)
	b.check("search")
	b.open("/requests?q=host:live.test")
	b.see(`//p[@id="link" and .="Live"]`)
	w.told.Add(&journal.Entry{Time: time.Now(), Method: "GET", URL: "https://live.test/new", Status: 200, Outcome: "miss"})
	b.see(`//a[contains(., "live.test/new")]`)
	b.run(chromedp.KeyEvent("/"))
	if focused := value[string](b, "document.activeElement.id"); focused != "q" {
		t.Errorf("the key / goes to %q, not to the filter", focused)
	}
	value[bool](b, "document.activeElement.blur(), true")
	b.run(chromedp.KeyEvent("j"), chromedp.KeyEvent("o"))
	b.see(`//*[@id="curl"]`)
	b.run(chromedp.KeyEvent("?"))
	b.see(`//*[@id="keys"]`)
	b.check("keys")
}

// reply is the answer to a request.
type reply struct {
	status int
	header http.Header
	body   string
}

// do asks as the signed-in user, or as somebody with the given fields.
func (w *world) do(t *testing.T, method, path string, change func(*http.Request)) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, w.base+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer token")
	req.Header.Set("Accept", "text/html")
	if change != nil {
		change(req)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(body)}
}

func TestPagesAreGuarded(t *testing.T) {
	w := newWorld(t)
	for name, tt := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"signed in":         {nil, 200},
		"a stranger":        {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"a wrong token":     {func(r *http.Request) { r.Header.Set("Authorization", "Bearer other") }, 401},
		"DNS rebinding":     {func(r *http.Request) { r.Host = "evil.test" }, 403},
		"another origin":    {func(r *http.Request) { r.Header.Set("Origin", "https://evil.test") }, 403},
		"a cross-site page": {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
	} {
		for _, path := range []string{"/", "/requests", "/requests/0123456789abcdef", "/left", "/sessions", "/system"} {
			got := w.do(t, http.MethodGet, path, tt.change)
			want := tt.want
			if want == 200 && strings.Contains(path, "0123") {
				want = 404
			}
			if got.status != want {
				t.Errorf("%s, %s: status %d, want %d", name, path, got.status, want)
			}
			if tt.want != 200 && strings.Contains(got.body, "<nav") {
				t.Errorf("%s, %s: gets the page", name, path)
			}
			if policy := got.header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") ||
				strings.Contains(policy, "unsafe") {
				t.Errorf("%s, %s: policy %q", name, path, policy)
			}
		}
	}
	form := w.do(t, http.MethodPost, "/requests", func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader("a=1")), 3
	})
	if form.status < 400 {
		t.Errorf("a form of another site: status %d", form.status)
	}
	if style := w.do(t, http.MethodGet, "/assets/style.css", func(r *http.Request) {
		r.Header.Del("Authorization")
	}); style.status != http.StatusOK {
		t.Errorf("the style for a stranger: status %d", style.status)
	}
	index := w.do(t, http.MethodGet, "/", func(r *http.Request) { r.Header.Set("Accept", "*/*") })
	if !strings.Contains(index.body, "/api/v1/pages") {
		t.Error("who is no browser does not get the index of operations")
	}
}

func TestAPersonAtAnUnknownPathGetsAPage(t *testing.T) {
	w := newWorld(t)
	got := w.do(t, http.MethodGet, "/nothing/<b>", nil)
	if got.status != http.StatusNotFound || !strings.Contains(got.body, "there is no page /nothing/&lt;b&gt;") ||
		!strings.Contains(got.body, `<a href="/">Back</a>`) {
		t.Errorf("status %d, %.300s", got.status, got.body)
	}
	asProgram := func(r *http.Request) { r.Header.Set("Accept", "application/json") }
	if got := w.do(t, http.MethodGet, "/nothing", asProgram); got.status != http.StatusNotFound ||
		!strings.HasPrefix(got.body, "{") {
		t.Errorf("a program gets %d, %.300s", got.status, got.body)
	}
	if got := w.do(t, http.MethodGet, "/api/v1/rules", nil); got.status != http.StatusOK ||
		!strings.HasPrefix(got.body, "{") {
		t.Errorf("an operation answers a person with %d, %.300s", got.status, got.body)
	}
	if got := w.do(t, http.MethodGet, "/api", nil); !strings.Contains(got.body, "/api/v1/requests") ||
		!strings.Contains(got.body, `href="/"`) {
		t.Errorf("the list of operations: %d, %.300s", got.status, got.body)
	}
}

func TestPagesListInPartsAndSayWhatIsWrong(t *testing.T) {
	w := newWorld(t)
	for i := range 250 {
		w.told.Add(&journal.Entry{Method: "GET", URL: fmt.Sprintf("https://a.test/%d.", i), Status: 200, Outcome: "hit"})
	}
	seen := 0
	for path := "/requests?q=host%3Aa.test"; path != ""; {
		body := w.do(t, http.MethodGet, path, nil).body
		seen += strings.Count(body, `title="https://a.test/`)
		_, rest, more := strings.Cut(body, `<p class="more"><a href="`)
		next, _, _ := strings.Cut(rest, `" rel="next"`)
		if path = ""; more && !strings.Contains(next, "<") {
			path = strings.ReplaceAll(next, "&amp;", "&")
		}
	}
	if seen != 250 {
		t.Errorf("%d requests are listed, want 250", seen)
	}
	got := w.do(t, http.MethodGet, "/requests?q="+url.QueryEscape("status:many"), nil)
	if got.status != http.StatusBadRequest || !strings.Contains(got.body, "is not a number like 404") {
		t.Errorf("a malformed filter: %d", got.status)
	}
	total := 0
	for _, path := range []string{"/", "/assets/style.css", "/assets/live.js", "/assets/icon.svg"} {
		total += len(w.do(t, http.MethodGet, path, nil).body)
	}
	if total > 100<<10 {
		t.Errorf("the first load has %d bytes, want 100 KB at most", total)
	}
}
