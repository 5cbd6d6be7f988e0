//go:build linux || darwin

package kv

import "golang.org/x/sys/unix"

// diskSpace returns how many bytes of a directory's file system are free for users without privileges, and how many it
// has.
func diskSpace(dir string) (free, total uint64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	return st.Bavail * uint64(st.Bsize), st.Blocks * uint64(st.Bsize), nil
}
