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

// prefix begins the names of folders of runs. It is short: paths of sockets have 108 bytes at most.
const prefix = "rt-"

// workDirs makes the folders for all temporary files of a run, of its tests and of what go builds, and has a process of
// its own sweep them when this one ends, in whatever way. end does the same, and waits for it. Folders of runs that
// ended with the machine are swept first.
func workDirs() (tests, builds string, end func(), err error) {
	for _, parent := range []string{os.TempDir(), memoryDir} {
		if err := sweepOld(parent); err != nil {
			return "", "", nil, err
		}
	}
	name := prefix + strconv.Itoa(os.Getpid())
	builds = filepath.Join(os.TempDir(), name)
	if err := os.Mkdir(builds, 0o755); err != nil { //nolint:gosec // PostgreSQL has a user of its own
		return "", "", nil, err
	}
	tests = builds
	if os.Getenv("TMPDIR") == "" { // which says where
		tests = inMemory(filepath.Join(memoryDir, name), builds)
	}
	self, err := os.Executable()
	if err != nil {
		return "", "", nil, err
	}
	sweeper := exec.Command(self, "-after", tests, builds) //nolint:noctx // it outlives the run
	sweeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	sweeper.Stderr = os.Stderr
	open, err := sweeper.StdinPipe()
	if err != nil {
		return "", "", nil, err
	}
	if err := sweeper.Start(); err != nil {
		return "", "", nil, fmt.Errorf("start what sweeps %s: %w", tests, err)
	}
	return tests, builds, func() {
		_ = open.Close()
		_ = sweeper.Wait() // whether a file was left matters to nobody now
	}, nil
}

// inMemory makes the folder dir and returns it if it [suits]; else it returns instead.
func inMemory(dir, instead string) string {
	if memoryDir == "" || os.Mkdir(dir, 0o755) != nil { //nolint:gosec // PostgreSQL has a user of its own
		return instead
	}
	if !suits(dir) {
		_ = os.Remove(dir) // it is empty
		return instead
	}
	return dir
}

// sweepOld sweeps the folders in parent, if there is one, whose runs have ended.
func sweepOld(parent string) error {
	if parent == "" {
		return nil
	}
	old, err := filepath.Glob(filepath.Join(parent, prefix+"[0-9]*"))
	if err != nil {
		return err
	}
	for _, each := range old {
		pid, err := strconv.Atoi(filepath.Base(each)[len(prefix):])
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			sweep(each)
		}
	}
	return nil
}

// sweep kills all processes that were started with files below dir, and removes it.
func sweep(dir string) {
	for range 3 { // what is killed may have started another one a moment before
		for _, pid := range startedWith(dir) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		forgetShared(dir)
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
