package outline

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/markdown"
)

// maxLead is how many bytes of block-quote markers are repeated before a header.
const maxLead = 24

// ellipsis marks where text was cut off. Before the rest of a cut line it also keeps the rest from being read as the
// beginning of a block.
const ellipsis = "…"

// blockCutter cuts one block that is too long for a passage into pieces.
type blockCutter struct {
	md      []byte
	b       *markdown.Block
	end     int    // where the last piece ends: for a fence, before its closing line
	opening string // repeated before every piece but the first: the line that opens a fence, or the header of a table
	closing string // follows every piece of a fence; it begins with a line break
}

// newBlockCutter prepares to cut a block that is longer than a passage: of code with its fences, of a table with its
// header, which each piece repeats.
func newBlockCutter(md []byte, b *markdown.Block, limit int) *blockCutter {
	c := &blockCutter{md: md, b: b, end: b.End}
	switch b.Kind {
	case markdown.Code:
		closing := b.Fence.Closing()
		c.opening, c.closing = closing+clip.Runes(b.Fence.Info, limit/8)+"\n", "\n"+closing
		if b.Close >= 0 {
			c.end = b.Start + len(bytes.TrimRight(md[b.Start:b.Close], " \t\r\n\v\f"))
		}
	case markdown.Table:
		c.opening = tableHeader(md[b.Start:b.Rows], b.Quote, limit/4)
	}
	return c
}

// prefix returns the text to repeat before the piece that begins at at.
func (c *blockCutter) prefix(at int, midline bool) string {
	var s string
	if at > c.b.Start && (c.b.Kind != markdown.Table || at >= c.b.Rows) {
		s = c.opening
	}
	if midline {
		if c.b.Kind == markdown.Code && c.b.Fence.Quoted {
			s += c.b.Fence.Lead()
		}
		s += ellipsis
	}
	return s
}

// pieceEnd returns where the piece that begins at at ends: after as many lines as fit in size bytes, at least one. It
// cuts a line of more than chars code points, at a space if there is one near the end.
func (c *blockCutter) pieceEnd(at, size, chars int) int {
	end, count := -1, 0
	for line := at; line < c.end; {
		window := c.md[line:min(c.end, line+utf8.UTFMax*chars+1)]
		n := bytes.IndexByte(window, '\n')
		if n < 0 {
			n = len(window)
		}
		count += utf8.RuneCount(window[:n])
		if count > chars || end >= 0 && line+n-at > size {
			break
		}
		end = line + n
		count++ // the line break
		line = end + 1
	}
	if end >= 0 {
		return end
	}
	end = at
	for range chars {
		_, n := utf8.DecodeRune(c.md[end:c.end])
		end += n
	}
	if space := bytes.LastIndexAny(c.md[at:end], " \t"); space > (end-at)*3/4 {
		return at + space
	}
	return end
}

// nextPiece returns where the piece after one that ends at at begins, and whether that is within a line.
func (c *blockCutter) nextPiece(at int) (next int, midline bool) {
	for at < c.end && (c.md[at] == ' ' || c.md[at] == '\t' || c.md[at] == '\r') {
		at++
	}
	if at >= c.end || c.md[at] != '\n' {
		return at, true
	}
	for at < c.end {
		line, after := markdown.LineAt(c.md, at+1)
		if markdown.Indentation(line) < len(line) {
			return at + 1, false
		}
		at = after - 1
	}
	return c.end, false
}

// looksLikeFence reports whether the cut makes a piece begin with a line that looks as if it opened or closed a fence.
func (c *blockCutter) looksLikeFence(at, next int) bool {
	line, _ := markdown.LineAt(c.md[:next], at)
	if c.b.Kind == markdown.Code {
		return at > c.b.Start && c.b.Fence.ClosedBy(line)
	}
	return markdown.OpensFence(line)
}

// tableHeader returns the header and delimiter rows of a table, each with its line break. If they have more than limit
// code points, only the first cells remain.
func tableHeader(rows []byte, quote, limit int) string {
	if utf8.RuneCount(rows) <= limit {
		return strings.TrimRight(string(rows), "\r\n") + "\n"
	}
	lead := string(rows[:min(quote, maxLead)])
	header, _ := markdown.LineAt(rows, quote)
	names, rule := lead+"|", lead+"|"
	for cell := range strings.SplitSeq(strings.Trim(string(header), "| \t\r"), "|") {
		cell = strings.TrimSpace(cell)
		if utf8.RuneCountInString(names)+utf8.RuneCountInString(cell) > limit-16 || len(rule) > limit {
			names += " " + ellipsis + " |"
			rule += " --- |"
			break
		}
		names += " " + cell + " |"
		rule += " --- |"
	}
	return names + "\n" + rule + "\n"
}
