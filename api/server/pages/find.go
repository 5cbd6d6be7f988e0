package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// find looks a stored page up by document id or URL, for all operations that name a page. The error wraps
// store.ErrNotFound, or is a problem for the client.
func (s *Service) find(ref string) (page.Key, *page.Page, error) {
	if isDoc(ref) {
		key, p, err := s.o.Store.FindPage(strings.ToLower(ref))
		if err != nil {
			return key, nil, fmt.Errorf("page %s: %w", ref, err)
		}
		return key, p, nil
	}
	u, err := page.Parse(ref)
	if err != nil {
		return page.Key{}, nil, api.Problem(http.StatusBadRequest,
			"a page is named by its URL or by 8 or more digits of its id: %s", err)
	}
	key := s.key(u)
	p, err := s.o.Store.Page(key)
	if err != nil {
		return key, nil, fmt.Errorf("page %s: %w", page.Mask(u), err)
	}
	return key, p, nil
}

// key returns the key of the stored page at a URL, which may be another name of it.
func (s *Service) key(u *url.URL) page.Key {
	return s.o.Store.Resolve(page.KeyOf(page.Normalize(u)))
}

// isDoc reports whether ref can be a document id or the first digits of one.
func isDoc(ref string) bool {
	if len(ref) < 8 || len(ref) > 64 {
		return false
	}
	return strings.Trim(ref, "0123456789abcdefABCDEF") == ""
}

// keyOf is key for a URL as text.
func (s *Service) keyOf(raw string) (page.Key, error) {
	u, err := page.Parse(raw)
	if err != nil {
		return page.Key{}, api.Problem(http.StatusBadRequest, "%s", err)
	}
	return s.key(u), nil
}

// pageOrDocument returns a page that was read, or a document of a knowledge base, by document id or URL.
func (s *Service) pageOrDocument(ref string) (d *knowledge.Document, doc string, err error) {
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

// document returns a document of a knowledge base that is not a page, by document id or by the URL that hits give it.
func (s *Service) document(ref string) (*knowledge.Document, bool) {
	if s.o.Knowledge == nil {
		return nil, false
	}
	d, err := s.o.Knowledge.FindDocument(ref)
	return d, err == nil
}
