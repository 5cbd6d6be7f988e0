// Package agents_test drives the agents themselves, as npm has them, through readthru. A scripted model on loopback
// leads each, and the web that they read is on loopback too. What counts is what the model was told.
//
// "make agents" installs the agents and runs these tests; without READTHRU_AGENTS, their folder, nothing runs.
package agents_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/webtest"
)

var (
	binary   string            // the program under test
	programs map[string]string // the agents' programs
)

func TestMain(m *testing.M) {
	folder := os.Getenv("READTHRU_AGENTS")
	if folder == "" {
		fmt.Println(`no agents: "make agents" installs them and runs these tests`)
		return
	}
	dir, err := os.MkdirTemp("", "readthru-agents-")
	if err != nil {
		log.Fatal(err)
	}
	if binary, err = webtest.Program(context.Background(), dir); err != nil {
		log.Fatal(err)
	}
	if programs, err = installed(folder); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// installed returns the programs of the agents that .ci/agents installed in a folder.
func installed(folder string) (map[string]string, error) {
	list, err := os.ReadFile("packages.txt")
	if err != nil {
		return nil, err
	}
	paths := map[string]string{
		"claude": "claude", "codex": "vendor/*/bin/codex", "gemini": "bundle/gemini.js", "opencode": "bin/opencode",
	}
	found := map[string]string{}
	for line := range strings.Lines(string(list)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		pattern := filepath.Join(folder, fields[0]+"-"+fields[2], paths[fields[0]])
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) != 1 {
			return nil, fmt.Errorf("%s: %d files: run .ci/agents", pattern, len(files))
		}
		found[fields[0]] = files[0]
	}
	return found, nil
}

// The page that agents read, and words that tell its two forms apart.
const (
	pageURL  = "https://docs.example.com/guide"
	pageHTML = `<!doctype html><html><head><title>The guide</title></head><body>
<nav><a href="/">Home</a> <a href="/blog">Blog of the vendor</a></nav>
<main><h1>The guide</h1><p>Widgets are <strong>reassembled</strong> in the order of their serial numbers, which the
factory assigns. A widget without a serial number is returned to its vendor within thirty days.</p>
<h2>Limits</h2><table><thead><tr><th>Plan</th><th>Widgets</th></tr></thead><tbody><tr><td>Free</td><td>12</td></tr>
<tr><td>Team</td><td>480</td></tr></tbody></table>
<pre><code class="language-sh">widgetctl assemble --serial 42</code></pre></main>
<footer>Imprint and cookies</footer></body></html>`
	inMarkdown = "| Team | 480 |"
	inHTML     = "<td>Team</td>"
	furniture  = "Blog of the vendor"
)

// names makes a resolver of the web's names for Gemini CLI, which asks whether a host is private before it reads it.
const names = `const dns = require("node:dns")
dns.promises.lookup = async (host, options) => {
  const answer = { address: "93.184.216.34", family: 4 }
  return options?.all ? [answer] : answer
}
require("node:module").syncBuiltinESMExports()
`

// A machine is a home directory with a web, on which readthru and agents run.
type machine struct {
	t        testing.TB
	home     string
	work     string // where agents start
	host     string // the address at which readthru listens
	env      []string
	web      string     // its address for plain HTTP
	secure   string     // and for HTTPS
	requests func() int // how often it was asked for the page
}

// newMachine returns a machine whose web has the page.
func newMachine(tb testing.TB) *machine {
	tb.Helper()
	var mu sync.Mutex
	asked := 0
	m := newMachineOn(tb, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/guide" { // an agent's own host
			w.WriteHeader(http.StatusNotFound)
			return
		}
		mu.Lock()
		asked++
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = w.Write([]byte(pageHTML))
	}))
	m.requests = func() int {
		mu.Lock()
		defer mu.Unlock()
		return asked
	}
	return m
}

