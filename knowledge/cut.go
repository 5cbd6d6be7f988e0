package knowledge

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// cutter cuts one block that is too long for a passage.
type cutter struct {
	md      []byte
	b       *block
	end     int    // where the last piece ends; of a fence, before its closing line
	opening string // repeated before every piece but the first: the line that opens a fence, or the header of a table
	closing string // put after every piece of a fence, with a line break before
}

func newCutter(md []byte, b *block, limit int) *cutter {
	c := &cutter{md: md, b: b, end: b.end}
	switch b.kind {
	case fenceBlock:
		c.opening, c.closing = b.fence.reopen(limit/8), "\n"+b.fence.closing()
		if b.close >= 0 {
			c.end = b.start + trimmed(md[b.start:b.close])
		}
	case tableBlock:
		c.opening = tableHeader(md[b.start:b.rows], b.quote, limit/4)
	}
	return c
}

// repeat returns what stands before the piece that begins at at.
func (c *cutter) repeat(at int, midline bool) string {
	var s string
	if at > c.b.start && (c.b.kind != tableBlock || at >= c.b.rows) {
		s = c.opening
	}
	if midline {
		if c.b.kind == fenceBlock && c.b.fence.quoted {
			s += c.b.fence.lead
		}
		s += goesOn
	}
	return s
}

// piece returns where the piece that begins at at ends: after as many lines as have size bytes, at least one; a line of
// more than chars code points is cut, at a space if there is one near the end.
func (c *cutter) piece(at, size, chars int) int {
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

// skip returns where the next piece begins when one ends at at, and whether that is within a line.
func (c *cutter) skip(at int) (next int, midline bool) {
	for at < c.end && (c.md[at] == ' ' || c.md[at] == '\t' || c.md[at] == '\r') {
		at++
	}
	if at >= c.end || c.md[at] != '\n' {
		return at, true
	}
	for at < c.end {
		line, after := lineAt(c.md, at+1)
		if indentation(line) < len(line) {
			return at + 1, false
		}
		at = after - 1
	}
	return c.end, false
}

// misread reports whether a piece begins with a line that only now, being cut, looks as if it opened or closed a fence.
func (c *cutter) misread(at, next int) bool {
	line, _ := lineAt(c.md[:next], at)
	if c.b.kind == fenceBlock {
		return at > c.b.start && c.b.fence.closedBy(line)
	}
	_, opens := openFence(line)
	return opens
}

// tableHeader returns the header and delimiter rows of a table, both ending in a line break. When they have more than
// limit code points, the first cells stand for all.
func tableHeader(rows []byte, quote, limit int) string {
	if utf8.RuneCount(rows) <= limit {
		return strings.TrimRight(string(rows), "\r\n") + "\n"
	}
	lead := string(rows[:min(quote, maxFenceLead)])
	header, _ := lineAt(rows, quote)
	names, rule := lead+"|", lead+"|"
	for cell := range strings.SplitSeq(strings.Trim(string(header), "| \t\r"), "|") {
		cell = strings.TrimSpace(cell)
		if utf8.RuneCountInString(names)+utf8.RuneCountInString(cell) > limit-16 || len(rule) > limit {
			names += " " + goesOn + " |"
			rule += " --- |"
			break
		}
		names += " " + cell + " |"
		rule += " --- |"
	}
	return names + "\n" + rule + "\n"
}
