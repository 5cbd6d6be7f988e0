package main

import (
	"errors"
	"io/fs"
	"syscall"

	"readthru/store"
)

// hintOf returns the remedy for err, or "": its own, else that of an error that it wraps.
func hintOf(err error) string {
	if h, ok := errors.AsType[hintError](err); ok {
		return h.hint
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
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "check the owner of the data directory, or choose another with --data-dir"
	}
	return ""
}
