package agents_test

import (
	"encoding/json"
	"fmt"
)

// An agent is how one of them is used.
type agent struct {
	name  string
	title string   // as docs/agents.md calls it
	files []string // settings that prepare writes, without those that the agent itself changes
	// prepare writes the settings of a user who has told it a model.
	prepare func(m *machine, model string)
	args    []string // of a run with one message
	env     func(model string) []string

	fetch *call                     // reads the page with its own tool; nil if it has none
	shell func(command string) call // runs a command
	tools string                    // what its names of our tools begin with

	// set up, without "readthru run":
	plain   func(m *machine) call // reads a page with its own tool, if that is not fetch
	proxied bool                  // its settings take the environment of its shell
}

const message = "Read " + pageURL + " and tell what it says."

// geminiReads are settings with which Gemini CLI reads pages itself.
const geminiReads = `{"security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false}, "experimental": {"directWebFetch": true}}`

// curl returns the call that reads a page with curl.
func (a agent) curl(url string) call { return a.shell("curl -sS " + url) }

var agents = []agent{
	{
		name: "claude", title: "Claude Code", files: []string{".claude/settings.json"},
		prepare: func(m *machine, _ string) {
			m.write(".claude/settings.json", `{
  "skipWebFetchPreflight": true,
  "permissions": {"allow": ["WebFetch", "Bash", "mcp__readthru"]}
}
`)
		},
		args: []string{"-p", message},
		env: func(model string) []string {
			return []string{
				"ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
				"DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false",
			}
		},
		fetch: &call{"WebFetch", object{"url": pageURL, "prompt": "What does it say?"}},
		shell: func(line string) call { return call{"Bash", object{"command": line, "description": "Read the page"}} },
		tools: "mcp__readthru__", proxied: true,
	},
	{
		name: "codex", title: "Codex CLI", // which adds what it trusts to the file
		prepare: func(m *machine, model string) {
			m.write(".codex/config.toml", fmt.Sprintf(`# the user's own
model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "Scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
`, model))
		},
		args: []string{
			"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust",
			message,
		},
		env:   func(string) []string { return []string{"SCRIPTED_KEY=none"} },
		shell: func(line string) call { return call{"exec_command", object{"cmd": line}} },
		tools: "mcp__readthru", proxied: true,
	},
	{
		name: "gemini", title: "Gemini CLI", files: []string{".gemini/settings.json"},
		prepare: func(m *machine, _ string) {
			m.write(".gemini/settings.json", `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false}
}
`)
		},
		args: []string{"--yolo", "--skip-trust", "-m", "gemini-2.5-pro", "-p", message},
		env: func(model string) []string {
			return []string{"GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL=" + model}
		},
		fetch: &call{"web_fetch", object{"url": pageURL}},
		shell: func(line string) call { return call{"run_shell_command", object{"command": line}} },
		tools: "mcp_readthru_",
		plain: func(*machine) call { return call{"web_fetch", object{"prompt": message}} }, // Google reads the page
	},
	{
		name: "opencode", title: "OpenCode", files: []string{".config/opencode/opencode.json"},
		prepare: func(m *machine, model string) {
			text, err := json.MarshalIndent(object{
				"$schema": "https://opencode.ai/config.json", "model": "anthropic/claude-sonnet-4-5", "autoupdate": false,
				"share": "disabled", "provider": object{
					"anthropic": object{"options": object{"baseURL": model + "/v1", "apiKey": "none"}},
				},
			}, "", "  ")
			if err != nil {
				m.t.Fatal(err)
			}
			m.write(".config/opencode/opencode.json", string(text)+"\n")
		},
		args:  []string{"run", message},
		env:   func(string) []string { return nil },
		fetch: &call{"webfetch", object{"url": pageURL, "format": "markdown"}},
		shell: func(line string) call { return call{"bash", object{"command": line, "description": "Read the page"}} },
		tools: "readthru_",
		plain: func(m *machine) call {
			return call{"webfetch", object{"url": "http://" + m.web + "/guide", "format": "html"}}
		},
	},
}
