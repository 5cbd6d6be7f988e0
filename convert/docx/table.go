package docx

import (
	"bytes"
	"fmt"

	"github.com/readthru/readthru/convert/guard"
)

// table is a table in the making. Cells that continue one above are counted into its rowspan when the table is written.
// Its cells are written to the story's out, one after the other, while outer keeps what came before.
type table struct {
	rows   [][]cell
	cell   *cell
	outer  bytes.Buffer // what was written before
	around []*paragraph // that it stands in, within a text box
	lists  []bool
	block  string
	header []bool
}

// cell is a cell of a table. span is how many columns it has.
type cell struct {
	span     int
	merged   bool // continues the cell above
	restarts bool
	text     string
}

// openTable begins a table, within a cell of another one perhaps. Tables that nest deeper than guard.MaxNesting are
// skipped.
func (s *story) openTable() {
	if len(s.tables) >= guard.MaxNesting {
		s.w.cut = true
		s.skip = s.depth
		return
	}
	t := &table{lists: s.lists, block: s.block, around: s.around}
	if s.p != nil {
		t.around = append(t.around, s.p)
	}
	t.outer, s.out = s.out, bytes.Buffer{} // not copied: tables may be many
	s.p, s.around, s.lists, s.block = nil, nil, nil, ""
	s.tables = append(s.tables, t)
}

// closeTable writes the table that was begun last, and goes on with what was around it. Cells that continue one above
// (vMerge) are counted into its rowspan. The first row is a header, and so are rows that say they are.
func (s *story) closeTable() {
	n := len(s.tables)
	if n == 0 {
		return
	}
	t := s.tables[n-1]
	s.tables = s.tables[:n-1]
	s.out = t.outer
	s.lists, s.block, s.around = t.lists, t.block, t.around
	s.leave()
	s.closeBlocks()
	s.out.WriteString("<table>")
	// Word repeats a cell that spans rows, marked as merged; HTML counts its rows instead.
	open := map[int]int{} // column → row of the cell that goes on there
	spans := map[[2]int]int{}
	for r, row := range t.rows {
		column := 0
		for i, c := range row {
			if above, ok := open[column]; c.merged && ok {
				spans[[2]int{above, column}]++
				row[i].text = ""
			} else {
				row[i].merged = false
				delete(open, column)
				if c.restarts {
					open[column] = r
				}
			}
			column += c.span
		}
	}
	for r, row := range t.rows {
		s.out.WriteString("<tr>")
		tag := "td"
		if t.header[r] || r == 0 {
			tag = "th"
		}
		column := 0
		for _, c := range row {
			if !c.merged {
				fmt.Fprintf(&s.out, `<%s colspan="%d" rowspan="%d">%s</%s>`, tag, c.span, 1+spans[[2]int{r, column}], c.text, tag)
			}
			column += c.span
		}
		s.out.WriteString("</tr>")
	}
	s.out.WriteString("</table>")
}
