package memory

import (
	"context"
	"errors"
	"net/http"
	"os"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// ListBases lists the knowledge bases.
func (s *Service) ListBases(context.Context, api.None) (*api.BaseList, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	return &api.BaseList{KBs: api.OrEmpty(k.Bases())}, nil
}

// GetBase returns a knowledge base.
func (s *Service) GetBase(_ context.Context, ref api.BaseRef) (*knowledge.Base, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	b, err := k.Base(ref.Name)
	return &b, err
}

// ListDocuments lists the documents of a knowledge base.
func (s *Service) ListDocuments(_ context.Context, q api.DocumentQuery) (*api.DocumentList, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	list, next, err := k.Documents(q.Name, q.Cursor, q.Limit)
	return &api.DocumentList{Documents: api.OrEmpty(list), Next: next}, err
}

// DeleteBase deletes a knowledge base and what no other base holds.
func (s *Service) DeleteBase(ctx context.Context, ref api.BaseRef) (*knowledge.Base, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	b, err := k.DeleteBase(ctx, ref.Name)
	if err == nil {
		_ = os.Remove(s.parcelOf(b)) // few bases have one
	}
	return &b, err
}

// CreateBase creates a knowledge base and starts to fill it.
func (s *Service) CreateBase(ctx context.Context, n api.NewBase) (*api.Filling, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	b, err := baseOf(n)
	if err != nil {
		return nil, err
	}
	if b.Source != knowledge.SourceText { // an unknown service is no reason for a job that fails
		if _, err := s.crawler(b); errors.As(err, new(crawl.UnknownServiceError)) {
			return nil, api.Problem(http.StatusBadRequest, "%s", err)
		}
	}
	if b, err = k.CreateBase(b); err != nil {
		return nil, err
	}
	if b.Source == knowledge.SourceText {
		return &api.Filling{KB: b}, nil
	}
	j, err := s.fill(b, "") //nolint:contextcheck // the job outlives the request
	if err != nil {
		_, derr := k.DeleteBase(ctx, b.Name)
		return nil, errors.Join(err, derr)
	}
	return &api.Filling{KB: b, Job: &j}, nil
}

// baseOf checks what a request asks for and returns the knowledge base to create. The error is a problem for the
// client.
func baseOf(n api.NewBase) (knowledge.Base, error) {
	b := knowledge.Base{
		Name: n.Name, Description: n.Description, Source: knowledge.SourceText, Limit: n.Limit,
		Depth: n.Depth, Include: n.Include, Exclude: n.Exclude, Service: n.Service,
	}
	if err := knowledge.CheckBaseName(n.Name); err != nil {
		return b, api.Problem(http.StatusBadRequest, "%s", err)
	}
	given := 0
	for _, raw := range []struct{ url, source string }{
		{n.Crawl, knowledge.SourceCrawl},
		{n.Scrape, knowledge.SourceScrape},
	} {
		if raw.url == "" {
			continue
		}
		u, err := page.Parse(raw.url)
		if err != nil {
			return b, api.Problem(http.StatusBadRequest, "%s", err)
		}
		if page.HasSecret(u) { // before it is in the base's record, and a job's
			return b, api.Problem(http.StatusBadRequest, "%s carries what looks like a credential", page.Mask(u))
		}
		b.Source, b.URL = raw.source, u.String()
		given++
	}
	switch {
	case given > 1:
		return b, api.Problem(http.StatusBadRequest, "name at most one of crawl and scrape")
	case n.Limit < 0 || n.Depth < 0:
		return b, api.Problem(http.StatusBadRequest, "limit or depth is negative")
	case n.Crawl == "" && (n.Limit > 0 || n.Depth > 0 || len(n.Include)+len(n.Exclude) > 0):
		return b, api.Problem(http.StatusBadRequest, "limit, depth, include and exclude need crawl")
	case given == 0 && n.Service != "":
		return b, api.Problem(http.StatusBadRequest, "service needs crawl or scrape")
	}
	return b, nil
}

// RefreshBase fills a knowledge base again from its source. A limit above 0 is for this time only.
func (s *Service) RefreshBase(_ context.Context, q api.RefreshQuery) (*api.Filling, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	b, err := k.Base(q.Name)
	if err != nil {
		return nil, err
	}
	if b.Source == knowledge.SourceText {
		return nil, api.Problem(http.StatusConflict, "%s holds ingested texts and has no source to refresh from", q.Name)
	}
	if b.Source == knowledge.SourceFile {
		return nil, api.Problem(http.StatusConflict, `%s is filled from files, which "readthru kb refresh" sends`, q.Name)
	}
	if q.Limit > 0 {
		b.Limit = q.Limit
	}
	j, err := s.fill(b, "") //nolint:contextcheck // the job outlives the request
	if err != nil {
		return nil, err
	}
	return &api.Filling{KB: b, Job: &j}, nil
}
