package pdflayout

import (
	"cmp"
	"slices"
	"strings"
)

// grid is a table whose cells are known, row by row. All rows have as many cells. Rules of a page tell them
// (ruledGrids), or the order of drawing (drawnGrid).
type grid struct{ rows [][]gridCell }

// gridCell is a cell of a grid, by its words; their lines are made of them when the table is written.
type gridCell struct{ words []word }

// checked returns the table of a PDF without empty rows and columns; nil if it is none: fewer than two rows or columns,
// hardly any cells with text, or cells with as much text as columns have. It is the last step of each way to find a
// table, and guards against text that happens to stand between rules. It changes g.
func (g *grid) checked() *grid {
	g.rows = slices.DeleteFunc(g.rows, func(cells []gridCell) bool {
		return !slices.ContainsFunc(cells, func(c gridCell) bool { return len(c.words) > 0 })
	})
	if len(g.rows) < 2 {
		return nil
	}
	for col := range slices.Backward(g.rows[0]) {
		if !slices.ContainsFunc(g.rows, func(cells []gridCell) bool { return len(cells[col].words) > 0 }) {
			for i := range g.rows {
				g.rows[i] = slices.Delete(g.rows[i], col, col+1)
			}
		}
	}
	if len(g.rows[0]) < 2 {
		return nil
	}
	filled, several := 0, 0
	for _, cells := range g.rows {
		n := 0
		for _, c := range cells {
			if len(c.words) > 0 {
				n++
			}
			if len(rowsOf(c.words)) > maxCellLines {
				return nil
			}
		}
		if filled += n; n > 1 {
			several++
		}
	}
	if several < 2 || 4*filled < len(g.rows)*len(g.rows[0]) {
		return nil
	}
	return g
}

// divide makes several rows of those in a table of a PDF whose cells hold several lines, on the same baselines. Tables
// with rules around and below the header alone are such.
func (g *grid) divide() {
	var rows [][]gridCell
	for _, cells := range g.rows {
		rows = append(rows, divided(cells)...)
	}
	g.rows = rows
}

// divided returns the rows of a grid that the cells of one row are: one for each line of the first cell, if the lines
// of the others stand on the same baselines; else the row as it is.
func divided(cells []gridCell) [][]gridCell {
	var first []row // of the first cell
	matched, other := 0, 0
	for i, c := range cells {
		lines := rowsOf(c.words)
		if i == 0 {
			if first = lines; len(first) < 2 {
				return [][]gridCell{cells}
			}
			continue
		}
		for _, l := range lines {
			other++
			if slices.ContainsFunc(first, func(f row) bool { return abs32(f.y-l.y) < .3*l.size }) {
				matched++
			}
		}
		if len(lines) > 0 && len(lines) < len(first) && 2*len(lines) < len(first) {
			other += len(first)
		}
	}
	if other < 2 || matched < other || other < len(first) {
		return [][]gridCell{cells}
	}
	out := make([][]gridCell, len(first))
	for i := range out {
		out[i] = make([]gridCell, len(cells))
	}
	for col, c := range cells {
		for _, w := range c.words {
			at := 0
			for i, f := range first {
				if abs32(f.y-w.y) < abs32(first[at].y-w.y) {
					at = i
				}
			}
			out[at][col].words = append(out[at][col].words, w)
		}
	}
	return out
}

// line returns the line that stands for a table of cells among those of its page, so that it keeps its place in the
// reading order. It has the size of most of the table's text and no cells of its own.
func (g *grid) line(page, column int) *line {
	l := &line{page: page, column: column, x0: 1e9}
	sizes := map[float32]int{}
	for _, row := range g.rows {
		var cells [][]*line
		for _, c := range row {
			var lines []*line
			for _, r := range rowsOf(c.words) {
				lines = append(lines, newLine(r, page, nil))
			}
			for _, own := range lines {
				l.x0, l.x1, l.y = min(l.x0, own.x0), max(l.x1, own.x1), own.y
				l.letters += own.letters
				sizes[own.size] += own.letters
			}
			cells = append(cells, lines)
		}
		l.table = append(l.table, cells)
	}
	most := 0
	for size, n := range sizes {
		if n > most || n == most && size > l.size {
			most, l.size = n, size
		}
	}
	return l
}

// cellTexts returns the text of a grid's cells. Lines of a cell are joined as those of a paragraph are, hyphens and
// all.
func (b *builder) cellTexts(table [][][]*line) (rows [][]string) {
	for _, row := range table {
		cells := make([]string, len(row))
		for i, lines := range row {
			k := &Block{}
			for _, l := range lines {
				k.join(b, l)
			}
			var text strings.Builder
			for _, p := range k.Pieces {
				text.WriteString(p.Text)
			}
			cells[i] = strings.TrimSpace(text.String())
		}
		rows = append(rows, cells)
	}
	return rows
}

// mergedStrips makes one strip, a column of a grid, of those that overlap. strips are sorted in place. What is left are
// the columns of a table.
func mergedStrips(strips []gutter) (out []gutter) {
	slices.SortFunc(strips, func(a, b gutter) int { return cmp.Compare(a.x0, b.x0) })
	for _, s := range strips {
		if n := len(out); n > 0 && s.x0 < out[n-1].x1 {
			out[n-1].x1 = max(out[n-1].x1, s.x1)
			continue
		}
		out = append(out, s)
	}
	return out
}

// stripsOf returns the strips of a grid in which the columns of a table stand, whether most of its rows have several
// cells, and whether many go across columns, as text does between rules that are no table's. Where the file draws its
// spaces, the gaps without one part columns, too.
func stripsOf(rows []row, words []word) (strips []gutter, several, across bool) {
	lines := linesOf(rows, 0)
	strips = tableColumns(lines)
	n, crossing := 0, 0
	for _, l := range lines {
		if len(l.cells) > 1 {
			n++
		}
		if slices.ContainsFunc(l.cells, func(c cell) bool {
			at := stripOf(strips, c.x0, c.x1)
			return at > 0 && overlap(c, strips[at-1]) > 1 || at+1 < len(strips) && overlap(c, strips[at+1]) > 1
		}) {
			crossing++
		}
	}
	if drawsSpaces(words) {
		var drawn []gutter
		for _, r := range runsOf(words) {
			drawn = append(drawn, gutter{r.x0, r.x1})
		}
		if drawn = mergedStrips(drawn); len(drawn) > len(strips) {
			return drawn, true, false
		}
	}
	return strips, n > 1 && 10*n >= 6*len(lines), 5*crossing > len(lines)
}

// stripOf returns the index of the column of a grid that overlaps most with what stands between x0 and x1, or the
// nearest.
func stripOf(strips []gutter, x0, x1 float32) int {
	best := 0
	for i, s := range strips {
		if overlap(cell{x0: x0, x1: x1}, s) > overlap(cell{x0: x0, x1: x1}, strips[best]) {
			best = i
		}
	}
	return best
}

// goesOn reports whether cells of a grid, which no rule parts from those above, are the next line of their text: some
// are empty. A row that begins anew mostly fills all its cells.
func goesOn(above, cells []gridCell) bool {
	for i, c := range cells {
		if len(c.words) == 0 && len(above[i].words) > 0 {
			return true
		}
	}
	return false
}
