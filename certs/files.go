package certs

import (
	"bytes"
	"os"

	"github.com/readthru/readthru/internal/wholefile"
)

// replaceFile writes a file of the authority whole, unless it already has this content.
func replaceFile(path string, content []byte, mode os.FileMode) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, content) { //nolint:gosec // of the directory of keys
		return nil
	}
	return wholefile.Write(path, content, mode)
}
