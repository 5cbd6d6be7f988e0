package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	main "github.com/readthru/readthru/cmd/readthru"
	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/webtest"
)

func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"readthru": func() {
		endWithTests(os.Getenv(testsPID))
		os.Exit(main.Main())
	}})
}

// testsPID is the variable that tells commands of scripts the process of the tests.
const testsPID = "TESTS_PID"

// leakChecked runs the tests and then looks for goroutines left over.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	if signal.Ignored(syscall.SIGHUP) { // as under nohup: commands would ignore it, too, and never end by it
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	// Scripts wait for processes more than they compute: more of them run at once than there are processors.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	code := l.m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// TestScripts shows what a user types and sees. Besides testscript's own commands there are
//
//	origin               start an HTTPS origin that stands for every host name, and let readthru know it
//	origin-count PATH N  the origin was asked for PATH N times
//	ready                wait until the daemon started in the background answers
//	taken NAME           listen on a free port and put its address into the environment variable NAME
//	own NAME             put an address of loopback that no other program uses into the environment variable NAME
//	model                start a model that summarises and converts what it is given, and let readthru know it
//	embedder             start a model for embeddings, to which caches and larders are the same, and let readthru know it
//	embedded             wait until the daemon has vectors of all that it has indexed
//	firecrawl            start a Firecrawl server that knows one page of every site, and let readthru
//	                     know it as FIRECRAWL_BASE_URL
func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("short: scripts start daemons and clients")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Defer(func() {
				stopDaemons(t, env.WorkDir)
				wantForOwner(t, filepath.Join(env.WorkDir, "data"))
			})
			env.Setenv(testsPID, strconv.Itoa(os.Getpid()))
			env.Setenv("GORACE", "atexit_sleep_ms=20") // not the second that each command would sleep at its end
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("READTHRU_DATA_DIR", filepath.Join(env.WorkDir, "data"))
			env.Setenv("READTHRU_PROXY_LISTEN", "127.0.0.1:0")
			env.Setenv("READTHRU_ADMIN_LISTEN", "127.0.0.1:0")
			env.Setenv("READTHRU_MARKDOWN_NEW_MODE", "off")
			env.Setenv("READTHRU_RENDER_BROWSER", filepath.Join(env.WorkDir, "no-browser")) // a script that wants one names it
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "ci" { // where a client that is missing is a mistake
				return os.Getenv("CI") != "", nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"origin":       startOrigin,
			"model":        startModel,
			"embedder":     startEmbedder,
			"firecrawl":    startFirecrawl,
			"embedded":     waitEmbedded,
			"origin-count": originCount,
			"asked":        waitAsked,
			"ready":        waitReady,
			"taken":        takePort,
			"own":          ownHost,
		},
	})
}

// stopDaemons stops the daemons that commands started with a data directory below dir, and waits until they have ended.
func stopDaemons(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "daemon.json" || e.IsDir() {
			return err
		}
		var out bytes.Buffer
		stop := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "stop", "--data-dir", filepath.Dir(name))
		stop.Args[0], stop.Stdout, stop.Stderr = "readthru", &out, &out
		if err := stop.Run(); err != nil {
			t.Errorf("%s: %v: %s", name, err, &out)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// wantForOwner checks that nobody else can read what commands left in a data directory, but for the certificates that
// all clients trust.
func wantForOwner(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return // which keeps no such bits
	}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == dir {
			return nil // the script needed none
		}
		if err != nil || slices.Contains([]string{"ca.pem", "bundle.pem"}, e.Name()) {
			return err
		}
		info, err := e.Info()
		switch {
		case err != nil:
			return err
		case info.Mode().Perm()&0o077 != 0:
			t.Errorf("%s has mode %v: others can read it", name, info.Mode())
		case e.IsDir():
			return fs.SkipDir // nobody else gets to what is below, the engine's files of mode 0644 for one
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// origins holds the origin of each script by its work directory.
var origins sync.Map

// origin counts what it is asked for.
type origin struct {
	mu    sync.Mutex
	count map[string]int
}

const article = `<!doctype html><html lang="en"><head><title>%s</title></head><body>` +
	`<nav><a href="/elsewhere">Elsewhere</a></nav>
<main><h1>%s</h1><p>A cache keeps what an origin said, and says it again for as long as the origin allowed. ` +
	`Whoever asks a second time need not wait for the origin, and the origin need not answer.</p>
<p>%s</p><p>See <a href="/next">the next page</a> for validation, which asks an origin whether what is kept ` +
	`still holds, and for what may be said when the origin is gone.</p></main>
<footer>Imprint</footer></body></html>`

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	o.count[r.URL.Path]++
	n := o.count[r.URL.Path]
	o.mu.Unlock()
	switch r.URL.Path {
	case "/page":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = fmt.Fprintf(w, article, "A page about caches", "A page about caches",
			"This paragraph never changes, and it is long enough to be taken for content by whoever looks.")
	case "/changing":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = fmt.Fprintf(w, article, "A page that changes", "A page that changes",
			fmt.Sprintf("This is reading number %d of a paragraph that is different whenever it is read.", n))
	case "/strict": // as some servers answer who names a type that they do not have
		w.Header().Set("Vary", "Accept")
		if strings.Contains(r.Header.Get("Accept"), "text/markdown") {
			w.WriteHeader(http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = fmt.Fprintf(w, article, "A strict page", "A strict page", "It is given to nobody who asks for markdown.")
	case "/reference":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, article, "A reference", "Functions",
			`Functions follow.</p><dl><dt id="tools.gather">tools.gather(<em>quinces</em>)<a href="#tools.gather">¶</a></dt>
			<dd>Gathers the quinces that somebody dropped.</dd></dl><p>Nothing follows.`)
	case "/site/", "/site/one", "/site/two":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		name := strings.TrimPrefix(r.URL.Path, "/site/")
		if name == "" {
			name = "zero"
		}
		_, _ = fmt.Fprintf(w, article, "Site "+name, "Heading of "+name,
			`A page of a site, number `+name+
				`, with links to <a href="one">one</a>, <a href="two">two</a> and <a href="three">three</a>, which is not there.`)
	case "/docs/llms-full.txt":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "# Quays\nSource: https://a.test/docs/quays\n\nWhere ships lie.\n\n"+
			"# Cranes\nSource: https://a.test/docs/cranes\n\nWhat lifts a marzipan load.\n")
	case "/title":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, article, "Evil \x1b]0;owned\x07 title", "Heading",
			"A title that would like to be a terminal's, in a paragraph that is long enough to be content.")
	case "/wall":
		w.Header().Set("Content-Type", "text/markdown")
		_, _ = io.WriteString(w, "<html><head><title>Just a "+
			"moment...</title></head><body><script>window._cf_chl_opt={}</script></body></html>")
	case "/app":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w,
			`<!doctype html><title>App</title><body><div id=root></div><script>console.error('went wrong');
			fetch('/data.json').then((r) => r.json()).then((v) => { root.innerHTML = '<main><h1>The answer</h1>' + ('<p `+
				`id=late>It is ' + v.answer + ', as everybody knows who has read so far.</p>').repeat(12) + '</main>' })</script>`)
	case "/routes":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><title>App</title><body><div id=root></div><script>
			root.innerHTML = '<main><h1>At ' + (location.hash || 'home') + '</h1>' +
			'<p>A view that is long enough to be read as one by everybody who comes here.</p>'.repeat(9) + '</main>'</script>`)
	case "/data.json":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"answer":42}`)
	case "/readthru/readthru/releases/latest": // as GitHub answers
		http.Redirect(w, r, "https://github.com/readthru/readthru/releases/tag/v1.4.0", http.StatusFound)
	case "/silent":
		<-r.Context().Done() // until the client leaves
	case "/image":
		_, _ = io.Copy(io.Discard, r.Body) // curl before 8 fails when HTTP/2 answers before it has sent all
		w.Header().Set("Content-Type", "image/png")
		_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n")
	default:
		http.NotFound(w, r)
	}
}

