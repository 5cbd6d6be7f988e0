package agents_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/agents"
)

var machine = agents.Machine{
	OS: "linux", Home: "/home/ann", Config: "/home/ann/.config", Getenv: func(string) string { return "" },
	Exists: func(string) bool { return false },
}

var choice = agents.Choice{
	Command: []string{"/usr/local/bin/readthru"}, Text: true,
	Env: []agents.Variable{
		{"HTTPS_PROXY", "http://127.0.0.1:7887"},
		{"NO_PROXY", "localhost"},
		{"NODE_EXTRA_CA_CERTS", "/data/ca/ca.pem"},
	},
}

// file returns the file of that name among those of an agent.
func file(tb testing.TB, a agents.Agent, c agents.Choice, name string) *agents.File {
	tb.Helper()
	for _, f := range agents.Files(a, machine, c) {
		if filepath.Base(f.Path) == name {
			return f
		}
	}
	tb.Fatalf("%s has no file %s", a, name)
	return nil
}

// jsonTexts are settings files as people have them.
var jsonTexts = map[string]string{
	"empty":                         "",
	"a line break":                  "\n",
	"an empty object":               "{}",
	"an empty object on two lines":  "{\n}\n",
	"a comment in an empty object":  "{\n  // nothing yet\n}\n",
	"one line":                      `{"model": "opus"}`,
	"two spaces":                    "{\n  \"model\": \"opus\"\n}\n",
	"four spaces":                   "{\n    \"permissions\": {\n        \"allow\": [\"Bash(ls:*)\"]\n    }\n}\n",
	"tabs and line ends of Windows": "{\r\n\t\"model\": \"opus\"\r\n}\r\n",
	"no line break at the end":      "{\n  \"model\": \"opus\"\n}",
	"a byte order mark":             "\ufeff{\n  \"model\": \"opus\"\n}\n",
	"a trailing comma":              "{\n  \"model\": \"opus\",\n}\n",
	"a trailing comma and comment":  "{\n  \"model\": \"opus\", // the large one\n}\n",
	"comments everywhere":           "// mine\n{\n  /* a */ \"model\" /* b */: /* c */ \"opus\" /* d */ // e\n  // f\n}\n// end\n",
	"a comment after the last":      "{\n  \"a\": 1 // one\n}\n",
	"hooks of others":               "{\n  \"hooks\": {\n    \"PostToolUse\": [\n      {\n        \"matcher\": \"Edit\",\n        \"hooks\": [{\"type\": \"command\", \"command\": \"gofmt\"}]\n      }\n    ],\n    \"Stop\": []\n  }\n}\n",
	"empty hooks":                   "{\n  \"hooks\": {\n    \"PostToolUse\": []\n  },\n  \"env\": {}\n}\n",
	"hooks on one line":             `{"hooks":{"PostToolUse":[{"matcher":"Edit","hooks":[]}]},"env":{"A":"b"}}`,
	"servers of others":             "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"x\"}, // mine\n  },\n}\n",
	"the last is a line comment":    "{\n  \"env\": {\n    \"A\": \"1\" // one\n  } // env\n}",
}

func TestJSONSetupIsUndoneExactly(t *testing.T) {
	for name, before := range jsonTexts {
		t.Run(name, func(t *testing.T) {
			for _, f := range []*agents.File{
				file(t, agents.Claude, choice, "settings.json"),
				file(t, agents.Claude, choice, ".claude.json"), file(t, agents.Gemini, choice, "settings.json"),
				file(t, agents.Cursor, choice, "hooks.json"),
			} {
				roundTrip(t, f, []byte(before))
			}
		})
	}
}

