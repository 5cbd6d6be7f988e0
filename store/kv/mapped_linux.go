package kv

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// statm is where the system says how much memory the process has. It is opened once: it is read often.
var statm = sync.OnceValues(func() (*os.File, error) { return os.Open("/proc/self/statm") })

// mappedBytes returns how much of files, mapped, the process holds in memory; 0 if that cannot be told.
func mappedBytes() int64 {
	f, err := statm()
	if err != nil {
		return 0
	}
	var text [128]byte
	n, _ := f.ReadAt(text[:], 0) // all of it is shorter, which is no error that matters
	fields := bytes.Fields(text[:n])
	if len(fields) < 3 { // size, resident, shared
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[2]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
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
