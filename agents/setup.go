package agents

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Machine describes a machine, as far as the places of settings files depend on it.
type Machine struct {
	OS     string              // as runtime.GOOS
	Home   string              // the user's home directory
	Config string              // the directory for settings: ~/.config, %APPDATA%, ~/Library/Application Support
	Getenv func(string) string // for variables that move an agent's directory
	Exists func(path string) bool
}

// Choice says what to set up.
type Choice struct {
	Command  []string   // this program, then the flags for every command
	Env      []Variable // sends web requests through the proxy; if nil, requests do not change
	Text     bool       // add a paragraph to the agent's instructions
	Instead  bool       // answer from the cache instead of running a fetch tool
	Prefetch bool       // fetch pages that the user's message names
	Verbatim bool       // replace a fetch tool's answer with the page
}

// Variable is an environment variable.
type Variable struct{ Name, Value string }

// Dir returns the directory of an agent's settings.
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

// Programs returns the names of an agent's program, by which setup finds out whether it is installed.
func (a Agent) Programs() []string {
	return map[Agent][]string{
		Claude: {"claude"}, Codex: {"codex"}, Gemini: {"gemini"}, Cursor: {"cursor", "cursor-agent"},
		VSCode: {"code"}, OpenCode: {"opencode"},
	}[a]
}

// TakesEnv reports whether an agent's settings can set the environment of the programs that it runs. Gemini CLI and
// OpenCode inherit theirs from the shell.
func (a Agent) TakesEnv() bool { return a != Gemini && a != OpenCode }

// Files returns an agent's settings files with the settings that setup writes into them.
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

// The tools that hooks match. Gemini CLI, Codex CLI and Claude Code use regular expressions. The name of the server may
// have a prefix and a suffix, as in a plugin.
const (
	docsMatcher       = `mcp__.*context7.*__(query-docs|get-library-docs)`
	geminiDocsMatcher = `mcp_.*context7.*_(query-docs|get-library-docs)`
	cursorMatcher     = `WebFetch|MCP:.*(query-docs|get-library-docs)`
)

// hookGroup and hook are the form of hooks in the settings of most agents.
type hookGroup struct {
	Matcher string `json:"matcher,omitempty"`
	Hooks   []hook `json:"hooks"`
}

// hook is the entry of a hook in an agent's settings. A field that an agent's hooks do not have stays empty, and is
// left out.
type hook struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type,omitempty"`
	Command string `json:"command"`
	Matcher string `json:"matcher,omitempty"`
	Timeout int    `json:"timeout,omitempty"`
}

// hookTimeout is the timeout in the agents' settings, in seconds (rule A18). Our hooks take less.
const hookTimeout = 10

// claudeHooks returns the hook groups that are set up by event (rule A20), in the form that Claude Code and Codex CLI
// share.
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
	add("SessionStart", "")
	return list
}

// server is the entry of a tool server. Agents differ in the type that they require.
type server struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// server returns the entry of our tool server.
func (c Choice) server(kind string) server {
	return server{kind, c.Command[0], append([]string{"mcp"}, c.Command[1:]...)}
}

// env returns the environment as settings below a path. The agent's own hosts bypass the proxy, so that the agent works
// without it.
func (c Choice) env(path []string, own ...string) (list []Want) {
	for _, v := range c.Env {
		if strings.EqualFold(v.Name, "no_proxy") {
			v.Value = strings.Join(append([]string{v.Value}, own...), ",")
		}
		list = append(list, Want{Path: append(slices.Clip(path), v.Name), Value: v.Value, Group: "the proxy's environment"})
	}
	return list
}

// claudeFiles returns the files that set up Claude Code: settings with hooks and environment, the state file with the
// tool server, and its instructions. CLAUDE_CONFIG_DIR moves all of them.
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