// roundTrip sets a file up, again, and removes that.
func roundTrip(t *testing.T, f *agents.File, before []byte) agents.Edit {
	t.Helper()
	e, err := f.Setup(before, agents.Record{})
	if err != nil {
		t.Fatalf("Setup: %v", err)
	}
	if bytes.Equal(e.Text, before) {
		t.Fatalf("nothing was put into %q: %v", before, e.Notes)
	}
	again, err := f.Setup(e.Text, e.Record)
	if err != nil || !bytes.Equal(again.Text, e.Text) {
		t.Errorf("the second Setup changes: %v\n%s", err, cmp.Diff(string(e.Text), string(again.Text)))
	}
	if again, err := f.Setup(e.Text, agents.Record{}); err != nil || !bytes.Equal(again.Text, e.Text) {
		t.Errorf("Setup without its record changes: %v\n%s", err, cmp.Diff(string(e.Text), string(again.Text)))
	}
	back, err := f.Remove(e.Text, e.Record)
	if err != nil || !bytes.Equal(back.Text, before) || back.Gone != (before == nil) {
		t.Errorf("Remove: %v, gone %v\n%s", err, back.Gone, cmp.Diff(string(before), string(back.Text)))
	}
	if left, err := f.Remove(e.Text, agents.Record{}); err != nil || strings.Contains(string(left.Text), "readthru") {
		t.Errorf("Remove without its record: %v\n%s", err, left.Text)
	}
	return e
}

func TestSettingsLookAsIfWrittenByHand(t *testing.T) {
	c := choice
	c.Env = c.Env[:1]
	for name, tt := range map[string]struct{ before, want string }{
		"a file that is not there": {"", `{
  "hooks": {
    "PostToolUse": [
      {
        "matcher": "WebFetch",
        "hooks": [
          {
            "type": "command",
            "command": "/usr/local/bin/readthru hook claude",
            "timeout": 10
          }
        ]
      },
      {
        "matcher": "mcp__.*context7.*__(query-docs|get-library-docs)",
        "hooks": [
          {
            "type": "command",
            "command": "/usr/local/bin/readthru hook claude",
            "timeout": 10
          }
        ]
      }
    ],
    "SessionStart": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/usr/local/bin/readthru hook claude",
            "timeout": 10
          }
        ]
      }
    ]
  },
  "env": {
    "HTTPS_PROXY": "http://127.0.0.1:7887"
  }
}
`},
		"tabs, a comment and a hook of others": {"{\n\t\"hooks\": {\n\t\t\"PostToolUse\": [\n\t\t\t{\"matcher\": \"Edit\"} // mine\n\t\t]\n\t},\n\t\"env\": {\"A\": \"b\"}\n}\n", `{
	"hooks": {
		"PostToolUse": [
			{"matcher": "Edit"}, // mine
			{
				"matcher": "WebFetch",
				"hooks": [
					{
						"type": "command",
						"command": "/usr/local/bin/readthru hook claude",
						"timeout": 10
					}
				]
			},
			{
				"matcher": "mcp__.*context7.*__(query-docs|get-library-docs)",
				"hooks": [
					{
						"type": "command",
						"command": "/usr/local/bin/readthru hook claude",
						"timeout": 10
					}
				]
			}
		],
		"SessionStart": [
			{
				"hooks": [
					{
						"type": "command",
						"command": "/usr/local/bin/readthru hook claude",
						"timeout": 10
					}
				]
			}
		]
	},
	"env": {"A": "b", "HTTPS_PROXY": "http://127.0.0.1:7887"}
}
`},
	} {
		e, err := file(t, agents.Claude, c, "settings.json").Setup([]byte(tt.before), agents.Record{})
		if err != nil || cmp.Diff(tt.want, string(e.Text)) != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, cmp.Diff(tt.want, string(e.Text)))
		}
	}
}

func TestCreatedFileIsDeletedAgain(t *testing.T) {
	for _, a := range agents.All() {
		for _, f := range agents.Files(a, machine, choice) {
			e := roundTrip(t, f, nil)
			if f.Format == agents.JSON && !json.Valid(e.Text) {
				t.Errorf("%s: no JSON:\n%s", f.Path, e.Text)
			}
		}
	}
}

