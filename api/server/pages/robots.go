package pages

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/page"
)

// GetRobots reports whether robots.txt allows fetching a URL. A robots.txt that is itself refused (401, 403) allows
// nothing, as in the reference fetch server for MCP. Offline, and for a blocked site, no robots.txt is fetched and the
// URL is allowed: the fetch itself reports the failure.
func (s *Service) GetRobots(ctx context.Context, q api.RobotsQuery) (*api.Robots, error) {
	u, err := page.Parse(q.URL)
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	if s.o.Offline() || s.o.Fetch.Blocked(u) != nil {
		return &api.Robots{Allowed: true}, nil //nolint:nilerr // the fetch reports it
	}
	v, err := s.o.Fetch.Allowed(ctx, u)
	if err != nil {
		return nil, err
	}
	r := &api.Robots{Allowed: v.Allowed, Reason: v.Reason, URL: v.URL, Status: v.Status, Text: v.Text}
	if v.Status == http.StatusUnauthorized || v.Status == http.StatusForbidden {
		r.Allowed, r.Reason = false, v.URL+" may not be read"
	}
	if by, _ := journal.AskerOf(ctx); by.Door == api.DoorMCP && !r.Allowed && (r.Status != 0 || !s.stored(u)) {
		s.o.Fetch.Tell(ctx, fetch.Reading{ // the tool server asks before it reads, and leaves it at that
			Began: time.Now(), Asked: fetch.Request{URL: u, User: asker.User(ctx), Agent: by.Agent},
			Err: &fetch.RefusedError{Status: http.StatusForbidden, Why: r.Reason},
		})
	}
	return r, nil
}

// stored reports whether a page is stored.
func (s *Service) stored(u *url.URL) bool {
	_, err := s.o.Store.Page(s.key(u))
	return err == nil
}
