package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"readthru/knowledge"
	"readthru/store"
)

// Changes tells what of a page is other than it was: the sections that changed, without the rest.
type Changes struct {
	Doc   string `json:"doc"`
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
	// what the page was; absent when no version that old is kept: all of the page stands as added then
	Since   *store.Version            `json:"since,omitempty"`
	Now     store.Version             `json:"now"`
	Changed bool                      `json:"changed"`
	Changes []knowledge.SectionChange `json:"changes"`
}

// Changes compares what a page says now with what it said at a time. since is a time as [Since] reads it, or the first
// digits (8 or more) of the content_hash of a version that is kept; empty is the version before the newest. It asks no
// origin: fetch the page first to compare with what it says today.
func (s *Server) Changes(_ context.Context, ref, since string) (*Changes, error) {
	key, p, versions, err := s.versions(ref)
	if err != nil {
		return nil, err
	}
	if len(versions) == 0 {
		return nil, problem(http.StatusNotFound, "no version of %s is kept", p.URL)
	}
	base, err := versionSince(versions, since, time.Now())
	if err != nil {
		return nil, err
	}
	c := &Changes{
		Doc: p.Doc, URL: p.URL, Title: p.Title, Since: base, Now: versions[0],
		Changes: []knowledge.SectionChange{},
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
	if list := knowledge.Changes(older, newer); list != nil {
		c.Changes, c.Changed = list, true
	}
	return c, nil
}

// versionSince returns the version, of those of a page from the newest, that was the page at a time or has a hash; nil
// when that time lies before all of them.
func versionSince(versions []store.Version, since string, now time.Time) (*store.Version, error) {
	if since == "" {
		return &versions[min(1, len(versions)-1)], nil
	}
	at, err := Since(since, now)
	if err != nil && isDoc(since) {
		v, err := pick(versions, since)
		return &v, err
	}
	if err != nil {
		return nil, problem(http.StatusBadRequest,
			"since %q is neither a time (2026-01-31, 2026-01-31T12:00:00Z, 36h, 7d) nor 8 or more digits of a content_hash",
			since)
	}
	for i := range versions {
		if !versions[i].Time.After(at) {
			return &versions[i], nil
		}
	}
	return nil, nil //nolint:nilnil // none is that old, which is no error
}

func (s *Server) serveChanges(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "since"); err != nil {
		return err
	}
	c, err := s.Changes(r.Context(), r.PathValue("doc"), q.Get("since"))
	return reply(w, c, err)
}
