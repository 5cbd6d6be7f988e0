package mdwrite

import (
	"bytes"
	"iter"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// table writes a table of data in GitHub's form: the first row is the header if none is marked, short cells repeat over
// the columns and rows that they span, and <br> joins the blocks in a cell. A table with longer code has no such form:
// it becomes a list with an item for each row. The caption stands above it. Rows and columns without text are left out.
func (r *renderer) table(out *bytes.Buffer, n *html.Node) {
	for c := range r.kept(n) {
		if dom.Is(c, atom.Caption) {
			if text := r.inner(c); len(text) > 0 {
				out.WriteString("\n\n")
				out.Write(text)
				out.WriteString("\n\n")
			}
		}
	}
	if Irregular(n, r.dropped) {
		r.rowsAsItems(out, n)
		return
	}
	// Spans that make far more places than there are cells are those of a hostile page, and are not followed.
	g := r.grid(n)
	used, ok := g.used()
	if !ok {
		r.SpansCut = true
		for i := range g.cells {
			g.cells[i].columns, g.cells[i].rows = 1, 1
		}
		used, _ = g.used()
	}
	columns := 0
	for _, u := range used {
		if u {
			columns++
		}
	}
	if columns == 0 {
		return
	}
	out.WriteString("\n\n")
	header := true
	written := make([]bool, len(g.cells))
	for line := range g.lines {
		if g.blank(line) {
			continue
		}
		out.WriteByte('|')
		for column := range used {
			if !used[column] {
				continue
			}
			if column >= len(line) && !header {
				break // shorter rows may end early; only the header says how many columns there are
			}
			var text []byte
			if column < len(line) {
				// A long text stands in the first of its places alone.
				if text = g.text(line[column].cell); len(text) > maxRepeated {
					if written[line[column].cell] {
						text = nil
					}
					written[line[column].cell] = true
				}
			}
			r.spend(len(text) + 3)
			out.WriteByte(' ')
			out.Write(text)
			if len(text) > 0 {
				out.WriteByte(' ')
			}
			out.WriteByte('|')
		}
		out.WriteByte('\n')
		if header {
			out.WriteString("|" + strings.Repeat(" --- |", columns) + "\n")
		}
		header = false
	}
	out.WriteString("\n")
}

// maxRepeated is the length up to which a cell is repeated over the columns and rows that it spans. A longer one is no
// label of them. It stands in the first of them alone.
const maxRepeated = 60

// rows yields the rows of a table, not those of tables in its cells. They are in the order of the page, whatever group
// they are of.
func (r *renderer) rows(table *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for c := range r.kept(table) {
			switch {
			case dom.Is(c, atom.Tr):
				if !yield(c) {
					return
				}
			case dom.Is(c, atom.Thead, atom.Tbody, atom.Tfoot):
				for row := range r.kept(c) {
					if dom.Is(row, atom.Tr) && !yield(row) {
						return
					}
				}
			}
		}
	}
}

// Code of at most so many lines and bytes a line stands in a cell as code within the line, each line by itself. More of
// it would make the line unreadable.
const maxCellLines, maxCellLine = 5, 60

// Irregular reports whether a cell of a table holds a code block that no line of a table can hold. Its rows are written
// as items of a list. What is dropped does not count.
func Irregular(n *html.Node, dropped map[*html.Node]bool) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if dropped[c] {
			continue
		}
		if dom.Is(c, atom.Pre) && isLongCode(dom.Text(c)) || Irregular(c, dropped) {
			return true
		}
	}
	return false
}

// isLongCode reports whether code is too long for a cell of a table: more than maxCellLines lines, or one of several
// that is longer than maxCellLine bytes.
func isLongCode(code string) bool {
	code = strings.Trim(code, "\n")
	if strings.Count(code, "\n") >= maxCellLines {
		return true
	}
	for line := range strings.Lines(code) {
		if len(line) > maxCellLine && len(line) < len(code) {
			return true
		}
	}
	return false
}

