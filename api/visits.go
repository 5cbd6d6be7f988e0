package api

import (
	"context"
	"fmt"
	"net/http"

	"readthru/page"
	"readthru/store"
)

// listVisits lists deliveries of pages to readers, newest first.
func (s *Server) listVisits(ctx context.Context, q VisitQuery) (*VisitList, error) {
	sq := store.VisitQuery{Session: q.Session, User: q.User, Cursor: q.Cursor, Limit: q.Limit}
	if user := userOf(ctx); !seesUser(ctx, q.User) {
		if q.User != "" {
			return nil, problem(http.StatusForbidden, "visits of other users are for the role admin")
		}
		sq.User = user
	}
	if q.URL != "" {
		u, err := page.Parse(q.URL)
		if err != nil {
			return nil, problem(http.StatusBadRequest, "%s", err)
		}
		sq.Page = new(s.key(u))
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
