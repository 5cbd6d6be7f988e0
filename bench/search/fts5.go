package main

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"unicode"

	_ "modernc.org/sqlite" // registers the driver
)

// fts5 is SQLite's full-text search with Porter's stemmer, over the same passages and fields.
type fts5 struct{ db *sql.DB }

func openFTS5(dir string) (engine, error) {
	db, err := sql.Open("sqlite", filepath.Join(dir, "bench.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(`CREATE VIRTUAL TABLE passages USING fts5(text, title, path, url UNINDEXED, tokenize='porter unicode61')`)
	return &fts5{db}, err
}

func (e *fts5) add(ctx context.Context, docs []document) (err error) {
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	insert, err := tx.PrepareContext(ctx, `INSERT INTO passages VALUES (?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	for i := range docs {
		for _, p := range docs[i].passages() {
			if _, err := insert.ExecContext(ctx, p.text, p.title, p.path, p.url); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}

func (e *fts5) search(ctx context.Context, text string, limit int) (urls []string, err error) {
	var terms []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		terms = append(terms, `"`+w+`"`)
	}
	if len(terms) == 0 {
		return nil, nil
	}
	rows, err := e.db.QueryContext(ctx,
		`SELECT url, -bm25(passages, 1, 2, 2) FROM passages WHERE passages MATCH ? ORDER BY bm25(passages, 1, 2, 2) LIMIT 300`, strings.Join(terms, " OR "))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var list []found
	for rows.Next() {
		var f found
		if err := rows.Scan(&f.url, &f.score); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return pagesOf(list, limit), rows.Err()
}

func (e *fts5) close() error { return e.db.Close() }
