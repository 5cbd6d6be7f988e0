package daemon

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// apart starts a process without our console and in a group of its own: Ctrl-C does not reach it, and it opens no
// window.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP}
}

// IgnoreBrokenPipe does nothing: here no signal tells of that.
func IgnoreBrokenPipe() {}
