package machine

import (
	"net/http"

	"github.com/readthru/readthru/api"
)

// ServeBackup streams a consistent copy of the store.
func (s *Service) ServeBackup(w http.ResponseWriter, r *http.Request, _ api.None) error {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="readthru.backup"`)
	if r.Method == http.MethodHead {
		return nil
	}
	if err := s.o.Store.Backup(w); err != nil {
		s.o.Log.Error("answer broken off", "path", r.URL.Path, "error", err)
		api.BreakOff(w, err)
	}
	return nil
}
