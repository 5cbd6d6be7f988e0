package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"readthru/knowledge"
)

// Outline holds the headings of a page.
type Outline struct {
	Doc      string              `json:"doc"`
	URL      string              `json:"url"`
	Title    string              `json:"title,omitempty"`
	Headings []knowledge.Heading `json:"headings"`
}

// SectionText is one section of a page.
type SectionText struct {
	Doc     string            `json:"doc"`
	URL     string            `json:"url"`
	Heading knowledge.Heading `json:"heading"`
	Content string            `json:"content"`
}

// QuoteCheck says whether a sentence stands in a page, and in which of its versions.
type QuoteCheck struct {
	Doc     string    `json:"doc"`
	URL     string    `json:"url"`
	Current bool      `json:"current"`           // it stands in the newest version
	Version string    `json:"version,omitempty"` // content_hash of the version looked at: the newest that has it
	Time    time.Time `json:"time,omitzero"`     // when that was read
	knowledge.Quote
}

// readable finds a page that was read, or a document of a knowledge base, by document id or URL.
func (s *Server) readable(ref string) (d *knowledge.Document, doc string, err error) {
	key, p, err := s.find(ref)
	if err == nil {
		md, err := s.o.Store.Markdown(key)
		if err != nil {
			return nil, "", fmt.Errorf("read content of %s: %w", p.URL, err)
		}
		return &knowledge.Document{Key: key, URL: p.URL, Title: p.Title, Markdown: md}, p.Doc, nil
	}
	if d, known := s.document(ref); known {
		return d, d.Key.Doc(), nil
	}
	return nil, "", err
}

// document finds a document of a knowledge base that is no page, by document id or by what stands in a hit as its URL.
func (s *Server) document(ref string) (*knowledge.Document, bool) {
	if s.o.Knowledge == nil {
		return nil, false
	}
	d, err := s.o.Knowledge.FindDocument(ref)
	return d, err == nil
}

// Outline returns the headings of a page or document.
func (s *Server) Outline(_ context.Context, ref string) (*Outline, error) {
	d, doc, err := s.readable(ref)
	if err != nil {
		return nil, err
	}
	list := knowledge.Outline(d.Markdown)
	if list == nil {
		list = []knowledge.Heading{}
	}
	return &Outline{doc, d.URL, d.Title, list}, nil
}

// Section returns the section of a page or document that a heading begins, by its title, path or fragment.
func (s *Server) Section(_ context.Context, ref, name string) (*SectionText, error) {
	d, doc, err := s.readable(ref)
	if err != nil {
		return nil, err
	}
	h, err := knowledge.Section(d.Markdown, name)
	if err != nil {
		return nil, err
	}
	return &SectionText{doc, d.URL, h, string(d.Markdown[h.Start:h.End])}, nil
}

// VerifyQuote looks for a sentence in a page: in what it says now, then in what it said before.
func (s *Server) VerifyQuote(_ context.Context, ref, quote string) (*QuoteCheck, error) {
	d, doc, err := s.readable(ref)
	if err != nil {
		return nil, err
	}
	check := &QuoteCheck{Doc: doc, URL: d.URL}
	if check.Quote, err = knowledge.FindQuote(d.Markdown, quote); err != nil {
		return nil, problem(http.StatusBadRequest, "%s", err)
	}
	check.Current = check.Found
	versions, err := s.o.Store.Versions(d.Key)
	if err != nil {
		return check, nil //nolint:nilerr // a document that is no page has none
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
		if q, err := knowledge.FindQuote(md, quote); err == nil && q.Found {
			check.Quote, check.Version, check.Time = q, v.ContentHash, v.Time
		}
	}
	return check, nil
}

func (s *Server) serveOutline(w http.ResponseWriter, r *http.Request) error {
	o, err := s.Outline(r.Context(), r.PathValue("doc"))
	return reply(w, o, err)
}

func (s *Server) serveSection(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "name"); err != nil {
		return err
	}
	if q.Get("name") == "" {
		return problem(http.StatusBadRequest, "name is missing: a heading of the page, or its fragment")
	}
	sec, err := s.Section(r.Context(), r.PathValue("doc"), q.Get("name"))
	return reply(w, sec, err)
}

func (s *Server) serveVerifyQuote(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "q"); err != nil {
		return err
	}
	check, err := s.VerifyQuote(r.Context(), r.PathValue("doc"), q.Get("q"))
	return reply(w, check, err)
}
