package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/needs"
)

// The lines of docs/containers.md for GitHub Actions and for devcontainers, run as those run them, make later commands
// read through readthru.
func TestRecipesForContainersWork(t *testing.T) {
	for _, name := range []string{"bash", "curl", "jq", "setsid"} {
		needs.Program(t, name)
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "containers.md"))
	if err != nil {
		t.Fatal(err)
	}
	find := func(pattern string) string {
		t.Helper()
		m := regexp.MustCompile(`(?m)^ +` + pattern + `$`).FindStringSubmatch(string(text))
		if m == nil {
			t.Fatalf("docs/containers.md has no line %s", pattern)
		}
		return m[1]
	}
	quoted := strings.NewReplacer(`\"`, `"`, `\\`, `\`)
	for _, recipe := range []struct {
		name        string
		steps       []string
		environment func(home string) []string // of the command after the steps
		before      string
	}{
		{
			"GitHub Actions",
			[]string{find(`- run: (setsid readthru serve .*)`), find(`- run: (readthru env .*)`)},
			func(home string) []string {
				lines, _ := os.ReadFile(filepath.Join(home, "github.env")) // curl fails without
				return strings.Split(strings.TrimSpace(string(lines)), "\n")
			},
			"",
		},
		{
			"devcontainer",
			[]string{
				quoted.Replace(find(`"postStartCommand": "(.*)",`)), quoted.Replace(find(`"postCreateCommand": "(.*)"`)),
			},
			func(string) []string { return nil },
			". ~/.bashrc; ", // as an interactive shell does
		},
	} {
		t.Run(recipe.name, func(t *testing.T) {
			w, home := newWeb(t, site()), t.TempDir()
			host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254)) // fixed ports are free there
			bin := filepath.Join(home, "bin")
			if err := os.Mkdir(bin, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(binary, filepath.Join(bin, "readthru")); err != nil {
				t.Fatal(err)
			}
			env := append(environ(w, home), "READTHRU_PROXY_LISTEN="+host+":7887", "READTHRU_ADMIN_LISTEN="+host+":7888",
				"PATH="+bin+":"+os.Getenv("PATH"), "GITHUB_ENV="+filepath.Join(home, "github.env"))
			run := func(line string, more ...string) (string, error) {
				cmd := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", line)
				cmd.Dir, cmd.Env = home, slices.Concat(env, more)
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			t.Cleanup(func() {
				ctx := context.WithoutCancel(t.Context())
				_ = exec.CommandContext(ctx, binary, "stop", "--data-dir", filepath.Join(home, "data")).Run() // it may have ended
			})
			for _, line := range recipe.steps {
				if out, err := run(strings.ReplaceAll(line, "/tmp/readthru.log", filepath.Join(home, "log"))); err != nil {
					t.Fatalf("%s: %v\n%s", line, err, out)
				}
			}
			eventually.True(t, "the daemon listens", func() bool {
				out, err := run(recipe.before+"curl -sS --retry 20 --retry-connrefused --retry-delay 1 https://site.test/guide/page",
					recipe.environment(home)...)
				if err == nil && !strings.Contains(out, "# Rivers of the north") {
					t.Fatalf("the page as it is, not through readthru:\n%s", out)
				}
				return err == nil
			})
		})
	}
}
