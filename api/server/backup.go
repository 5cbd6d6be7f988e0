package server

import (
	"net/http"

	"github.com/readthru/readthru/api"
)

// serveBackup streams a consistent copy of the store.
func (s *Server) serveBackup(w http.ResponseWriter, r *http.Request, _ api.None) error {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="readthru.backup"`)
	if r.Method == http.MethodHead {
		return nil
	}
	if err := s.o.Store.Backup(w); err != nil {
		s.breakOff(w, r, err)
	}
	return nil
}
