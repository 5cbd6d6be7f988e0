package main_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// endWithTests has this process, which a script started, end when the process of the tests does, in whatever way: a
// daemon that a command started has no other parent that lives.
func endWithTests(tests string) {
	pid, err := strconv.Atoi(tests)
	if err != nil {
		return // it is no process of a script
	}
	fd, err := unix.PidfdOpen(pid, 0)
	switch {
	case errors.Is(err, unix.ESRCH):
		os.Exit(1) // it has ended
	case err != nil:
		return // the kernel is older than 5.3
	}
	go func() {
		for errors.Is(await(fd), unix.EINTR) {
		}
		os.Exit(1)
	}()
}

// await waits until a process has ended.
func await(fd int) error {
	_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1) //nolint:gosec // files have small numbers
	return err
}

func TestADaemonOfAScriptEndsWithTheTests(t *testing.T) {
	tests := exec.CommandContext(t.Context(), "sleep", "3600")
	if err := tests.Start(); err != nil {
		t.Fatal(err)
	}
	daemon := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], "serve")
	daemon.Args[0] = "readthru"
	daemon.Env = []string{
		"HOME=" + t.TempDir(), "READTHRU_DATA_DIR=" + t.TempDir(), "READTHRU_PROXY_LISTEN=127.0.0.1:0",
		"READTHRU_ADMIN_LISTEN=127.0.0.1:0", testsPID + "=" + strconv.Itoa(tests.Process.Pid),
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tests.Process.Kill()
	_ = tests.Wait() // it was killed
	var ended *exec.ExitError
	if err := daemon.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 1 {
		t.Errorf("the daemon ended with %v", err)
	}
}
