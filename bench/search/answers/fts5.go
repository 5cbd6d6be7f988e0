package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	_ "modernc.org/sqlite" // registers the driver

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/knowledge/outline"
)

// fts5 is what a server would give that keeps the same passages in SQLite's FTS5: of each page its best passage, with
// the snippet that FTS5 cuts.
type fts5 struct{ db *sql.DB }

// openFTS5 indexes the pages of the sets.
func openFTS5(ctx context.Context, docs string, sets []string) (e *fts5, err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection would have a memory of its own
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	if _, err := db.ExecContext(ctx, `CREATE VIRTUAL TABLE passages USING
		fts5(text, title, path, url UNINDEXED, kb UNINDEXED, tokenize='porter unicode61')`); err != nil {
		return nil, err
	}
	for _, set := range sets {
		at, err := filepath.EvalSymlinks(root(docs, set))
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(at, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".html" {
				return err
			}
			below, err := filepath.Rel(at, name)
			if err != nil {
				return err
			}
			return addPage(ctx, db, set, name, "http://"+set+".test/"+filepath.ToSlash(below))
		})
		if err != nil {
			return nil, err
		}
	}
	return &fts5{db}, nil
}

// addPage indexes the passages of a page, converted as the proxy does.
func addPage(ctx context.Context, db *sql.DB, set, name, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	parsed, err := convert.Parse(ctx, content, "text/html", u)
	if err != nil {
		return err
	}
	r, err := parsed.Convert(ctx, convert.Options{})
	if err != nil {
		return err
	}
	md := []byte(r.Markdown)
	for _, p := range outline.Split(md, outline.SplitOptions{}) {
		if _, err := db.ExecContext(ctx, `INSERT INTO passages VALUES (?, ?, ?, ?, ?)`, p.Text(md), r.Title,
			outline.JoinPath(p.Path), address, set); err != nil {
			return err
		}
	}
	return nil
}

// search returns three hits, and what a model would read of them.
func (e *fts5) search(ctx context.Context, q question) (hits []hit, text string, err error) {
	var terms []string
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, w := range strings.FieldsFunc(q.text, between) {
		terms = append(terms, `"`+w+`"`)
	}
	rows, err := e.db.QueryContext(ctx, `SELECT url, title, path, snippet(passages, 0, '', '', '…', 64) FROM passages
		WHERE passages MATCH ? AND kb = ? ORDER BY bm25(passages, 1, 2, 2) LIMIT 100`, strings.Join(terms, " OR "), q.set)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	seen := map[string]bool{}
	for rows.Next() && len(hits) < 3 {
		var h hit
		var title string
		if err := rows.Scan(&h.URL, &title, &h.Heading, &h.Snippet); err != nil {
			return nil, "", err
		}
		if seen[h.URL] {
			continue
		}
		seen[h.URL] = true
		hits = append(hits, h)
		text += fmt.Sprintf("%d. %s\n   %s\n   %s\n   > %s\n", len(hits), title, h.URL, h.Heading, h.Snippet)
	}
	return hits, text, rows.Err()
}
