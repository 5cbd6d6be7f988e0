package agents

import (
	"path/filepath"
	"slices"
	"strings"
)

// Machine is what must be known of a machine to find the settings files on it.
type Machine struct {
	OS     string              // as runtime.GOOS has it
	Home   string              // of the user
	Config string              // where programs keep settings: ~/.config, %APPDATA%, ~/Library/Application Support
	Getenv func(string) string // variables that move an agent's folder
	Exists func(path string) bool
}

// Choice is what is to be set up.
type Choice struct {
	Command  []string   // this program, then flags that every command is to have
	Env      []Variable // that sends web requests through the proxy; if nil they go as before
	Text     bool       // a paragraph in the agent's instructions
	Instead  bool       // answer from the cache in place of a tool that reads web pages
	Prefetch bool       // fetch pages that the user's message names
	Verbatim bool       // put the page in place of what a tool made of it
}

// Variable is one variable of the environment.
type Variable struct{ Name, Value string }

// Dir is the folder that an agent keeps its settings in.
func (m Machine) Dir(a Agent) string {
	moved := func(variable, folder string) string {
		if dir := m.Getenv(variable); filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(m.Home, folder)
	}
	switch a {
	case Claude:
		return moved("CLAUDE_CONFIG_DIR", ".claude")
	case Codex:
		return moved("CODEX_HOME", ".codex")
	case Gemini:
		return filepath.Join(m.Home, ".gemini")
	case Cursor:
		return filepath.Join(m.Home, ".cursor")
	case VSCode:
		return filepath.Join(m.Config, "Code", "User")
	}
	if xdg := m.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		return filepath.Join(xdg, "opencode")
	}
	return filepath.Join(m.Home, ".config", "opencode")
}

// Programs are the names that an agent's program has.
func (a Agent) Programs() []string {
	return map[Agent][]string{
		Claude: {"claude"}, Codex: {"codex"}, Gemini: {"gemini"}, Cursor: {"cursor", "cursor-agent"},
		VSCode: {"code"}, OpenCode: {"opencode"},
	}[a]
}

// TakesEnv reports whether an agent's settings can hold an environment that reaches what it runs. Gemini CLI and
// OpenCode take theirs from the shell that starts them.
func (a Agent) TakesEnv() bool { return a != Gemini && a != OpenCode }

// Files returns an agent's settings files with what of ours belongs into them.
func Files(a Agent, m Machine, c Choice) []*File {
	dir := m.Dir(a)
	switch a {
	case Claude:
		return claudeFiles(dir, m, c)
	case Codex:
		return codexFiles(dir, m.OS, c)
	case Gemini:
		return geminiFiles(dir, m.OS, c)
	case Cursor:
		return cursorFiles(dir, m, c)
	case VSCode:
		return vscodeFiles(dir, m, c)
	}
	return openCodeFiles(dir, m, c)
}

// What hooks look out for. Gemini CLI, Codex CLI and Claude Code take regular expressions; the server's name may have
// anything before and after it, as in a plugin.
const (
	docsMatcher       = `mcp__.*context7.*__(query-docs|get-library-docs)`
	geminiDocsMatcher = `mcp_.*context7.*_(query-docs|get-library-docs)`
	cursorMatcher     = `WebFetch|MCP:.*(query-docs|get-library-docs)`
)

// hookGroup and hook are how most agents write hooks.
type hookGroup struct {
	Matcher string `json:"matcher,omitempty"`
	Hooks   []hook `json:"hooks"`
}

type hook struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type,omitempty"`
	Command string `json:"command"`
	Matcher string `json:"matcher,omitempty"`
	Timeout int    `json:"timeout,omitempty"`
}

// hookTimeout is what an agent gives a hook, in seconds (rule A18). Ours takes less.
const hookTimeout = 10

// claudeHooks are the groups by event (rule A20), in the shape that Claude Code and Codex CLI share.
func claudeHooks(line func(flags ...string) string, c Choice) (list []Want) {
	add := func(event, matcher string, flags ...string) {
		group := hookGroup{matcher, []hook{{Type: "command", Command: line(flags...), Timeout: hookTimeout}}}
		list = append(list, Want{Path: []string{"hooks", event}, Item: true, Value: group})
	}
	var flags []string
	if c.Verbatim {
		flags = []string{"--verbatim"}
	}
	add("PostToolUse", "WebFetch", flags...)
	add("PostToolUse", docsMatcher)
	if c.Instead {
		add("PreToolUse", "WebFetch")
	}
	if c.Prefetch {
		add("UserPromptSubmit", "")
	}
	return list
}

