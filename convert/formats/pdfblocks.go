package formats

import (
	"context"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/mdwrite"
	"github.com/readthru/readthru/convert/pdflayout"
)

// PDFTitle returns the text of the first heading of the highest level. It is "" if none of the first 40 blocks is one.
func PDFTitle(blocks []*pdflayout.Block) string {
	for _, k := range blocks[:min(len(blocks), 40)] {
		if k.Kind == pdflayout.Heading && k.Level <= 2 {
			var s strings.Builder
			for _, p := range k.Pieces {
				s.WriteString(p.Text)
			}
			return chars.Clip(s.String())
		}
	}
	return ""
}

// PageMark begins the comment that names a page of a PDF. Readers of plain text do not get it.
const PageMark = "<!-- page "

// PDF writes the blocks of a PDF. Items of one list stand together; other blocks have a blank line between them.
func PDF(ctx context.Context, blocks []*pdflayout.Block) string {
	var out strings.Builder
	page := 1
	var previous *pdflayout.Block
	for _, k := range blocks {
		guard.Check(ctx)
		text := blockMarkdown(k)
		if text == "" {
			continue
		}
		marked := k.Page != page
		if out.Len() > 0 {
			out.WriteByte('\n')
			if previous == nil || previous.Kind != pdflayout.Item || k.Kind != pdflayout.Item || marked {
				out.WriteByte('\n')
			}
		}
		if marked {
			page = k.Page
			out.WriteString(PageMark + strconv.Itoa(page) + " -->\n\n")
		}
		out.WriteString(text)
		previous = k
	}
	return out.String()
}

// blockMarkdown returns the markdown of one block of a PDF. It is "" for a block without text.
func blockMarkdown(k *pdflayout.Block) string {
	var b strings.Builder
	switch k.Kind {
	case pdflayout.Table:
		t := mdwrite.Rows{}
		for _, cells := range k.Rows() {
			t.Add(cells)
		}
		return strings.TrimRight(t.String(), "\n")
	case pdflayout.Code:
		return mdwrite.Fence(k.Text(), "")
	case pdflayout.Heading:
		b.WriteString(strings.Repeat("#", k.Level) + " ")
	case pdflayout.Item:
		b.WriteString(strings.Repeat("  ", k.Level) + k.Marker + " ")
	}
	start := b.Len()
	for i, p := range k.Pieces {
		if p.URL == "" {
			next := byte('\n')
			if i+1 < len(k.Pieces) {
				next = '[' // a link
			}
			b.WriteString(mdwrite.Escaped(p.Text, b.Len() == start && k.Kind != pdflayout.Heading, next))
			continue
		}
		b.WriteByte('[')
		mdwrite.WriteEscaped(&b, strings.TrimSpace(p.Text), false, true)
		b.WriteString("](" + p.URL + ")")
	}
	if b.Len() == start {
		return ""
	}
	return strings.TrimRight(b.String(), " ")
}
