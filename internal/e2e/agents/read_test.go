package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
)

// wantPage checks that a text that a model got has the page as markdown, without HTML and the page's furniture.
func wantPage(tb testing.TB, what, text string) {
	tb.Helper()
	if !strings.Contains(text, inMarkdown) || strings.Contains(text, inHTML) || strings.Contains(text, furniture) {
		tb.Errorf("%s: the model was told %q, want the page as markdown", what, text)
	}
}

// Every agent reads by its own tool and by curl, all at once, each in a session of its own. The web is asked once.
func TestAgentsReadMarkdownInRuns(t *testing.T) {
	m := newMachine(t)
	m.serve()
	var group sync.WaitGroup
	for _, a := range agents {
		script := []call{a.curl(pageURL)}
		if a.fetch != nil {
			script = append(script, *a.fetch)
		}
		leader := newModel(t, script...)
		a.prepare(m, leader.URL)
		if a.name == "gemini" { // else Google reads the page
			m.write(".gemini/settings.json", geminiReads)
		}
		group.Go(func() {
			m.run(a, leader, "readthru", "run", "--session", "of-"+a.name, "--")
			for i, c := range script {
				got := leader.result(t, i)
				if c.tool == "WebFetch" { // a small model reads the page
					if !strings.Contains(got, summary) {
						t.Errorf("WebFetch: the model was told %q, want the summary", got)
					}
					got = leader.besides()
				}
				wantPage(t, c.tool, got)
			}
		})
	}
	group.Wait()
	if n := m.requests(); n != 1 {
		t.Errorf("the web was asked for the page %d times, want once", n)
	}
	for _, a := range agents {
		if visits := m.readthru("visits", "--session", "of-"+a.name); !strings.Contains(visits, pageURL) {
			t.Errorf("%s's session has the visits\n%swant the page", a.name, visits)
		}
	}
}

// An agent that is set up reads through the daemon, searches what it read and checks a quote.
func TestAgentsReadWhenSetUp(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			m.serve()
			m.useSetUp(a, false)
		})
	}
}

// The same while no daemon runs: each agent's first act is curl.
func TestAgentsReadWhenSetUpAndNoDaemonRuns(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			newMachine(t).useSetUp(a, true)
		})
	}
}

// counted reports whether the pages are counted for the start of a session.
func (m *machine) counted() bool {
	text, _ := os.ReadFile(filepath.Join(m.home, ".local/share/readthru/kept.json")) // there may be none yet
	return strings.Contains(string(text), "docs.example.com")
}

// useSetUp sets an agent up, has it read the page in all its ways, and removes the setup.
func (m *machine) useSetUp(a agent, verbatim bool) {
	t := m.t
	t.Helper()
	script := []call{
		a.curl(pageURL),
		{a.tools + "*fetch", object{"url": pageURL}},
		{a.tools + "*search_knowledge_base", object{"query": "widgets serial numbers"}},
		{a.tools + "*verify_quote", object{"url": pageURL, "quote": "which the factory assigns"}},
	}
	switch {
	case a.plain != nil:
		script = append(script, a.plain(m))
	case a.fetch != nil:
		script = append(script, *a.fetch)
	}
	own := len(script) - 1
	if !a.proxied { // its shell reads the web directly
		script[0] = a.curl("http://" + m.web + "/guide")
	}
	leader := newModel(t, script...)
	a.prepare(m, leader.URL)
	before := m.settings(a)
	args := []string{"setup", a.name, "--yes"}
	if verbatim {
		args = append(args, "--verbatim")
	}
	m.readthru(args...)
	m.readthru("fetch", pageURL)
	if err := os.WriteFile(filepath.Join(m.work, "README.md"), []byte("See <"+pageURL+">.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the page is indexed", func() bool {
		return strings.Contains(m.readthru("search", "widgets serial numbers"), pageURL)
	})
	eventually.True(t, "the daemon has counted it", m.counted)

	m.run(a, leader)
	if got := leader.result(t, 0); a.proxied {
		wantPage(t, "curl", got)
	} else if !strings.Contains(got, inHTML) {
		t.Errorf("curl: the model was told %q, want the page as it is", got)
	}
	if got := leader.begins(); !strings.Contains(got, "readthru: 1 page kept, 1 from this project") {
		t.Errorf("at its start the model was told %q, want how many pages are kept", got)
	}
	wantPage(t, "our fetch", leader.result(t, 1))
	if got := leader.result(t, 2); !strings.Contains(got, "serial numbers") || !strings.Contains(got, "/guide") {
		t.Errorf("search: the model was told %q, want the page", got)
	}
	if got := leader.result(t, 3); !strings.Contains(strings.ToLower(got), "found") || strings.Contains(got, "false") {
		t.Errorf("verify_quote: the model was told %q, want that it is found", got)
	}
	if a.fetch != nil {
		if got := leader.result(t, own); verbatim {
			wantPage(t, script[own].tool+" with --verbatim", got)
		} else if strings.Contains(got, inMarkdown) {
			t.Errorf("%s: the model was told %q, want what the tool itself says", script[own].tool, got)
		}
	}
	kept := pageURL
	if a.name == "opencode" {
		kept = "http://" + m.web + "/guide" // the hook's
	}
	if pages := m.readthru("pages"); !strings.Contains(pages, kept) {
		t.Errorf("kept are\n%swant %s", pages, kept)
	}

	m.readthru("setup", "--remove", a.name, "--yes")
	for name, text := range m.settings(a) {
		if text != before[name] {
			t.Errorf("%s after --remove is\n%swant\n%s", name, text, before[name])
		}
	}
}
