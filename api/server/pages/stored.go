package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/asker"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// ListPages lists stored pages, in the order that the query names.
func (s *Service) ListPages(_ context.Context, q api.PageQuery) (*api.PageList, error) {
	if q.Sort != "" && !slices.Contains(api.PageSorts, q.Sort) {
		return nil, api.Problem(http.StatusBadRequest, "sort %q is not one of %s", q.Sort, strings.Join(api.PageSorts, ", "))
	}
	pages, next, err := s.o.Store.Pages(store.PageQuery{
		Host: q.Host, Text: q.Text, Kind: q.Kind, Source: q.Source, Warning: q.Warning, Since: q.Since, Sort: q.Sort,
		Cursor: q.Cursor, Limit: q.Limit, Look: q.Look,
	})
	if err != nil {
		return nil, fmt.Errorf("list pages: %w", err)
	}
	return &api.PageList{Pages: api.OrEmpty(pages), Next: next}, nil
}

// GetPage returns a page with its content, or a part of that: of a repository also its README and symbol map (rule
// B33), and of every page the stored summary. A document of a knowledge base that is not a page has the same form.
func (s *Service) GetPage(ctx context.Context, q api.StoredQuery) (*page.Page, error) {
	began := time.Now()
	p, read, err := s.whole(q.Doc)
	if err == nil {
		err = s.partOf(p, q)
	}
	if err != nil || !read {
		return p, err
	}
	if toldStored(ctx) {
		s.o.Fetch.TellStored(ctx, p, began, asker.User(ctx))
	}
	return s.Summarised(p), nil
}

// partOf leaves the part of p's content that q asks for.
func (s *Service) partOf(p *page.Page, q api.StoredQuery) error {
	if q.Start < 0 || q.MaxTokens < 0 {
		return api.Problem(http.StatusBadRequest, "start or max_tokens is negative")
	}
	whole := p.Content
	if q.Section != "" {
		sec, err := s.section(api.SectionQuery{Doc: q.Doc, Name: q.Section})
		if err != nil {
			return err
		}
		p.Content, p.Section = sec.Content, sec.Heading.Fragment
	}
	if q.Start > 0 || q.MaxTokens > 0 {
		cutExactly(p, q.Start, 0, q.MaxTokens)
	}
	give(p, whole)
	return nil
}

// toldStored reports whether the list of requests has what is given of a stored page: it has what agents and commands
// read.
func toldStored(ctx context.Context) bool {
	by, _ := journal.AskerOf(ctx)
	return by.Door == api.DoorMCP || by.Door == api.DoorCommand
}

// whole returns a page that was read, or a document that is none in the form of one, with its content.
func (s *Service) whole(ref string) (_ *page.Page, read bool, _ error) {
	key, p, err := s.find(ref)
	if err != nil {
		if d, known := s.document(ref); known {
			p := pageLike(d)
			p.Bases = s.o.Knowledge.BasesOf(d.Key)
			return p, false, nil
		}
		return nil, false, err
	}
	md, err := s.o.Store.Markdown(key)
	if err != nil {
		return nil, true, fmt.Errorf("read content of %s: %w", p.URL, err)
	}
	full := *p
	full.Content, full.ContentFormat, full.Stored = string(md), "markdown", true
	if s.o.Knowledge != nil {
		full.Bases = s.o.Knowledge.BasesOf(key)
	}
	if full.GitHub != nil {
		full.Readme, full.SymbolMap = fetch.PartsOf(md)
	}
	return &full, true, nil
}

// ConvertPage makes a page again from what its origin answered, which is stored.
func (s *Service) ConvertPage(ctx context.Context, ref api.PageRef) (*page.Page, error) {
	_, p, err := s.find(ref.Doc)
	if err != nil {
		return nil, err
	}
	if err := s.o.Fetch.Convert(ctx, p); errors.Is(err, fetch.ErrNotConverted) {
		return nil, api.Problem(http.StatusConflict, "%s", err)
	} else if err != nil {
		return nil, err
	}
	return s.GetPage(ctx, api.StoredQuery{Doc: ref.Doc})
}

// pageLike returns a document that is not a page in the form of one.
func pageLike(d *knowledge.Document) *page.Page {
	return &page.Page{
		Record: page.Record{
			Doc: d.Key.Doc(), URL: d.URL, NormalizedURL: d.URL, Type: page.Unknown, Title: d.Title,
			ContentFormat: "markdown", SizeBytes: len(d.Markdown), FetchedAt: d.FetchedAt, Stored: true,
		},
		Answer: page.Answer{Content: string(d.Markdown), Metadata: d.Metadata},
	}
}

