//go:build linux || darwin

package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// lockEngine takes the lock that the engine will take, so that no other process changes the files while they are
// inspected. Release gives it back. A directory that does not exist needs no lock.
func lockEngine(dir string) (release func(), err error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lock store: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock store: %w", ErrLocked)
		}
		return nil, fmt.Errorf("lock store: %w", err)
	}
	return func() { _ = f.Close() }, nil
}
