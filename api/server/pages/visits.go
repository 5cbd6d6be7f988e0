package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// ListVisits lists deliveries of pages to readers, newest first.
func (s *Service) ListVisits(ctx context.Context, q api.VisitQuery) (*api.VisitList, error) {
	sq := store.VisitQuery{
		Session: q.Session, User: q.User, Host: q.Host, Agent: q.Agent, Since: q.Since, Cursor: q.Cursor, Limit: q.Limit,
	}
	if user := asker.User(ctx); !asker.SeesUser(ctx, q.User) {
		if q.User != "" {
			return nil, api.Problem(http.StatusForbidden, "visits of other users are for the role admin")
		}
		sq.User = user
	}
	if q.URL != "" {
		u, err := page.Parse(q.URL)
		if err != nil {
			return nil, api.Problem(http.StatusBadRequest, "%s", err)
		}
		sq.Page = new(s.key(u))
	}
	list := &api.VisitList{Visits: []fleet.Visit{}}
	if q.Nodes {
		return list, s.listVisitsOfNodes(ctx, sq, list)
	}
	visits, next, err := s.o.Store.Visits(sq)
	if err != nil {
		return nil, fmt.Errorf("list visits: %w", err)
	}
	for _, v := range visits {
		list.Visits = append(list.Visits, fleet.Visit{Visit: v})
	}
	list.Next = next
	return list, nil
}

// listVisitsOfNodes adds the visits of all nodes of the fleet to a list.
func (s *Service) listVisitsOfNodes(ctx context.Context, q store.VisitQuery, list *api.VisitList) error {
	if q.Host != "" || q.Agent != "" || !q.Since.IsZero() {
		return api.Problem(http.StatusBadRequest, "host, agent and since select visits of this node alone")
	}
	if s.o.Fleet == nil {
		return api.Problem(http.StatusBadRequest, "this is a node alone: fleet.database names the database of a fleet")
	}
	visits, next, err := s.o.Fleet.Visits(ctx, q)
	switch {
	case errors.Is(err, store.ErrCursor):
		return err
	case err != nil:
		return api.Problem(http.StatusServiceUnavailable, "list the visits of all nodes: %s", err)
	}
	list.Visits, list.Next = append(list.Visits, visits...), next
	return nil
}
