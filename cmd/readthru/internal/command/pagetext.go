package command

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/page"
)

// WithFrontMatter returns a page's markdown under its YAML block. Markdown from the origin is returned unchanged.
func WithFrontMatter(pg *page.Page) string {
	if pg.Source == page.Negotiated || pg.Source == page.Alternate {
		return pg.Content
	}
	return pg.FrontMatter() + pg.Content
}

// PageError returns the failure to fetch a page, with the remedy if there is one.
func PageError(e *page.Error) error {
	err := errors.New(e.Message)
	switch {
	case e.Kind == "blocked" && strings.HasSuffix(e.Message, "private or special-purpose address"):
		return terminal.WithHint(err,
			"set fetch.allow_private: true to fetch private addresses; then restart the daemon")
	case e.Kind == "blocked" && strings.HasSuffix(e.Message, "list of blocked domains"):
		return terminal.WithHint(err, "blocked_domains in the configuration has the list")
	case e.Kind == fetch.KindOffline:
		return terminal.WithHint(err, "\"readthru offline off\" has the daemon ask origins")
	case e.Kind == "too_large":
		return terminal.WithHint(err, "raise fetch.max_body")
	}
	return err
}

// NoteRemoved prints what was removed from a page: a line per piece, and the number of further pieces of a kind.
func (p *Program) NoteRemoved(r *page.Removed) {
	if r == nil {
		return
	}
	shown := map[string]int{}
	for _, piece := range r.Pieces {
		shown[piece.Kind]++
		p.Note("removed: %s: %q", piece.Kind, piece.Text)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Counts)) {
		if n := r.Counts[kind]; n > shown[kind] {
			p.Note("removed: %s: %d more", kind, n-shown[kind])
		}
	}
	for _, why := range r.Unsure {
		p.Note("not sure: %s", map[string]string{
			page.UnsureSheets:  "the page links style sheets that were not read, and that may hide more",
			page.UnsureScripts: "the page has scripts that did not run, and that may hide or show text",
		}[why])
	}
}

// Dear is how many tokens a page has whose reader may ask why.
const Dear = 2000

// ForLess says how a reader gets less of a dear page.
func ForLess(url string) string {
	return "for less of it: readthru fetch --max-tokens 2000 " + url + " (agents: max_tokens, or the request field " +
		"X-Readthru-Max-Tokens), readthru pages section " + url + " HEADING, or fetch --drop CSS without a part"
}
