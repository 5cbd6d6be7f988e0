package ui_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/knowledge"
	own "github.com/readthru/readthru/page"
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

	directory  *users.Directory
	configured atomic.Pointer[[]string] // the names of users of the configuration
	open       atomic.Int64             // requests in progress

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
	w.configured.Store(&[]string{})
	w.directory = users.NewDirectory(nil)
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
			Users:   w.directory, ConfiguredUsers: func() []string { return *w.configured.Load() },
			Changed: func() error { all := st.Users(); return w.directory.Set(nil, all.List, all.Closed) },
			System:  func(context.Context) (*api.System, error) { return new(*w.system.Load()), nil },
			Journal: w.told, Proxy: proxy, Sessions: func() []api.SessionStats { return *w.sessions.Load() },
			Treatment: func(host string) (string, string) {
				for _, r := range st.Rules() {
					if r.Action != "" && r.Path == "" && own.MatchHost(r.Host, host) {
						return r.Action, "rule"
					}
				}
				if host == "hostile.test" || strings.HasPrefix(host, "longlong-") {
					return "tunnel", `preset; category="chat"`
				}
				return "intercept", "default"
			},
			Open:     func() (int, int) { return int(w.open.Load()), 1 },
			Switches: func() api.Switches { return *w.switches.Load() },
			Switch:   func(to api.Switches) error { w.switches.Store(&to); return nil },
			Dashboard: func(s *server.Server) *http.ServeMux {
				return ui.New(ui.Options{
					Client: s.Client("ui"), Version: "test", Instance: instance, Proxy: proxy, Authority: "/elsewhere/ca/ca.pem",
				})
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
	w.fillViews(t, append(all, strings.Repeat("long", 250)))
	w.fillNotes(t, append(all, strings.Repeat("long", 2500)))
	w.fillSites(t, all)
	unrule := w.fillRules(t, append(all, strings.Repeat("long", 500)))
	w.fillSystem(append(all, strings.Repeat("long", 2500)))
	w.fillSessions(t, append([]string{"calm"}, all...))
	w.fillLedger(t, append(all, strings.Repeat("long", 2500), "calm.test"))
	w.fillUsers(t, append(all, strings.Repeat("long", 2500)))
	w.fillActs(t, append(all, strings.Repeat("long", 2500)))
	b := newBrowser(t, w.base)
	link, err := w.server.Client("test").SigninLink(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	b.open(link.Path)
	script := axe(t)
	paths := append([]string{
		"/", "/?span=30d", "/requests", "/requests?q=" + url.QueryEscape(all[0]),
		"/requests/" + list.Requests[0].ID, "/requests/" + list.Requests[2].ID, "/sites", "/notes",
		"/sites/hostile.test", "/sites/ruled.test", "/left",
		"/users", "/user?name=ann", "/user?name=" + strings.Repeat("long", 10), "/user?name=" + url.QueryEscape(all[0]),
		"/acts", "/account", "/system?all=1", "/sessions", "/session?name=calm", "/session?name=" + url.QueryEscape(all[0]),
	}, hostilePages(t, w)...)
	for i, path := range paths {
		b.open(path)
		at := value[string](b, "location.href")
		ran, wide := value[bool](b, "'hit' in window || frames.length > 0"), value[bool](b, tooWide)
		if at != w.base+path || ran || wide {
			t.Errorf("%s: it is at %s; foreign text ran: %v; wider than the window: %v", path, at, ran, wide)
		}
		list := strings.HasPrefix(path, "/s") || strings.HasPrefix(path, "/user") || path == "/acts" || path == "/left"
		if script != "" && (i < 6 || list) {
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
	unrule()
	useViews(t, w, b)
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
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	useUsers(t, b, script)
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
		!strings.Contains(got.body, `<a href="/">Now</a>`) {
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

func TestTheOperationsOfTheAPIAreAPage(t *testing.T) {
	w := newWorld(t)
	got := w.do(t, http.MethodGet, "/api", nil)
	if got.status != http.StatusOK || !strings.Contains(got.body, `<nav aria-label="Rooms">`) ||
		!strings.Contains(got.body, "<code>/api/v1/pages/{doc}</code>") {
		t.Errorf("status %d, %.300s", got.status, got.body)
	}
}
