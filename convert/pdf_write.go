package convert

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"readthru/convert/chars"
	"readthru/convert/guard"
)

// code writes lines of code, indented as they stand.
func (k *pdfBlock) code() string {
	left := k.lines[0].x0
	for _, l := range k.lines {
		left = min(left, l.x0)
	}
	var b strings.Builder
	for i, l := range k.lines {
		if i > 0 {
			b.WriteByte('\n')
			if gap := k.lines[i-1].y - l.y; l.page == k.lines[i-1].page && gap > 1.9*l.size {
				b.WriteByte('\n')
			}
		}
		width := .6 * l.size
		if l.letters > 3 {
			width = (l.x1 - l.x0) / float32(utf8.RuneCountInString(l.text()))
		}
		at := left
		for _, c := range l.cells {
			if n := int(math.Round(float64((c.x0 - at) / max(width, 1)))); n > 0 {
				b.WriteString(strings.Repeat(" ", min(n, 120)))
			}
			for _, p := range c.pieces {
				b.WriteString(p.text)
			}
			at = c.x1
		}
	}
	return fence(b.String(), "")
}

// title returns the text of the first heading of the highest level.
func (b *pdfBlocks) title() string {
	for _, k := range b.list[:min(len(b.list), 40)] {
		if k.kind == headingBlock && k.level <= 2 {
			var s strings.Builder
			for _, p := range k.pieces {
				s.WriteString(p.text)
			}
			return chars.Clip(s.String())
		}
	}
	return ""
}

// pageMark begins the comment that names a page of a PDF.
const pageMark = "<!-- page "

// markdown writes the blocks.
func (b *pdfBlocks) markdown() string {
	var out strings.Builder
	page := 1
	var previous *pdfBlock
	for _, k := range b.list {
		guard.Check(b.ctx)
		text := k.write()
		if text == "" {
			continue
		}
		marked := k.page != page
		if out.Len() > 0 {
			out.WriteByte('\n')
			if previous == nil || previous.kind != listItem || k.kind != listItem || marked {
				out.WriteByte('\n')
			}
		}
		if marked {
			page = k.page
			out.WriteString(pageMark + strconv.Itoa(page) + " -->\n\n")
		}
		out.WriteString(text)
		previous = k
	}
	return out.String()
}

// write returns the markdown of one block.
func (k *pdfBlock) write() string {
	var b strings.Builder
	switch k.kind {
	case tableBlock:
		return k.table()
	case codeBlockKind:
		return k.code()
	case headingBlock:
		b.WriteString(strings.Repeat("#", k.level) + " ")
	case listItem:
		b.WriteString(strings.Repeat("  ", k.level) + k.marker + " ")
	}
	start := b.Len()
	for i, p := range k.pieces {
		text := leaders(p.text)
		if p.url == "" {
			next := byte('\n')
			if i+1 < len(k.pieces) {
				next = '[' // a link
			}
			b.WriteString(escapedText(text, b.Len() == start && k.kind != headingBlock, next))
			continue
		}
		b.WriteByte('[')
		writeEscaped(&b, strings.TrimSpace(text), false, true)
		b.WriteString("](" + p.url + ")")
	}
	if b.Len() == start {
		return ""
	}
	return strings.TrimRight(b.String(), " ")
}

// leaders shortens the dots that lead from a title to its page's number.
func leaders(s string) string {
	for _, dots := range []string{" . . . .", "....", "․․․․", " .  .  . "} {
		for {
			i := strings.Index(s, dots)
			if i < 0 {
				break
			}
			end := i
			for end < len(s) && (s[end] == '.' || s[end] == ' ' || strings.HasPrefix(s[end:], "․")) {
				end++
			}
			for end < len(s) && !utf8.RuneStart(s[end]) {
				end++
			}
			s = strings.TrimRight(s[:i], " ") + " … " + s[end:]
		}
	}
	return s
}
