package pages

import (
	"context"
	"net/http"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/fetch/sitecheck"
	"github.com/readthru/readthru/page"
)

// CheckSite asks an origin for a page as agents do, and says what they get. It keeps nothing.
func (s *Service) CheckSite(ctx context.Context, q api.CheckQuery) (*sitecheck.Report, error) {
	u, err := page.Parse(q.URL)
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	if s.o.Offline() {
		return nil, api.Problem(http.StatusConflict, "readthru is offline and asks no origin")
	}
	r, err := sitecheck.Check(ctx, s.o.Fetch, u)
	if err != nil {
		return nil, api.Problem(http.StatusBadGateway, "%s", err)
	}
	return r, nil
}
