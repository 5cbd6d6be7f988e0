package pages

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// pageSeparator separates the pages of a text (rule B43).
const pageSeparator = "\n\n---\n\n"

// GetContext lists what a session has fetched; with a URL only that page, with its content.
func (s *Service) GetContext(ctx context.Context, q api.ContextRef) (*api.Context, error) {
	session, err := asker.OwnSession(ctx, q.Session)
	if err != nil {
		return nil, err
	}
	set := s.o.Store.Fetched(session)
	c := &api.Context{Session: session, Pages: api.OrEmpty(set.Pages), Bytes: set.Bytes, Dropped: set.Dropped}
	if q.URL == "" {
		return c, nil
	}
	key, err := s.keyOf(q.URL)
	if err != nil {
		return nil, err
	}
	p, err := s.o.Store.FetchedPage(session, key)
	if err != nil {
		return nil, fmt.Errorf("page %s in the context of session %s: %w", page.MaskString(q.URL), session, err)
	}
	c.Pages, c.Bytes = []*page.Page{s.Summarised(p)}, int64(len(p.Content))
	return c, nil
}

// GetContextPage returns a page that the session has fetched, else one that the cache answers without asking an origin
// (rule B38). If neither has the page, its Error has the kind not_fetched. It counts no visit.
func (s *Service) GetContextPage(ctx context.Context, q api.ContextRef) (*page.Page, error) {
	session, err := asker.OwnSession(ctx, q.Session)
	if err != nil {
		return nil, err
	}
	u, err := page.Parse(q.URL)
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	if p, err := s.o.Store.FetchedPage(session, s.key(u)); err == nil {
		return s.Summarised(p), nil
	}
	p := page.New(u)
	a, err := s.o.Fetch.Page(ctx, fetch.Request{
		URL: u, Method: http.MethodGet, Own: true, CacheOnly: true, NoRemote: true,
		NoVisit: true,
	})
	if err == nil {
		p, err = s.pageOf(p, a)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil || a.Status != http.StatusOK || p.Error != nil {
		p.Content, p.ContentFormat = "", ""
		p.Error = &page.Error{
			Kind:    "not_fetched",
			Message: page.MaskString(p.URL) + " was not fetched and is not in the cache",
		}
		return p, nil //nolint:nilerr // the page tells
	}
	return s.Summarised(p), nil
}

// GetContextText writes pages that a session has fetched into one text, each as a prompt, with a rule between them. It
// names the pages that are not stored.
func (s *Service) GetContextText(ctx context.Context, q api.ContextQuery) (*api.ContextText, error) {
	session, err := asker.OwnSession(ctx, q.Session)
	if err != nil {
		return nil, err
	}
	if q.MaxChars < 0 {
		return nil, api.Problem(http.StatusBadRequest, "max_chars is below 0")
	}
	done := map[page.Key]bool{}
	for _, raw := range q.Exclude {
		key, err := s.keyOf(raw)
		if err != nil {
			return nil, err
		}
		done[key] = true
	}
	urls := q.URLs
	if len(urls) == 0 {
		for _, p := range s.o.Store.Fetched(session).Pages {
			urls = append(urls, p.URL)
		}
	}
	t := &api.ContextText{Session: session, URLs: []string{}, LeftOut: []string{}}
	var texts []string
	for _, raw := range urls {
		key, err := s.keyOf(raw)
		if err != nil {
			return nil, err
		}
		if done[key] {
			continue
		}
		done[key] = true
		p, err := s.GetContextPage(ctx, api.ContextRef{Session: session, URL: raw})
		if err != nil {
			return nil, err
		}
		if p.Error != nil {
			t.LeftOut = append(t.LeftOut, raw)
			continue
		}
		t.URLs = append(t.URLs, p.URL)
		texts = append(texts, strings.TrimRight(api.Prompt(p, q.MaxChars), "\n"))
	}
	t.Text = strings.Join(texts, pageSeparator)
	return t, nil
}

// ForgetPages removes a page, or all pages, from what a session has fetched (rule B39). The cache keeps them.
func (s *Service) ForgetPages(ctx context.Context, q api.ForgetQuery) (*api.Removed, error) {
	session, err := asker.OwnSession(ctx, q.Session)
	if err != nil {
		return nil, err
	}
	if q.URL == nil {
		n, err := s.o.Store.ClearFetched(session)
		return &api.Removed{Removed: n}, err
	}
	key, err := s.keyOf(*q.URL)
	if err != nil {
		return nil, err
	}
	was, err := s.o.Store.DropFetched(session, key)
	if err != nil || !was {
		return &api.Removed{}, err
	}
	return &api.Removed{Removed: 1}, nil
}
