// Package needs says what a test does when its machine lacks something, or the run wants less of it.
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

// Brief reports whether a test makes its claim by a few of its cases: in a short run, and under the race detector,
// which makes each case five to ten times as dear and sees in a few what it would see in all. "make test" runs tests
// that ask it once more without the detector, in full: FULL in the Makefile names them.
// With READTHRU_RACE_IN_FULL set, as "make slow" sets it, they are as long under the detector.
func Brief() bool {
	return testing.Short() || raceDetector && os.Getenv("READTHRU_RACE_IN_FULL") == ""
}

// Long skips a test of which no case is brief, where [Brief] is true. The reason says what it would take there.
func Long(tb testing.TB, reason string) {
	tb.Helper()
	switch {
	case testing.Short():
		tb.Skip("short: " + reason)
	case Brief():
		tb.Skip(InFull)
	}
}

// InFull is why [Long] skips a test under the race detector.
const InFull = "the race detector: the run in full has it"
