package kv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
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

// tellCutLogs logs which unreadable logs of what was in memory the engine will not read to their end: it reads each up
// to the first record that is not whole, and drops what follows without a word. After a kill that is the last write at
// most, and after damage everything behind it. A file that cannot be read is left to the engine.
func tellCutLogs(dir string, log *slog.Logger) {
	names, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil {
		return
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if lost := len(bytes.TrimRight(content[wholeRecords(content):], "\x00")); lost > 0 {
			log.Warn("the end of a log cannot be read: what was written last is lost", "file", name, "bytes", lost)
		}
	}
}

// logHead is the length of what a log begins with.
const logHead = 20

// wholeRecords returns where the last whole record of an unreadable log ends. A record is two bytes of flags, the
// lengths of key and value and the time of its end as varints, key, value, and a checksum of all that.
func wholeRecords(log []byte) (end int) {
	end = min(logHead, len(log))
	for {
		rest := log[end:]
		at, sizes := 2, [3]uint64{}
		for i := range sizes {
			n, size := binary.Uvarint(rest[min(at, len(rest)):])
			if size <= 0 {
				return end
			}
			sizes[i], at = n, at+size
		}
		left := uint64(len(rest) - at)
		if sizes[0] == 0 || sizes[0] > left || sizes[1] > left-sizes[0] || left-sizes[0]-sizes[1] < crc32.Size {
			return end
		}
		at += int(sizes[0] + sizes[1])
		if crc32.Checksum(rest[:at], castagnoli) != binary.BigEndian.Uint32(rest[at:]) {
			return end
		}
		end += at + crc32.Size
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// isLog reports whether a file that may be unreadable begins like a log: with the number of its encryption key (8
// bytes, which are 0) and 12 more bytes.
func isLog(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	var head [logHead]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && binary.BigEndian.Uint64(head[:]) == 0
}

// keysReadable reports whether the list of encryption keys is readable, or is missing.
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
