package main

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// withFrontMatter returns a page's markdown under its YAML block. Markdown from the origin is returned unchanged.
func withFrontMatter(pg *page.Page) string {
	if pg.Source == page.Negotiated || pg.Source == page.Alternate {
		return pg.Content
	}
	return pg.FrontMatter() + pg.Content
}

// pageError returns the failure to fetch a page, with the remedy if there is one.
func pageError(e *page.Error) error {
	err := errors.New(e.Message)
	switch {
	case e.Kind == "blocked" && strings.HasSuffix(e.Message, "private or special-purpose address"):
		return withHint(err,
			"set fetch.allow_private: true to fetch private addresses; then restart the daemon")
	case e.Kind == "blocked" && strings.HasSuffix(e.Message, "list of blocked domains"):
		return withHint(err, "blocked_domains in the configuration has the list")
	case e.Kind == fetch.KindOffline:
		return withHint(err, "\"readthru offline off\" has the daemon ask origins")
	case e.Kind == "too_large":
		return withHint(err, "raise fetch.max_body")
	}
	return err
}

// noteRemoved prints what was removed from a page: a line per piece, and the number of further pieces of a kind.
func (p *program) noteRemoved(r *page.Removed) {
	if r == nil {
		return
	}
	shown := map[string]int{}
	for _, piece := range r.Pieces {
		shown[piece.Kind]++
		p.note("removed: %s: %q", piece.Kind, piece.Text)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Counts)) {
		if n := r.Counts[kind]; n > shown[kind] {
			p.note("removed: %s: %d more", kind, n-shown[kind])
		}
	}
}
