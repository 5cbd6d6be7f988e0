package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// memoryDir is where Linux keeps files in memory.
const memoryDir = "/dev/shm"

// room is how much must be free there, in bytes, and as much again of the machine's memory: a whole run has used a
// twentieth of it.
const room = 4 << 30

// endWithParent has this process terminated when make ends, even if that is killed.
func endWithParent() { _ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGTERM), 0, 0, 0) }

// suits reports whether dir, a new folder below memoryDir, can have the temporary files of a run: they are kept in
// memory, and there is room; programs can be started there; and files can have the attributes that the object store of
// tests keeps with them.
func suits(dir string) bool {
	const tmpfs, noExec = 0x01021994, 0x8 // of statfs(2)
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Type != tmpfs || fs.Flags&noExec != 0 ||
		fs.Bavail*uint64(fs.Bsize) < room { //nolint:gosec // sizes are not negative
		return false
	}
	return available() >= 2*room && syscall.Setxattr(dir, "user.readthru", []byte("x"), 0) == nil
}

// available returns how much memory programs can have without swapping, in bytes; 0 if that is unknown.
func available() (bytes int64) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	return 0
}

// forgetShared removes the shared memory of the databases in dir, which were killed: the kernel keeps it until somebody
// does.
func forgetShared(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "pg*", "data", "postmaster.pid")) // the pattern is valid
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		lines := strings.Split(string(text), "\n")
		var key, id int
		if len(lines) < 7 {
			continue
		}
		if n, _ := fmt.Sscan(lines[6], &key, &id); n != 2 {
			continue
		}
		if now, err := unix.SysvShmGet(key, 0, 0); err == nil && now == id { // nobody has made another one
			_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) // it may have gone meanwhile
		}
	}
}
