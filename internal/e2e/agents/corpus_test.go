package agents_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/readthru/readthru/convert"
)

const pagesOfARun = 20 // Gemini CLI ends a run after a hundred calls

// A sheet is a page of a corpus, with sentences of its content and of its furniture.
type sheet struct {
	URL     string
	HTML    []byte
	With    []string // what a reader comes for
	Without []string // menus, footers, offers
}

// readCorpus returns pages of a corpus folder with judged sentences (sets with "with" and "without" in expect), n of
// them, spread over the whole.
func readCorpus(t *testing.T, dir string, n int) []sheet {
	t.Helper()
	unpack := func(name string) []byte {
		packed, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer packed.Close() //nolint:errcheck // it was only read
		r, err := gzip.NewReader(packed)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return text
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []sheet
	for line := range bytes.Lines(manifest) {
		var entry struct{ Set, ID, URL, HTML string }
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Set != "wcxb-dev" || !strings.HasPrefix(entry.URL, "https://") || strings.ContainsAny(entry.URL, `'"\`) {
			continue
		}
		s := sheet{URL: entry.URL, HTML: unpack(entry.HTML)}
		if err := json.Unmarshal(unpack("expect/"+entry.Set+"/"+entry.ID+".json.gz"), &s); err != nil {
			t.Fatal(err)
		}
		if len(s.With) > 0 && !slices.ContainsFunc(all, func(other sheet) bool { return other.URL == s.URL }) {
			all = append(all, s)
		}
	}
	if len(all) < n {
		t.Fatalf("%s: %d pages with judged sentences, want %d", dir, len(all), n)
	}
	var some []sheet
	for i := range n {
		some = append(some, all[i*len(all)/n])
	}
	return some
}

// A tunnel is a proxy that changes nothing: it connects every CONNECT to one address.
func newTunnel(tb testing.TB, address string) string {
	tb.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		origin, err := new(net.Dialer).DialContext(r.Context(), "tcp", address)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer origin.Close() //nolint:errcheck // it has ended
		w.WriteHeader(http.StatusOK)
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer client.Close() //nolint:errcheck // it has ended
		go func() {
			_, _ = io.Copy(origin, client)
			_ = origin.Close()
		}()
		_, _ = io.Copy(client, origin)
	}))
	tb.Cleanup(server.Close)
	return server.URL
}

// A way is how an agent reads a page.
type way struct {
	name string
	call func(a agent, address string) *call // nil if the agent cannot
}

func own(a agent, address string) *call {
	if a.fetch == nil {
		return nil
	}
	args := maps.Clone(a.fetch.args)
	args["url"] = address
	return &call{a.fetch.tool, args}
}

func curl(a agent, address string) *call {
	c := a.curl("'" + address + "'")
	return &c
}

func tool(server, name string, more object) func(agent, string) *call {
	return func(a agent, address string) *call {
		args := maps.Clone(more)
		args["url"] = address
		return &call{strings.ReplaceAll(a.tools, "readthru", server) + "*" + name, args}
	}
}

var (
	waysWithout = []way{
		{"own fetch", own},
		{"curl", curl},
		{"fetch server", tool("other", "fetch_readable", object{})},
		{"turndown, whole page", tool("other", "fetch_markdown", object{"max_length": 0})},
	}
	waysWith = []way{
		{"own fetch", own},
		{"curl", curl},
		{"MCP fetch", tool("readthru", "fetch", object{})},
		{"MCP fetch, whole page", tool("readthru", "fetch", object{"max_length": 999_999})},
	}
)

// A tally is what a model was told of pages.
type tally struct {
	tokens      []int
	with, facts int // sentences of content: told, asked for
	without     int // sentences of furniture that were told
	furniture   int
}

func (s *tally) add(page sheet, text string) {
	estimate := convert.Tokens[string]
	if strings.Contains(strings.ToLower(text[:min(len(text), 2000)]), "<html") {
		estimate = convert.HTMLTokens[string]
	}
	s.tokens = append(s.tokens, estimate(text))
	all := letters(text)
	count := func(sentences []string) (n int) {
		for _, sentence := range sentences {
			if strings.Contains(all, letters(sentence)) {
				n++
			}
		}
		return n
	}
	s.with, s.facts = s.with+count(page.With), s.facts+len(page.With)
	s.without, s.furniture = s.without+count(page.Without), s.furniture+len(page.Without)
}

func (s *tally) String() string {
	if s == nil || len(s.tokens) == 0 {
		return "– | – | – | –"
	}
	sum := 0
	for _, n := range s.tokens {
		sum += n
	}
	sorted := slices.Sorted(slices.Values(s.tokens))
	return fmt.Sprintf("%d | %d | %.0f %% | %.0f %%", sum/len(sorted), sorted[len(sorted)/2],
		100*float64(s.with)/float64(s.facts), 100*float64(s.without)/float64(s.furniture))
}

var markup = regexp.MustCompile(`\]\([^)]*\)|<[a-zA-Z/!][^>]*>`)

// letters returns the letters and digits of a text in HTML, markdown or neither.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, html.UnescapeString(markup.ReplaceAllString(text, "")))
}

// What models read of a hundred pages of a corpus, or as many as READTHRU_PAGES says: without readthru, with it,
// and with a fetch server of others in its place. This measures; it fails if an agent does not do what its model says.
func TestWhatModelsRead(t *testing.T) {
	dir, servers := os.Getenv("READTHRU_CORPUS"), os.Getenv("READTHRU_SERVERS")
	if dir == "" {
		t.Skip(`no corpus: "make reads CORPUS=dir" measures`)
	}
	number, err := strconv.Atoi(cmp.Or(os.Getenv("READTHRU_PAGES"), "100"))
	if err != nil {
		t.Fatal(err)
	}
	pages := readCorpus(t, dir, number)
	at := map[string][]byte{}
	for _, p := range pages {
		u, err := url.Parse(p.URL)
		if err != nil {
			t.Fatal(err)
		}
		at[u.Host+u.RequestURI()] = p.HTML
	}
	web := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := at[r.Host+r.URL.RequestURI()]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(text)
	})
	var mu sync.Mutex
	tallies := map[string]*tally{}
	whole := &tally{}
	for _, p := range pages {
		whole.add(p, "<html>"+string(p.HTML))
	}
	limit := make(chan struct{}, 3)
	var group sync.WaitGroup
	for _, a := range agents {
		for _, with := range []bool{false, true} {
			for some := range slices.Chunk(pages, pagesOfARun) {
				group.Go(func() {
					limit <- struct{}{}
					defer func() { <-limit }()
					ways := waysWithout
					if with {
						ways = waysWith
					}
					told := newMachineOn(t, web).read(a, with, servers, ways, some)
					mu.Lock()
					defer mu.Unlock()
					for key, texts := range told {
						key = fmt.Sprint(a.name, with, key)
						tallies[key] = cmp.Or(tallies[key], &tally{})
						for i, text := range texts {
							tallies[key].add(some[i], text)
						}
					}
				})
			}
		}
	}
	group.Wait()
	var out strings.Builder
	out.WriteString("| agent | reads by | tokens a page | median | content | furniture |\n|---|---|---|---|---|---|\n")
	fmt.Fprintf(&out, "| – | the HTML itself | %s |\n", whole)
	for _, a := range agents {
		for _, w := range waysWithout {
			fmt.Fprintf(&out, "| %s | %s | %s |\n", a.name, w.name, tallies[fmt.Sprint(a.name, false, w.name)])
		}
		for _, w := range waysWith {
			fmt.Fprintf(&out, "| %s | **readthru**, %s | %s |\n", a.name, w.name, tallies[fmt.Sprint(a.name, true, w.name)])
		}
	}
	t.Logf("%d pages of %s\n%s", len(pages), dir, out.String())
}

// read has an agent read pages in some ways, and returns what its models were told of them, by way.
func (m *machine) read(a agent, with bool, servers string, ways []way, pages []sheet) map[string][]string {
	t := m.t
	t.Helper()
	var script []call
	var kinds []string
	if !with { // Claude Code and Codex CLI do not wait for tool servers
		script, kinds = append(script, a.shell("until [ -e '"+m.path("listed")+"' ]; do sleep .1; done")), append(kinds, "")
	}
	for _, p := range pages {
		for _, w := range ways {
			if c := w.call(a, p.URL); c != nil {
				script, kinds = append(script, *c), append(kinds, w.name)
			}
		}
	}
	leader := newModel(t, script...)
	a.prepare(m, leader.URL)
	var before []string
	if with {
		m.serve()
		m.readthru("setup", a.name, "--yes", "--no-text")
		before = []string{"readthru", "run", "--"}
	} else {
		m.withoutReadthru(a, servers)
	}
	if a.name == "gemini" {
		m.change(".gemini/settings.json", func(settings object) {
			settings["experimental"] = object{"directWebFetch": true} // else Google reads the page
			settings["model"] = object{"disableLoopDetection": true}  // which asks the model, and asks again
		})
	}
	m.run(a, leader, before...)
	told := map[string][]string{}
	for i, kind := range kinds {
		if kind == "" {
			continue
		}
		text := leader.result(t, i)
		if script[i].tool == "WebFetch" { // a small model reads the page, unless it is markdown of a host that is known
			text = cmp.Or(leader.beside(i), text)
		}
		told[kind] = append(told[kind], text)
		if keep := os.Getenv("READTHRU_KEEP"); keep != "" {
			name := fmt.Sprintf("%s-%t-%s-%s.txt", a.name, with, kind, url.PathEscape(pages[len(told[kind])-1].URL))
			if err := os.WriteFile(filepath.Join(keep, name[max(0, len(name)-250):]), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return told
}

// preload has the server take the proxy of its environment, which older versions of Node do not, and makes a file when
// the server has told its tools.
const preload = `const {EnvHttpProxyAgent, setGlobalDispatcher} = require(%q)
setGlobalDispatcher(new EnvHttpProxyAgent())
const write = process.stdout.write
process.stdout.write = function (text, ...more) {
  if (String(text).includes('"tools":[')) require("node:fs").writeFileSync(%q, "")
  return write.call(this, text, ...more)
}
`

// withoutReadthru leads an agent to the web without readthru, and adds the fetch server of others to its settings.
func (m *machine) withoutReadthru(a agent, servers string) {
	t := m.t
	t.Helper()
	out, err := m.command("readthru", "env", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		t.Fatal(err)
	}
	tunnel := newTunnel(t, m.secure)
	for name, value := range env {
		switch {
		case strings.HasSuffix(value, ".pem"):
			env[name] = m.path("web.pem")
		case strings.HasSuffix(strings.ToLower(name), "http_proxy"), strings.HasSuffix(strings.ToLower(name), "https_proxy"):
			env[name] = tunnel
		case strings.Contains(value, m.home):
			delete(env, name)
		}
	}
	for name, value := range env {
		m.env = append(m.env, name+"="+value)
	}
	m.write("server.cjs", fmt.Sprintf(preload, servers+"/node_modules/undici", m.path("listed")))
	words := []string{"--require=" + m.path("server.cjs"), servers + "/node_modules/mcp-fetch-server/dist/index.js"}
	server := object{"command": "/usr/bin/node", "args": words, "env": env}
	switch a.name {
	case "claude":
		m.write(".claude.json", asJSON(object{"mcpServers": object{"other": server}}))
		m.change(".claude/settings.json", func(settings object) {
			settings["permissions"] = object{"allow": []string{"WebFetch", "Bash", "mcp__other"}}
		})
	case "codex":
		var text strings.Builder
		fmt.Fprintf(&text, "\n[mcp_servers.other]\ncommand = \"node\"\nargs = %s\nstartup_timeout_sec = 120\n[mcp_servers.other.env]\n", asJSON(words))
		for name, value := range env {
			fmt.Fprintf(&text, "%s = %q\n", name, value)
		}
		before, err := os.ReadFile(m.path(".codex/config.toml"))
		if err != nil {
			t.Fatal(err)
		}
		m.write(".codex/config.toml", string(before)+text.String())
	case "gemini":
		m.change(".gemini/settings.json", func(settings object) { settings["mcpServers"] = object{"other": server} })
	case "opencode":
		m.change(".config/opencode/opencode.json", func(settings object) {
			settings["mcp"] = object{"other": object{
				"type": "local", "command": append([]string{"/usr/bin/node"}, words...), "environment": env,
			}}
		})
	}
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	return cmp.Or(string(text), fmt.Sprint(err))
}

// change changes a settings file in JSON.
func (m *machine) change(name string, edit func(object)) {
	m.t.Helper()
	text, err := os.ReadFile(m.path(name))
	var settings object
	if err = errors.Join(err, json.Unmarshal(text, &settings)); err != nil {
		m.t.Fatal(err)
	}
	edit(settings)
	m.write(name, asJSON(settings))
}
