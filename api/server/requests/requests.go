// Package requests does the operations on what was asked of this node lately, and streams what happens.
package requests

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/store"
)

// Options configures a Service. All but Proxy and CA are required.
type Options struct {
	Journal  *journal.Journal
	Store    *store.Store
	Version  string
	Instance string          // random, identifies the daemon
	Work     func() api.Work // what is in progress
	Stopping <-chan struct{} // closed when the server stops
	Proxy    func() string   // the proxy's address, host:port; if nil, no proxy runs
	CA       func() []byte   // the certificate of the proxy's authority, PEM; if nil, there is none
	Log      *slog.Logger
}

// Service does the operations.
type Service struct {
	o        Options
	lastBusy lastBusy
}

// New returns a Service.
func New(o Options) *Service { return &Service{o: o} }

// parseFilter reads a filter of requests. The error is a problem for the client.
func parseFilter(text string) (journal.Filter, error) {
	f, err := journal.ParseFilter(text)
	if err != nil {
		return f, api.Problem(http.StatusBadRequest, "%s", err)
	}
	return f, nil
}

// ListRequests lists the last requests, newest first.
func (s *Service) ListRequests(ctx context.Context, q api.RequestQuery) (*api.RequestList, error) {
	f, err := parseFilter(q.Filter)
	if err != nil {
		return nil, err
	}
	list, next, damage := s.o.Journal.List(asker.OwnRequests(ctx, f), q.Cursor, cmp.Or(q.Limit, 500))
	answer := &api.RequestList{Requests: api.OrEmpty(list), Next: next, Warnings: damage}
	if len(list) == 0 && next == "" && q.Cursor == "" {
		answer.Instead = s.instead(ctx, q.Filter)
	}
	return answer, nil
}

// instead returns a filter that finds requests of an agent, where one finds none of a client or of a URL with its name.
func (s *Service) instead(ctx context.Context, filter string) string {
	for _, other := range journal.AsAgents(filter) {
		f, err := journal.ParseFilter(other)
		if err != nil {
			continue
		}
		if list, _, _ := s.o.Journal.List(asker.OwnRequests(ctx, f), "", 1); len(list) > 0 {
			return other
		}
	}
	return ""
}

// GetRequest returns a request.
func (s *Service) GetRequest(ctx context.Context, r api.RequestRef) (*journal.Entry, error) {
	e, ok := s.o.Journal.Find(r.ID)
	if !ok || !asker.SeesUser(ctx, e.User) {
		return nil, api.Problem(http.StatusNotFound, "no request %.40q: the last few thousand are kept (requests.last), "+
			"and those of requests.days", r.ID)
	}
	return &e, nil
}

// ServeRequests writes requests as a file, oldest first.
func (s *Service) ServeRequests(w http.ResponseWriter, r *http.Request, q api.RequestExport) error {
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

// ClearRequests forgets all requests, in memory and on disk.
func (s *Service) ClearRequests(context.Context, api.None) (*api.Deleted, error) {
	if err := s.o.Journal.Clear(); err != nil {
		return nil, fmt.Errorf("remove the requests on disk: %w", err)
	}
	return &api.Deleted{Deleted: true}, nil
}
