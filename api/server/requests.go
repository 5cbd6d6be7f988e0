package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/internal/journal"
)

func parseFilter(text string) (journal.Filter, error) {
	f, err := journal.ParseFilter(text)
	if err != nil {
		return f, api.Problem(http.StatusBadRequest, "%s", err)
	}
	return f, nil
}

// listRequests lists the last requests, newest first.
func (s *Server) listRequests(ctx context.Context, q api.RequestQuery) (*api.RequestList, error) {
	f, err := parseFilter(q.Filter)
	if err != nil {
		return nil, err
	}
	list, next, damage := s.o.Journal.List(asker.OwnRequests(ctx, f), q.Cursor, cmp.Or(q.Limit, 500))
	if list == nil {
		list = []journal.Entry{}
	}
	return &api.RequestList{Requests: list, Next: next, Warnings: damage}, nil
}

// getRequest returns a request.
func (s *Server) getRequest(ctx context.Context, r api.RequestRef) (*journal.Entry, error) {
	e, ok := s.o.Journal.Find(r.ID)
	if !ok || !asker.SeesUser(ctx, e.User) {
		return nil, api.Problem(http.StatusNotFound, "no request %.40q: the last few thousand are kept (requests.last), "+
			"and those of requests.days", r.ID)
	}
	return &e, nil
}

// serveRequests writes requests as a file, oldest first.
func (s *Server) serveRequests(w http.ResponseWriter, r *http.Request, q api.RequestExport) error {
	f, err := parseFilter(q.Filter)
	if err != nil {
		return err
	}
	list := s.o.Journal.All(asker.OwnRequests(r.Context(), f), func(damage string) {
		s.o.Log.Warn("export requests", "damage", damage)
	})
	h := w.Header()
	if q.Format == "jsonl" {
		h.Set("Content-Type", "application/x-ndjson")
		h.Set("Content-Disposition", `attachment; filename="readthru-requests.jsonl"`)
		_ = journal.WriteJSONL(w, list) // an error is a client that has gone
		return nil
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Disposition", `attachment; filename="readthru-requests.har"`)
	_ = journal.WriteHAR(w, s.o.Version, list) // likewise
	return nil
}

// clearRequests forgets all requests, in memory and on disk.
func (s *Server) clearRequests(context.Context, api.None) (*api.Deleted, error) {
	if err := s.o.Journal.Clear(); err != nil {
		return nil, fmt.Errorf("remove the requests on disk: %w", err)
	}
	return &api.Deleted{Deleted: true}, nil
}
