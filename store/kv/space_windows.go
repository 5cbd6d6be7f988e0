package kv

import "golang.org/x/sys/windows"

// diskSpace returns how many bytes of a directory's volume are free for this user, quotas included, and how many it
// has.
func diskSpace(dir string) (free, total uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, 0, err
	}
	if err := windows.GetDiskFreeSpaceEx(name, &free, &total, nil); err != nil {
		return 0, 0, err
	}
	return free, total, nil
}
