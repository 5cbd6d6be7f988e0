package certs

import (
	"bytes"
	"os"

	"readthru/wholefile"
)

// replaceFile writes the file at path whole, unless it already has this content.
func replaceFile(path string, content []byte, mode os.FileMode) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) { //nolint:gosec // of the directory of keys
		return nil
	}
	return wholefile.Write(path, content, mode)
}

// writeTemp writes the key to a new file beside path, for its owner alone, and returns its name.
func writeTemp(path string, key []byte) (string, error) {
	return wholefile.Beside(path, func(f *os.File) error {
		_, err := f.Write(key)
		return err
	})
}
