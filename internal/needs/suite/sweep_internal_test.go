//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
)

// TestMain is the run that [TestAKilledRunLeavesNothing] kills, and what sweeps after it.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "-after":
		main()
	case os.Getenv("SUITE_HOLDS") != "":
		tests, builds, _, err := workDirs()
		left := exec.CommandContext(context.Background(), "sleep", "3600")
		left.Env = []string{"TMPDIR=" + tests}
		if err := errors.Join(err, left.Start()); err != nil {
			panic(err)
		}
		fmt.Println(tests, builds, left.Process.Pid)
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		os.Exit(m.Run())
	}
}

func TestAKilledRunLeavesNothing(t *testing.T) {
	for _, tmp := range []string{"", t.TempDir()} {
		run := exec.CommandContext(t.Context(), os.Args[0])
		run.Env = append(os.Environ(), "SUITE_HOLDS=1", "TMPDIR="+tmp)
		out, err := run.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		in, err := run.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		var tests, builds string
		var left int
		if _, err := fmt.Fscan(out, &tests, &builds, &left); err != nil {
			t.Fatal(err)
		}
		if tmp != "" && (tests != builds || filepath.Dir(tests) != tmp) {
			t.Errorf("files of tests are in %s, of builds in %s, though TMPDIR is %s", tests, builds, tmp)
		}
		_ = run.Process.Kill()
		_ = run.Wait() // it was killed
		eventually.True(t, "the process that it started has ended", func() bool {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", left))
			return err != nil || len(text) == 0 // nobody may wait for it
		})
		for _, dir := range []string{tests, builds} {
			eventually.True(t, dir+" is removed", func() bool {
				_, err := os.Stat(dir)
				return errors.Is(err, os.ErrNotExist)
			})
		}
	}
}

func TestAFolderThatDoesNotSuitIsNotTaken(t *testing.T) {
	if got := inMemory(filepath.Join(t.TempDir(), "none", "rt-1"), "instead"); got != "instead" {
		t.Errorf("%s, though it cannot be made", got)
	}
	if got := inMemory("/proc/self/rt-1", "instead"); got != "instead" {
		t.Errorf("%s, which takes no files", got)
	}
}