// rowsAsItems writes each row of a table as a list item with its cells as blocks. Code keeps its lines there.
func (r *renderer) rowsAsItems(out *bytes.Buffer, n *html.Node) {
	out.WriteString("\n\n")
	for row := range r.rows(n) {
		var buf bytes.Buffer
		for c := range r.kept(row) {
			if dom.Is(c, atom.Td, atom.Th) {
				r.block(&buf, c)
			}
		}
		if item := tidy(buf.Bytes()); len(item) > 0 {
			out.WriteString("- ")
			r.indented(out, item, 2)
			out.WriteString("\n\n")
		}
	}
}

// grid renders the cells of a table as markdown and returns them with their spans.
func (r *renderer) grid(n *html.Node) *tableGrid {
	g := &tableGrid{}
	for row := range r.rows(n) {
		begin := len(g.cells)
		for c := range r.kept(row) {
			guard.Check(r.ctx)
			if dom.Is(c, atom.Td, atom.Th) {
				at := len(g.texts)
				g.texts = r.appendCell(g.texts, c)
				columns, rows := span(c, "colspan", guard.MaxColspan), span(c, "rowspan", guard.MaxRowspan)
				g.cells = append(g.cells, cell{int32(at), int32(len(g.texts)), uint16(columns), uint16(rows)})
			}
		}
		g.ends, g.widest = append(g.ends, int32(len(g.cells))), max(g.widest, len(g.cells)-begin)
	}
	return g
}

// appendCell appends the content of a cell on one line. It escapes pipes in code too, because readers split a table
// before they read code. It panics, by guard.Stop, when ctx ends.
func (r *renderer) appendCell(text []byte, n *html.Node) []byte {
	r.cells++
	content := r.inner(n)
	r.cells--
	if bytes.IndexByte(content, codeNewline) >= 0 { // one line of code
		content = codeLine(content)
	}
	broken := false
	for line := range bytes.Lines(content) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if broken {
			text = append(text, "<br>"...)
		}
		broken = true
		for _, c := range line {
			if c == '|' { // after a backslash too: that is one of the cell's own
				text = append(text, '\\')
			}
			text = append(text, c)
		}
	}
	return text
}

// codeLine turns fenced code in a cell of a table into code within the line: the parts between its newlines, each on a
// line of the cell. content is what the renderer has written for the cell.
func codeLine(content []byte) []byte {
	var out bytes.Buffer
	fence, first := "", false
	parts := bytes.Split(content, []byte{codeNewline})
	for i, part := range parts {
		if fence != "" {
			rest, closed := bytes.CutPrefix(bytes.TrimLeft(part, " "), []byte(fence))
			if !closed {
				if code := strings.TrimRight(string(part), " \t"); code != "" {
					if !first {
						out.WriteByte('\n')
					}
					first = false
					writeInlineCode(&out, code)
				}
				continue
			}
			fence, part = "", rest
		}
		if before, ticks := opensCode(part); ticks != "" && i+1 < len(parts) {
			fence, first, part = ticks, true, before
		}
		out.Write(part)
	}
	return out.Bytes()
}

// opensCode returns what stands before the fence at the end of a text in a cell of a table, and its backticks. Nothing
// follows them but the name of a language. ticks is "" if no fence is there.
func opensCode(text []byte) (before []byte, ticks string) {
	end := bytes.LastIndex(text, []byte("```"))
	if end < 0 || bytes.ContainsAny(text[end:], " \t\n") {
		return text, ""
	}
	begin := end
	for begin > 0 && text[begin-1] == '`' {
		begin--
	}
	return text[:begin], string(text[begin : end+3])
}

// span reads colspan or rowspan of a cell of a table, at least 1 and at most limit. What is no number counts as 1.
func span(n *html.Node, key string, limit int) int {
	v, err := strconv.Atoi(strings.TrimSpace(dom.Attr(n, key)))
	if err != nil {
		return 1
	}
	return min(max(v, 1), limit)
}
