package convert

import (
	"bytes"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// cell is a table's cell as markdown, and how many columns and rows it spans.
type cell struct {
	text          string
	columns, rows int
}

// table writes a table of data in GitHub's form: its first row is the header when none is marked, spans repeat their cell, and
// blocks in a cell are joined by <br>. A table with code blocks in it has no such form: its rows are the items of a list.
func (r *renderer) table(out *bytes.Buffer, n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if is(c, atom.Caption) {
			if text := r.inner(c); len(text) > 0 {
				out.WriteString("\n\n")
				out.Write(text)
				out.WriteString("\n\n")
			}
		}
	}
	var rows [][]cell
	real, widest := 0, 0
	for _, row := range tableRows(n) {
		var cells []cell
		for c := row.FirstChild; c != nil; c = c.NextSibling {
			check(r.ctx)
			if is(c, atom.Td, atom.Th) {
				cells = append(cells, cell{r.cell(c), span(c, "colspan", maxColspan), span(c, "rowspan", maxRowspan)})
			}
		}
		real, widest = real+len(cells), max(widest, len(cells))
		rows = append(rows, cells)
	}
	for _, cells := range rows {
		for i := range cells { // colspan=100 means all columns
			cells[i].columns = min(cells[i].columns, widest)
		}
	}
	grid, ok := expand(rows, 4*real+1000)
	if !ok {
		r.spansCut = true
		for _, row := range rows {
			for i := range row {
				row[i].columns, row[i].rows = 1, 1
			}
		}
		grid, _ = expand(rows, 4*real+1000)
	}
	grid = dropEmpty(grid)
	if len(grid) == 0 {
		return
	}
	columns := 0
	for _, row := range grid {
		columns = max(columns, len(row))
	}
	if irregular(n) {
		r.rowsAsItems(out, n)
		return
	}
	out.WriteString("\n\n")
	for i, row := range grid {
		out.WriteByte('|')
		width := len(row) // shorter rows may end early; only the header says how many columns there are
		if i == 0 {
			width = columns
		}
		for column := range width {
			text := ""
			if column < len(row) {
				text = row[column]
			}
			r.spend(len(text) + 3)
			out.WriteString(" " + text)
			if text != "" {
				out.WriteByte(' ')
			}
			out.WriteByte('|')
		}
		out.WriteByte('\n')
		if i == 0 {
			out.WriteString("|" + strings.Repeat(" --- |", columns) + "\n")
		}
	}
	out.WriteString("\n")
}

// irregular reports whether a cell holds a code block of several lines.
func irregular(n *html.Node) bool {
	return find(n, func(d *html.Node) bool { return is(d, atom.Pre) && strings.Contains(textOf(d), "\n") }) != nil
}

// rowsAsItems writes each row as an item of a list, its cells as blocks in it.
func (r *renderer) rowsAsItems(out *bytes.Buffer, n *html.Node) {
	out.WriteString("\n\n")
	for _, row := range tableRows(n) {
		var buf bytes.Buffer
		for c := row.FirstChild; c != nil; c = c.NextSibling {
			if is(c, atom.Td, atom.Th) {
				buf.WriteString("\n\n")
				r.children(&buf, c)
				buf.WriteString("\n\n")
			}
		}
		if item := tidy(buf.Bytes()); len(item) > 0 {
			out.WriteString("- ")
			r.indented(out, item, 2)
			out.WriteString("\n\n")
		}
	}
}

// cell returns a cell's content on one line. Pipes are escaped, also in code: the table is split before code is read.
func (r *renderer) cell(n *html.Node) string {
	r.cells++
	content := r.inner(n)
	r.cells--
	if bytes.IndexByte(content, codeNewline) >= 0 { // one line of code
		content = codeLine(content)
	}
	var b strings.Builder
	broken := false
	for line := range bytes.Lines(content) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if broken {
			b.WriteString("<br>")
		}
		broken = true
		for _, c := range line {
			if c == '|' { // after a backslash too: that is one of the cell's own
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// codeLine turns fenced code of one line each into code within the line.
func codeLine(content []byte) []byte {
	parts := bytes.Split(content, []byte{codeNewline})
	var out bytes.Buffer
	for i, part := range parts {
		if i%2 == 1 {
			writeInlineCode(&out, strings.TrimSpace(string(part)))
			continue
		}
		if fence := bytes.LastIndex(part, []byte("```")); fence >= 0 {
			part = bytes.Trim(part, "`")
			if fence := bytes.Index(part, []byte("```")); fence >= 0 {
				part = part[:fence]
			} else if i == 0 || len(part) < 30 && !bytes.ContainsAny(part, " \n") {
				part = nil
			}
		}
		out.Write(part)
	}
	return out.Bytes()
}

// span reads colspan or rowspan, at least 1 and at most limit.
func span(n *html.Node, key string, limit int) int {
	v, err := strconv.Atoi(strings.TrimSpace(attr(n, key)))
	if err != nil {
		return 1
	}
	return min(max(v, 1), limit)
}

// spanning is a cell that spans rows: its text, and how many rows it still goes down.
type spanning struct {
	text string
	rows int
}

// expand repeats cells over the columns and rows they span. It reports false when that makes more than limit cells.
func expand(rows [][]cell, limit int) (grid [][]string, ok bool) {
	var above []spanning
	made := 0
	for _, cells := range rows {
		var line []string
		var next []spanning
		put := func(text string, rows int) {
			line, next = append(line, text), append(next, spanning{text, rows - 1})
			made++
		}
		spanned := func() {
			for len(line) < len(above) && above[len(line)].rows > 0 && made <= limit {
				put(above[len(line)].text, above[len(line)].rows)
			}
		}
		for _, c := range cells {
			spanned()
			for range c.columns {
				if put(c.text, c.rows); made > limit {
					return nil, false
				}
			}
		}
		last := len(above)
		for last > len(line) && above[last-1].rows <= 0 {
			last--
		}
		for len(line) < last && made <= limit {
			if spanned(); len(line) < last {
				put("", 1)
			}
		}
		if made > limit {
			return nil, false
		}
		grid, above = append(grid, line), next
	}
	return grid, true
}

// dropEmpty drops rows, and then columns, in which nothing stands.
func dropEmpty(grid [][]string) [][]string {
	var kept [][]string
	columns := 0
	for _, row := range grid {
		if strings.Join(row, "") != "" {
			kept = append(kept, row)
			columns = max(columns, len(row))
		}
	}
	used := make([]bool, columns)
	for _, row := range kept {
		for i, text := range row {
			used[i] = used[i] || text != ""
		}
	}
	for i, row := range kept {
		var cells []string
		for j, text := range row {
			if used[j] {
				cells = append(cells, text)
			}
		}
		kept[i] = cells
	}
	return kept
}
