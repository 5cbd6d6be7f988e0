package agents_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/agents"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestEventsOfEveryAgentAreRead holds each event in testdata/events against what is read from it and how each kind of
// answer is given to it. The file's name begins with the agent's.
func TestEventsOfEveryAgentAreRead(t *testing.T) {
	names, err := filepath.Glob("testdata/events/*.json")
	if err != nil || len(names) < 25 {
		t.Fatalf("%d events, %v", len(names), err)
	}
	for _, name := range names {
		base := strings.TrimSuffix(filepath.Base(name), ".json")
		t.Run(base, func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := told(agentOf(base), text)
			golden := strings.TrimSuffix(name, ".json") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func agentOf(name string) agents.Agent {
	agent, _, _ := strings.Cut(name, "-")
	switch agent {
	case "founding":
		return agents.Claude
	case "copilot":
		return agents.VSCode
	}
	return agents.Agent(agent)
}

// told writes what is read from an event and what is answered.
func told(agent agents.Agent, text []byte) string {
	e, ok := agents.Parse(text)
	if !ok {
		return "silent\n"
	}
	var b strings.Builder
	stage := map[agents.Stage]string{
		agents.After: "after", agents.Before: "before", agents.Prompt: "prompt", agents.Start: "start",
	}[e.Stage]
	fmt.Fprintf(&b, "%s %s\nsession: %s\n", stage, e.Tool, e.Session)
	for _, u := range e.URLs {
		fmt.Fprintf(&b, "url: %s\n", u)
	}
	if e.Library != nil {
		fmt.Fprintf(&b, "library: %+v, called %s\n", *e.Library, e.Library.Name())
	}
	fmt.Fprintf(&b, "text: %d characters\nwork: %d\n", len(e.Text), len(e.Work(agent)))
	for _, a := range []struct {
		name string
		agents.Answer
	}{
		{"nothing", agents.Answer{}},
		{"message", agents.Answer{Message: "Kept <it>."}},
		{"context", agents.Answer{Context: "No JavaScript."}},
		{"output", agents.Answer{Message: "Kept.", Output: "# The page"}},
		{"deny", agents.Answer{Deny: "Here it is."}},
	} {
		fmt.Fprintf(&b, "%s: %s\n", a.name, strings.TrimSpace(string(a.Encode(agent, e, true))))
	}
	return b.String()
}

func TestAnswerThatIsNotPlainIsJSON(t *testing.T) {
	text, err := os.ReadFile("testdata/events/claude-webfetch.json")
	if err != nil {
		t.Fatal(err)
	}
	e, _ := agents.Parse(text)
	for _, a := range agents.All() {
		if out := (agents.Answer{Message: "m", Context: "c", Output: "o"}).Encode(a, e, false); !json.Valid(out) ||
			strings.Count(string(out), "\n") != 1 {
			t.Errorf("%s: %q", a, out)
		}
	}
}

func TestHostileEventsAreIgnored(t *testing.T) {
	whole, err := os.ReadFile("testdata/events/claude-webfetch.json")
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(whole) - 2 {
		if _, ok := agents.Parse(whole[:i]); ok {
			t.Fatalf("read from the first %d bytes", i)
		}
	}
	for name, text := range map[string]string{
		"empty":               "",
		"null":                "null",
		"a list":              "[]",
		"a text":              `"WebFetch"`,
		"no JSON":             "tool_name=WebFetch",
		"no tool":             `{"hook_event_name":"PostToolUse","tool_input":{"url":"https://a.test/"}}`,
		"another event":       `{"hook_event_name":"SessionEnd","tool_name":"WebFetch","tool_input":{"url":"https://a.test/"}}`,
		"tool is a number":    `{"tool_name":5,"tool_input":{"url":"https://a.test/"}}`,
		"input is a list":     `{"tool_name":"WebFetch","tool_input":["https://a.test/"]}`,
		"url is a number":     `{"tool_name":"WebFetch","tool_input":{"url":7}}`,
		"url is empty":        `{"tool_name":"WebFetch","tool_input":{"url":""}}`,
		"a file":              `{"tool_name":"WebFetch","tool_input":{"url":"file:///etc/passwd"}}`,
		"a password":          `{"tool_name":"WebFetch","tool_input":{"url":"https://ann:secret@a.test/"}}`,
		"a secret":            `{"tool_name":"WebFetch","tool_input":{"url":"https://a.test/?token=secret"}}`,
		"our own tool":        `{"tool_name":"mcp__readthru__fetch","tool_input":{"url":"https://a.test/"}}`,
		"resolving a library": `{"tool_name":"mcp__context7__resolve-library-id","tool_input":{"libraryName":"next.js"},"tool_response":"Available Libraries: many of them, and all of them are fine"}`,
		"docs before":         `{"hook_event_name":"PreToolUse","tool_name":"mcp__context7__query-docs","tool_input":{"libraryId":"/a/b"}}`,
		"docs that failed":    `{"tool_name":"mcp__context7__query-docs","tool_input":{"libraryId":"/a/b"},"tool_response":{"isError":true,"content":[{"type":"text","text":"something that is long enough to be taken for documentation"}]}}`,
		"prompt without URL":  `{"hook_event_name":"UserPromptSubmit","prompt":"hello"}`,
		"prompt is a list":    `{"hook_event_name":"UserPromptSubmit","prompt":["https://a.test/"]}`,
		"nested without end": `{"tool_name":"WebFetch","tool_input":` + strings.Repeat(`{"a":`, 100_000) +
			strings.Repeat("}", 100_001),
		"answer nested too deep": `{"tool_name":"mcp__context7__query-docs","tool_input":{"libraryId":"/a/b"},"tool_response":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
	} {
		if e, ok := agents.Parse([]byte(text)); ok {
			t.Errorf("%s: %+v, want silence", name, e)
		}
	}
	huge := `{"tool_name":"WebFetch","tool_input":{"url":"https://a.test/"},"session_id":"` + strings.Repeat("s", 10<<20) +
		`"}`
	if e, ok := agents.Parse([]byte(huge)); !ok || len(e.Session) != 200 {
		t.Error("an event with a long session is not read, or not cut")
	}
}

func TestLibrariesAreNamedByTheirProject(t *testing.T) {
	for id, want := range map[string]agents.Library{
		"/vercel/next.js":                {Org: "vercel", Project: "next.js"},
		"/vercel/next.js/v14.3.0":        {"vercel", "next.js", "v14.3.0"},
		"/vercel/next.js@v14":            {"vercel", "next.js", "v14"},
		"/vercel/next.js/canary/x":       {"vercel", "next.js", "canary/x"},
		"/websites/react_dev":            {Org: "websites", Project: "react_dev"},
		"next.js":                        {Project: "next.js"},
		"vercel/next.js/":                {Org: "vercel", Project: "next.js"},
		"":                               {},
		"///":                            {},
		"/a/\x1b[31mb\n":                 {Org: "a", Project: "[31mb"},
		"/a/" + strings.Repeat("ä", 300): {Org: "a", Project: strings.Repeat("ä", 197)},
	} {
		if got := agents.ParseLibrary(id); got != want {
			t.Errorf("ParseLibrary(%q) = %+v, want %+v", id, got, want)
		}
	}
	if got := (agents.Library{}).Name(); got != "unknown" {
		t.Errorf("name %q, want unknown (rule A19)", got)
	}
}

func TestErrorTextsAreNotKept(t *testing.T) {
	for text, want := range map[string]bool{
		"Rate limited or quota exceeded. Create a free API key at https://context7.com/dashboard for higher limits.":          false,
		"Documentation not found or not finalized for this library. This might have happened because you used an invalid id.": false,
		"The library you are trying to access does not exist. Please try with a different library ID, or resolve it first.":   false,
		"Error: fetch failed, because the network was not there when it was asked for":                                        false,
		"Short, but fine.":      false,
		strings.Repeat("ä", 49): false,
		strings.Repeat("ä", 50): true,
		"### Error handling\n\nSource: https://a.test/\n\nErrors are values, and this says how they are handled.": true,
		"Errors are values in Go, and a function that can fail returns one as its last result.":                   true,
		"TITLE: Failed to fetch\nDESCRIPTION: What to do when a fetch has failed and nothing is left to do":       true,
	} {
		if got := agents.WorthKeeping(text); got != want {
			t.Errorf("WorthKeeping(%.40q) = %v, want %v", text, got, want)
		}
	}
}

func TestDocumentationIsSplitByItsSources(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want []agents.Snippet
	}{
		"each snippet its source": {
			"### A\n\nSource: https://a.test/x\n\nText of A.\n\n--------------------------------\n\n### B\n\nSource: https://b.test/\n\nText of B.",
			[]agents.Snippet{{"https://a.test/x", "### A\n\n\nText of A."}, {"https://b.test/", "### B\n\n\nText of B."}},
		},
		"one source, joined": {
			"### A\nSource: https://a.test/\nOne.\n### B\nSource: https://b.test/\nTwo.\n### C\nSource: https://a.test/\nThree.",
			[]agents.Snippet{{"https://a.test/", "### A\nOne.\n\n### C\nThree."}, {"https://b.test/", "### B\nTwo."}},
		},
		"headings, sources and rules in a fence are code": {
			"### A\nSource: https://a.test/\n```md\n### B\nSource: https://b.test/\n--------------------\n```\nEnd.",
			[]agents.Snippet{{
				"https://a.test/",
				"### A\n```md\n### B\nSource: https://b.test/\n--------------------\n```\nEnd.",
			}},
		},
		"a fence left open ends where the next snippet begins": {
			"### A\nSource: https://a.test/\n```js\nf()\n\n--------------------------------\n\n### B\n\nSource: https://b.test/\n\nTwo.",
			[]agents.Snippet{{"https://a.test/", "### A\n```js\nf()"}, {"https://b.test/", "### B\n\n\nTwo."}},
		},
		"marks of a fence that are indented like code begin none": {
			"### A\nSource: https://a.test/\n\n    ```\n\n### B\nSource: https://b.test/\nTwo.",
			[]agents.Snippet{{"https://a.test/", "### A\n\n    ```"}, {"https://b.test/", "### B\nTwo."}},
		},
		"a heading within a snippet": {
			"### A\nSource: https://a.test/\nOne.\n\n### Details\n\nMore of one.",
			[]agents.Snippet{{"https://a.test/", "### A\nOne.\n\n### Details\n\nMore of one."}},
		},
		"the older form": {
			"================\nCODE SNIPPETS\n================\nTITLE: Install\nDESCRIPTION: How to install it.\n\nSOURCE: https://a.test/install\n\nLANGUAGE: sh\nCODE:\n```\nnpm i\n```\n\n----------------------------------------\n\nTITLE: Use\nSOURCE: https://a.test/use\n\nCODE:\n```\nuse()\n```",
			[]agents.Snippet{
				{"https://a.test/install", "### Install\nHow to install it.\n\n\n```\nnpm i\n```"},
				{"https://a.test/use", "### Use\n\n```\nuse()\n```"},
			},
		},
		"no source": {
			"Next.js has middleware, which runs before a request is completed.",
			[]agents.Snippet{{"", "Next.js has middleware, which runs before a request is completed."}},
		},
		"a source that is no URL": {
			"### A\nSource: the manual, page 5\nText that is long enough to be kept without any source.",
			[]agents.Snippet{{"", "### A\nSource: the manual, page 5\nText that is long enough to be kept without any source."}},
		},
		"line ends of Windows": {
			"### A\r\nSource: https://a.test/\r\nOne.",
			[]agents.Snippet{{"https://a.test/", "### A\nOne."}},
		},
		"nothing": {"", nil},
	} {
		if d := cmp.Diff(tt.want, agents.Split(tt.text)); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}

func TestSnippetsOfOneSourceAreJoined(t *testing.T) {
	old := "### A\nOne.\n\n### B\nTwo."
	if got, want := agents.Merge(old, "### B\nTwo.\n\n### C\nThree."),
		"### A\nOne.\n\n### B\nTwo.\n\n### C\nThree."; got != want {
		t.Errorf("Merge = %q, want %q", got, want)
	}
	if got := agents.Merge(old, old); got != old {
		t.Errorf("Merge with itself = %q", got)
	}
	if got := agents.Merge("", "x"); got != "x" {
		t.Errorf("Merge with nothing = %q", got)
	}
}

func FuzzEvent(f *testing.F) {
	names, err := filepath.Glob("testdata/events/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, ok := agents.Parse(text)
		if !ok {
			return
		}
		for _, u := range e.URLs {
			if !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") {
				t.Errorf("URL %q", u)
			}
		}
		for _, a := range agents.All() {
			out := agents.Answer{Message: "m", Context: "c", Output: "o", Deny: "d"}.Encode(a, e, false)
			if len(out) > 0 && !json.Valid(out) {
				t.Errorf("%s: %q", a, out)
			}
			if b, err := json.Marshal(e.Work(a)); err != nil || !json.Valid(b) {
				t.Error(err)
			}
		}
		for _, s := range agents.Split(e.Text) {
			if s.Text == "" || len(s.Text) > len(e.Text)+8 {
				t.Errorf("snippet %q", s.Text)
			}
		}
		agents.Merge(e.Text, e.Text)
	})
}

// BenchmarkParse reads what a hook is told most: a page that was read, and a tool that is none of its business.
func BenchmarkParse(b *testing.B) {
	for _, name := range []string{"claude-webfetch", "claude-context7", "claude-bash"} {
		text, err := os.ReadFile("testdata/events/" + name + ".json")
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				agents.Parse(text)
			}
		})
	}
}
