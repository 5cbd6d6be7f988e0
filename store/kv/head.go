package kv

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/cespare/xxhash/v2"
)

// headFile keeps, outside the engine, the newest sequence number of the change log that was synced: 8 bytes, and 8 of
// their hash. An engine that opens with less has lost records without a word.
type headFile struct {
	f   *os.File
	seq uint64 // as in the file
}

// openHead opens or creates the file. A file that does not verify counts as 0.
func openHead(name string) (*headFile, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open change-log head: %w", err)
	}
	h := &headFile{f: f}
	var b [16]byte
	if n, _ := f.ReadAt(b[:], 0); n == len(b) && binary.BigEndian.Uint64(b[8:]) == xxhash.Sum64(b[:8]) {
		h.seq = binary.BigEndian.Uint64(b[:8])
	}
	return h, nil
}

// write notes that the change log is synced up to a job, and syncs that. Nothing is written if the file has it already.
func (h *headFile) write(seq uint64) error {
	if h == nil || seq == h.seq {
		return nil
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], seq)
	binary.BigEndian.PutUint64(b[8:], xxhash.Sum64(b[:8]))
	if _, err := h.f.WriteAt(b[:], 0); err != nil {
		return fmt.Errorf("write change-log head: %w", err)
	}
	if err := h.f.Sync(); err != nil {
		return fmt.Errorf("sync change-log head: %w", err)
	}
	h.seq = seq
	return nil
}

// close closes the file of the synced change log's head.
func (h *headFile) close() error {
	if h == nil {
		return nil
	}
	return h.f.Close()
}
