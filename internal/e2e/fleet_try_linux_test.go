package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/internal/webtest"
)

// TestAFleetIsTriedOnOneMachine runs what docs/fleet.md begins with: a page that one of three nodes read through a
// balancer is found on the others, and nothing is left at the end.
func TestAFleetIsTriedOnOneMachine(t *testing.T) {
	for _, program := range []string{"haproxy", "curl", "psql"} {
		if _, err := exec.LookPath(program); err != nil {
			needs.Missing(t, "%s is not installed: .ci/clients installs it", program)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	w := newWeb(t, manual(3))
	files, err := os.MkdirTemp("", "try") // t.TempDir is closed to the user that PostgreSQL runs as
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(files)                      //nolint:errcheck // it is empty
	if err := os.Chmod(files, 0o755); err != nil { //nolint:gosec // what is private in it has a folder of its own
		t.Fatal(err)
	}
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254)) // fixed ports are free there
	cmd := exec.CommandContext(t.Context(), filepath.Join("..", "..", "contrib", "fleet", "try"), binary, "sh", "-euc", `
		curl -sf -H 'Accept: text/markdown' https://manual.test/manual/1
		for node in 1 2 3; do
			until "$0" --data-dir "$NODES/node$node" search quonset1x | grep https://manual.test/manual/1; do sleep .2; done
		done
		"$0" --data-dir "$NODES/node3" stats fleet
		ls "$NODES"`, binary)
	cmd.Env = append(environ(w, t.TempDir()), "ADDRESS="+host, "TMPDIR="+files, "XDG_CACHE_HOME="+cache)
	webtest.EndWithTests(cmd)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{":7701  ok", ":7702  ok", ":7703  ok", "versitygw.log", "object store: ok"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if n := len(w.requests("/manual/1")); n != 1 {
		t.Errorf("the origin was asked %d times", n)
	}
	if left, err := os.ReadDir(files); err != nil || len(left) != 0 {
		t.Errorf("%v, %v is left", left, err)
	}
}
