package mdwrite

// tableGrid holds the cells of a table of markdown in few allocations: a large table has a million cells. Offsets are
// 32 bits, as the output of a table is bounded.
type tableGrid struct {
	texts  []byte // of all cells, one after the other
	cells  []cell
	ends   []int32 // for each row, the index after its last cell
	widest int     // cells of the longest row
}

// cell is the place of the markdown of a cell in the texts of the grid, and the number of columns and rows that it
// spans. The limits of spans in package guard fit into 16 bits.
type cell struct {
	begin, end    int32
	columns, rows uint16
}

// place is a place in a line of the grid: its cell, or -1 for none, and the number of further rows that the cell spans.
type place struct{ cell, rows int32 }

// text returns the markdown of a cell. It is nil for a place without a cell.
func (g *tableGrid) text(cell int32) []byte {
	if cell < 0 {
		return nil
	}
	return g.texts[g.cells[cell].begin:g.cells[cell].end]
}

// blank reports whether a line of the table has no text in markdown. Such a row of a table is left out.
func (g *tableGrid) blank(line []place) bool {
	for _, p := range line {
		if len(g.text(p.cell)) > 0 {
			return false
		}
	}
	return true
}

// used returns which columns of the table have text in markdown. It reports false if spans make far more places than
// there are cells. Columns without text are left out of a table.
func (g *tableGrid) used() (used []bool, ok bool) {
	limit := g.limit()
	for line := range g.lines {
		if limit -= len(line); limit < 0 {
			return nil, false
		}
		for i, p := range line {
			for len(used) <= i {
				used = append(used, false)
			}
			used[i] = used[i] || len(g.text(p.cell)) > 0
		}
	}
	return used, true
}

// limit is the number of places of the markdown table that the spans of the cells may make. Without it a few cells with
// large spans would make millions of places.
func (g *tableGrid) limit() int { return 4*len(g.cells) + 1000 }

// lines yields the rows of the markdown table, with each cell repeated over the columns and rows that it spans. A line
// is valid until the next one. A line over the limit is cut.
func (g *tableGrid) lines(yield func(line []place) bool) {
	var line, above []place
	limit := g.limit()
	at := int32(0)
	for _, end := range g.ends {
		line, above = above[:0], line
		spanned := func() {
			for len(line) < len(above) && above[len(line)].rows > 0 && len(line) <= limit {
				line = append(line, place{above[len(line)].cell, above[len(line)].rows - 1})
			}
		}
		for ; at < end; at++ {
			spanned()
			for range min(int(g.cells[at].columns), g.widest) { // colspan=100 means all columns
				if len(line) <= limit {
					line = append(line, place{at, int32(g.cells[at].rows) - 1})
				}
			}
		}
		last := len(above)
		for last > len(line) && above[last-1].rows <= 0 {
			last--
		}
		for len(line) < last {
			if spanned(); len(line) < last {
				line = append(line, place{-1, 0})
			}
		}
		if !yield(line) {
			return
		}
	}
}
