package api

import (
	"context"
	"net/http"

	"readthru/page"
)

// Robots says whether the robots.txt of a site lets us read a URL (RFC 9309). Who reads for an agent that goes about by
// itself asks it; what goes through the proxy, and what a person asked for, does not.
type Robots struct {
	Allowed bool   `json:"allowed"`
	Reason  string `json:"reason,omitempty"` // why not, one plain sentence
	URL     string `json:"url,omitempty"`    // of robots.txt; none where no site was asked
	Status  int    `json:"status,omitempty"` // the one it came with; 0: it could not be had
	Text    string `json:"text,omitempty"`   // its first 8 KiB
}

// Robots asks the robots.txt of a URL's site. Where it is itself refused (401, 403) the URL is not allowed, as the
// reference fetch server for MCP has it. No site is asked offline, nor one that we never fetch from: a fetch says so
// itself, and here it counts as allowed.
func (s *Server) Robots(ctx context.Context, raw string) (*Robots, error) {
	u, err := page.Parse(raw)
	if err != nil {
		return nil, problem(http.StatusBadRequest, "%s", err)
	}
	if s.o.Offline || s.o.Fetch.Blocked(u) != nil {
		return &Robots{Allowed: true}, nil //nolint:nilerr // what cannot be asked about is refused elsewhere
	}
	v, err := s.o.Fetch.Allowed(ctx, u)
	if err != nil {
		return nil, err
	}
	r := &Robots{Allowed: v.Allowed, Reason: v.Reason, URL: v.URL, Status: v.Status, Text: v.Text}
	if v.Status == http.StatusUnauthorized || v.Status == http.StatusForbidden {
		r.Allowed, r.Reason = false, v.URL+" may not be read"
	}
	return r, nil
}

func (s *Server) serveRobots(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "url"); err != nil {
		return err
	}
	v, err := s.Robots(r.Context(), q.Get("url"))
	return reply(w, v, err)
}
