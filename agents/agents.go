// Package agents knows how the agents around us speak: what their hooks are told and how they answer, and what their
// settings files look like.
//
// All of it is pure. [Parse] reads an event of any agent, since names drift and agents run each other's hooks;
// [Answer.Encode] writes what that agent understands. [Files] names the settings files of an agent with what of ours
// belongs into them, and [File.Setup] and [File.Remove] are the edits: bytes in, bytes out. An edit keeps comments,
// order, indentation and line ends, changes nothing that is somebody else's, and can be taken back to the byte.
package agents

import "slices"

// Agent is an agent by the name that commands use.
type Agent string

// The agents whose hooks and settings we know.
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

// Known reports whether a is one of them.
func Known(a Agent) bool { return slices.Contains(All(), a) }

// Title is the agent's name as its makers write it.
func (a Agent) Title() string {
	return map[Agent]string{
		Claude: "Claude Code", Codex: "Codex CLI", Gemini: "Gemini CLI", Cursor: "Cursor",
		VSCode: "VS Code", OpenCode: "OpenCode",
	}[a]
}
