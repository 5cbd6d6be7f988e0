package render_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/render"
)

// render is a page that must succeed.
func rendered(t *testing.T, b *render.Browser, r render.Request) *render.Page {
	t.Helper()
	p, err := b.Render(context.Background(), r)
	if err != nil {
		t.Fatalf("render %s: %v", r.URL, err)
	}
	return p
}

// eachBrowser runs a test with the browser of this machine, and with the other kind where both are installed.
func eachBrowser(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	if name := os.Getenv("READTHRU_TEST_BROWSER"); name != "" {
		test(t, name)
		return
	}
	t.Run("found", func(t *testing.T) { test(t, "") })
	if _, err := exec.LookPath("chromium"); err == nil {
		t.Run("chromium", func(t *testing.T) { test(t, "chromium") })
	}
}

func TestGivenResponseIsNotRequestedAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	r := s.page(t, "/held")
	r.Status, r.Header = http.StatusOK, http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	r.Body = []byte(`<!doctype html><p id=p>held</p><script>
		document.getElementById('p').textContent += ' and run'</script>`)
	if p := rendered(t, b, r); !strings.Contains(string(p.HTML), "held and run") {
		t.Errorf("got %s", p.HTML)
	}
	if got := s.requests(); len(got) != 0 {
		t.Errorf("the origin was asked %q", got)
	}
}

func TestRequestsOfPagesWork(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	s.mux.HandleFunc("/set", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes", Path: "/", HttpOnly: true})
		http.Redirect(w, r, "/told", http.StatusFound)
	})
	s.mux.HandleFunc("/told", func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("seen")
		_, _ = fmt.Fprintf(w, "cookie %v %v", c, err)
	})
	s.mux.HandleFunc("/secret", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	s.mux.HandleFunc("/agent", func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, r.UserAgent()) })
	s.mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		f, _, err := r.FormFile("file")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var b bytes.Buffer
		_, _ = b.ReadFrom(f)
		_, _ = fmt.Fprintf(w, "got %d bytes", b.Len())
	})
	into := func(expr string) string {
		return `<body><div id=out></div><script>(async()=>{document.getElementById('out').textContent = await (async()=>{` +
			expr + `})().catch(e=>'failed: '+e)})()</script>`
	}
	for _, tt := range []struct{ name, html, want string }{
		{"cookies set by a redirect are sent on", into(`return (await fetch('/set')).text()`), "cookie seen=yes"},
		{
			"a form with a file arrives whole",
			into(`const f = new FormData(); f.append('file', new Blob([new Uint8Array(300000)]));
				return (await fetch('/echo', {method: 'POST', body: f})).text()`), "got 300000 bytes",
		},
		{"our User-Agent is on the wire", into(`return (await fetch('/agent')).text()`), "readthru/test"},
		{
			"another origin without CORS cannot be read", into(`return (await fetch('http://other.example/agent')).text()`),
			"failed: TypeError",
		},
		{"storage works", into(`localStorage.setItem('a', 'kept'); return localStorage.getItem('a')`), ">kept<"},
		{
			"a frame of the same origin is read in its place", `<p>before</p><iframe src="/agent"></iframe><p>after</p>`,
			`>readthru/test</pre></template></section><p>after</p>`,
		},
		{
			"its links lead where they led",
			`<iframe srcdoc="<p>framed <a href='x/y'>on</a></p><iframe srcdoc='<p>twice'></iframe>"></iframe>`,
			`<p>framed <a href="http://www.example/x/y">on</a></p>`,
		},
		{
			"a frame in a frame is read", `<iframe srcdoc="<iframe srcdoc='<p>twice'></iframe>"></iframe>`,
			`<p>twice</p></template></section></template></section>`,
		},
		{
			"a frame that nobody sees is not read",
			`<p>beside</p><iframe style="display:none" srcdoc="<p>unseen"></iframe><script>
				document.currentScript.previousSibling.removeAttribute('srcdoc')</script>`, `></iframe><script>`,
		},
		{
			"a frame of another origin is not read", `<iframe src="http://other.example/agent"></iframe><p>after</p>`,
			`></iframe><p>after</p>`,
		},
		{
			"a closed shadow root is read",
			`<a-b></a-b><script>
				document.querySelector('a-b').attachShadow({mode: 'closed'}).innerHTML = '<p>was closed</p>'</script>`,
			`<template shadowrootmode="open"><p>was closed</p>`,
		},
		{"a request that asks for a password fails", into(`return (await fetch('/secret')).status`), ">401<"},
		{
			"a service worker fails and the page goes on",
			into(`return await navigator.serviceWorker.register('/sw.js').then(() => 'registered', () => 'went on without')`),
			"went on without",
		},
		{
			"a socket fails and the page goes on",
			into(`return await new Promise(d => { const w = new WebSocket('ws://www.example/x');
				w.onerror = () => d('went on without') })`), "went on without",
		},
		{"a window does not open", into(`return 'opened ' + window.open('/agent')`), "opened null"},
		{
			"dialogs are answered", into(`for (let i = 0; i < 1000; i++) { alert(i); confirm(i); prompt(i) } return 'answered'`),
			">answered<",
		},
		{
			"an event stream is refused at once",
			into(`return await new Promise(d => { new EventSource('/agent').onerror = () => d('no stream') })`), "no stream",
		},
		{
			"a file of the machine cannot be read", into(`return (await fetch('file:///etc/passwd')).text()`),
			"failed: TypeError",
		},
		{
			"a download is none", `<p>still here</p><script>location = 'data:application/octet-stream,xxx'</script>`,
			"still here",
		},
		{
			"a nested shadow root is seen",
			`<a-b></a-b><script>const r = document.querySelector('a-b').attachShadow({mode: 'open'});
				r.innerHTML = '<c-d></c-d>'; r.firstChild.attachShadow({mode: 'open'}).innerHTML = '<p>deep</p>'</script>`,
			`<template shadowrootmode="open"><p>deep</p>`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := "/" + strings.ReplaceAll(tt.name, " ", "-")
			s.add(at, tt.html)
			if p := rendered(t, b, s.page(t, at)); !strings.Contains(string(p.HTML), tt.want) {
				t.Errorf("%q is not in %s", tt.want, p.HTML)
			}
		})
	}
}

func TestPagesShareNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	s.add("/a", `<p id=p></p><script>
		document.getElementById('p').textContent = 'cookie:' + document.cookie + ' stored:' + localStorage.getItem('x');
		document.cookie = 'x=1'; localStorage.setItem('x', 1)</script>`)
	for range 2 {
		if p := rendered(t, b, s.page(t, "/a")); !strings.Contains(string(p.HTML), ">cookie: stored:null<") {
			t.Errorf("got %s", p.HTML)
		}
	}
}

func TestImagesAreLoadedForAScreenshotOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	s.add("/shown", `<body style="margin:0;background:#0a0"><img src="/i.png"><div style="height:3000px"></div>`)
	r := s.page(t, "/shown")
	p := rendered(t, b, r)
	if p.Screenshot != nil || p.Refused != 1 || slices.Contains(s.requests(), "GET www.example/i.png") {
		t.Errorf("without a screenshot: %d bytes, %d refused, requests %q", len(p.Screenshot), p.Refused, s.requests())
	}
	r.Screenshot = true
	p = rendered(t, b, r)
	img, err := png.Decode(bytes.NewReader(p.Screenshot))
	if err != nil {
		t.Fatalf("decode the screenshot: %v", err)
	}
	if size := img.Bounds().Size(); size.X != 1280 || size.Y < 3000 {
		t.Errorf("screenshot of %v, want the whole page", size)
	}
	if _, g, _, _ := img.At(600, 2500).RGBA(); g>>8 != 0xaa {
		t.Errorf("colour at its middle: %v", img.At(600, 2500))
	}
	if !slices.Contains(s.requests(), "GET www.example/i.png") {
		t.Errorf("the image was not loaded: %q", s.requests())
	}
}