// newMachineOn returns a machine with a web.
func newMachineOn(tb testing.TB, handler http.Handler) *machine {
	tb.Helper()
	m := &machine{t: tb, home: tb.TempDir(), work: tb.TempDir()}
	// No client of another test gets a port of an address that is not 127.0.0.1.
	m.host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	authority, err := webtest.NewAuthority()
	if err != nil {
		tb.Fatal(err)
	}
	web, err := webtest.Serve(tb.Context(), webtest.Config{Certificate: authority.LeafFor, Handler: handler})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(web.Close)
	m.web, m.secure = web.HTTP, web.HTTPS
	m.write("web.pem", string(authority.Root))
	m.write(".config/readthru/config.yaml", fmt.Sprintf(`
proxy: {listen: %q}
admin: {listen: %q}
fetch: {allow_private: true} # the web
markdown_new: {mode: off}
upstream: {ca_file: %q, resolve: ["*:443=%s", "*:80=%s"]}
`, m.host+":17717", m.host+":17718", m.path("web.pem"), web.HTTPS, web.HTTP))
	m.write("names.cjs", names)
	bin := m.path("bin")
	m.write("bin/.keep", "")
	for name, program := range programs {
		text := "#!/bin/sh\nexec '" + program + "' \"$@\"\n"
		if strings.HasSuffix(program, ".js") {
			text = "#!/bin/sh\nexport NODE_OPTIONS=--require=" + m.path("names.cjs") + "\nexec node '" + program + "' \"$@\"\n"
		}
		m.write("bin/"+name, text)
		if err := os.Chmod(filepath.Join(bin, name), 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.Symlink(binary, filepath.Join(bin, "readthru")); err != nil {
		tb.Fatal(err)
	}
	m.env = []string{
		"HOME=" + m.home, "PATH=" + bin + ":" + os.Getenv("PATH"),
		"TMPDIR=" + tb.TempDir(), "TERM=dumb", "CI=1", "SHELL=/bin/bash",
	}
	tb.Cleanup(func() { _, _ = m.command("readthru", "stop").CombinedOutput() })
	return m
}

func (m *machine) path(name string) string { return filepath.Join(m.home, name) }

func (m *machine) write(name, text string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(m.path(name), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// command returns a command of this machine. What it starts ends with it.
func (m *machine) command(name string, args ...string) *exec.Cmd {
	m.t.Helper()
	for _, dir := range []string{m.path("bin"), "/usr/bin"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			name = filepath.Join(dir, name)
			break
		}
	}
	cmd := exec.CommandContext(context.WithoutCancel(m.t.Context()), name, args...)
	cmd.Dir, cmd.Env = m.work, m.env
	return cmd
}

// readthru runs a command of ours and returns what it prints.
func (m *machine) readthru(args ...string) string {
	m.t.Helper()
	out, err := m.command("readthru", args...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("readthru %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// serve starts a daemon that stays.
func (m *machine) serve() {
	m.t.Helper()
	cmd := m.command("readthru", "serve")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	m.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended //nolint:errcheck // whatever it says, it has ended
		if m.t.Failed() {
			m.t.Logf("the daemon said:\n%s", out.String())
		}
	})
	eventually.True(m.t, "the daemon listens", func() bool {
		select {
		case err := <-ended:
			ended <- err
			m.t.Fatalf("the daemon ended: %v\n%s", err, out.String())
		default:
		}
		conn, err := new(net.Dialer).DialContext(m.t.Context(), "tcp", m.host+":17718")
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	})
}

// run runs an agent that a model leads, with words before its own.
func (m *machine) run(a agent, leader *model, before ...string) {
	m.t.Helper()
	words := slices.Concat(before, []string{a.name}, a.args)
	cmd := m.command(words[0], words[1:]...)
	cmd.Env = append(cmd.Env, a.env(leader.URL)...)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), done) {
		m.t.Errorf("%s: %v, want that it ends with %q\n%s", a.name, err, done, out)
	}
}

// settings returns the content of the settings files that a user has written.
func (m *machine) settings(a agent) map[string]string {
	m.t.Helper()
	found := map[string]string{}
	for _, name := range a.files {
		text, err := os.ReadFile(m.path(name))
		if err != nil {
			m.t.Fatal(err)
		}
		found[name] = string(text)
	}
	return found
}
