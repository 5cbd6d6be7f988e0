package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"readthru/fetch"
	"readthru/page"
	"readthru/store"
)

// DefaultSession is the session whose set takes what is fetched in the name of none (rule B37).
const DefaultSession = "default"

// Context is what a session has fetched, apart from the cache (rules B37, B42).
type Context struct {
	Session string       `json:"session"`
	Pages   []*page.Page `json:"pages"` // without content; obtained longest ago first; last_visited_at is when that was
	Bytes   int64        `json:"bytes"` // of their content
	// pages that had to go, oldest first, since the set was begun: it holds 500 pages and 16 MiB
	Dropped int64 `json:"dropped"`
}

// ContextQuery chooses pages to be written into one text. Its zero value is all that the default session has fetched.
type ContextQuery struct {
	Session  string   // if empty the default one
	URLs     []string // these, in this order; if empty all of the set, in its order
	Exclude  []string // not these
	MaxChars int      // of each page, in code points; 0 is 4000
}

// ContextText is pages as one text for a model to read (rule B43).
type ContextText struct {
	Session string   `json:"session"`
	Text    string   `json:"text"`
	URLs    []string `json:"urls"`     // of the pages in it
	LeftOut []string `json:"left_out"` // of those that were not excluded and are not there to be read
}

// pageSeparator stands between the pages of a text (rule B43).
const pageSeparator = "\n\n---\n\n"

// Context tells what a session has fetched: with a URL that page alone, with its content.
func (s *Server) Context(_ context.Context, session, raw string) (*Context, error) {
	session, err := sessionName(session)
	if err != nil {
		return nil, err
	}
	set := s.o.Store.Fetched(session)
	c := &Context{Session: session, Pages: set.Pages, Bytes: set.Bytes, Dropped: set.Dropped}
	if c.Pages == nil {
		c.Pages = []*page.Page{}
	}
	if raw == "" {
		return c, nil
	}
	key, err := keyOf(raw)
	if err != nil {
		return nil, err
	}
	p, err := s.o.Store.FetchedPage(session, key)
	if err != nil {
		return nil, fmt.Errorf("page %s in the context of session %s: %w", page.MaskString(raw), session, err)
	}
	c.Pages, c.Bytes = []*page.Page{s.summarised(p)}, int64(len(p.Content))
	return c, nil
}