func TestConsoleErrorsAreKeptOnRequest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	s.add("/noisy", `<script>console.log('chat'); console.error('went wrong', 7);
		for (let i = 0; i < 500; i++) console.error('x'.repeat(5000)); throw new Error('thrown')</script>`)
	r := s.page(t, "/noisy")
	r.Console = true
	p := rendered(t, b, r)
	if len(p.Console) == 0 || len(p.Console) > 100 || !slices.Contains(p.Console, "went wrong 7") {
		t.Errorf("console of %d lines: %.200q", len(p.Console), p.Console)
	}
	for _, line := range p.Console {
		if len(line) > 1010 || strings.Contains(line, "chat") {
			t.Errorf("line of %d bytes: %.80s", len(line), line)
		}
	}
}

func TestRenderWaitsAsLongAsThePageWorks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t, func(o *render.Options) { o.Timeout = mostTime })
	s.mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(5500 * time.Millisecond): // a sixth of the time and more
			_, _ = io.WriteString(w, "it came at last")
		case <-r.Context().Done():
		}
	})
	s.mux.HandleFunc("/never", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s.add("/page", `<body><p>shell</p><script>fetch('/slow').then((r) => r.text()).then((t) =>
		document.body.insertAdjacentHTML('beforeend', '<article>' + t + '</article>'))</script>`)
	s.add("/polls", `<body><p>shell</p><script>fetch('/never'); setTimeout(() =>
		document.body.insertAdjacentHTML('beforeend', '<article>it came at last</article>'), 1)</script>`)
	s.add("/hangs", `<body><p>it came at last</p><script>fetch('/never')</script>`)
	for _, tt := range []struct {
		path, selector, want string
		limit                time.Duration
	}{
		{"/page", "", render.EndedByQuiet, time.Minute},
		{"/page", "article", render.EndedBySelector, time.Minute},
		{"/polls", "article", render.EndedBySelector, time.Minute},
		{"/hangs", "", render.EndedByTimeout, 4 * time.Second},
		{"/hangs", "article", render.EndedByTimeout, 4 * time.Second},
	} {
		t.Run(tt.path+" "+tt.selector, func(t *testing.T) {
			t.Parallel()
			r := s.page(t, tt.path)
			r.Selector = tt.selector
			p, err := patiently(t, b, r, tt.limit, func(_ *render.Page, err error) bool { return err == nil })
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(p.HTML), "it came at last") || p.Ended != tt.want ||
				(p.Unsettled == "") != (tt.want != render.EndedByTimeout) {
				t.Errorf("ended by %s, want %s; %q:\n%s", p.Ended, tt.want, p.Unsettled, p.HTML)
			}
		})
	}
}

// mostTime is the time that a page gets on a machine that has very much else to do.
const mostTime = 10 * time.Minute

// patiently renders a page within a limit, and within twice as much each time that what is wanted does not come: how
// long pages wait follows from their limit, and a busy machine is late without being wrong.
func patiently(t *testing.T, b *render.Browser, r render.Request, limit time.Duration,
	wanted func(*render.Page, error) bool,
) (*render.Page, error) {
	t.Helper()
	for {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		p, err := b.Render(ctx, r)
		cancel()
		if limit *= 2; wanted(p, err) || limit > mostTime {
			return p, err
		}
	}
}

func TestRenderWaitsForASelector(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	s.add("/late", `<body><script>setTimeout(() =>
		document.body.insertAdjacentHTML('beforeend', '<p id=late>here</p>'), 9000)</script>`)
	r := s.page(t, "/late")
	r.Selector = "#late"
	if p := rendered(t, b, r); !strings.Contains(string(p.HTML), "here") || p.Unsettled != "" {
		t.Errorf("got %s %q", p.HTML, p.Unsettled)
	}
	r.Selector = "p["
	if _, err := b.Render(context.Background(), r); err == nil || !strings.Contains(err.Error(), "selector") {
		t.Errorf("error %v, want one that names the selector", err)
	}
}

