// Package agents knows the interfaces of coding agents: the events and answers of their hooks, and their settings
// files.
//
// It does no I/O. [Parse] reads an event of any agent, because names change and agents run each other's hooks.
// [Answer.Encode] writes an answer that the agent understands. [Files] returns the settings files of an agent with the
// settings that readthru needs there. [File.Setup] and [File.Remove] edit them: they take and return the content of a
// file. An edit keeps comments, order, indentation and line ends, never changes settings of others, and can be undone
// exactly.
package agents

import "slices"

// Agent is the name of an agent, as commands use it.
type Agent string

// The supported agents.
const (
	Claude   Agent = "claude"
	Codex    Agent = "codex"
	Gemini   Agent = "gemini"
	Cursor   Agent = "cursor"
	VSCode   Agent = "vscode"
	OpenCode Agent = "opencode"
)

// All lists the agents.
func All() []Agent { return []Agent{Claude, Codex, Gemini, Cursor, VSCode, OpenCode} }

// Known reports whether a is supported.
func Known(a Agent) bool { return slices.Contains(All(), a) }

// Title returns the product name of the agent.
func (a Agent) Title() string {
	return map[Agent]string{
		Claude: "Claude Code", Codex: "Codex CLI", Gemini: "Gemini CLI", Cursor: "Cursor",
		VSCode: "VS Code", OpenCode: "OpenCode",
	}[a]
}
