//go:build unix

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/eventually"
)

func TestArgumentsAreCutIntoSets(t *testing.T) {
	got := sets([]string{"--", "-race", "./a", "--", "-C", "bench", "./..."})
	if diff := cmp.Diff([][]string{{"-race", "./a"}, {"-C", "bench", "./..."}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What passed is a line a package; what failed is told in full; what never ended is told when its package ends.
func TestTheReportIsThatOfGoTestWithoutWhatPassed(t *testing.T) {
	const events = `not JSON
{"Action":"run","Package":"github.com/readthru/readthru/a","Test":"TestGood"}
{"Action":"output","Package":"github.com/readthru/readthru/a","Test":"TestGood","Output":"    a_test.go:1: chatter\n"}
{"Action":"pass","Package":"github.com/readthru/readthru/a","Test":"TestGood","Elapsed":2.5}
{"Action":"output","Package":"github.com/readthru/readthru/a","Test":"TestSkipped",` +
		`"Output":"    a_test.go:7: curl is not installed\n"}
{"Action":"skip","Package":"github.com/readthru/readthru/a","Test":"TestSkipped"}
{"Action":"output","Package":"github.com/readthru/readthru/a","Test":"TestBad","Output":"=== RUN   TestBad\n"}
{"Action":"output","Package":"github.com/readthru/readthru/a","Test":"TestBad",` +
		`"Output":"    a_test.go:3: got 1, want 2\n"}
{"Action":"output","Package":"github.com/readthru/readthru/a","Test":"TestBad","Output":"--- FAIL: TestBad (0.10s)\n"}
{"Action":"fail","Package":"github.com/readthru/readthru/a","Test":"TestBad","Elapsed":0.1}
{"Action":"output","Package":"github.com/readthru/readthru/a","Output":"FAIL\n"}
{"Action":"output","Package":"github.com/readthru/readthru/a","Output":"FAIL\tgithub.com/readthru/readthru/a\t2.700s\n"}
{"Action":"fail","Package":"github.com/readthru/readthru/a","Elapsed":2.7}
{"Action":"output","Package":"github.com/readthru/readthru/b","Test":"TestHangs","Output":"    b_test.go:9: so far\n"}
{"Action":"output","Package":"github.com/readthru/readthru/b","Output":"panic: test timed out\n"}
{"Action":"output","Package":"github.com/readthru/readthru/b","Output":"FAIL\tgithub.com/readthru/readthru/b\t9.000s\n"}
{"Action":"fail","Package":"github.com/readthru/readthru/b","Elapsed":9}
{"Action":"build-output","ImportPath":"github.com/readthru/readthru/c","Output":"c.go:1: no\n"}
{"Action":"output","Package":"github.com/readthru/readthru/d","Output":"ok  \tgithub.com/readthru/readthru/d\t0.100s\n"}
{"Action":"pass","Package":"github.com/readthru/readthru/d","Elapsed":0.1}
{"Action":"output","Package":"github.com/readthru/readthru/e",` +
		`"Output":"?   \tgithub.com/readthru/readthru/e\t[no test files]\n"}
{"Action":"skip","Package":"github.com/readthru/readthru/e"}
`
	const want = `not JSON
    a_test.go:3: got 1, want 2
--- FAIL: TestBad (0.10s)
FAIL	github.com/readthru/readthru/a	2.700s
    b_test.go:9: so far
panic: test timed out
FAIL	github.com/readthru/readthru/b	9.000s
c.go:1: no
ok  	github.com/readthru/readthru/d	0.100s
slowest packages:
    9.0s  b
    2.7s  a
    0.1s  d
slowest tests:
    2.5s  a TestGood
    0.1s  a TestBad
skipped 1: curl is not installed
`
	var out strings.Builder
	r := newReport(&out)
	for line := range strings.Lines(events) {
		r.event([]byte(line))
	}
	r.finish()
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhatIsMissingIsSaidInFewLines(t *testing.T) {
	nothing := func(string) (string, error) { return "", errors.New("not found") }
	text := missing(nothing)
	if n := strings.Count(text, "\n"); n > 10 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	for _, want := range []string{
		"without chromium, chromium-headless-shell, certutil: no test that needs a browser: ",
		"to install it: apt-get install chromium chromium-headless-shell ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
	all := func(name string) (string, error) { return "/usr/bin/" + name, nil }
	if text := missing(all); strings.Contains(text, "apt-get") {
		t.Errorf("nothing is missing:\n%s", text)
	}
}

// What .ci/clients installs is what is said to be missing.
func TestEveryProgramIsInstalledByItsPackage(t *testing.T) {
	clients, err := os.ReadFile("../../../.ci/clients")
	if err != nil {
		t.Fatal(err)
	}
	grammars, err := os.ReadFile("../../../.ci/wasm")
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for _, n := range needed {
		for _, each := range n.programs {
			_, pkg, _ := strings.Cut(each, ":")
			if !strings.Contains(string(clients), " "+each) && !strings.Contains(string(grammars), pkg) {
				t.Errorf(".ci/clients does not install %s", each)
			}
			known += strings.Count(string(clients), " "+each)
		}
	}
	_, list, _ := strings.Cut(string(clients), "for pair in ")
	list, _, _ = strings.Cut(list, ";")
	if all := len(strings.Fields(list)); known < all {
		t.Errorf("%d of the %d programs of .ci/clients are named when they are missing", known, all)
	}
}

// A run that was killed leaves neither files nor processes that were started with them.
func TestASweepEndsWhatARunLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rt-1")
	if err := os.MkdirAll(filepath.Join(dir, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	var left []*exec.Cmd
	for _, cmd := range []*exec.Cmd{
		exec.CommandContext(t.Context(), "sleep", "3600"),
		exec.CommandContext(t.Context(), "sh", "-c", "while sleep .1; do :; done", filepath.Join(dir, "file")),
	} {
		if len(left) == 0 {
			cmd.Env = []string{"HOME=" + filepath.Join(dir, "home")}
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		left = append(left, cmd)
	}
	// A process that has just begun has no arguments for a moment: the kernel sets them after it has begun the program.
	eventually.True(t, "both processes are found", func() bool { return len(startedWith(dir)) == len(left) })
	sweep(dir)
	for _, cmd := range left {
		var ended *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("%s: %v", cmd, err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

// A run that is interrupted does not wait for the tests that are running.
func TestAnInterruptEndsTestsThatRun(t *testing.T) {
	dir := t.TempDir()
	began := filepath.Join(dir, "began")
	// As go test does, it waits for what it started when it is interrupted.
	script := "#!/bin/sh\ntrap : INT\nsh -c 'touch " + began + "; exec sleep 3600'\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- test(ctx, newReport(io.Discard), os.Environ(), nil) }()
	eventually.True(t, "the tests run", func() bool { _, err := os.Stat(began); return err == nil })
	cancel()
	if err := <-ended; err == nil {
		t.Error("no error says that the tests did not pass")
	}
}
