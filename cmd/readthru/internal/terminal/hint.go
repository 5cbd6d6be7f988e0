package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/readthru/readthru/store"
)

// HintOf returns the remedy for err, or "": its own, else that of an error that it wraps.
func HintOf(err error) string {
	if h, ok := errors.AsType[HintError](err); ok {
		return h.Hint
	}
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return h.Hint()
	}
	if _, ok := errors.AsType[*store.LockedError](err); ok {
		return "stop that process, or choose another directory with --data-dir"
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return `is a daemon running? see "readthru doctor"; choose another address with --listen and --admin`
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "that address is not one of this machine's"
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free some space there, then do it again: what was done already stays, and is not done twice"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		hint := "check the owner of the data directory, or choose another with --data-dir"
		if module := confinement("/"); module != "" && errors.Is(err, fs.ErrPermission) {
			hint = module + ". Else " + hint
		}
		return hint
	}
	return ""
}

// confinement says which security module of Linux may have denied what the owner and mode of a file allow, and how to
// find out, or "" if none confines this process. Root is the root of the file system.
func confinement(root string) string {
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(root, name)) // absent without the module
		return strings.TrimRight(string(text), "\x00\n")
	}
	label := read("proc/self/attr/apparmor/current")
	if label == "" {
		label = read("proc/self/attr/current") // of whichever module is the first
	}
	switch {
	case read("sys/fs/selinux/enforce") == "1":
		return fmt.Sprintf("SELinux may have denied it to %s: \"ausearch -m avc -ts recent\" tells", label)
	case strings.HasSuffix(label, "(enforce)"):
		return fmt.Sprintf("AppArmor's profile %s may have denied it: \"journalctl -k -g apparmor\" tells",
			strings.TrimSuffix(label, " (enforce)"))
	}
	return ""
}
