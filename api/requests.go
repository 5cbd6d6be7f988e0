package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/readthru/readthru/internal/journal"
)

// FilterHelp says how the filters of requests are written.
const FilterHelp = journal.FilterHelp

// RequestQuery asks for the last requests.
type RequestQuery struct {
	Filter string `query:"q" doc:"only those that match: words of the URL, and host:, status:, outcome:, why: …"`
	Limit  int    `query:"limit" range:"1,5000" doc:"how many at most, 1 to 5000; default 500"`
	Cursor string `query:"cursor"`
}

// RequestList is a part of the last requests, newest first. Next is empty at the end. Warnings say what of the
// requests on disk could not be read.
type RequestList struct {
	Requests []journal.Entry `json:"requests"`
	Next     string          `json:"next,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
}

// requestRef names a request.
type requestRef struct {
	ID string `path:"id"`
}

// RequestExport asks for requests as a file.
type RequestExport struct {
	Filter string `query:"q" doc:"only those that match, as in the list of requests"`
	Format string `query:"format" doc:"har (default) or jsonl"`
}

func (r RequestExport) from(*http.Request) error {
	if r.Format != "" && r.Format != "har" && r.Format != "jsonl" {
		return problem(http.StatusBadRequest, "format is har or jsonl, not %q", r.Format)
	}
	return nil
}

func parseFilter(text string) (journal.Filter, error) {
	f, err := journal.ParseFilter(text)
	if err != nil {
		return f, problem(http.StatusBadRequest, "%s", err)
	}
	return f, nil
}

// listRequests lists the last requests, newest first.
func (s *Server) listRequests(ctx context.Context, q RequestQuery) (*RequestList, error) {
	f, err := parseFilter(q.Filter)
	if err != nil {
		return nil, err
	}
	list, next, damage := s.o.Journal.List(ownRequests(ctx, f), q.Cursor, cmp.Or(q.Limit, 500))
	if list == nil {
		list = []journal.Entry{}
	}
	return &RequestList{list, next, damage}, nil
}

// getRequest returns a request.
func (s *Server) getRequest(ctx context.Context, r requestRef) (*journal.Entry, error) {
	e, ok := s.o.Journal.Find(r.ID)
	if !ok || !seesUser(ctx, e.User) {
		return nil, problem(http.StatusNotFound, "no request %.40q: the last few thousand are kept (requests.last), "+
			"and those of requests.days", r.ID)
	}
	return &e, nil
}

// serveRequests writes requests as a file, oldest first.
func (s *Server) serveRequests(w http.ResponseWriter, r *http.Request, q RequestExport) error {
	f, err := parseFilter(q.Filter)
	if err != nil {
		return err
	}
	list := s.o.Journal.All(ownRequests(r.Context(), f), func(damage string) {
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
func (s *Server) clearRequests(context.Context, none) (*deleted, error) {
	if err := s.o.Journal.Clear(); err != nil {
		return nil, fmt.Errorf("remove the requests on disk: %w", err)
	}
	return &deleted{true}, nil
}