// codexFiles returns the files that set up Codex CLI: config.toml with the tool server and the environment of its
// shell, hooks.json, and its instructions.
func codexFiles(dir, os string, c Choice) []*File {
	// Codex CLI has no tool that reads web pages
	hooks := claudeHooks(hookLine(os, c, Codex), Choice{Prefetch: c.Prefetch})[1:]
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

// geminiFiles returns the files that set up Gemini CLI. Its hooks take their timeout in milliseconds.
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
	add("SessionStart", "")
	wants = append(wants, Want{Path: []string{"mcpServers", "readthru"}, Value: c.server("")})
	return withText([]*File{{Path: filepath.Join(dir, "settings.json"), About: "hooks and tool server", Wants: wants}},
		filepath.Join(dir, "GEMINI.md"), c)
}

// cursorFiles returns the files that set up Cursor: mcp.json, hooks.json and, in the settings of its editor, the
// environment of its terminal.
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

// vscodeFiles returns the files that set up VS Code: the tool server in its user folder, hooks in the folder of
// Copilot, which COPILOT_HOME moves.
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

// terminalFile returns, for the setup, the settings file with the environment of the terminals of VS Code and Cursor,
// including those of the agent.
func terminalFile(dir, os string, c Choice) []*File {
	if c.Env == nil {
		return nil
	}
	name := map[string]string{"darwin": "osx", "windows": "windows"}[os]
	name = cmp.Or(name, "linux")
	return []*File{{
		Path: filepath.Join(dir, "settings.json"), About: "environment of terminals",
		Wants: c.env([]string{"terminal.integrated.env." + name}),
	}}
}

// openCodeFiles returns the files that set up opencode: its configuration, which may be JSON with comments, a plugin in
// JavaScript for the hooks, and its instructions.
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

// withText adds to the setup the file of an agent's instructions, if the choice has it get a paragraph.
func withText(files []*File, path string, c Choice) []*File {
	if c.Text {
		files = append(files, &File{Path: path, Format: Text, About: "instructions", Body: Instructions})
	}
	return files
}

// hookLine returns, for the setup, a function that returns the command line of an agent's hook for a shell.
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

// quoted quotes, for the setup, a word of a hook's command line for the shell of a system; a word that needs no quotes
// stays readable.
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

// openCodePlugin returns, for the setup, a plugin for OpenCode that passes events to our command: OpenCode's hooks run
// in its own process.
func openCodePlugin(c Choice) string {
	command := append([]string{c.Command[0], "hook", string(OpenCode)}, c.Command[1:]...)
	if c.Verbatim {
		command = append(command, "--verbatim")
	}
	before := ""
	if c.Instead {
		before = "\n      const answer = await tell({ event: \"tool.execute.before\", tool: input.tool, args: output.args, " +
			"sessionID: input.sessionID })\n      if (answer.deny) throw new Error(answer.deny)"
	}
	return strings.NewReplacer("COMMAND", render(command, "", "", "\n", false), "BEFORE",
		before).Replace(`// Written by "readthru setup opencode". "readthru setup --remove opencode" removes it.
import { spawn } from "node:child_process"

const command = COMMAND

// tell passes an event to readthru and returns its answer, which may be empty.
const tell = (event) =>
  new Promise((resolve) => {
    let out = ""
    const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill(), 10000)
    const end = () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(out))
      } catch {
        resolve({})
      }
    }
    child.on("error", end)
    child.on("close", end)
    child.stdout.on("data", (text) => (out += text))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })

const watched = (tool) => tool === "webfetch" || /context7.*(query-docs|get-library-docs)$/.test(tool)

const calls = new Map() // arguments by call, for releases that pass them only before the call

export const Readthru = async () => {
  const started = tell({ event: "session.start" }) // only the first message waits for it
  return {
    "experimental.chat.system.transform": async (_, output) => {
      const { context } = await started
      if (context) output.system.push(context)
    },
    "tool.execute.before": async (input, output) => {
      if (!watched(input.tool)) return
      if (calls.size > 100) calls.clear()
      calls.set(input.callID, output.args)BEFORE
    },
    "tool.execute.after": async (input, output) => {
      if (!watched(input.tool)) return
      const args = input.args ?? calls.get(input.callID)
      calls.delete(input.callID)
      const event = { event: "tool.execute.after", tool: input.tool, args, sessionID: input.sessionID, output: output.output ?? output.content }
      const answer = await tell(event)
      if (answer.output && typeof output.output === "string") output.output = answer.output
    },
  }
}
`)
}
