package pages

import (
	"context"
	"net/http"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/knowledge/outline"
)

// VerifyQuote looks for a sentence in the newest version of a page, then in the older ones.
func (s *Service) VerifyQuote(_ context.Context, q api.QuoteQuery) (*api.QuoteCheck, error) {
	d, doc, err := s.pageOrDocument(q.Doc)
	if err != nil {
		return nil, err
	}
	check := &api.QuoteCheck{Doc: doc, URL: d.URL}
	if check.Quote, err = outline.FindQuote(d.Markdown, q.Quote); err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	check.Current = check.Found
	versions, err := s.o.Store.Versions(d.Key)
	if err != nil {
		return check, nil //nolint:nilerr // a document that is not a page has none
	}
	for i, v := range versions {
		if i > 0 && check.Found {
			break
		}
		if i == 0 {
			check.Version, check.Time = v.ContentHash, v.Time
			continue
		}
		md, err := s.o.Store.VersionMarkdown(d.Key, v)
		if err != nil {
			continue
		}
		if found, err := outline.FindQuote(md, q.Quote); err == nil && found.Found {
			check.Quote, check.Version, check.Time = found, v.ContentHash, v.Time
		}
	}
	return check, nil
}
