package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// With another path of the module, every package and test of a checkout still finds what it imports.
func TestTheModuleTakesThePathUnderWhichItIsPublished(t *testing.T) {
	t.Chdir("..")
	list, err := output(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard")
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	for name := range strings.Lines(list) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) { // deleted, and not yet committed
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = to
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	for _, wrong := range []string{"", "readthru", "/github.com/you/readthru", "github.com/you/readthru; ls"} {
		cmd := exec.CommandContext(t.Context(), "sh", ".ci/module", wrong)
		cmd.Dir = to
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "usage: make module") {
			t.Errorf("module path %q: %v, %q, want the usage", wrong, err, out)
		}
	}
	run("sh", ".ci/module", "example.com/you/readthru")

	if got := run("go", "list", "-m"); got != "example.com/you/readthru" {
		t.Errorf("the module is %s", got)
	}
	if got := run("go", "list", "-e", "-deps", "-test", "-f", "{{with .Error}}{{.}}{{end}}", "./..."); got != "" {
		t.Errorf("packages cannot be loaded:\n%s", got)
	}
	home, err := os.ReadFile(filepath.Join(to, "releases", "releases.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^const Home = "https://example.com/you/readthru"$`).Match(home) {
		t.Error("releases.Home does not name the module's address")
	}
	if dotless := run("sh", "-c", `gofmt -l . || exit 1; grep -rnE '^\s*"readthru/' --include=*.go . || true`); dotless != "" {
		t.Errorf("not formatted, or with the former path:\n%s", dotless)
	}
}
