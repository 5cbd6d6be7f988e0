package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/page"
)

// ListCached lists the stored responses of a URL. With Explain it says why each would or would not answer a fetch now.
func (s *Service) ListCached(ctx context.Context, q api.CacheQuery) (*api.CacheEntries, error) {
	uri, err := cacheURI(q.URL)
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	stored, err := s.o.Store.Responses(uri)
	if err != nil {
		return nil, fmt.Errorf("read stored responses of %s: %w", page.MaskString(uri), err)
	}
	list := &api.CacheEntries{URL: uri, Entries: make([]api.CacheEntry, 0, len(stored))}
	for _, r := range stored {
		h := r.Header.Clone()
		h.Del("Set-Cookie")
		list.Entries = append(list.Entries, api.CacheEntry{
			URL: r.URL, Status: r.Status, Header: h, Vary: r.Vary,
			RequestTime: r.RequestTime.UTC(), ResponseTime: r.ResponseTime.UTC(), Length: r.Length,
		})
	}
	if s.o.Fresh != nil && len(stored) > 0 {
		if list.Fresh, err = s.o.Fresh(ctx, uri); err != nil {
			return nil, fmt.Errorf("judge stored responses of %s: %w", page.MaskString(uri), err)
		}
	}
	if q.Explain && s.o.Explain != nil {
		if list.Explanation, err = s.o.Explain(ctx, uri); err != nil {
			return nil, fmt.Errorf("explain %s: %w", page.MaskString(uri), err)
		}
	}
	return list, nil
}

// Uncache removes stored responses by URL, host, prefix or tag: exactly one of these. By URL it removes all that would
// answer a fetch.
func (s *Service) Uncache(_ context.Context, sel api.Selection) (*api.Removed, error) {
	set := 0
	for _, v := range []string{sel.URL, sel.Host, sel.Prefix, sel.Tag} {
		if v != "" {
			set++
		}
	}
	if set != 1 {
		return nil, api.Problem(http.StatusBadRequest, "name exactly one of url, host, prefix and tag")
	}
	var n int
	var err error
	switch {
	case sel.URL != "" || sel.Prefix != "":
		uri, perr := cacheURI(sel.URL + sel.Prefix)
		if perr != nil {
			return nil, api.Problem(http.StatusBadRequest, "%s", perr)
		}
		if sel.URL != "" {
			return s.invalidate(sel.URL, uri)
		}
		n, err = s.o.Store.DeletePrefixResponses(uri)
	case sel.Host != "":
		n, err = s.o.Store.DeleteHostResponses(strings.ToLower(sel.Host))
	default:
		n, err = s.o.Store.DeleteTaggedResponses(sel.Tag)
	}
	if err != nil {
		return nil, fmt.Errorf("remove stored responses: %w", err)
	}
	return &api.Removed{Removed: n}, nil
}

// invalidate removes what would answer a fetch of one URL: its stored responses, which are those of uri, those of the
// URL that it redirects to, the renditions made of them, and what sessions have fetched of it (rule B40). The page
// itself, its versions and its visits stay.
func (s *Service) invalidate(raw, uri string) (*api.Removed, error) {
	gone := &api.Removed{}
	uris := []string{uri}
	u, err := page.Parse(raw)
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest, "%s", err)
	}
	name := page.Normalize(u) // renditions are kept by what was asked for
	if p, err := s.o.Store.Page(page.KeyOf(name)); err == nil {
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
	n, err := s.o.Store.DeletePageRenditions(page.KeyOf(page.WithoutRoute(name)))
	if err == nil {
		gone.Removed += n
		gone.Fetched, err = s.o.Store.ForgetFetched(s.key(u))
	}
	if err != nil {
		return nil, fmt.Errorf("remove renditions of %s: %w", page.MaskString(uri), err)
	}
	return gone, nil
}

// ClearCache removes all stored responses, the renditions made of them, and what sessions have fetched (rule B41).
// Pages, versions and visits stay.
func (s *Service) ClearCache(context.Context, api.None) (*api.Removed, error) {
	gone := &api.Removed{}
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

// SweepCache removes stored responses that have expired, and damaged ones (rule B32).
func (s *Service) SweepCache(ctx context.Context, _ api.None) (*api.Removed, error) {
	n, err := s.o.Store.SweepExpired(ctx, s.o.Expired)
	if err != nil {
		return nil, fmt.Errorf("sweep the cache: %w", err)
	}
	return &api.Removed{Removed: n}, nil
}

// cacheURI returns the key under which the cache stores the responses of a URL: the URL with scheme and host in lower
// case, without a default port and fragment, and with "/" for an empty path.
func cacheURI(raw string) (string, error) {
	u, err := page.Parse(raw)
	if err != nil {
		return "", err
	}
	k := url.URL{
		Scheme: strings.ToLower(u.Scheme), Host: page.Authority(u), Path: u.Path, RawPath: u.RawPath,
		RawQuery: u.RawQuery, ForceQuery: u.ForceQuery,
	}
	k.Path = cmp.Or(k.Path, "/")
	return k.String(), nil
}
