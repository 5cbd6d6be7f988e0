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

// mend moves files out of the engine's directory that would keep it from opening, and that hold nothing it could read:
// logs that are empty, as a crash can leave them, or begin with another thing than a log, and an unreadable list of
// encryption keys, of which the store uses none.
func mend(dir string, log *slog.Logger, now time.Time) error {
	var bad []string
	for _, pattern := range []string{"*.mem", "*.vlog"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return fmt.Errorf("mend store: %w", err)
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
		return fmt.Errorf("mend store: %w", err)
	}
	for _, name := range bad {
		if err := os.Rename(name, filepath.Join(aside, filepath.Base(name))); err != nil {
			return fmt.Errorf("mend store: %w", err)
		}
		log.Warn("damaged file set aside", "file", name, "path", aside)
	}
	return nil
}

// isLog reports whether a file begins as a log does: 8 bytes for the number of its encryption key, which is 0, and 12
// more.
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

// keysReadable reports whether the list of encryption keys is missing, which is good, or can be read.
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
