package pdflayout

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// headingLevel returns the level of a heading of a PDF, 0 for other lines: by its size among the sizes larger than that
// of most text, or by being bold, short and alone. text is that of l, lines are those of the page. Long lines, code and
// rows of a table are none, and lines that end as sentences do hardly ever.
func (b *builder) headingLevel(l *line, text string, lines []*line, at int) int {
	if l.letters > 200 || l.letters < 2 || strings.IndexFunc(text, unicode.IsLetter) < 0 || l.mono || len(l.cells) > 2 {
		return 0
	}
	size := half(l.size)
	if i := slices.Index(b.sizes, size); i >= 0 && size > b.body*1.08 && l.letters < 160 {
		if size < b.body*1.15 && !l.bold && !numberedHeading(text) || ends(text) && l.letters > 80 {
			return 0
		}
		return min(i+1, 4)
	}
	if size < b.body*.95 || l.letters > 100 || ends(text) && !numberedHeading(text) {
		return 0
	}
	if !l.bold {
		return b.italicHeading(l, text, lines, at)
	}
	alone := at == 0 || lines[at-1].column != l.column || lines[at-1].y-l.y > (b.leading+.2)*l.size || !lines[at-1].bold &&
		ends(lines[at-1].text())
	after := at+1 >= len(lines) || lines[at+1].column != l.column || !lines[at+1].bold ||
		l.y-lines[at+1].y > (b.leading+.2)*l.size
	if !alone || !after {
		return 0
	}
	return min(len(b.sizes)+1, 5)
}

// italicHeading returns the level of a heading in italics, with a number of several parts and space above it; 0 for
// other lines. The first line of a page may be a running head. Journals set headings of third and fourth level so.
func (b *builder) italicHeading(l *line, text string, lines []*line, at int) int {
	number, _, _ := strings.Cut(text, " ")
	parts := strings.Count(strings.TrimRight(number, "."), ".") + 1
	if !l.italic || parts < 2 || !numberedHeading(text) || at == 0 ||
		lines[at-1].column == l.column && lines[at-1].y-l.y < (b.leading+.2)*l.size ||
		at+1 < len(lines) && lines[at+1].column == l.column && lines[at+1].italic {
		return 0
	}
	return min(len(b.sizes)+parts, 6)
}

// numberedHeading reports whether a line begins as "2 Title" or "2.1 Title" does. The title must begin with a capital,
// which most items of a list with a number do not.
func numberedHeading(s string) bool {
	number, rest, ok := strings.Cut(s, " ")
	if !ok || number == "" || len(number) > 10 || number[0] < '0' || number[0] > '9' ||
		strings.Trim(number, "0123456789.") != "" {
		return false
	}
	r, _ := utf8.DecodeRuneInString(strings.TrimSpace(rest))
	return unicode.IsUpper(r)
}