func TestLaterChangesOfOthersStay(t *testing.T) {
	f := file(t, agents.Claude, choice, "settings.json")
	e, err := f.Setup([]byte("{\n  \"model\": \"opus\"\n}\n"), agents.Record{})
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(e.Text), `"model": "opus"`, `"model": "haiku", "theme": "dark"`, 1)
	edited = strings.Replace(edited, `"env": {`, `"env": { "MINE": "1",`, 1)
	again, err := f.Setup([]byte(edited), e.Record)
	if err != nil || string(again.Text) != edited {
		t.Errorf("Setup changes a file that has it all: %v\n%s", err, cmp.Diff(edited, string(again.Text)))
	}
	back, err := f.Remove([]byte(edited), e.Record)
	want := "{\n  \"model\": \"haiku\", \"theme\": \"dark\",\n  \"env\": { \"MINE\": \"1\"\n  }\n}\n"
	if err != nil || string(back.Text) != want {
		t.Errorf("Remove: %v (-want +got)\n%s", err, cmp.Diff(want, string(back.Text)))
	}
}

func TestNewChoiceReplacesTheOldOne(t *testing.T) {
	before := []byte("{\n  \"model\": \"opus\"\n}\n")
	f := file(t, agents.Claude, choice, "settings.json")
	e, err := f.Setup(before, agents.Record{})
	if err != nil {
		t.Fatal(err)
	}
	other := choice
	other.Verbatim, other.Instead, other.Env, other.Command = true, true, nil,
		[]string{"/opt/read thru/readthru", "--data-dir", "/d"}
	g := file(t, agents.Claude, other, "settings.json")
	for name, rec := range map[string]agents.Record{"with its record": e.Record, "without": {}} {
		next, err := g.Setup(e.Text, rec)
		text := string(next.Text)
		if err != nil || strings.Contains(text, "/usr/local/bin") ||
			strings.Count(text, `"'/opt/read thru/readthru' hook claude`) != 4 ||
			!strings.Contains(text, "--verbatim --data-dir /d") {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
		if rec.Sum == "" {
			continue
		}
		if back, err := g.Remove(next.Text, next.Record); err != nil || !bytes.Equal(back.Text, before) {
			t.Errorf("Remove: %v\n%s", err, back.Text)
		}
	}
}

func TestSettingsOfOthersAreNeverOverwritten(t *testing.T) {
	f := file(t, agents.Claude, choice, "settings.json")
	e, err := f.Setup([]byte(`{"env": {"HTTPS_PROXY": "http://proxy.corp:3128"}}`), agents.Record{})
	if err != nil || !strings.Contains(string(e.Text), "proxy.corp") || strings.Contains(string(e.Text), "7887") ||
		strings.Contains(string(e.Text), "NODE_EXTRA") || len(e.Notes) != 1 {
		t.Errorf("%v, %q\n%s", err, e.Notes, e.Text)
	}
	state := file(t, agents.Claude, choice, ".claude.json")
	own := `{"mcpServers": {"readthru": {"command": "something", "args": []}}}`
	if e, err := state.Setup([]byte(own), agents.Record{}); err != nil || string(e.Text) != own || len(e.Notes) != 1 {
		t.Errorf("%v, %q\n%s", err, e.Notes, e.Text)
	}
	hooks := file(t, agents.Cursor, choice, "hooks.json")
	mine := "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n"
	e, err = hooks.Setup([]byte(mine), agents.Record{})
	if err != nil {
		t.Fatal(err)
	}
	touched := append(bytes.Clone(e.Text), '\n')
	if back, err := hooks.Remove(touched, e.Record); err != nil || !strings.Contains(string(back.Text), `"version": 1`) ||
		strings.Contains(string(back.Text), "readthru") {
		t.Errorf("a version that was there went: %v\n%s", err, back.Text)
	}
}

func TestFilesThatCannotBeEditedAreErrors(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"cut short":       {`{"hooks": {`, "line 1, column 12: parsing value: unexpected EOF"},
		"no JSON":         {"hooks = 1", "line 1, column 1: invalid literal: hooks"},
		"a list":          {"[]", "the file is not a JSON object"},
		"null":            {"null", "the file is not a JSON object"},
		"hooks is a text": {`{"hooks": "none"}`, "hooks is neither an object nor a list"},
		"hooks is a list": {`{"hooks": []}`, "hooks is a list, not an object"},
		"event no list":   {`{"hooks": {"PostToolUse": {}}}`, "hooks.PostToolUse is not a list"},
		"event is null":   {`{"hooks": {"PostToolUse": null}}`, "hooks.PostToolUse is not a list"},
		"two values":      {"{} {}", "line 1, column 4: invalid character '{' after top-level value"},
		"nested too deep": {strings.Repeat(`{"a":`, 2000), "the file nests deeper than 1000 levels"},
		"binary":          {"\x00\x01", "line 1, column 1: invalid character '\\u0000' at start of value"},
		"UTF-16":          {"\xff\xfe{\x00}\x00", "line 1, column 1: "},
		"a comment cut":   {"{} /* a", "line 1, column 4: "},
	} {
		_, err := file(t, agents.Claude, choice, "settings.json").Setup([]byte(tt.text), agents.Record{})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", name, err, tt.want)
		}
	}
}