// PluginHooks is the hooks file of a plugin for Claude Code, whose hooks run line.
func PluginHooks(line string) string {
	hooks := map[string][]any{}
	for _, w := range claudeHooks(func(...string) string { return line }, Choice{}) {
		hooks[w.Path[1]] = append(hooks[w.Path[1]], w.Value)
	}
	type file struct {
		Description string           `json:"description"`
		Hooks       map[string][]any `json:"hooks"`
	}
	return render(file{"Keeps the web pages and the documentation that are read", hooks}, "", "  ", "\n", true) + "\n"
}

// server is a tool server's entry; agents differ in the type they want named.
type server struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func (c Choice) server(kind string) server {
	return server{kind, c.Command[0], append([]string{"mcp"}, c.Command[1:]...)}
}

// env returns wants that put the environment below a path. What the agent itself needs goes past the proxy: it works on
// when none runs.
func (c Choice) env(path []string, own ...string) (list []Want) {
	for _, v := range c.Env {
		if strings.EqualFold(v.Name, "no_proxy") {
			v.Value = strings.Join(append([]string{v.Value}, own...), ",")
		}
		list = append(list, Want{Path: append(slices.Clip(path), v.Name), Value: v.Value, Group: "the proxy's environment"})
	}
	return list
}

func claudeFiles(dir string, m Machine, c Choice) []*File {
	wants := claudeHooks(hookLine(m.OS, c, Claude), c)
	wants = append(wants, c.env([]string{"env"}, "api.anthropic.com", "claude.ai", "console.anthropic.com",
		"platform.claude.com", "statsig.anthropic.com")...)
	state := filepath.Join(m.Home, ".claude.json")
	if m.Getenv("CLAUDE_CONFIG_DIR") != "" {
		state = filepath.Join(dir, ".claude.json")
	}
	return withText([]*File{
		{Path: filepath.Join(dir, "settings.json"), About: "hooks and environment", Wants: wants},
		{Path: state, About: "tool server", Wants: []Want{{
			Path:  []string{"mcpServers", "readthru"},
			Value: c.server("stdio"),
		}}},
	}, filepath.Join(dir, "CLAUDE.md"), c)
}

func codexFiles(dir, os string, c Choice) []*File {
	hooks := claudeHooks(hookLine(os, c, Codex), Choice{Prefetch: c.Prefetch})[1:] // it reads no web pages by itself
	entry := c.server("")
	wants := []Want{
		{Path: []string{"mcp_servers", "readthru", "command"}, Value: entry.Command},
		{Path: []string{"mcp_servers", "readthru", "args"}, Value: entry.Args},
	}
	wants = append(wants, c.env([]string{"shell_environment_policy", "set"}, "api.openai.com", "chatgpt.com",
		"auth.openai.com")...)
	return withText([]*File{
		{Path: filepath.Join(dir, "config.toml"), Format: TOML, About: "tool server and environment", Wants: wants},
		{Path: filepath.Join(dir, "hooks.json"), About: "hooks", Wants: hooks},
	}, filepath.Join(dir, "AGENTS.md"), c)
}

func geminiFiles(dir, os string, c Choice) []*File {
	line := hookLine(os, c, Gemini)
	var wants []Want
	add := func(event, matcher string, flags ...string) {
		group := hookGroup{matcher, []hook{{
			Name: "readthru", Type: "command", Command: line(flags...),
			Timeout: hookTimeout * 1000,
		}}}
		wants = append(wants, Want{Path: []string{"hooks", event}, Item: true, Value: group})
	}
	var flags []string
	if c.Verbatim {
		flags = []string{"--verbatim"}
	}
	add("AfterTool", "web_fetch", flags...)
	add("AfterTool", geminiDocsMatcher)
	if c.Instead {
		add("BeforeTool", "web_fetch")
	}
	if c.Prefetch {
		add("BeforeAgent", "")
	}
	wants = append(wants, Want{Path: []string{"mcpServers", "readthru"}, Value: c.server("")})
	return withText([]*File{{Path: filepath.Join(dir, "settings.json"), About: "hooks and tool server", Wants: wants}},
		filepath.Join(dir, "GEMINI.md"), c)
}

