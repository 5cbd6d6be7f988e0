// Package e2e_test drives the real program as a user would: a binary built from this tree, real clients, origins on
// loopback that look like the web. Every test says what somebody relies on; none looks inside.
package e2e_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/webtest"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		fmt.Println("short: no program is built and no client is started")
		return
	}
	dir, err := os.MkdirTemp("", "readthru-e2e-")
	if err != nil {
		log.Fatal(err)
	}
	if binary, err = webtest.Program(context.Background(), dir); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// web is an origin that answers for every host name, over HTTP and HTTPS, and remembers what it was asked.
type web struct {
	*webtest.Web
	caFile string

	mu   sync.Mutex
	seen []*http.Request
}

// newWeb starts an origin with the handler given.
func newWeb(t *testing.T, handler http.Handler) *web {
	t.Helper()
	w := &web{caFile: filepath.Join(t.TempDir(), "web.pem")}
	authority, err := webtest.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.caFile, authority.Root, 0o600); err != nil {
		t.Fatal(err)
	}
	w.Web, err = webtest.Serve(t.Context(), webtest.Config{
		Certificate: authority.LeafFor,
		Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.mu.Lock()
			w.seen = append(w.seen, r.Clone(context.WithoutCancel(r.Context())))
			w.mu.Unlock()
			handler.ServeHTTP(rw, r)
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// requests returns how often a path was asked for.
func (w *web) requests(path string) (found []*http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.seen {
		if r.URL.Path == path {
			found = append(found, r)
		}
	}
	return found
}

// daemon is a running readthru.
type daemon struct {
	t       *testing.T
	dir     string
	env     []string // of commands that shall find it
	cmd     *exec.Cmd
	log     *lockedBuffer
	proxy   string // address
	admin   string
	stopped bool
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// environ is the environment of every command: this web, this data folder, no proxy of the machine's own.
func environ(w *web, dir string) []string {
	env := []string{
		"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "READTHRU_DATA_DIR=" + filepath.Join(dir, "data"),
		"READTHRU_MARKDOWN_NEW_MODE=off", "READTHRU_PROXY_LISTEN=127.0.0.1:0", "READTHRU_ADMIN_LISTEN=127.0.0.1:0",
		"READTHRU_FETCH_TIMEOUT=5m", // a busy machine takes long for a large page
	}
	if memory, ok := os.LookupEnv("READTHRU_CACHE_MEMORY"); ok { // make slow runs these tests with 0
		env = append(env, "READTHRU_CACHE_MEMORY="+memory)
	}
	if w != nil {
		env = append(env, "READTHRU_UPSTREAM_CA_FILE="+w.caFile, "READTHRU_UPSTREAM_RESOLVE=*:443="+w.HTTPS+",*:80="+w.HTTP)
	}
	return env
}

// serve starts a daemon for a web, with an empty data folder.
func serve(t *testing.T, w *web) *daemon {
	t.Helper()
	return serveIn(t, w, t.TempDir())
}

// serveIn starts a daemon for a web in a folder that may hold what an earlier one left, with more variables.
func serveIn(t *testing.T, w *web, dir string, more ...string) *daemon {
	t.Helper()
	d := &daemon{t: t, dir: dir, env: append(environ(w, dir), more...), log: &lockedBuffer{}}
	d.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), binary, "serve", "--listen", "127.0.0.1:0", "--admin",
		"127.0.0.1:0")
	d.cmd.Env = d.env
	d.cmd.Stderr, d.cmd.Stdout = d.log, d.log
	webtest.EndWithTests(d.cmd)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.stop)
	file := filepath.Join(dir, "data", "daemon.json")
	var where struct {
		PID          int
		Proxy, Admin string
	}
	if err := eventually.Holds(t.Context(), func() bool {
		text, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(text, &where) == nil && where.PID == d.cmd.Process.Pid
	}); err != nil {
		t.Fatalf("the daemon did not come up: %v\n%s", err, d.log)
	}
	d.proxy, d.admin = where.Proxy, where.Admin
	return d
}

func (d *daemon) stop() {
	if d.stopped {
		return
	}
	d.stopped = true
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan error, 1)
	go func() { done <- d.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			d.t.Errorf("the daemon ended with %v:\n%s", err, d.log)
		}
	case <-time.After(2 * time.Minute):
		_ = d.cmd.Process.Kill()
		d.t.Errorf("the daemon did not stop:\n%s", d.log)
	}
	if strings.Contains(d.log.String(), "panic") {
		d.t.Errorf("the daemon panicked:\n%s", d.log)
	}
}

// kill ends the daemon as a crash would.
func (d *daemon) kill() {
	d.stopped = true
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
}

// client is an HTTP client whose requests go through the proxy and that trusts its authority.
func (d *daemon) client() *http.Client {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "data", "ca", "ca.pem"))
	if err != nil {
		d.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	transport := &http.Transport{
		Proxy:              http.ProxyURL(&url.URL{Scheme: "http", Host: d.proxy}),
		TLSClientConfig:    &tls.Config{RootCAs: roots},
		DisableCompression: true,
	}
	d.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is a response read to its end.
type answer struct {
	*http.Response
	body string
}

// get asks for a URL through the proxy. Fields are "Name: value"; without an Accept among them none is sent.
func (d *daemon) get(target string, fields ...string) answer {
	d.t.Helper()
	return d.do(http.MethodGet, target, "", fields...)
}

func (d *daemon) do(method, target, content string, fields ...string) answer {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, target, strings.NewReader(content))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		req.Header.Add(name, value)
	}
	resp, err := d.client().Do(req)
	if err != nil {
		d.t.Fatalf("%s %s: %v\n%s", method, target, err, d.log)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatalf("%s %s: read the body: %v", method, target, err)
	}
	return answer{resp, string(body)}
}

// stats asks the admin port for its numbers.
func (d *daemon) stats() (s struct {
	Requests struct{ Total, Intercepted, Tunnelled, Blocked, Errors int64 }
	Cache    struct{ Hits, Misses, Revalidated int64 }
	Pages    struct{ Total, Visits int64 }
	Work     struct{ Requests int64 } // in progress
},
) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, "http://"+d.admin+"/stats", http.NoBody)
	if err != nil {
		d.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

// readthru runs a command of the program against this daemon's data folder.
func (d *daemon) readthru(args ...string) (stdout string) {
	d.t.Helper()
	out, _, err := command(d.t, d.env, binary, args...)
	if err != nil {
		d.t.Fatalf("readthru %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// stopAfter stops, after the test, the daemon that a command started, so that nothing writes to its folder any more.
func stopAfter(t *testing.T, env []string) {
	t.Helper()
	t.Cleanup(func() {
		stop := exec.CommandContext(context.WithoutCancel(t.Context()), binary, "stop")
		stop.Env = env
		if said, err := stop.CombinedOutput(); err != nil {
			t.Errorf("stop: %v: %s", err, said)
		}
	})
}

// command runs a program to its end, which must come within minutes.
func command(t *testing.T, env []string, name string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if name == binary && args[0] == "run" { // the daemon that it starts outlives it
		stopAfter(t, env)
	}
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("%w\n%s", err, errs.String())
	}
	return out.String(), errs.String(), err
}
