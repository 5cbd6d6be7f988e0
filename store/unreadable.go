package store

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// moveUnreadable moves files out of the engine's directory that keep the engine from opening and hold nothing that it
// could read: logs that are empty, as a crash can leave them, or do not begin like a log, and an unreadable list of
// encryption keys, which the store does not use.
func moveUnreadable(dir string, log *slog.Logger, now time.Time) error {
	var bad []string
	for _, pattern := range []string{"*.mem", "*.vlog"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return fmt.Errorf("move unreadable files: %w", err)
		}
		for _, name := range names {
			if !isLog(name) {
				bad = append(bad, name)
			}
		}
	}
	if keys := filepath.Join(dir, badger.KeyRegistryFileName); !keysReadable(dir) {
		bad = append(bad, keys)
	}
	if len(bad) == 0 {
		return nil
	}
	aside := freeName(dir+".files-", now)
	if err := os.Mkdir(aside, 0o700); err != nil {
		return fmt.Errorf("move unreadable files: %w", err)
	}
	for _, name := range bad {
		if err := os.Rename(name, filepath.Join(aside, filepath.Base(name))); err != nil {
			return fmt.Errorf("move unreadable files: %w", err)
		}
		log.Warn("damaged file set aside", "file", name, "path", aside)
	}
	return nil
}

// isLog reports whether a file begins like a log: with the number of its encryption key (8 bytes, which are 0) and 12
// more bytes.
func isLog(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	var head [20]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && binary.BigEndian.Uint64(head[:]) == 0
}

// keysReadable reports whether the list of encryption keys can be read, or is missing.
func keysReadable(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, badger.KeyRegistryFileName)); err != nil {
		return true
	}
	keys, err := badger.OpenKeyRegistry(badger.KeyRegistryOptions{Dir: dir, ReadOnly: true})
	if err != nil {
		return false
	}
	return keys.Close() == nil
}
