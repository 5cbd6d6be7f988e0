package server

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/readthru/readthru/api"
)

// serveIndex lists all paths of the API for programs. People get a page of the dashboard.
func (s *Server) serveIndex(w http.ResponseWriter, _ *http.Request, _ api.None) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	var text bytes.Buffer
	fmt.Fprintf(&text, "readthru %s, a caching forward proxy for agents. /openapi.json describes this.\n\n", s.o.Version)
	for _, o := range s.table {
		fmt.Fprintf(&text, "%-6s %s %s\n", o.Method, o.Path, o.Summary)
	}
	_, err := text.WriteTo(w)
	return err
}