func cursorFiles(dir string, m Machine, c Choice) []*File {
	line := hookLine(m.OS, c, Cursor)
	wants := []Want{{Path: []string{"version"}, Value: 1, Common: true}}
	add := func(event, matcher string) {
		wants = append(wants, Want{
			Path: []string{"hooks", event}, Item: true,
			Value: hook{Command: line(), Matcher: matcher},
		})
	}
	add("postToolUse", cursorMatcher)
	if c.Instead {
		add("preToolUse", "WebFetch")
	}
	if c.Prefetch {
		add("beforeSubmitPrompt", "")
	}
	return append([]*File{
		{
			Path: filepath.Join(dir, "mcp.json"), About: "tool server",
			Wants: []Want{{Path: []string{"mcpServers", "readthru"}, Value: c.server("")}},
		},
		{Path: filepath.Join(dir, "hooks.json"), About: "hooks", Wants: wants},
	}, terminalFile(filepath.Join(m.Config, "Cursor", "User"), m.OS, c)...)
}

func vscodeFiles(dir string, m Machine, c Choice) []*File {
	home := filepath.Join(m.Home, ".copilot")
	if moved := m.Getenv("COPILOT_HOME"); filepath.IsAbs(moved) {
		home = moved
	}
	type file struct {
		Version int               `json:"version"`
		Hooks   map[string][]hook `json:"hooks"`
	}
	own := []hook{{Type: "command", Command: hookLine(m.OS, c, VSCode)(), Timeout: hookTimeout}}
	hooks := map[string][]hook{"PostToolUse": own}
	if c.Instead {
		hooks["PreToolUse"] = own
	}
	if c.Prefetch {
		hooks["UserPromptSubmit"] = own
	}
	return append([]*File{
		{
			Path: filepath.Join(dir, "mcp.json"), About: "tool server",
			Wants: []Want{{Path: []string{"servers", "readthru"}, Value: c.server("stdio")}},
		},
		{
			Path: filepath.Join(home, "hooks", "readthru.json"), Format: Whole, About: "hooks",
			Body: render(file{1, hooks}, "", "  ", "\n", true) + "\n",
		},
	}, terminalFile(dir, m.OS, c)...)
}

// terminalFile is the settings file whose environment VS Code and Cursor give their terminals, the agent's own
// included.
func terminalFile(dir, os string, c Choice) []*File {
	if c.Env == nil {
		return nil
	}
	name := map[string]string{"darwin": "osx", "windows": "windows"}[os]
	if name == "" {
		name = "linux"
	}
	return []*File{{
		Path: filepath.Join(dir, "settings.json"), About: "environment of terminals",
		Wants: c.env([]string{"terminal.integrated.env." + name}),
	}}
}

func openCodeFiles(dir string, m Machine, c Choice) []*File {
	config := filepath.Join(dir, "opencode.json")
	if jsonc := filepath.Join(dir, "opencode.jsonc"); m.Exists(jsonc) {
		config = jsonc
	}
	type local struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
		Enabled bool     `json:"enabled"`
	}
	command := append([]string{c.Command[0], "mcp"}, c.Command[1:]...)
	return withText([]*File{
		{Path: config, About: "tool server", Wants: []Want{{
			Path:  []string{"mcp", "readthru"},
			Value: local{"local", command, true},
		}}},
		{Path: filepath.Join(dir, "plugins", "readthru.js"), Format: Whole, About: "hooks", Body: openCodePlugin(c)},
	}, filepath.Join(dir, "AGENTS.md"), c)
}

func withText(files []*File, path string, c Choice) []*File {
	if c.Text {
		files = append(files, &File{Path: path, Format: Text, About: "instructions", Body: Instructions})
	}
	return files
}

// hookLine returns what writes the command line of an agent's hook for a shell.
func hookLine(os string, c Choice, a Agent) func(flags ...string) string {
	return func(flags ...string) string {
		words := append([]string{c.Command[0], "hook", string(a)}, flags...)
		words = append(words, c.Command[1:]...)
		for i, w := range words {
			words[i] = quoted(os, w)
		}
		return strings.Join(words, " ")
	}
}

// quoted returns a word as a shell takes it for one.
func quoted(os, word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("_-./:=,+@%", r) || r == '\\' && os == "windows"
	}
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	if os == "windows" {
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
