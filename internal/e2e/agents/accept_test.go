package agents_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/readthru/readthru/internal/needs"
)

// asItCame is a page for which the proxy passes requests on as their clients sent them.
const asItCame = "https://as-it-came.example.com/guide"

// A witness is a web that has the page, and keeps what the requests for asItCame said.
type witness struct {
	mu   sync.Mutex
	came []http.Header
}

func (w *witness) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/guide" {
		rw.WriteHeader(http.StatusNotFound)
		return
	}
	if strings.HasPrefix(r.Host, "as-it-came.") {
		rw.Header().Set("Cache-Control", "no-store") // every request comes
		w.mu.Lock()
		w.came = append(w.came, r.Header.Clone())
		w.mu.Unlock()
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = rw.Write([]byte(pageHTML))
}

// newWitness returns a machine whose web is a witness, and on which a daemon runs.
func newWitness(tb testing.TB) (*machine, *witness) {
	tb.Helper()
	w := new(witness)
	m := newMachineOn(tb, w)
	config, err := os.ReadFile(m.path(".config/readthru/config.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	m.write(".config/readthru/config.yaml", string(config)+
		"rules: [{host: as-it-came.example.com, mode: never}]\n")
	m.serve()
	return m, w
}

// versions are what a table of docs writes as N: numbers of versions in a User-Agent.
var versions = regexp.MustCompile(`\d+(\.\d+)+`)

// sent returns what the nth request for asItCame said, as the table of docs/agents.md writes it.
func (w *witness) sent(tb testing.TB, n int) (accept, agent string) {
	tb.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if n >= len(w.came) {
		tb.Fatalf("%d requests for %s came, want one more than %d", len(w.came), asItCame, n)
	}
	came := w.came[n]
	accept, agent = "none", "none"
	if lines := came["Accept"]; lines != nil {
		accept = "`" + strings.Join(lines, ", ") + "`"
	}
	if lines := came["User-Agent"]; lines != nil && lines[0] != "" {
		agent = "`" + versions.ReplaceAllString(lines[0], "N") + "`"
	}
	return accept, agent
}

// wantRow checks that the table of docs/agents.md says of a client what it sends and gets.
func wantRow(tb testing.TB, client, accept, agent, gets string) {
	tb.Helper()
	text, err := os.ReadFile("../../../docs/agents.md")
	if err != nil {
		tb.Fatal(err)
	}
	if row := fmt.Sprintf("\n| %s | %s | %s | %s |", client, accept, agent, gets); !strings.Contains(string(text), row) {
		tb.Errorf("docs/agents.md does not have the row%s", row)
	}
}

// told says which form of the page is in a text.
func told(text string) string {
	switch {
	case strings.Contains(text, inHTML), strings.Contains(text, furniture): // which the agent's tool may have converted
		return "HTML"
	case strings.Contains(text, inMarkdown):
		return "markdown"
	}
	return "neither form of the page: " + text
}

// What the agents' own tools send through the proxy, and what they get, is as docs/agents.md says.
func TestWhatAgentsSendAndGet(t *testing.T) {
	list, err := os.ReadFile("packages.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range agents {
		if a.fetch == nil {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			m, w := newWitness(t)
			first := call{a.fetch.tool, maps.Clone(a.fetch.args)}
			first.args["url"] = asItCame
			leader := newModel(t, first, *a.fetch)
			a.prepare(m, leader.URL)
			if a.name == "gemini" { // else Google reads the page
				m.write(".gemini/settings.json", geminiReads)
			}
			m.run(a, leader, "readthru", "run", "--")
			got := leader.result(t, 1)
			if a.name == "claude" { // a small model reads the page
				got = leader.beside(1)
			}
			_, version, _ := strings.Cut(string(list), "\n"+a.name+" ")
			version, _, _ = strings.Cut(version, "\n")
			accept, agent := w.sent(t, 0)
			wantRow(t, fmt.Sprintf("%s `%s` %s", a.title, a.fetch.tool, strings.Fields(version)[1]), accept, agent, told(got))
		})
	}
}

// What clients that agents and their programs use send through the proxy, and what they get, is as docs/agents.md says.
func TestWhatClientsSendAndGet(t *testing.T) {
	const (
		urllib   = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())"
		requests = "import sys, requests; print(requests.get(sys.argv[1]).text)"
		httpx    = "import sys, httpx; print(httpx.get(sys.argv[1]).text)"
		aiohttp  = `import sys, asyncio, aiohttp
async def read():
  async with aiohttp.ClientSession(trust_env=True) as s, s.get(sys.argv[1]) as r: print(await r.text())
asyncio.run(read())`
	)
	for _, tt := range []struct {
		name   string
		args   []string // before the URL
		module string   // of Python, which may be absent
	}{
		{"curl", []string{"curl", "-sS"}, ""},
		{"wget", []string{"wget", "-qO-"}, ""},
		{"Python urllib", []string{"python3", "-c", urllib}, ""},
		{"Python requests", []string{"python3", "-c", requests}, "requests"},
		{"Python httpx", []string{"python3", "-c", httpx}, "httpx"},
		{"Python aiohttp", []string{"python3", "-c", aiohttp}, "aiohttp"},
		{"Node.js fetch", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, w := newWitness(t)
			var args []string
			if tt.args == nil {
				args = m.framework("fetch.mjs")
			} else {
				args = slices.Concat([]string{"run", "--", needs.Program(t, tt.args[0])}, tt.args[1:])
			}
			if tt.module != "" {
				args[2] = pythonWith(t, tt.module)
			}
			m.readthru(append(args, asItCame)...)
			got := m.readthru(append(args, pageURL)...)
			accept, agent := w.sent(t, 0)
			wantRow(t, tt.name, accept, agent, told(got))
		})
	}
}

// pythonWith returns a Python that has a module: that of the path, or the system's, for which packages bring it.
func pythonWith(t *testing.T, module string) string {
	t.Helper()
	for _, python := range []string{needs.Program(t, "python3"), "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), python, "-c", "import "+module).Run() == nil { //nolint:gosec // of this file
			return python
		}
	}
	needs.Missing(t, "the module %s of Python is not installed: .ci/clients installs it", module)
	return ""
}