// DeletePage deletes a page, its versions and its stored responses. A document that is not a page is deleted in all
// knowledge bases.
func (s *Service) DeletePage(_ context.Context, ref api.PageRef) (*api.Deleted, error) {
	key, p, err := s.find(ref.Doc)
	if err != nil {
		if d, known := s.document(ref.Doc); known {
			return &api.Deleted{Deleted: true}, s.o.Knowledge.DeleteDocument(d.Key)
		}
		return nil, err
	}
	if err := s.RemovePage(key, p); err != nil {
		return nil, err
	}
	return &api.Deleted{Deleted: true}, nil
}

// RemovePage removes a page, its versions and its stored responses.
func (s *Service) RemovePage(key page.Key, p *page.Page) error {
	if err := s.o.Store.DeletePage(key); err != nil {
		return fmt.Errorf("delete page %s: %w", p.URL, err)
	}
	for _, raw := range slices.Compact([]string{p.URL, p.FinalURL}) {
		if uri, err := cacheURI(raw); err == nil {
			if _, err := s.o.Store.DeleteResponses(uri); err != nil {
				return fmt.Errorf("delete stored responses of %s: %w", raw, err)
			}
		}
	}
	return nil
}

// versions finds a page and its versions, newest first.
func (s *Service) versions(ref string) (page.Key, *page.Page, []store.Version, error) {
	key, p, err := s.find(ref)
	if err != nil {
		return key, nil, nil, err
	}
	list, err := s.o.Store.Versions(key)
	if err != nil {
		return key, nil, nil, fmt.Errorf("list versions of %s: %w", p.URL, err)
	}
	return key, p, list, nil
}

// ListVersions lists the versions of a page, newest first.
func (s *Service) ListVersions(_ context.Context, ref api.PageRef) (*api.VersionList, error) {
	_, p, versions, err := s.versions(ref.Doc)
	if err != nil {
		return nil, err
	}
	return &api.VersionList{Doc: p.Doc, URL: p.URL, Versions: api.OrEmpty(versions)}, nil
}

// DiffVersions compares two versions of a page. An empty A is the version before the newest, an empty B the newest.
func (s *Service) DiffVersions(_ context.Context, q api.DiffQuery) (*api.Diff, error) {
	key, p, versions, err := s.versions(q.Doc)
	if err != nil {
		return nil, err
	}
	if q.A == "" && len(versions) > 1 {
		q.A = "1"
	}
	from, err := pick(versions, q.A)
	if err != nil {
		return nil, err
	}
	to, err := pick(versions, q.B)
	if err != nil {
		return nil, err
	}
	d := &api.Diff{Doc: p.Doc, URL: p.URL, A: from, B: to, Versions: len(versions)}
	older, err := s.o.Store.VersionMarkdown(key, from)
	if err != nil {
		return nil, fmt.Errorf("read version %.12s of %s: %w", from.ContentHash, p.URL, err)
	}
	newer, err := s.o.Store.VersionMarkdown(key, to)
	if err != nil {
		return nil, fmt.Errorf("read version %.12s of %s: %w", to.ContentHash, p.URL, err)
	}
	unified := diff.Diff(versionName(from), older, versionName(to), newer)
	_, unified, _ = bytes.Cut(unified, []byte("\n")) // the line before "---" is not part of a unified diff
	d.Unified, d.Changed = string(unified), len(unified) > 0
	return d, nil
}

// pick finds the version of a page that ref names among versions, newest first: by how many versions back it is (at
// most three digits), or by the first digits of its content hash. An empty ref is the newest version.
func pick(versions []store.Version, ref string) (store.Version, error) {
	if n, err := strconv.Atoi(ref); err == nil && len(ref) < 4 || ref == "" {
		if n < 0 || n >= len(versions) {
			return store.Version{}, api.Problem(http.StatusNotFound, "no version is %d back: %d are kept", n, len(versions))
		}
		return versions[n], nil
	}
	for _, v := range versions {
		if strings.HasPrefix(v.ContentHash, strings.ToLower(ref)) {
			return v, nil
		}
	}
	return store.Version{}, api.Problem(http.StatusNotFound,
		"unknown version %q: name the first digits of a content_hash, or how many versions back it is", ref)
}

// versionName heads a version of a page in a diff.
func versionName(v store.Version) string {
	return fmt.Sprintf("%.12s\t%s", v.ContentHash, v.Time.UTC().Format(time.RFC3339))
}
