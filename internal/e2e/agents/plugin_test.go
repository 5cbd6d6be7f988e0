package agents_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// The plugin is installed from this repository by Claude Code itself, which finds nothing wrong with it, and does its
// work without a setup and without a daemon before.
func TestPluginInstallsAndWorks(t *testing.T) {
	m := newMachine(t)
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"plugin", "validate", "--strict", root},
		{"plugin", "validate", "--strict", filepath.Join(root, "contrib", "plugin")},
		{"plugin", "marketplace", "add", root},
		{"plugin", "install", "readthru@readthru"},
	} {
		if out, err := m.command("claude", args...).CombinedOutput(); err != nil {
			t.Fatalf("claude %s: %v\n%s", args, err, out)
		}
	}
	a := agents[0]
	leader := newModel(t, call{"mcp__*readthru__fetch", object{"url": pageURL}})
	a.args = append([]string{"--allowedTools", "mcp__plugin_readthru_readthru"}, a.args...)
	m.readthru("fetch", pageURL)
	m.run(a, leader)
	wantPage(t, "the plugin's fetch", leader.result(t, 0))
	if got := leader.begins(); !strings.Contains(got, "readthru: 1 page kept; search_knowledge_base finds") {
		t.Errorf("at its start the model was told %q, want how many pages are kept", got)
	}
}
