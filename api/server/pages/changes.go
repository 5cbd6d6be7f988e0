package pages

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/store"
)

// GetChanges compares the newest version of a page with the one of an earlier time. It asks no origin: fetch the page
// first to compare with its present content.
func (s *Service) GetChanges(_ context.Context, q api.ChangesQuery) (*api.Changes, error) {
	key, p, versions, err := s.versions(q.Doc)
	if err != nil {
		return nil, err
	}
	if len(versions) == 0 {
		return nil, api.Problem(http.StatusNotFound, "no version of %s is kept", p.URL)
	}
	base, err := versionSince(versions, q.Since, time.Now())
	if err != nil {
		return nil, err
	}
	c := &api.Changes{
		Doc: p.Doc, URL: p.URL, Title: p.Title, Since: base, Now: versions[0],
		Changes: []outline.SectionChange{},
	}
	newer, err := s.o.Store.VersionMarkdown(key, versions[0])
	if err != nil {
		return nil, fmt.Errorf("read the newest version of %s: %w", p.URL, err)
	}
	var older []byte
	if base != nil {
		if base.ContentHash == versions[0].ContentHash {
			return c, nil
		}
		if older, err = s.o.Store.VersionMarkdown(key, *base); err != nil {
			return nil, fmt.Errorf("read version %.12s of %s: %w", base.ContentHash, p.URL, err)
		}
	}
	if list := outline.Changes(older, newer); list != nil {
		c.Changes, c.Changed = list, true
	}
	return c, nil
}

// versionSince returns the version that the page had at a time, or that has a hash; nil if the time is before the first
// version. versions are newest first.
func versionSince(versions []store.Version, since string, now time.Time) (*store.Version, error) {
	if since == "" {
		return &versions[min(1, len(versions)-1)], nil
	}
	at, err := api.Since(since, now)
	if err != nil && isDoc(since) {
		v, err := pick(versions, since)
		return &v, err
	}
	if err != nil {
		return nil, api.Problem(http.StatusBadRequest,
			"since %q is neither a time (2026-01-31, 2026-01-31T12:00:00Z, 36h, 7d) nor 8 or more digits of a content_hash",
			since)
	}
	for i := range versions {
		if !versions[i].Time.After(at) {
			return &versions[i], nil
		}
	}
	return nil, nil //nolint:nilnil // no version is that old, which is no error
}
