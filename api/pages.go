package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"readthru/knowledge"
	"readthru/page"
	"readthru/store"
)

// Pages lists pages.
func (s *Server) Pages(_ context.Context, q PageQuery) (*PageList, error) {
	if !slices.Contains([]string{"", "recent", "visits", "url", "tokens"}, q.Sort) {
		return nil, problem(http.StatusBadRequest, "sort %q is not recent, visits, url or tokens", q.Sort)
	}
	pages, next, err := s.o.Store.Pages(store.PageQuery{
		Host: q.Host, Text: q.Text, Sort: q.Sort, Cursor: q.Cursor,
		Limit: min(q.Limit, maxLimit),
	})
	if err != nil {
		return nil, fmt.Errorf("list pages: %w", err)
	}
	if pages == nil {
		pages = []*page.Page{}
	}
	return &PageList{Pages: pages, Next: next}, nil
}

// Page returns a page with its content. ref is a document id, the first digits of one (8 or more), or a URL. A document
// of a knowledge base that never was a page is told in the same form.
func (s *Server) Page(_ context.Context, ref string) (*page.Page, error) {
	key, p, err := s.find(ref)
	if err != nil {
		if d, known := s.document(ref); known {
			return pageLike(d), nil
		}
		return nil, err
	}
	md, err := s.o.Store.Markdown(key)
	if err != nil {
		return nil, fmt.Errorf("read content of %s: %w", p.URL, err)
	}
	full := *p
	full.Content, full.ContentFormat, full.Stored = string(md), "markdown", true
	return &full, nil
}

// pageLike shows a document that is no page as if it were one.
func pageLike(d *knowledge.Document) *page.Page {
	return &page.Page{
		Doc: d.Key.Doc(), URL: d.URL, NormalizedURL: d.URL, Type: page.Unknown, Title: d.Title, Content: string(d.Markdown),
		ContentFormat: "markdown",
		SizeBytes:     len(d.Markdown), FetchedAt: d.FetchedAt, Stored: true,
	}
}

// DeletePage forgets a page, its versions and its stored responses; or a document that is no page, in all knowledge
// bases.
func (s *Server) DeletePage(_ context.Context, ref string) error {
	key, p, err := s.find(ref)
	if err != nil {
		if d, known := s.document(ref); known {
			return s.o.Knowledge.DeleteDocument(d.Key)
		}
		return err
	}
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
func (s *Server) versions(ref string) (page.Key, *page.Page, []store.Version, error) {
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

// Versions lists the contents that a page has had.
func (s *Server) Versions(_ context.Context, ref string) (*VersionList, error) {
	_, p, versions, err := s.versions(ref)
	if err != nil {
		return nil, err
	}
	if versions == nil {
		versions = []store.Version{}
	}
	return &VersionList{Doc: p.Doc, URL: p.URL, Versions: versions}, nil
}

// Diff compares two versions of a page. a and b are each the first digits of a content hash, or how many versions back;
// empty is 1 for a, the version before the newest, and 0 for b, the newest.
func (s *Server) Diff(_ context.Context, ref, a, b string) (*Diff, error) {
	key, p, versions, err := s.versions(ref)
	if err != nil {
		return nil, err
	}
	if a == "" && len(versions) > 1 {
		a = "1"
	}
	from, err := pick(versions, a)
	if err != nil {
		return nil, err
	}
	to, err := pick(versions, b)
	if err != nil {
		return nil, err
	}
	d := &Diff{Doc: p.Doc, URL: p.URL, A: from, B: to}
	older, err := s.o.Store.VersionMarkdown(key, from)
	if err != nil {
		return nil, fmt.Errorf("read version %.12s of %s: %w", from.ContentHash, p.URL, err)
	}
	newer, err := s.o.Store.VersionMarkdown(key, to)
	if err != nil {
		return nil, fmt.Errorf("read version %.12s of %s: %w", to.ContentHash, p.URL, err)
	}
	unified := diff.Diff(versionName(from), older, versionName(to), newer)
	_, unified, _ = bytes.Cut(unified, []byte("\n")) // the line before ---: no part of a unified diff
	d.Unified, d.Changed = string(unified), len(unified) > 0
	return d, nil
}

// find looks a page up by document id or URL.
func (s *Server) find(ref string) (page.Key, *page.Page, error) {
	if isDoc(ref) {
		key, p, err := s.o.Store.FindPage(strings.ToLower(ref))
		if err != nil {
			return key, nil, fmt.Errorf("page %s: %w", ref, err)
		}
		return key, p, nil
	}
	u, err := page.Parse(ref)
	if err != nil {
		return page.Key{}, nil, problem(http.StatusBadRequest,
			"a page is named by its URL or by 8 or more digits of its id: %s", err)
	}
	key := page.KeyOf(page.Normalize(u))
	p, err := s.o.Store.Page(key)
	if err != nil {
		return key, nil, fmt.Errorf("page %s: %w", page.Mask(u), err)
	}
	return key, p, nil
}

// isDoc reports whether ref can be a document id or the first digits of one.
func isDoc(ref string) bool {
	if len(ref) < 8 || len(ref) > 64 {
		return false
	}
	return strings.Trim(ref, "0123456789abcdefABCDEF") == ""
}

// pick finds the version that ref names among versions, newest first.
func pick(versions []store.Version, ref string) (store.Version, error) {
	if n, err := strconv.Atoi(ref); err == nil && len(ref) < 4 || ref == "" {
		if n < 0 || n >= len(versions) {
			return store.Version{}, problem(http.StatusNotFound, "there is no version %d back: %d are kept", n, len(versions))
		}
		return versions[n], nil
	}
	for _, v := range versions {
		if strings.HasPrefix(v.ContentHash, strings.ToLower(ref)) {
			return v, nil
		}
	}
	return store.Version{}, problem(http.StatusNotFound,
		"there is no version %q: name the first digits of a content_hash, or how many versions back", ref)
}

// versionName heads a version in a diff.
func versionName(v store.Version) string {
	return fmt.Sprintf("%.12s\t%s", v.ContentHash, v.Time.UTC().Format(time.RFC3339))
}

func (s *Server) servePages(w http.ResponseWriter, r *http.Request) error {
	q, limit, err := listQuery(r, "host", "q", "sort", "cursor")
	if err != nil {
		return err
	}
	list, err := s.Pages(r.Context(), PageQuery{
		Host: q.Get("host"), Text: q.Get("q"), Sort: q.Get("sort"), Limit: limit,
		Cursor: q.Get("cursor"),
	})
	return reply(w, list, err)
}

func (s *Server) servePage(w http.ResponseWriter, r *http.Request) error {
	p, err := s.Page(r.Context(), r.PathValue("doc"))
	return reply(w, p, err)
}

func (s *Server) serveDeletePage(w http.ResponseWriter, r *http.Request) error {
	if err := s.DeletePage(r.Context(), r.PathValue("doc")); err != nil {
		return err
	}
	return answer(w, http.StatusOK, deleted{true})
}

func (s *Server) serveVersions(w http.ResponseWriter, r *http.Request) error {
	list, err := s.Versions(r.Context(), r.PathValue("doc"))
	return reply(w, list, err)
}

func (s *Server) serveDiff(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "a", "b"); err != nil {
		return err
	}
	d, err := s.Diff(r.Context(), r.PathValue("doc"), q.Get("a"), q.Get("b"))
	return reply(w, d, err)
}
