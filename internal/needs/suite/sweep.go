//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// workDir makes a folder for all temporary files of a run, and has a process of its own sweep it when this one ends,
// in whatever way. end does the same, and waits for it. Folders of runs that ended with the machine are swept first.
func workDir() (dir string, end func(), err error) {
	const prefix = "rt-" // short: paths of sockets have 108 bytes at most
	old, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"[0-9]*"))
	if err != nil {
		return "", nil, err
	}
	for _, each := range old {
		pid, err := strconv.Atoi(filepath.Base(each)[len(prefix):])
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			sweep(each)
		}
	}
	dir = filepath.Join(os.TempDir(), prefix+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // PostgreSQL has a user of its own
		return "", nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	sweeper := exec.Command(self, "-after", dir) //nolint:noctx // it outlives the run
	sweeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	sweeper.Stderr = os.Stderr
	open, err := sweeper.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	if err := sweeper.Start(); err != nil {
		return "", nil, fmt.Errorf("start what sweeps %s: %w", dir, err)
	}
	return dir, func() {
		_ = open.Close()
		_ = sweeper.Wait() // whether a file was left matters to nobody now
	}, nil
}

// sweep kills all processes that were started with files below dir, and removes it.
func sweep(dir string) {
	for range 3 { // what is killed may have started another one a moment before
		for _, pid := range startedWith(dir) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		if os.RemoveAll(dir) == nil {
			return
		}
	}
}

// startedWith returns the processes with a path below dir in their arguments or environment, but for this one.
func startedWith(dir string) (list []int) {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	for _, proc := range all {
		pid, err := strconv.Atoi(filepath.Base(proc))
		if err != nil || pid == os.Getpid() {
			continue
		}
		for _, file := range []string{"cmdline", "environ"} {
			text, err := os.ReadFile(filepath.Join(proc, file))
			if err == nil && (bytes.Contains(text, []byte(dir+"/")) || bytes.Contains(text, []byte("TMPDIR="+dir+"\x00"))) {
				list = append(list, pid)
				break
			}
		}
	}
	return list
}
