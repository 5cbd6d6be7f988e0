package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxSettings is the largest settings file that is edited, in bytes. Claude Code keeps much in its own.
const maxSettings = 64 << 20

// fileState is a settings file as it was read.
type fileState struct {
	path  string // where it really is, links followed
	there bool
	text  []byte // nil when it is not there
	info  fs.FileInfo
}

// readFile reads a settings file. What cannot be replaced without harm is an error: a file that its owner may not
// write, a link to nothing, what is no file at all.
func readFile(path string) (st fileState, err error) {
	if !filepath.IsAbs(path) {
		return st, errors.New("the home directory is not known: set HOME")
	}
	st.path = path
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return st, nil
	}
	if st.path, err = filepath.EvalSymlinks(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return st, fmt.Errorf("%s is a link to nothing", path)
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
		return st, fmt.Errorf("%s is no file", path)
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

// write makes a change in one step, so that whoever reads the file at the same time reads all of it. Mode and owner
// stay.
func (c *change) write() error {
	now, err := readFile(c.file.Path)
	if err != nil {
		return err
	}
	if now.there != c.state.there || !bytes.Equal(now.text, c.state.text) {
		return fmt.Errorf("%s was changed meanwhile: try again", c.file.Path)
	}
	if c.edit.Gone {
		if err := os.Remove(c.state.path); err != nil {
			return err
		}
		for _, dir := range c.record.Dirs {
			_ = os.Remove(dir) // unless something else is in it
		}
		return nil
	}
	made, err := makeDirs(filepath.Dir(c.state.path))
	if err != nil {
		return err
	}
	if len(made) > 0 {
		c.record.Dirs = made
	}
	return writeWhole(c.state.path, func(f *os.File) error { // which makes it for its owner alone
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

// makeDirs makes a folder with those above it, and returns the ones that were not there, the innermost first.
func makeDirs(dir string) (made []string, err error) {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		made = append(made, d)
	}
	return made, os.MkdirAll(dir, 0o700)
}
