// Package wholefile writes files that are whole or not there: a reader finds the old content or the new one, also after
// a crash or a power cut in between.
package wholefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Write makes content that of the file at path, which has this mode then. After an error the file is as it was, or the
// new one where only its directory could not be synced.
func Write(path string, content []byte, mode fs.FileMode) error {
	return WriteFrom(path, func(f *os.File) error {
		if err := f.Chmod(mode); err != nil {
			return err
		}
		_, err := f.Write(content)
		return err
	})
}

// WriteFrom makes what write writes the content of the file at path, which is its owner's alone unless write changes
// its mode. After an error, of write too, the file is as [Write] leaves it.
func WriteFrom(path string, write func(*os.File) error) error {
	temporary, err := beside(path, write)
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		_ = os.Remove(temporary) // the first error is returned
		if le, ok := errors.AsType[*os.LinkError](err); ok {
			err = le.Err // which names the temporary file
		}
		return fmt.Errorf("write %s: %w", path, err)
	}
	return SyncDir(filepath.Dir(path))
}

// Beside makes a new file beside path with this content, and returns its name, which begins with a dot. It is on disk
// then, and its owner's alone. After an error no file is left.
func Beside(path string, content []byte) (name string, err error) {
	return beside(path, func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
}

// beside makes a whole file beside path with what write writes, and returns its name.
func beside(path string, write func(*os.File) error) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err // which names a temporary file
		}
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is returned
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return f.Name(), nil
}

// SyncDir puts on disk which files a directory has. Windows does so by itself.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir) //nolint:gosec // the caller's
	if err == nil {
		err = f.Sync()
		if e := f.Close(); err == nil {
			err = e
		}
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil // a file system that cannot
	}
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}
