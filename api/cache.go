package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"readthru/page"
)

// Cached lists the stored responses of a URL.
func (s *Server) Cached(ctx context.Context, raw string) (*CacheEntries, error) {
	uri, err := cacheURI(raw)
	if err != nil {
		return nil, problem(http.StatusBadRequest, "%s", err)
	}
	stored, err := s.o.Store.Responses(uri)
	if err != nil {
		return nil, fmt.Errorf("read stored responses of %s: %w", page.MaskString(uri), err)
	}
	list := &CacheEntries{URL: uri, Entries: make([]CacheEntry, 0, len(stored))}
	for _, r := range stored {
		h := r.Header.Clone()
		h.Del("Set-Cookie")
		list.Entries = append(list.Entries, CacheEntry{
			URL: r.URL, Status: r.Status, Header: h, Vary: r.Vary,
			RequestTime: r.RequestTime.UTC(), ResponseTime: r.ResponseTime.UTC(), Length: r.Length,
		})
	}
	if s.o.Fresh != nil && len(stored) > 0 {
		if list.Fresh, err = s.o.Fresh(ctx, uri); err != nil {
			return nil, fmt.Errorf("judge stored responses of %s: %w", page.MaskString(uri), err)
		}
	}
	return list, nil
}

// Explained lists the stored responses of a URL, and tells why they would or would not answer a fetch of it now.
func (s *Server) Explained(ctx context.Context, raw string) (*CacheEntries, error) {
	list, err := s.Cached(ctx, raw)
	if err != nil || s.o.Explain == nil {
		return list, err
	}
	if list.Explanation, err = s.o.Explain(ctx, list.URL); err != nil {
		return nil, fmt.Errorf("explain %s: %w", page.MaskString(list.URL), err)
	}
	return list, nil
}

// Explained asks the daemon, as [Server.Explained] does.
func (c *Client) Explained(ctx context.Context, raw string) (*CacheEntries, error) {
	return call[CacheEntries](ctx, c, http.MethodGet, "/api/v1/cache", values("url", raw, "explain", "1"))
}

// Uncache removes stored responses.
func (s *Server) Uncache(_ context.Context, sel Selection) (*Removed, error) {
	set := 0
	for _, v := range []string{sel.URL, sel.Host, sel.Prefix, sel.Tag} {
		if v != "" {
			set++
		}
	}
	if set != 1 {
		return nil, problem(http.StatusBadRequest, "name exactly one of url, host, prefix and tag")
	}
	var n int
	var err error
	switch {
	case sel.URL != "" || sel.Prefix != "":
		uri, perr := cacheURI(sel.URL + sel.Prefix)
		if perr != nil {
			return nil, problem(http.StatusBadRequest, "%s", perr)
		}
		if sel.URL != "" {
			return s.invalidate(uri)
		} else {
			n, err = s.o.Store.DeletePrefixResponses(uri)
		}
	case sel.Host != "":
		n, err = s.o.Store.DeleteHostResponses(strings.ToLower(sel.Host))
	default:
		n, err = s.o.Store.DeleteTaggedResponses(sel.Tag)
	}
	if err != nil {
		return nil, fmt.Errorf("remove stored responses: %w", err)
	}
	return &Removed{Removed: n}, nil
}

// invalidate removes what would answer a fetch of one URL: its stored responses, those of where it led to, what was
// made to stand in their place, and what sessions have fetched of it (rule B40). The page itself, its versions and
// visits stay.
func (s *Server) invalidate(uri string) (*Removed, error) {
	gone := &Removed{}
	uris := []string{uri}
	key, err := keyOf(uri)
	if err != nil {
		return nil, err
	}
	if p, err := s.o.Store.Page(key); err == nil {
		if final, err := cacheURI(p.FinalURL); err == nil && final != uri {
			uris = append(uris, final)
		}
	}
	for _, each := range uris {
		n, err := s.o.Store.DeleteResponses(each)
		if err != nil {
			return nil, fmt.Errorf("remove stored responses of %s: %w", page.MaskString(each), err)
		}
		gone.Removed += n
	}
	n, err := s.o.Store.DeletePageRenditions(key)
	if err == nil {
		gone.Removed += n
		gone.Fetched, err = s.o.Store.ForgetFetched(key)
	}
	if err != nil {
		return nil, fmt.Errorf("remove what was made of %s: %w", page.MaskString(uri), err)
	}
	return gone, nil
}

// ClearCache removes all stored responses, what was made to stand in their place, and what sessions have fetched (rule
// B41). Pages, versions and visits stay.
func (s *Server) ClearCache(context.Context) (*Removed, error) {
	gone := &Removed{}
	n, err := s.o.Store.ClearResponses()
	if err == nil {
		gone.Removed = n
		n, err = s.o.Store.ClearPageRenditions()
	}
	if err == nil {
		gone.Removed += n
		gone.Fetched, err = s.o.Store.ClearAllFetched()
	}
	if err != nil {
		return nil, fmt.Errorf("clear the cache: %w", err)
	}
	return gone, nil
}

// SweepCache removes what is of no more use.
func (s *Server) SweepCache(ctx context.Context) (*Removed, error) {
	n, err := s.o.Store.Sweep(ctx)
	if err != nil {
		return nil, fmt.Errorf("sweep the cache: %w", err)
	}
	return &Removed{Removed: n}, nil
}

// cacheURI is the key that the cache stores a URL's responses under: exact but for the case of scheme and host, a
// default port, an empty path and the fragment.
func cacheURI(raw string) (string, error) {
	u, err := page.Parse(raw)
	if err != nil {
		return "", err
	}
	k := url.URL{
		Scheme: strings.ToLower(u.Scheme), Host: page.Authority(u), Path: u.Path, RawPath: u.RawPath,
		RawQuery: u.RawQuery, ForceQuery: u.ForceQuery,
	}
	if k.Path == "" {
		k.Path = "/"
	}
	return k.String(), nil
}

func (s *Server) serveCached(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "url", "explain"); err != nil {
		return err
	}
	explain, err := flag(q, "explain")
	if err != nil {
		return err
	}
	list := s.Cached
	if explain {
		list = s.Explained
	}
	entries, err := list(r.Context(), q.Get("url"))
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, entries)
}

func (s *Server) serveUncache(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "url", "host", "prefix", "tag"); err != nil {
		return err
	}
	n, err := s.Uncache(r.Context(), Selection{
		URL: q.Get("url"), Host: q.Get("host"), Prefix: q.Get("prefix"),
		Tag: q.Get("tag"),
	})
	return reply(w, n, err)
}

func (s *Server) serveClearCache(w http.ResponseWriter, r *http.Request) error {
	n, err := s.ClearCache(r.Context())
	return reply(w, n, err)
}

func (s *Server) serveSweepCache(w http.ResponseWriter, r *http.Request) error {
	n, err := s.SweepCache(r.Context())
	return reply(w, n, err)
}
