// Package pdflayout makes text of the glyphs on the pages of a PDF: glyphs become words, words lines, lines columns in
// reading order, and those headings, paragraphs, lists, tables and code.
//
// A PDF says where each glyph is and nothing about words or paragraphs, so that all of this is inferred from distances,
// sizes and fonts: words from gaps (words.go), columns from strips without words (columns.go), headings from sizes
// larger than that of most text (headings.go). Call [NewPage] for each page, then [DropMargins] with all pages to
// remove headers and footers, then [Blocks].
package pdflayout

import (
	"context"

	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/pdf"
)

// Page is a page whose lines are in reading order. Lengths are in points, from the page's lower left corner, as in
// package pdf. [NewPage] makes it, [DropMargins] takes lines out of it, and [Blocks] reads it.
type Page struct {
	number        int
	width, height float32
	lines         []*line
	head, foot    float32 // above and below which its margins are
}

// The shares of a font's size by which gaps are judged. Word spaces of justified text begin at .2, kerning ends at .1.
const (
	wordGap = .15
	cellGap = 1.5 // wider gaps part the cells of a row
)

// NewPage puts a page's glyphs into lines. Turned text comes after the rest. A link is kept if linkable accepts its
// URL. It reads first what is upright, then what is turned by one, two and three quarters; only upright text has links
// and ruled tables. Lines are numbered by the column that they stand in, so that later steps know which lines follow
// one another; the columns of turned text have numbers from 1<<16 on. It panics, by guard.Check, when ctx ends: package
// convert recovers that.
func NewPage(ctx context.Context, p *pdf.Page, linkable func(url string) bool) *Page {
	page := &Page{number: p.Number, width: float32(p.Width), height: float32(p.Height)}
	for turn := range uint8(4) {
		glyphs := make([]pdf.Glyph, 0, len(p.Glyphs))
		for _, g := range p.Glyphs {
			if g.Turn == turn {
				glyphs = append(glyphs, g)
			}
		}
		if len(glyphs) == 0 {
			continue
		}
		guard.Check(ctx)
		words := wordsOf(glyphs)
		if turn == 0 {
			linkWords(words, p.Links, linkable)
		}
		var grids []*grid
		var members [][]int
		if turn == 0 {
			grids, members = ruledGrids(words, p.Rules, page.height)
		}
		column := int(turn) << 16
		// A flow is read as columns by places, unless it is a table; what goes on below the flow before it is of the same
		// column.
		for i, f := range flowsOf(ctx, words, grids, members) {
			if i > 0 && !f.joined {
				column++
			}
			if f.grid != nil {
				page.lines = append(page.lines, f.grid.line(p.Number, column))
				continue
			}
			for k, rows := range columns(ctx, rowsOf(f.words()), !f.tangled, 0) {
				if k > 0 {
					column++
				}
				for _, l := range linesOf(rows, p.Number) {
					l.column = column
					page.lines = append(page.lines, l)
				}
			}
		}
	}
	return page
}

// Length returns the size of the page's text, in bytes. Package convert bounds the text of a file by it.
func (p *Page) Length() (n int) {
	for _, l := range p.lines {
		n += len(l.text()) + 1
	}
	return n
}
