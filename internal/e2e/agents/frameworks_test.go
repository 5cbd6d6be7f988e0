package agents_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/needs"
)

// framework prepares a script of the folder frameworks beside the packages that it imports, and returns the arguments
// with which Node runs it through readthru.
func (m *machine) framework(name string) []string {
	m.t.Helper()
	folder := os.Getenv("READTHRU_FRAMEWORKS")
	if folder == "" {
		m.t.Fatal(`no frameworks: "make agents" installs them`)
	}
	text, err := os.ReadFile(filepath.Join("frameworks", name))
	if err != nil {
		m.t.Fatal(err)
	}
	m.write("script/"+name, string(text))
	if err := os.Symlink(filepath.Join(folder, "node_modules"), m.path("script/node_modules")); err != nil {
		m.t.Fatal(err)
	}
	// Older versions of Node do not take the proxy of their environment by themselves.
	m.write("script/proxy.cjs", `const {EnvHttpProxyAgent, setGlobalDispatcher} = require("undici")
setGlobalDispatcher(new EnvHttpProxyAgent())
`)
	return []string{"run", "--", "node", "--require=" + m.path("script/proxy.cjs"), m.path("script/" + name)}
}

// Agents made with frameworks read markdown by their own fetch tools and by ours.
func TestFrameworksReadMarkdown(t *testing.T) {
	for _, framework := range []struct {
		script string
		own    call
	}{
		{"vercel.mjs", call{"web", object{"url": pageURL}}},
		{"langchain.mjs", call{"requests_get", object{"input": pageURL}}},
	} {
		t.Run(framework.script, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.serve()
			leader := newModel(
				t,
				framework.own,
				call{"*fetch", object{"url": pageURL}},
				call{"*search_knowledge_base", object{"query": "widgets serial numbers"}},
				call{"*verify_quote", object{"url": pageURL, "quote": "which the factory assigns"}},
			)
			m.env = append(m.env, "MODEL="+leader.URL, fmt.Sprintf("READTHRU_MCP=http://%s:17718/mcp", m.host),
				"OPENAI_API_KEY=none", "NO_PROXY="+m.host) // where our tools are
			if out := m.readthru(m.framework(framework.script)...); !strings.Contains(out, done) {
				t.Errorf("it says %q, want %q", out, done)
			}
			wantPage(t, "its own tool", leader.result(t, 0))
			wantPage(t, "our fetch", leader.result(t, 1))
			if got := leader.result(t, 2); !strings.Contains(got, pageURL) {
				t.Errorf("search: the model was told %q, want the page", got)
			}
			if got := leader.result(t, 3); !strings.Contains(got, "ound") || strings.Contains(got, "not found") {
				t.Errorf("verify_quote: the model was told %q, want that it is found", got)
			}
			if n := m.requests(); n != 1 {
				t.Errorf("the web was asked for the page %d times, want once", n)
			}
		})
	}
}

// A browser that Playwright leads gets the page as its origin made it, which is remembered; its requests without a
// browser get markdown.
func TestPlaywrightReadsAsABrowserAndAsAClient(t *testing.T) {
	certutil := needs.Program(t, "certutil")
	m, w := newWitness(t)
	db := m.path(".pki/nssdb")
	if err := os.MkdirAll(db, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"-d", "sql:" + db, "-N", "--empty-password"},
		{"-d", "sql:" + db, "-A", "-t", "C,,", "-n", "readthru", "-i", m.path(".local/share/readthru/ca/ca.pem")},
	} {
		if out, err := m.command(certutil, args...).CombinedOutput(); err != nil {
			t.Fatalf("certutil: %v\n%s", err, out)
		}
	}
	m.env = append(m.env, "CHROMIUM="+needs.Program(t, "chromium"))
	short, err := os.MkdirTemp("", "pw") //nolint:usetesting // Chromium has a socket there, whose path may not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	m.env = append(m.env, "TMPDIR="+short)
	args := m.framework("playwright.mjs")
	m.readthru(append(args, asItCame)...)
	out := m.readthru(append(args, pageURL)...)
	browser, plain, _ := strings.Cut(out, "---- without a browser ----")
	if !strings.Contains(browser, inHTML) || !strings.Contains(browser, furniture) {
		t.Errorf("the browser got %q, want the page as its origin made it", browser)
	}
	wantPage(t, "Playwright's request", plain)
	for n, client := range []string{"Chromium, led by Playwright", "Playwright's requests"} {
		accept, agent := w.sent(t, n)
		if n == 1 { // it names the machine, too
			agent, _, _ = strings.Cut(agent, " (")
			agent += "`"
		}
		wantRow(t, client, accept, agent, []string{told(browser), told(plain)}[n])
	}
	eventually.True(t, "what a browser read is a page", func() bool {
		return strings.Contains(m.readthru("pages"), pageURL)
	})
}
