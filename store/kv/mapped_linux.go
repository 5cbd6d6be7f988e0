package kv

import (
	"bufio"
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mappedBytes returns how much of files, mapped, the process holds in memory; 0 if that cannot be told.
func mappedBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	var size, resident, shared int64
	if err == nil {
		_, err = fmt.Sscan(string(text), &size, &resident, &shared)
	}
	if err != nil {
		return 0
	}
	return shared * int64(os.Getpagesize())
}

// forgetMapped takes mapped files out of the process's memory whose names it accepts. They must stay mapped until it
// returns.
func forgetMapped(accept func(name string) bool) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := bytes.SplitN(lines.Bytes(), []byte(" "), 6)
		if len(fields) < 6 || !accept(string(bytes.TrimLeft(fields[5], " "))) {
			continue
		}
		var from, to uintptr
		if _, err := fmt.Sscanf(string(fields[0]), "%x-%x", &from, &to); err == nil {
			// Of a shared mapping of a file this changes no byte. Where it is refused the file stays in memory.
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
		}
	}
}
