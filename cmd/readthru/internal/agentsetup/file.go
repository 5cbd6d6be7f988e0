package agentsetup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/readthru/readthru/internal/wholefile"
)

// maxSettings is the largest settings file that is edited, in bytes. Claude Code stores much in its own.
const maxSettings = 64 << 20

// fileState is a settings file as it was read.
type fileState struct {
	path  string // with links followed
	there bool
	text  []byte // nil if the file does not exist
	info  fs.FileInfo
}

// readFile reads a settings file. A file that cannot be replaced safely is an error: one that is read-only, a broken
// link, or not a regular file.
func readFile(path string) (st fileState, err error) {
	if !filepath.IsAbs(path) {
		return st, errors.New("the home directory is unknown: set HOME")
	}
	st.path = path
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if st.path, err = filepath.EvalSymlinks(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return st, fmt.Errorf("%s is a broken link", path)
		}
		return st, err
	}
	f, err := os.Open(st.path)
	if err != nil {
		return st, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if st.info, err = f.Stat(); err != nil {
		return st, err
	}
	switch {
	case !st.info.Mode().IsRegular():
		return st, fmt.Errorf("%s is not a regular file", path)
	case st.info.Mode().Perm()&0o200 == 0:
		return st, fmt.Errorf("%s is read-only", path)
	case st.info.Size() > maxSettings:
		return st, fmt.Errorf("%s is over %d bytes", path, maxSettings)
	}
	if st.text, err = io.ReadAll(f); err != nil {
		return st, fmt.Errorf("read %s: %w", path, err)
	}
	st.there = true
	if st.text == nil {
		st.text = []byte{}
	}
	return st, nil
}

// write makes a change in one step, so that a program that reads the file meanwhile sees all or nothing of it. Mode and
// owner stay.
func (c *Change) write() error {
	now, err := readFile(c.file.Path)
	if err != nil {
		return err
	}
	if now.there != c.state.there || !bytes.Equal(now.text, c.state.text) {
		return fmt.Errorf("%s has changed since it was read: try again", c.file.Path)
	}
	if c.edit.Gone {
		if err := os.Remove(c.state.path); err != nil {
			return err
		}
		for _, dir := range c.record.Dirs {
			_ = os.Remove(dir) // fails if it is not empty
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.state.path), 0o700); err != nil {
		return err
	}
	return wholefile.WriteFrom(c.state.path, func(f *os.File) error { // which creates it for its owner only
		if c.state.info != nil {
			if err := keepOwner(f, c.state.info); err != nil {
				return fmt.Errorf("keep its owner: %w", err)
			}
			if err := f.Chmod(c.state.info.Mode().Perm()); err != nil {
				return err
			}
		}
		_, err := f.Write(c.edit.Text)
		return err
	})
}

// missing returns the folders that do not exist, of a folder and its parents, the innermost first.
func missing(dir string) (list []string) {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || d == filepath.Dir(d) {
			return list
		}
		list = append(list, d)
	}
}
