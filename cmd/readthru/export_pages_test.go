package main

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"readthru/api"
	"readthru/page"
)

// shelf is a backend that has some pages.
type shelf struct {
	backend
	pages []*page.Page
}

func (s shelf) Pages(context.Context, api.PageQuery) (*api.PageList, error) {
	return &api.PageList{Pages: s.pages}, nil
}

func (s shelf) Page(_ context.Context, ref string) (*page.Page, error) {
	for _, pg := range s.pages {
		if pg.Doc == ref {
			return pg, nil
		}
	}
	return nil, &api.Error{Status: 404}
}

func TestEveryPageIsExportedWhateverTheOthersAreCalled(t *testing.T) {
	var s shelf
	for _, raw := range []string{
		"https://a.test/a", "https://a.test/a.md/b", "https://a.test/A", "https://a.test/a.md",
		"https://a.test/b.md/c", "https://a.test/b",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		pg := page.New(u)
		pg.Content = "content of " + raw
		s.pages = append(s.pages, pg)
	}
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	if n, err := exportPages(t.Context(), s, root, ""); n != len(s.pages) || err != nil {
		t.Errorf("exportPages = %d, %v, want all %d", n, err, len(s.pages))
	}
	var all strings.Builder
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var text []byte
			text, err = os.ReadFile(name)
			all.Write(text)
			all.WriteByte('\n')
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, pg := range s.pages {
		if n := strings.Count(all.String(), pg.Content+"\n"); n != 1 {
			t.Errorf("%s is in %d files, want one", pg.URL, n)
		}
	}
}
