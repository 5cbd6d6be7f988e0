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
	began := time.Now()
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
	told := fetch.Reading{
		Began: began, Asked: fetch.Request{URL: u, User: asker.User(ctx)},
		Err: &fetch.RefusedError{Status: http.StatusForbidden, Why: r.Reason},
	}
	if v.Err != nil { // nobody refused anything
		failed := fetch.Explain(u, v.Err)
		r.Error, told.Err = failed.Page(), failed
		if r.Error.Kind == fetch.KindBlocked {
			return r, nil // the fetch reports it
		}
	}
	if by, _ := journal.AskerOf(ctx); by.Door == api.DoorMCP && !r.Allowed && (v.Err == nil || !s.stored(u)) {
		told.Asked.Agent = by.Agent
		s.o.Fetch.Tell(ctx, told) // the tool server asks before it reads, and leaves it at that
	}
	return r, nil
}

// stored reports whether a page is stored.
func (s *Service) stored(u *url.URL) bool {
	_, err := s.o.Store.Page(s.key(u))
	return err == nil
}
