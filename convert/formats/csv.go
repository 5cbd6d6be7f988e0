package formats

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/mdwrite"
)

// maxCSVColumns is the number of columns up to which CSV becomes a table. Wider tables are unreadable and grow out of
// proportion; they stay as they are. A header of a thousand columns makes every row as wide.
const maxCSVColumns = 1000

// CSV returns comma-separated values (RFC 4180) as a table. It finds the actual separator in the text. damaged says
// that part of the text could not be read. mediaType may say that tabs separate them. A text that is too wide is
// returned between fences, as it is.
func CSV(ctx context.Context, text, mediaType string) (md string, damaged bool) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = separator(text), true, -1, true
	if mediaType == "text/tab-separated-values" {
		r.Comma = '\t'
	}
	if tooWide(text, string(r.Comma)) {
		return mdwrite.Fence(text, "csv"), false
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
		return "", false
	case widest > maxCSVColumns:
		return mdwrite.Fence(text, "csv"), false
	}
	// The header must have as many cells as the widest row, which is known now.
	again := csv.NewReader(strings.NewReader(text))
	again.Comma, again.LazyQuotes, again.FieldsPerRecord, again.ReuseRecord = r.Comma, true, -1, true
	table := mdwrite.Rows{}
	for {
		record, err := again.Read()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				damaged = true
			}
			break
		}
		guard.Check(ctx)
		if table.N == 0 {
			record = slices.Concat(header, make([]string, widest-len(header)))
		}
		table.Add(record)
	}
	return strings.TrimRight(table.String(), "\n"), damaged
}

// tooWide reports whether a line has more columns than a table may have. It runs before a CSV reader allocates them. A
// line with quotes may have fewer; the reader finds out.
func tooWide(text, comma string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > maxCSVColumns && strings.Count(line, comma) >= maxCSVColumns && strings.IndexByte(line, '"') < 0 {
			return true
		}
	}
	return false
}

// separator returns the character that separates the values of CSV: the candidate that occurs most evenly in the first
// lines, outside quotes. It reads 20 lines, or 16 KiB. The comma wins where no candidate is in every line.
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
