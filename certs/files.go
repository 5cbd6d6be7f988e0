package certs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// replaceFile atomically writes the file at path, unless it already has this content.
func replaceFile(path string, content []byte, mode os.FileMode) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) {
		return nil
	}
	tmp, err := writeTemp(path, content, mode)
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		os.Remove(tmp) //nolint:errcheck // the first error is returned
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// writeTemp writes content to a new file beside path, syncs it and returns its name. Other users cannot read the file
// before it has its mode.
func writeTemp(path string, content []byte, mode os.FileMode) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // the first error is returned
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	return f.Name(), nil
}
