//go:build unix

package fetch

import (
	"os/exec"
	"strconv"
	"syscall"
)

// confined returns the command that runs program with limits: on the size of a file it writes, and on its time of work.
func confined(program string, args []string, maxFile int64) (name string, argv []string) {
	blocks := strconv.FormatInt(maxFile/512+1, 10) // ulimit -f counts blocks of 512 bytes (POSIX)
	seconds := strconv.Itoa(int(repositoryTime.Seconds()))
	script := "ulimit -f " + blocks + " && ulimit -t " + seconds + ` && exec "$@"`
	return "/bin/sh", append([]string{"-c", script, "sh", program}, args...)
}

// systemEnv is what programs need of the environment besides what they are given.
func systemEnv() []string { return nil }

// ownGroup has cmd lead a process group, which is killed as a whole: git works through children.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
