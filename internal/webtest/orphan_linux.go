package webtest

import (
	"os/exec"
	"syscall"
)

// EndWithTests has a program that is about to be started end when this process does, in whatever way.
func EndWithTests(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
