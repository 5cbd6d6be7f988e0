package convert

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/guard"
)

// rows writes a table row by row, from cells that are plain text. The first row is its header; later ones may be
// shorter.
type rows struct {
	b strings.Builder
	n int
}

// add writes one row. The header must have as many cells as the widest row.
func (t *rows) add(cells []string) {
	t.b.WriteByte('|')
	for _, c := range cells {
		t.b.WriteByte(' ')
		writeCell(&t.b, c)
		t.b.WriteString(" |")
	}
	t.b.WriteByte('\n')
	if t.n == 0 {
		t.b.WriteString("|" + strings.Repeat(" --- |", len(cells)) + "\n")
	}
	t.n++
}

// writeCell writes plain text as the content of a table's cell.
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
		b.WriteString(strings.ReplaceAll(escapedText(line, false, '\n'), "|", `\|`))
	}
}

// escapedText escapes plain text so that markdown shows it unchanged. lineStart says that the text begins a line; next
// is the character after it.
func escapedText(s string, lineStart bool, next byte) string {
	var b strings.Builder
	writeEscaped(&b, s+string(next), lineStart, false)
	return strings.TrimSuffix(b.String(), string(next))
}

// maxCSVColumns is the number of columns up to which CSV becomes a table. Wider tables are unreadable and grow out of
// proportion; they stay as they are.
const maxCSVColumns = 1000

// csv makes a table of comma-separated values (RFC 4180). It finds the actual separator in the text.
func (d *Document) csv(ctx context.Context, text, mediaType string) {
	if d.url != nil {
		d.head.title = fileName(d.url.Path)
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = separator(text), true, -1, true
	if mediaType == "text/tab-separated-values" {
		r.Comma = '\t'
	}
	if tooWide(text, string(r.Comma)) {
		d.ready = fence(text, "csv")
		return
	}
	var header []string
	widest := 0
	for { // once for the width, once for the rows: nothing is kept
		record, err := r.Read()
		if err != nil {
			break
		}
		guard.Check(ctx)
		if header == nil {
			header = append(header, record...)
		}
		widest = max(widest, len(record))
	}
	switch {
	case widest == 0:
		return
	case widest > maxCSVColumns:
		d.ready = fence(text, "csv")
		return
	}
	again := csv.NewReader(strings.NewReader(text))
	again.Comma, again.LazyQuotes, again.FieldsPerRecord, again.ReuseRecord = r.Comma, true, -1, true
	table := rows{}
	for {
		record, err := again.Read()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				d.warnings = append(d.warnings, WarnDamaged)
			}
			break
		}
		guard.Check(ctx)
		if table.n == 0 {
			record = slices.Concat(header, make([]string, widest-len(header)))
		}
		table.add(record)
	}
	d.ready = strings.TrimRight(table.b.String(), "\n")
}

// tooWide reports whether a line has more columns than a table may have. It runs before a CSV reader allocates them.
func tooWide(text, comma string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > maxCSVColumns && strings.Count(line, comma) >= maxCSVColumns && strings.IndexByte(line, '"') < 0 {
			return true
		}
	}
	return false
}

// separator returns the character that separates values: the candidate that occurs most evenly in the first lines,
// outside quotes.
func separator(text string) rune {
	best, bestScore := ',', 0
	for _, candidate := range []rune{',', '\t', ';', '|'} {
		least, lines, count, quoted := -1, 0, 0, false
		for _, r := range text[:min(len(text), 16<<10)] {
			switch {
			case r == '"':
				quoted = !quoted
			case r == candidate && !quoted:
				count++
			case r == '\n' && !quoted:
				if lines++; least < 0 || count < least {
					least = count
				}
				count = 0
			}
			if lines == 20 {
				break
			}
		}
		if lines == 0 {
			least = count
		}
		if least > bestScore {
			best, bestScore = candidate, least
		}
	}
	return best
}
