// Package needs says what a test does when its machine lacks something.
package needs

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Missing ends a test that cannot run because something is not there: a client, a browser, a package. In continuous
// integration, where CI is set and everything is installed, that is a failure; elsewhere the test is skipped.
func Missing(tb testing.TB, format string, args ...any) {
	tb.Helper()
	what := fmt.Sprintf(format, args...)
	if os.Getenv("CI") != "" {
		tb.Fatal(what)
	}
	tb.Skip(what)
}

// Program returns the path of a program that a test drives. Without it the test is [Missing] something.
func Program(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(tb, "%s is not installed: .ci/clients installs it", name)
	}
	return path
}
