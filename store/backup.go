package store

import (
	"fmt"
	"io"

	"github.com/readthru/readthru/store/kv"
)

// Backup writes a consistent copy of the store to w. Restore reads it.
func (s *Store) Backup(w io.Writer) error {
	if err := s.kv.Backup(w, s.Flush); err != nil {
		return fmt.Errorf("back up store: %w", err)
	}
	return nil
}

// Restore reads a backup into dir, which must be missing or empty. After an error it removes what it has written.
func Restore(dir string, r io.Reader) error { return kv.Restore(dir, r) }
