//go:build unix

// Command suite runs the tests of several sets of packages at once, as "make test" does.
//
//	go run ./internal/needs/suite -missing
//	go run ./internal/needs/suite -- -race ./cache ./store -- ./convert/... -- -C bench -short ./...
//
// Each set is what follows "go test" in a command of its own. The output is that of go test without what passed, and
// ends with the slowest packages and tests, and with how many tests were skipped because something is missing. With
// -missing nothing is run: it says what this machine lacks, how that is installed, and what will be skipped.
//
// All that tests leave in the folder for temporary files, which is in memory where there is room (see [suits]), and all
// processes that were started with files there, end with the run, however that ends: see [sweep].
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

func main() {
	lacking := flag.Bool("missing", false, "only say what this machine lacks")
	after := flag.Bool("after", false, "wait for the end of the standard input, and sweep the folders that are named")
	flag.Parse()
	switch {
	case *after:
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends with the run, however that ends
		for _, dir := range flag.Args() {
			sweep(dir)
		}
	case *lacking:
		_, _ = io.WriteString(os.Stdout, missing(exec.LookPath))
	default:
		endWithParent()
		if err := run(sets(flag.Args())); err != nil {
			fmt.Fprintln(os.Stderr, "suite: error:", err)
			os.Exit(1)
		}
	}
}

// sets cuts arguments at "--".
func sets(args []string) (list [][]string) {
	for {
		i := slices.Index(args, "--")
		if i < 0 {
			i = len(args)
		}
		if i > 0 {
			list = append(list, args[:i])
		}
		if i >= len(args) {
			return list
		}
		args = args[i+1:]
	}
}

// run runs the tests of all sets at once.
func run(list [][]string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	tests, builds, end, err := workDirs()
	if err != nil {
		return err
	}
	defer end()
	env := append(os.Environ(), "TMPDIR="+tests, "GOTMPDIR="+builds)
	_, noCompiler := exec.LookPath("cc")
	r := newReport(os.Stdout)
	var group sync.WaitGroup
	var mu sync.Mutex
	for _, args := range list {
		if noCompiler != nil {
			args = slices.DeleteFunc(args, func(arg string) bool { return arg == "-race" })
		}
		group.Go(func() {
			if e := test(ctx, r, env, args); e != nil {
				mu.Lock()
				defer mu.Unlock()
				err = errors.Join(err, e)
			}
		})
	}
	group.Wait()
	r.finish()
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return err
}

// test runs one set, and reports what it says.
func test(ctx context.Context, r *report, env, args []string) error {
	var folder []string // "-C" comes first
	if len(args) > 1 && args[0] == "-C" {
		folder, args = args[:2], args[2:]
	}
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"test"}, folder, []string{"-json"}, args)...)
	cmd.Env = env
	if slices.Contains(args, "-race") {
		cmd.Env = append(slices.Clip(env), "CGO_ENABLED=1")
	}
	cmd.Stderr = os.Stderr
	// go test that is interrupted alone waits for the tests that it runs.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		r.event(line)
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go test: %w", err)
	}
	return nil
}