func TestHostilePagesAreBoundedAndDoNotDisturbOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t, func(o *render.Options) { o.Timeout, o.MaxBody = mostTime, 1<<20 })
	s.mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		chunk := make([]byte, 1<<16)
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	s.mux.HandleFunc("/never", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for _, tt := range []struct{ name, html, want, problem string }{ // problem lists alternatives; any: it may fail or not
		{"a script without end", `<script>for (;;);</script>`, "", "deadline exceeded|does not answer"},
		{
			"a script without end, later", `<script>setTimeout(() => { for (;;); }, 50)</script>`, "",
			"deadline exceeded|does not answer",
		},
		{
			"a miner", `<p>digging</p><script>
			new Worker(URL.createObjectURL(new Blob(['for (;;);'])));
			const code = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 109, 0, 0,
				10, 9, 1, 7, 0, 3, 64, 12, 0, 11, 11]);
			WebAssembly.instantiate(code).then((m) => m.instance.exports.m())</script>`, "",
			"deadline exceeded|does not answer",
		},
		{"a document over the limit", `<script>document.write('<p>' + 'x'.repeat(2000000))</script>`, "", "too large"},
		{
			"uploads without end",
			`<p>kept</p><script>const much = new Blob([new Uint8Array(6000000)]);
				for (let i = 0; i < 200; i++) fetch('/told', {method: 'POST', body: much}).catch(() => {})</script>`, "", "any",
		},
		{
			"a talkative page",
			`<p>said</p><script>const much = 'x'.repeat(10000000);
				for (let i = 0; i < 50; i++) console.error(much + i)</script>`, "", "any",
		},
		{
			"three thousand requests",
			`<p>many</p><script>for (let i = 0; i < 3000; i++) fetch('/never?' + i, {mode: 'no-cors'})</script>`, "many",
			"any",
		},
		{
			"a response without end",
			`<p id=p></p><script>fetch('/endless').then((r) => r.text()).catch(() => {
				document.getElementById('p').textContent = 'refused' })</script>`, ">refused<", "",
		},
		{"a request that never ends", `<p>partial</p><script>fetch('/never')</script>`, "partial", "still loading"},
		{"a page that never rests", `<p>restless</p><script>setInterval(() => fetch('/told'), 1)</script>`, "restless", ""},
		{
			"a page that goes round in circles",
			`<p>round</p><script>setTimeout(() => { location = '?' + Math.random() }, 1)</script>`, "round",
			"over 20 documents",
		},
		{"all memory", `<script>const a = [];
				for (;;) a.push(new Array(1e6).fill(Math.random()))</script>`, "", "crashed|does not answer"},
		{"chrome://crash", `<p>stays</p><script>location = 'chrome://crash'</script>`, "stays", ""},
		{"windows", `<p>alone</p><script>for (let i = 0; i < 1000; i++) window.open('/told')</script>`, "alone", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := "/" + strings.ReplaceAll(strings.ReplaceAll(tt.name, " ", "-"), "/", "")
			s.add(at, tt.html)
			limit := 12 * time.Second
			if strings.Contains(tt.problem, "deadline") || tt.problem == "any" && tt.want == "" {
				limit = 3 * time.Second // nothing more comes of it
			}
			outcome := func(p *render.Page, err error) (text, problem string) {
				if err != nil {
					return "", err.Error()
				}
				return string(p.HTML), p.Unsettled
			}
			as := func(p *render.Page, err error) bool {
				text, problem := outcome(p, err)
				switch tt.problem {
				case "":
					return err == nil && strings.Contains(text, tt.want)
				case "any":
					return err != nil || strings.Contains(text, tt.want)
				}
				return (err != nil || strings.Contains(text, tt.want)) &&
					slices.ContainsFunc(strings.Split(tt.problem, "|"), func(p string) bool { return strings.Contains(problem, p) })
			}
			p, err := patiently(t, b, s.page(t, at), limit, as)
			if text, problem := outcome(p, err); !as(p, err) {
				t.Errorf("problem %q, want %q; %q is to be in\n%s", problem, tt.problem, tt.want, text)
			}
			s.add(at+"-next", "<p>fine</p>")
			if p := rendered(t, b, s.page(t, at+"-next")); !strings.Contains(string(p.HTML), "fine") {
				t.Errorf("the next page: %s", p.HTML)
			}
		})
	}
}