var tomlTexts = map[string]string{
	"empty":                    "",
	"some keys":                "model = \"o5\"\n[features]\nhooks = true\n",
	"no line break at the end": "model = \"o5\"",
	"line ends of Windows":     "model = \"o5\"\r\n\r\n[a]\r\nb = 1\r\n",
	"comments":                 "# mine\nmodel = \"o5\" # large\n",
	"servers of others":        "[mcp_servers.x]\ncommand = \"x\"\n",
	"an environment of others": "[shell_environment_policy.set]\nA = \"b\"\n\n[z]\ny = 1\n",
	"a policy without set":     "[shell_environment_policy]\ninherit = \"all\"\n",
	"arrays of tables":         "[[profiles]]\nname = \"a\"\n[[profiles]]\nname = \"b\"\n",
}

func TestTOMLSetupIsUndoneExactly(t *testing.T) {
	f := file(t, agents.Codex, choice, "config.toml")
	for name, before := range tomlTexts {
		t.Run(name, func(t *testing.T) {
			e := roundTrip(t, f, []byte(before))
			for _, want := range []string{
				"[mcp_servers.readthru]\n", `command = '/usr/local/bin/readthru'`,
				`HTTPS_PROXY = 'http://127.0.0.1:7887'`, "api.openai.com",
			} {
				if !strings.Contains(strings.ReplaceAll(string(e.Text), "\r\n", "\n"), want) {
					t.Errorf("%s is not in\n%s", want, e.Text)
				}
			}
			if len(e.Notes) > 0 {
				t.Errorf("notes %q", e.Notes)
			}
		})
	}
}

func TestTOMLThatCannotBeEditedIsReportedAndNotChanged(t *testing.T) {
	f := file(t, agents.Codex, choice, "config.toml")
	for name, tt := range map[string]struct{ text, note string }{
		"the environment is an inline table": {"shell_environment_policy = { inherit = \"all\" }\n", "add this by hand"},
		"the environment has another proxy": {
			"[shell_environment_policy.set]\nHTTPS_PROXY = \"http://proxy.corp\"\n",
			"shell_environment_policy.set.HTTPS_PROXY already has another value",
		},
		"the server is somebody's": {
			"[mcp_servers.readthru]\ncommand = \"else\"\n",
			"mcp_servers.readthru already exists with other values",
		},
	} {
		e, err := f.Setup([]byte(tt.text), agents.Record{})
		if err != nil || !strings.HasPrefix(string(e.Text), tt.text) || len(e.Notes) != 1 ||
			!strings.Contains(e.Notes[0], tt.note) {
			t.Errorf("%s: %v, %q\n%s", name, err, e.Notes, e.Text)
		}
		if back, err := f.Remove(e.Text, e.Record); err != nil || string(back.Text) != tt.text {
			t.Errorf("%s: Remove: %v\n%s", name, err, back.Text)
		}
	}
	for _, bad := range []string{"a = ", "[a\n", "a = 1\na = 2\n", "\x00"} {
		if _, err := f.Setup([]byte(bad), agents.Record{}); err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("Setup(%q): %v", bad, err)
		}
		if _, err := f.Remove([]byte(bad), agents.Record{}); err == nil {
			t.Errorf("Remove(%q) gives no error", bad)
		}
	}
}

