package pdflayout

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// margin is how much of a page's height, above and below, may hold what repeats on every page. What stands further in
// is text, whatever repeats.
const margin = .13

// DropMargins removes headers and footers from pages: lines near the edges that many pages share, except for numbers in
// them, and page numbers. A line counts as shared if a fifth of the pages have it, three at least; three are enough for
// a line that ends with a number. Files of one or two pages keep all lines: nothing can be seen to repeat.
func DropMargins(pages []*Page) {
	if len(pages) < 3 {
		return
	}
	seen := map[string]int{}
	for _, p := range pages {
		p.findMargins()
		on := map[string]bool{}
		for _, l := range p.lines {
			if key := p.marginKey(l); key != "" && !on[key] {
				on[key] = true
				seen[key]++
			}
		}
	}
	enough := max(3, len(pages)/5) // heads of left and right pages differ, and those of chapters
	for _, p := range pages {
		kept := p.lines[:0]
		for _, l := range p.lines {
			if key := p.marginKey(l); key == "" || seen[key] < enough && (!strings.HasSuffix(key, " #") || seen[key] < 3) {
				kept = append(kept, l)
			}
		}
		p.lines = kept
	}
}

// marginKey returns what a line near a page's edge has in common with its like on other pages; "" for other lines. It
// is the text in lower case, every number replaced by "#", with the edge before it. Turned text and long lines have
// none. p.head and p.foot must be known.
func (p *Page) marginKey(l *line) string {
	var edge string
	switch {
	case l.column >= 1<<16:
		return ""
	case l.y > p.head:
		edge = "head "
	case l.y < p.foot:
		edge = "foot "
	default:
		return ""
	}
	text := l.text()
	if len(text) > 200 {
		return ""
	}
	number := false
	key := strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			if number {
				return -1
			}
			number = true
			return '#'
		}
		number = false
		return unicode.ToLower(r)
	}, text)
	if roman(key) {
		key = "#"
	}
	return edge + strings.Trim(key, " -–—·|")
}

// roman reports whether s is, in a margin, a number of front matter. Capitals do not count.
func roman(s string) bool { return s != "" && len(s) < 8 && strings.Trim(s, "ivxlc") == "" }

// findMargins finds where head and foot end: at the first gap wider than that between lines of text, if it is near the
// edge. It sets p.head and p.foot; without such a gap nothing is above or below them.
func (p *Page) findMargins() {
	p.head, p.foot = p.height+1, -1
	lines := slices.Clone(p.lines)
	slices.SortStableFunc(lines, func(a, b *line) int { return cmp.Compare(b.y, a.y) })
	for i := range len(lines) - 1 {
		if lines[i].y < p.height*(1-margin) {
			break
		}
		if gap := lines[i].y - lines[i+1].y; gap > 1.5*max(lines[i].size, lines[i+1].size) {
			p.head = lines[i].y - gap/2
		}
	}
	for i := len(lines) - 1; i > 0; i-- {
		if lines[i].y > p.height*margin {
			break
		}
		if gap := lines[i-1].y - lines[i].y; gap > 1.5*max(lines[i].size, lines[i-1].size) {
			p.foot = lines[i].y + gap/2
		}
	}
}