// TestEveryRequestGoesThroughTheClient has pages try every way to a listener of the machine, which must not hear of
// them.
func TestEveryRequestGoesThroughTheClient(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(t *testing.T, name string) {
		t.Helper()
		s := newSite(t)
		nothingGoesPast(t, s, s.browser(t, func(o *render.Options) {
			o.Browser, o.Client, o.Sockets = name, guard{o.Client}, guard{o.Client}
		}))
	})
}

func nothingGoesPast(t *testing.T, s *site, b *render.Browser) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	u, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = u.Close() }()
	at, stun := l.Addr().String(), u.LocalAddr().String()
	s.add("/probe", fmt.Sprintf(`<body><img src="http://%[1]s/img"><link rel=stylesheet href="http://%[1]s/css">
		<script src="http://%[1]s/js"></script><iframe src="http://%[1]s/frame"></iframe>
		<link rel=preconnect href="http://%[1]s"><link rel=dns-prefetch href="http://%[1]s">
		<link rel=prefetch href="http://%[1]s/p">
		<video src="http://%[1]s/v"></video>
		<script>
		fetch('http://%[1]s/fetch', {mode: 'no-cors'}).catch(() => {});
		navigator.sendBeacon('http://%[1]s/beacon', 'x');
		new WebSocket('ws://%[1]s/ws');
		new EventSource('http://%[1]s/es');
		new Worker(URL.createObjectURL(new Blob(["fetch('http://%[1]s/worker', {mode: 'no-cors'})"])));
		window.open('http://%[1]s/win');
		try {
			const c = new RTCPeerConnection({iceServers: [{urls: 'stun:%[2]s'}]});
			c.createDataChannel('x');
			c.createOffer().then((o) => c.setLocalDescription(o));
		} catch {}
		setTimeout(() => document.body.append('probed'), 3000);
		</script>`, at, stun))
	p := rendered(t, b, s.page(t, "/probe"))
	if !strings.Contains(string(p.HTML), "probed</body>") {
		t.Errorf("the page did not try: %s", p.HTML)
	}
	s.add("/gone", fmt.Sprintf(`<script>location = 'http://%s/'</script>`, at))
	if p, err := b.Render(context.Background(), s.page(t, "/gone")); err == nil {
		t.Errorf("going to the machine gave %s", p.HTML)
	}
	s.mux.HandleFunc("/away", func(w http.ResponseWriter,
		r *http.Request,
	) {
		http.Redirect(w, r, "http://"+at+"/", http.StatusFound)
	})
	if _, err := b.Render(context.Background(), s.page(t, "/away")); err == nil {
		t.Error("a redirect to the machine gave a page")
	}
	_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(100 * time.Millisecond))
	if c, err := l.Accept(); err == nil {
		_ = c.Close()
		t.Error("a connection past the client")
	}
	_ = u.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if n, _, err := u.ReadFrom(make([]byte, 1500)); err == nil {
		t.Errorf("a datagram of %d bytes past the client", n)
	}
	for _, asked := range s.requests() {
		if _, host, _ := strings.Cut(asked, " "); !strings.HasPrefix(host, "www.example/") {
			t.Errorf("the client was asked for what no page wanted: %s", asked)
		}
	}
}

// guard refuses addresses of this machine, as the client of a real fetch does.
type guard struct{ http.RoundTripper }

func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if net.ParseIP(r.URL.Hostname()) != nil {
		return nil, errors.New("that address is not for pages")
	}
	return g.RoundTripper.RoundTrip(r)
}

func TestRenderEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	s.mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := b.Render(ctx, s.page(t, "/slow")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
