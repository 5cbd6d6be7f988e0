package agents_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/agents"
	"github.com/readthru/readthru/internal/needs"
)

// TestPluginHasTheHooksThatSetupInstalls compares the plugin directory with this package. -update rewrites its hooks.
func TestPluginHasTheHooksThatSetupInstalls(t *testing.T) {
	dir := filepath.Join("..", "contrib", "plugin")
	name := filepath.Join(dir, "hooks", "hooks.json")
	want := agents.PluginHooks(`"${CLAUDE_PLUGIN_ROOT}/hooks/run.sh"`)
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("%s (-want +got)\n%s", name, d)
	}
	for _, name := range []string{".mcp.json", ".claude-plugin/plugin.json", "../../.claude-plugin/marketplace.json"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !json.Valid(text) {
			t.Errorf("%s: %v, or no JSON", name, err)
		}
	}
}

// TestPluginIsSilentWithoutReadthru runs the plugin's script with a PATH that does not have readthru.
func TestPluginIsSilentWithoutReadthru(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell, which the script is for")
	}
	cmd := exec.CommandContext(t.Context(), sh, filepath.Join("..", "contrib", "plugin", "hooks", "run.sh"))
	cmd.Env = []string{"PATH=" + t.TempDir()}
	cmd.Stdin = strings.NewReader("{}")
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v, %q, want silence", err, out)
	}
}

// TestOpenCodePluginPassesEvents runs the plugin's hooks in Node, with a script in place of this program that
// answers with what it was told.
func TestOpenCodePluginPassesEvents(t *testing.T) {
	node := needs.Program(t, "node")
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program := write("readthru", "#!"+node+
		"\nlet s = ''; process.stdin.on('data', (d) => (s += d)).on('end', () => { const e = JSON.parse(s); console.log(JSON.stringify(e.event.endsWith('before') ? { deny: 'have it' } : { output: process.argv.slice(2).join(' ') + ' ' + e.args.url + ' ' + e.output })) })\n", 0o755)
	c := choice
	c.Command, c.Instead, c.Verbatim = []string{program}, true, true
	write("plugin.mjs", file(t, agents.OpenCode, c, "readthru.js").Body, 0o600)
	main := write("main.mjs", `import { Readthru } from "./plugin.mjs"
const hooks = await Readthru()
const args = { url: "https://a.test/" }
try {
	await hooks["tool.execute.before"]({ tool: "webfetch", callID: "1" }, { args })
} catch (e) {
	console.log("denied: " + e.message)
}
const output = { output: "old" }
await hooks["tool.execute.after"]({ tool: "webfetch", callID: "1" }, output)
console.log(output.output)
const other = { output: "same" }
await hooks["tool.execute.after"]({ tool: "bash", callID: "2", args: {} }, other)
console.log(other.output)
`, 0o600)
	out, err := exec.CommandContext(t.Context(), node, main).CombinedOutput()
	if want := "denied: have it\nhook opencode --verbatim https://a.test/ old\nsame\n"; err != nil || string(out) != want {
		t.Errorf("%v, %q, want %q", err, out, want)
	}
}