func startOrigin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: origin")
	}
	o := &origin{count: map[string]int{}}
	authority, err := webtest.NewAuthority()
	ts.Check(err)
	web, err := webtest.Serve(context.Background(), webtest.Config{Handler: o, Certificate: authority.LeafFor})
	ts.Check(err)
	ts.Defer(web.Close)
	name := ts.MkAbs("origin.pem")
	ts.Check(os.WriteFile(name, authority.Root, 0o600))
	ts.Setenv("READTHRU_UPSTREAM_CA_FILE", name)
	ts.Setenv("READTHRU_UPSTREAM_RESOLVE", "*:443="+web.HTTPS+",*:80="+web.HTTP)
	origins.Store(ts.Getenv("WORK"), o)
}

func originCount(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: origin-count PATH N")
	}
	v, ok := origins.Load(ts.Getenv("WORK"))
	if !ok {
		ts.Fatalf("there is no origin")
	}
	o := v.(*origin)
	o.mu.Lock()
	defer o.mu.Unlock()
	if got := fmt.Sprint(o.count[args[0]]); got != args[1] {
		ts.Fatalf("the origin was asked %s times for %s, want %s", got, args[0], args[1])
	}
}

// waitAsked waits until the origin is asked for a path.
func waitAsked(ts *testscript.TestScript, neg bool, args []string) {
	v, ok := origins.Load(ts.Getenv("WORK"))
	if neg || len(args) != 1 || !ok {
		ts.Fatalf("usage: asked PATH, after origin")
	}
	o := v.(*origin)
	if err := eventually.Holds(context.Background(), func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.count[args[0]] > 0
	}); err != nil {
		ts.Fatalf("the origin was not asked for %s: %v", args[0], err)
	}
}

// waitReady sets PROXY and ADMIN to the addresses of the daemon once it answers.
func waitReady(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: ready")
	}
	ctx := context.Background()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var d struct{ Proxy, Admin string }
	if err := eventually.Holds(ctx, func() bool {
		b, err := os.ReadFile(filepath.Join(ts.Getenv("READTHRU_DATA_DIR"), "daemon.json"))
		if err != nil || json.Unmarshal(b, &d) != nil {
			return false
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.Admin+"/healthz", nil)
		ts.Check(err)
		resp, err := client.Do(req)
		if err != nil {
			return false
		}
		resp.Body.Close()
		return true
	}); err != nil {
		ts.Fatalf("the daemon did not come up: %v", err)
	}
	ts.Setenv("PROXY", d.Proxy)
	ts.Setenv("ADMIN", d.Admin)
}

// ownHost gives a script an address on which all ports are free: a fixed port of 127.0.0.1 is of whoever is first.
func ownHost(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: own NAME")
	}
	host := "127.0.0.1"
	if runtime.GOOS == "linux" { // where all of 127.0.0.0/8 is loopback
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	}
	ts.Setenv(args[0], host)
}

func takePort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: taken NAME")
	}
	server := httptest.NewServer(http.NotFoundHandler())
	ts.Defer(server.Close)
	ts.Setenv(args[0], strings.TrimPrefix(server.URL, "http://"))
}