// URLContent returns a page of the session's set, else what the cache answers without asking anybody (rule B38). Where
// neither has it, the page object's Error says so, its kind being not_fetched. It counts no visit.
func (s *Server) URLContent(ctx context.Context, session, raw string) (*page.Page, error) {
	session, err := sessionName(session)
	if err != nil {
		return nil, err
	}
	u, err := page.Parse(raw)
	if err != nil {
		return nil, problem(http.StatusBadRequest, "%s", err)
	}
	if p, err := s.o.Store.FetchedPage(session, page.KeyOf(page.Normalize(u))); err == nil {
		return s.summarised(p), nil
	}
	p := page.New(u)
	a, err := s.o.Fetch.Page(ctx, fetch.Request{
		URL: u, Method: http.MethodGet, Own: true, CacheOnly: true, NoRemote: true,
		NoVisit: true,
	})
	if err == nil {
		p, err = s.took(p, a)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil || a.Status != http.StatusOK || p.Error != nil {
		p.Content, p.ContentFormat = "", ""
		p.Error = &page.Error{
			Kind:    "not_fetched",
			Message: page.MaskString(p.URL) + " was not fetched, and is not in the cache",
		}
		return p, nil //nolint:nilerr // the page tells
	}
	return s.summarised(p), nil
}

// summarised returns p with the summary of its content that is kept, if one is.
func (s *Server) summarised(p *page.Page) *page.Page {
	if kept := s.o.Summary.Latest(p); kept != nil && p.Summary == "" {
		kept.Attach(p)
	}
	return p
}

// ContextText writes pages that a session has fetched into one text: each as a prompt, with a rule between them. Pages
// that are not there to be read are left out and named.
func (s *Server) ContextText(ctx context.Context, q ContextQuery) (*ContextText, error) {
	session, err := sessionName(q.Session)
	if err != nil {
		return nil, err
	}
	if q.MaxChars < 0 {
		return nil, problem(http.StatusBadRequest, "max_chars is below 0")
	}
	done := map[page.Key]bool{}
	for _, raw := range q.Exclude {
		key, err := keyOf(raw)
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
	t := &ContextText{Session: session, URLs: []string{}, LeftOut: []string{}}
	var texts []string
	for _, raw := range urls {
		key, err := keyOf(raw)
		if err != nil {
			return nil, err
		}
		if done[key] {
			continue
		}
		done[key] = true
		p, err := s.URLContent(ctx, session, raw)
		if err != nil {
			return nil, err
		}
		if p.Error != nil {
			t.LeftOut = append(t.LeftOut, raw)
			continue
		}
		t.URLs = append(t.URLs, p.URL)
		texts = append(texts, strings.TrimRight(Prompt(p, q.MaxChars), "\n"))
	}
	t.Text = strings.Join(texts, pageSeparator)
	return t, nil
}

// Forget takes a page out of a session's set (rule B39). The cache keeps it.
func (s *Server) Forget(_ context.Context, session, raw string) (*Removed, error) {
	session, err := sessionName(session)
	if err != nil {
		return nil, err
	}
	key, err := keyOf(raw)
	if err != nil {
		return nil, err
	}
	was, err := s.o.Store.DropFetched(session, key)
	if err != nil || !was {
		return &Removed{}, err
	}
	return &Removed{Removed: 1}, nil
}

// ForgetAll empties a session's set (rule B39). The cache keeps the pages.
func (s *Server) ForgetAll(_ context.Context, session string) (*Removed, error) {
	session, err := sessionName(session)
	if err != nil {
		return nil, err
	}
	n, err := s.o.Store.ClearFetched(session)
	return &Removed{Removed: n}, err
}

// sessionName returns the session that a name stands for.
func sessionName(name string) (string, error) {
	name = cmp.Or(name, DefaultSession)
	if err := store.CheckSession(name); err != nil {
		return "", problem(http.StatusBadRequest, "%s", err)
	}
	return name, nil
}

// keyOf returns the key of the page at a URL.
func keyOf(raw string) (page.Key, error) {
	u, err := page.Parse(raw)
	if err != nil {
		return page.Key{}, problem(http.StatusBadRequest, "%s", err)
	}
	return page.KeyOf(page.Normalize(u)), nil
}

// Context asks the daemon, as [Server.Context] does.
func (c *Client) Context(ctx context.Context, session, raw string) (*Context, error) {
	return call[Context](ctx, c, http.MethodGet, "/api/v1/context", values("session", session, "url", raw))
}

// URLContent asks the daemon, as [Server.URLContent] does.
func (c *Client) URLContent(ctx context.Context, session, raw string) (*page.Page, error) {
	return c.page(c.do(ctx, http.MethodGet, "/api/v1/context/page", values("session", session, "url", raw), nil))
}

// ContextText asks the daemon, as [Server.ContextText] does.
func (c *Client) ContextText(ctx context.Context, q ContextQuery) (*ContextText, error) {
	v := values("session", q.Session, "max_chars", number(q.MaxChars))
	for _, raw := range q.URLs {
		v.Add("url", raw)
	}
	for _, raw := range q.Exclude {
		v.Add("exclude", raw)
	}
	return call[ContextText](ctx, c, http.MethodGet, "/api/v1/context/text", v)
}

// Forget asks the daemon, as [Server.Forget] does.
func (c *Client) Forget(ctx context.Context, session, raw string) (*Removed, error) {
	if raw == "" {
		return nil, problem(http.StatusBadRequest, "the URL is empty") // without one the daemon would empty the set
	}
	return call[Removed](ctx, c, http.MethodDelete, "/api/v1/context", values("session", session, "url", raw))
}

// ForgetAll asks the daemon, as [Server.ForgetAll] does.
func (c *Client) ForgetAll(ctx context.Context, session string) (*Removed, error) {
	return call[Removed](ctx, c, http.MethodDelete, "/api/v1/context", values("session", session))
}

// sessionOf returns the session that a request names: in its query, else in the field that proxied requests have.
func sessionOf(r *http.Request, q url.Values) string {
	return cmp.Or(q.Get("session"), r.Header.Get("X-Readthru-Session"))
}

func (s *Server) serveContext(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "session", "url"); err != nil {
		return err
	}
	c, err := s.Context(r.Context(), sessionOf(r, q), q.Get("url"))
	return reply(w, c, err)
}

func (s *Server) serveURLContent(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "session", "url"); err != nil {
		return err
	}
	p, err := s.URLContent(r.Context(), sessionOf(r, q), q.Get("url"))
	if err != nil {
		return err
	}
	return answer(w, FailureStatus(p.Error), p)
}

func (s *Server) serveContextText(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "session", "url", "exclude", "max_chars"); err != nil {
		return err
	}
	cq := ContextQuery{Session: sessionOf(r, q), URLs: q["url"], Exclude: q["exclude"]}
	if text := q.Get("max_chars"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return problem(http.StatusBadRequest, "max_chars %q is no number", text)
		}
		cq.MaxChars = n
	}
	t, err := s.ContextText(r.Context(), cq)
	return reply(w, t, err)
}

func (s *Server) serveForget(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "session", "url"); err != nil {
		return err
	}
	var n *Removed
	var err error
	if q.Has("url") {
		n, err = s.Forget(r.Context(), sessionOf(r, q), q.Get("url"))
	} else {
		n, err = s.ForgetAll(r.Context(), sessionOf(r, q))
	}
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, n)
}
