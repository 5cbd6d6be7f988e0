package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
)

// Backup writes a consistent copy of the store to w.
func (s *Server) Backup(_ context.Context, w io.Writer) error {
	if err := s.o.Store.Backup(w); err != nil {
		return fmt.Errorf("back up the store: %w", err)
	}
	return nil
}

// serveBackup streams the copy. An error in the middle breaks the connection, so that a part is never taken for the
// whole.
func (s *Server) serveBackup(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="readthru.backup"`)
	if r.Method == http.MethodHead {
		return nil
	}
	if err := s.Backup(r.Context(), w); err != nil {
		s.o.Log.Error("backup broken off", "error", err)
		panic(http.ErrAbortHandler)
	}
	return nil
}
