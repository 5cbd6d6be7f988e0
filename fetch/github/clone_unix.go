//go:build unix

package github

import (
	"os/exec"
	"strconv"
	"syscall"
)

// confined returns the command that runs git with limits on the size of a file, in bytes, and on processor time. A
// shell sets them, because a limit of this process would hold for all of it.
func confined(program string, args []string, maxFile int64) (name string, argv []string) {
	blocks := strconv.FormatInt(maxFile/512+1, 10) // ulimit -f counts blocks of 512 bytes (POSIX)
	seconds := strconv.Itoa(int(Timeout.Seconds()))
	script := "ulimit -f " + blocks + " && ulimit -t " + seconds + ` && exec "$@"`
	return "/bin/sh", append([]string{"-c", script, "sh", program}, args...)
}

// systemEnv returns the variables that every program needs: none, on Unix.
func systemEnv() []string { return nil }

// ownGroup makes git lead a process group, which is killed as a whole when the context ends: git starts other programs.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
