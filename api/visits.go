package api

import (
	"context"
	"fmt"
	"net/http"

	"readthru/page"
	"readthru/store"
)

// Visits lists deliveries of pages to readers, newest first.
func (s *Server) Visits(_ context.Context, q VisitQuery) (*VisitList, error) {
	sq := store.VisitQuery{Session: q.Session, Cursor: q.Cursor, Limit: min(q.Limit, maxLimit)}
	if q.URL != "" {
		u, err := page.Parse(q.URL)
		if err != nil {
			return nil, problem(http.StatusBadRequest, "%s", err)
		}
		sq.Page = new(page.KeyOf(page.Normalize(u)))
	}
	visits, next, err := s.o.Store.Visits(sq)
	if err != nil {
		return nil, fmt.Errorf("list visits: %w", err)
	}
	if visits == nil {
		visits = []store.Visit{}
	}
	return &VisitList{Visits: visits, Next: next}, nil
}

func (s *Server) serveVisits(w http.ResponseWriter, r *http.Request) error {
	q, limit, err := listQuery(r, "url", "session", "cursor")
	if err != nil {
		return err
	}
	list, err := s.Visits(r.Context(), VisitQuery{
		URL: q.Get("url"), Session: q.Get("session"), Limit: limit,
		Cursor: q.Get("cursor"),
	})
	return reply(w, list, err)
}
