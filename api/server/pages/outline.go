package pages

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/knowledge/outline"
)

// GetOutline returns the headings of a page or document.
func (s *Service) GetOutline(_ context.Context, ref api.PageRef) (*api.Outline, error) {
	d, doc, err := s.pageOrDocument(ref.Doc)
	if err != nil {
		return nil, err
	}
	list := api.OrEmpty(outline.Of(d.Markdown))
	cost := outline.Weigh(d.Markdown, list, convert.Tokens[[]byte])
	return &api.Outline{
		Doc: doc, URL: d.URL, Title: d.Title, Headings: list,
		Tokens: cost.Tokens, Kinds: api.OrEmpty(cost.Kinds), LinkTokens: cost.Links,
	}, nil
}

// passageOf returns the passage of a document that a name is the id of, as hits have it; nil if it is none of the
// document, whose heading it may be.
func (s *Service) passageOf(d *knowledge.Document, name string) (*knowledge.PassageInfo, error) {
	if s.o.Knowledge == nil || !strings.HasPrefix(name, d.Key.Doc()+"-") {
		return nil, nil //nolint:nilnil // no error either
	}
	p, err := s.o.Knowledge.Passage(name)
	if errors.Is(err, knowledge.ErrInvalid) {
		return nil, nil //nolint:nilnil // likewise
	}
	return p, err
}

// GetSection returns the section of a page or document under a heading, or that in which a passage stands.
func (s *Service) GetSection(ctx context.Context, q api.SectionQuery) (*api.SectionText, error) {
	began := time.Now()
	sec, err := s.section(q)
	if err != nil {
		return nil, err
	}
	if !toldStored(ctx) {
		return sec, nil
	}
	if p, read, err := s.whole(q.Doc); err == nil && read {
		whole := p.Content
		p.Content = sec.Content
		give(p, whole)
		s.o.Fetch.TellStored(ctx, p, began, asker.User(ctx))
	}
	return sec, nil
}

// section is GetSection without a word to the list of requests.
func (s *Service) section(q api.SectionQuery) (*api.SectionText, error) {
	if q.Name == "" {
		return nil, api.Problem(http.StatusBadRequest, "name is missing: a heading of the page, or its fragment")
	}
	d, doc, err := s.pageOrDocument(q.Doc)
	if err != nil {
		return nil, err
	}
	passage, err := s.passageOf(d, q.Name)
	if err != nil {
		return nil, err
	}
	if passage != nil {
		q.Name = passage.Heading
	}
	h, err := outline.Section(d.Markdown, q.Name, s.o.Fetch.Anchors(d.Key))
	switch {
	case err != nil && passage != nil: // it stands under no heading
		return &api.SectionText{Doc: doc, URL: d.URL, Content: passage.Text}, nil
	case err != nil:
		return nil, err
	}
	return &api.SectionText{Doc: doc, URL: d.URL, Heading: h, Content: string(d.Markdown[h.Start:h.End])}, nil
}
