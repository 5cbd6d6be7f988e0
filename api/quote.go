package api

import (
	"context"
	"net/http"
	"time"

	"github.com/readthru/readthru/knowledge/outline"
)

// quoteQuery asks whether a sentence is in a page.
type quoteQuery struct {
	Doc   string `path:"doc"`
	Quote string `query:"q" doc:"the sentence"`
}

// QuoteCheck says whether a sentence is in a page, and in which of its versions.
type QuoteCheck struct {
	Doc     string    `json:"doc"`
	URL     string    `json:"url"`
	Current bool      `json:"current"`           // it is in the newest version
	Version string    `json:"version,omitempty"` // content_hash of the newest version that has it
	Time    time.Time `json:"time,omitzero"`     // when that version was read
	outline.Quote
}

// verifyQuote looks for a sentence in the newest version of a page, then in the older ones.
func (s *Server) verifyQuote(_ context.Context, q quoteQuery) (*QuoteCheck, error) {
	d, doc, err := s.pageOrDocument(q.Doc)
	if err != nil {
		return nil, err
	}
	check := &QuoteCheck{Doc: doc, URL: d.URL}
	if check.Quote, err = outline.FindQuote(d.Markdown, q.Quote); err != nil {
		return nil, problem(http.StatusBadRequest, "%s", err)
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
