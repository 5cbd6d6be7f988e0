package terminal

import (
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// Table writes rows in columns under a header. On a terminal it cuts titles, URLs and the like so that a row fits a
// line; in a file or pipe they are whole. It removes control characters and line breaks from cells.
func (std Streams) Table(header []string, rows [][]string) error {
	_, err := io.WriteString(std.Out, Layout(header, rows, terminalWidth(std.Out)))
	return err
}

// columnGap separates columns.
const columnGap = "  "

// Layout returns a table whose lines are at most limit cells of a terminal wide, as far as cutting the columns in
// foreign allows. A limit of 0 is none.
func Layout(header []string, rows [][]string, limit int) string {
	widths := make([]int, len(header))
	lines := [][]string{header}
	for _, row := range rows {
		line := make([]string, len(row))
		for i, cell := range row {
			line[i] = strings.Join(strings.Fields(Printable(cell)), " ")
		}
		lines = append(lines, line)
	}
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], Cells(cell))
		}
	}
	if limit > 0 {
		fit(widths, header, limit-len(columnGap)*(len(header)-1))
	}
	var b strings.Builder
	for _, line := range lines {
		for i, cell := range line {
			cell = Cut(cell, widths[i])
			b.WriteString(cell)
			if i < len(line)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-Cells(cell)) + columnGap)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// foreign are the columns with text from the web and of people, which may be cut: half an id or a time would be
// useless.
var foreign = []string{
	"TITLE", "URL", "AGENT", "SESSION", "CLIENT", "SOURCE", "DESCRIPTION", "ERROR", "TEXT", "SUBJECT", "SUBJECTS",
	"HEADING", "PAGE", "HOST",
}

// fit narrows the widest foreign columns until all columns together are at most limit wide, but none below its header.
func fit(widths []int, header []string, limit int) {
	total := 0
	for _, w := range widths {
		total += w
	}
	for ; total > limit; total-- {
		widest := -1
		for i, w := range widths {
			if slices.Contains(foreign, header[i]) && w > Cells(header[i]) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// Cut shortens s to limit cells of a terminal, with an ellipsis at the end if it was cut.
func Cut(s string, limit int) string {
	if Cells(s) <= limit {
		return s
	}
	at, used := 0, 0
	for i, r := range s {
		if used += runeCells(r); used > limit-1 {
			break
		}
		at = i + len(string(r))
	}
	return s[:at] + "…"
}

// Cells returns the number of cells of a terminal that s takes.
func Cells(s string) (n int) {
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r < 0x1100:
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// OrDash returns text, or a dash in place of none.
func OrDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// Day formats a time for people, in their time zone; an unknown time is a dash.
func Day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}