func TestTextBlockIsAddedAndRemoved(t *testing.T) {
	f := file(t, agents.Claude, choice, "CLAUDE.md")
	for _, before := range []string{"", "# Mine\n", "# Mine", "\r\nwindows\r\n"} {
		roundTrip(t, f, []byte(before))
	}
	e, err := f.Setup([]byte("# Mine\n"), agents.Record{})
	if err != nil {
		t.Fatal(err)
	}
	back, err := f.Remove([]byte("More.\n\n"+string(e.Text)+"After.\n"), e.Record)
	if err != nil || string(back.Text) != "More.\n\n# Mine\nAfter.\n" {
		t.Errorf("Remove: %v, %q", err, back.Text)
	}
	half := "<!-- readthru: begin -->\nmine\n"
	if back, err := f.Remove([]byte(half), agents.Record{}); err != nil || string(back.Text) != half {
		t.Errorf("half a block: %v, %q", err, back.Text)
	}
}

func TestChangedFileOfOursStays(t *testing.T) {
	f := file(t, agents.OpenCode, choice, "readthru.js")
	e, err := f.Setup(nil, agents.Record{})
	if err != nil {
		t.Fatal(err)
	}
	changed := append(bytes.Clone(e.Text), "// mine\n"...)
	if back, err := f.Remove(changed, e.Record); err != nil || back.Gone || !bytes.Equal(back.Text, changed) ||
		len(back.Notes) != 1 {
		t.Errorf("Remove: %v, gone %v, %q", err, back.Gone, back.Notes)
	}
	if _, err := f.Setup(changed, e.Record); err == nil {
		t.Error("Setup overwrites a file that was changed")
	}
	other := choice
	other.Verbatim = true
	if next, err := file(t, agents.OpenCode, other, "readthru.js").Setup(e.Text, e.Record); err != nil ||
		!strings.Contains(string(next.Text), "--verbatim") {
		t.Errorf("Setup with another choice: %v", err)
	}
}

func FuzzJSONSettings(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add(text)
	}
	files := []*agents.File{file(f, agents.Claude, choice, "settings.json"), file(f, agents.Cursor, choice, "hooks.json")}
	f.Fuzz(func(t *testing.T, before string) {
		for _, file := range files {
			e, err := file.Setup([]byte(before), agents.Record{})
			if err != nil || string(e.Text) == before {
				continue
			}
			if !agents.SameJSON([]byte(before), e.Text) {
				t.Fatalf("settings of others changed from\n%q\nto\n%q", before, e.Text)
			}
			if strings.Contains(before, "readthru") {
				continue // part of it may be ours
			}
			back, err := file.Remove(e.Text, e.Record)
			if err != nil || string(back.Text) != before {
				t.Fatalf("Remove: %v, %q, want %q", err, back.Text, before)
			}
			if again, err := file.Setup(e.Text, e.Record); err != nil || !bytes.Equal(again.Text, e.Text) {
				t.Fatalf("again: %v, %q, want %q", err, again.Text, e.Text)
			}
		}
	})
}

func FuzzTOMLSettings(f *testing.F) {
	for _, text := range tomlTexts {
		f.Add(text)
	}
	file := file(f, agents.Codex, choice, "config.toml")
	f.Fuzz(func(t *testing.T, before string) {
		e, err := file.Setup([]byte(before), agents.Record{})
		if err != nil || string(e.Text) == before || strings.Contains(before, "readthru") {
			return
		}
		back, err := file.Remove(e.Text, e.Record)
		if err != nil || string(back.Text) != before {
			t.Fatalf("Remove: %v, %q, want %q", err, back.Text, before)
		}
	})
}
