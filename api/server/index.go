package server

import (
	"fmt"
	"net/http"

	"github.com/readthru/readthru/api"
)

// serveIndex lists all paths of the API for programs. People get a page of the dashboard.
func (s *Server) serveIndex(w http.ResponseWriter, _ *http.Request, _ api.None) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	text := fmt.Sprintf("readthru %s, a caching forward proxy for agents. /openapi.json describes this.\n\n", s.o.Version)
	for _, o := range s.table {
		text += fmt.Sprintf("%-6s %s %s\n", o.Method, o.Path, o.Summary)
	}
	_, err := w.Write([]byte(text))
	return err
}
