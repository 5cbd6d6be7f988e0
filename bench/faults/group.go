package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// groupLimit is how much memory the daemon's control group has, with the files that the kernel keeps for it.
const groupLimit = 320 << 20

// group gives a daemon a control group with little memory, beyond which the kernel kills it, and the load of [memory].
// The daemon finds the limit by itself.
func group(ctx context.Context, s settings) (string, error) {
	dir, end, err := newGroup(groupLimit)
	if err != nil {
		return "not tried: " + err.Error(), nil
	}
	defer end()
	return largePages(ctx, s, func(h http.Handler) (*daemon, func(), error) {
		w, err := newWeb(ctx, s.dir, h, nil)
		if err != nil {
			return nil, nil, err
		}
		d, err := serveUnder(ctx, s, filepath.Join(s.dir, "data"), w, func(c *exec.Cmd) error {
			c.Path = "/bin/sh"
			c.Args = append([]string{
				"sh", "-c", `echo $$ >"$0" && exec "$@"`, filepath.Join(dir, "cgroup.procs"), s.readthru,
			}, c.Args[1:]...)
			return nil
		}, "READTHRU_FETCH_TIMEOUT=2m")
		if err != nil {
			w.Close()
			return nil, nil, err
		}
		return d, func() { d.kill(); w.Close() }, nil
	}, groupLimit, 0)
}

// newGroup makes a control group with a limit for memory, of version 2 or 1. Nothing may run in it at its end.
func newGroup(limit int64) (dir string, end func(), err error) {
	root, file := "/sys/fs/cgroup", "memory.max"
	if controllers, err := os.ReadFile(filepath.Join(root, "cgroup.controllers")); err != nil ||
		!strings.Contains(string(controllers), "memory") {
		root, file = filepath.Join(root, "memory"), "memory.limit_in_bytes"
	} else if err := os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+memory"), 0); err != nil {
		return "", nil, fmt.Errorf("let control groups limit memory: %w", err)
	}
	dir = filepath.Join(root, fmt.Sprintf("readthru-faults-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("make a control group: %w", err)
	}
	end = func() {
		for range 100 { // the kernel may not have let go of the last process
			if os.Remove(dir) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	text := []byte(strconv.FormatInt(limit, 10))
	if err := os.WriteFile(filepath.Join(dir, file), text, 0); err != nil {
		end()
		return "", nil, fmt.Errorf("limit a control group: %w", err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !bytes.Equal(bytes.TrimSpace(got), text) {
		end()
		return "", nil, fmt.Errorf("limit a control group: its limit is %s: %w", got, err)
	}
	return dir, end, nil
}
