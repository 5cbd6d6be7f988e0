package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A database that was killed leaves shared memory, which its data directory names.
func TestASweepRemovesTheSharedMemoryOfDatabases(t *testing.T) {
	key := 1 + rand.IntN(1<<30)
	id, err := unix.SysvShmGet(key, 56, unix.IPC_CREAT|unix.IPC_EXCL|0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) }() // it is gone
	dir := filepath.Join(t.TempDir(), "rt-1")
	for name, text := range map[string]string{
		"pg1": fmt.Sprintf("12\n/data\n1795800000\n5432\n/tmp\n\n%9d %9d\nready\n", key, id),
		"pg2": "12\n", "pg3": "1\n2\n3\n4\n5\n6\nx\n",
	} {
		data := filepath.Join(dir, name, "data")
		if err := os.MkdirAll(data, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(data, "postmaster.pid"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sweep(dir)
	if _, err := unix.SysvShmGet(key, 0, 0); err == nil {
		t.Error("the shared memory is there")
	}
}
