package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopDelay is how long a server may take to end.
const stopDelay = 10 * time.Second

// process is a server under test.
type process struct {
	cmd   *exec.Cmd
	admin string // address of the dashboard; empty: it has none
}

// spawn starts a server and waits until it accepts on addr. Its output goes to a file in the scratch folder.
func spawn(ctx context.Context, s settings, name, addr string, env []string, args ...string) (*process, error) {
	out, err := os.Create(filepath.Join(s.dir, name+".log"))
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // the server has its own copy
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", s.cores}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // its children, too
	cmd.WaitDelay = stopDelay
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	dialer := net.Dialer{Timeout: time.Second}
	for range 12_000 { // a minute: other programs may want the cores
		if conn, err := dialer.DialContext(ctx, "tcp", addr); err == nil {
			conn.Close() //nolint:errcheck // that it opened is all we asked
			return &process{cmd: cmd}, nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	said, _ := os.ReadFile(out.Name())
	return nil, fmt.Errorf("%s does not listen on %s: %s", name, addr, said)
}

func (p *process) stop() {
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM) //nolint:errcheck // already gone
	done := make(chan struct{})
	go func() { p.cmd.Wait(); close(done) }() //nolint:errcheck // its exit says nothing here
	select {
	case <-done:
	case <-time.After(stopDelay):
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // already gone
		<-done
	}
}

// cpu returns the processor time that the process and its children have used.
func (p *process) cpu() time.Duration {
	var total time.Duration
	for _, pid := range tree(p.cmd.Process.Pid) {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, task := range tasks {
			text, _ := os.ReadFile(task)
			if fields := strings.Fields(string(text)); len(fields) > 0 {
				ns, _ := strconv.ParseInt(fields[0], 10, 64)
				total += time.Duration(ns)
			}
		}
	}
	return total
}

// rss returns the resident memory of the process and its children, in bytes.
func (p *process) rss() int64 {
	var total int64
	for _, pid := range tree(p.cmd.Process.Pid) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			total += pages * int64(os.Getpagesize())
		}
	}
	return total
}

// tree returns a process and all its descendants.
func tree(root int) []int {
	pids := []int{root}
	for at := 0; at < len(pids); at++ {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pids[at]))
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			for child := range strings.FieldsSeq(string(text)) {
				if pid, err := strconv.Atoi(child); err == nil {
					pids = append(pids, pid)
				}
			}
		}
	}
	return pids
}

// freePort finds a port that nobody listens on.
func freePort(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close() //nolint:errcheck // if it stays open, the server says so
	return port(l), nil
}
