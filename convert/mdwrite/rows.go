package mdwrite

import (
	"strings"

	"github.com/readthru/readthru/convert/chars"
)

// Rows writes a table row by row, from cells that are plain text. The first row is its header; later ones may be
// shorter. Package formats writes CSV, JSON and tables of PDF by it. The zero value is an empty table.
type Rows struct {
	b strings.Builder
	N int // rows that were written
}

// Add writes one row. The header must have as many cells as the widest row.
func (t *Rows) Add(cells []string) {
	t.b.WriteByte('|')
	for _, c := range cells {
		t.b.WriteByte(' ')
		writeCell(&t.b, c)
		t.b.WriteString(" |")
	}
	t.b.WriteByte('\n')
	if t.N == 0 {
		t.b.WriteString("|" + strings.Repeat(" --- |", len(cells)) + "\n")
	}
	t.N++
}

// writeCell writes plain text as the content of a cell of [Rows]. Lines in it become <br>, and pipes are escaped.
func writeCell(b *strings.Builder, s string) {
	s, _ = chars.Visible(strings.TrimSpace(s))
	if !strings.ContainsAny(s, "|\n\r\t\\`*_[]<&~!\f") {
		b.WriteString(s)
		return
	}
	first := true
	for line := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = chars.OneLine(line); line == "" {
			continue
		}
		if !first {
			b.WriteString("<br>")
		}
		first = false
		// a pipe after a backslash too: that is one of the cell's own
		b.WriteString(strings.ReplaceAll(Escaped(line, false, '\n'), "|", `\|`))
	}
}

// String returns the table.
func (t *Rows) String() string { return t.b.String() }
