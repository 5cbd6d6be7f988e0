//go:build unix

package daemon

import (
	"os"
	"os/signal"
	"syscall"
)

// apart starts a process in a session of its own: the terminal's signals do not reach it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// IgnoreBrokenPipe keeps the program running when nobody reads its standard output. Its children do not inherit that.
func IgnoreBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
