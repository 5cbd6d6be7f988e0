package api

import (
	"context"
	"net/http"

	"github.com/readthru/readthru/fetch/sitecheck"
	"github.com/readthru/readthru/page"
)

// checkSite asks an origin for a page as agents do, and says what they get. It keeps nothing.
func (s *Server) checkSite(ctx context.Context, q checkQuery) (*sitecheck.Report, error) {
	u, err := page.Parse(q.URL)
	if err != nil {
		return nil, problem(http.StatusBadRequest, "%s", err)
	}
	if s.switches().Offline {
		return nil, problem(http.StatusConflict, "readthru is offline and asks no origin")
	}
	r, err := sitecheck.Check(ctx, s.o.Fetch, u)
	if err != nil {
		return nil, problem(http.StatusBadGateway, "%s", err)
	}
	return r, nil
}
