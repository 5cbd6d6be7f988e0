package pdflayout

import "strings"

// tableAt returns how many lines of a page, from the first on, are a table without rules: rows of several cells, with
// lines of one cell that fill cells of the row above. It is 0 for fewer than three rows, for lines that dots lead over,
// for code, and for a list whose markers stand far from its text. A table ends with its column, at a wide space, and
// after 500 lines.
func (b *builder) tableAt(lines []*line) int {
	if len(lines[0].cells) < 2 || lines[0].mono {
		return 0
	}
	n, full := 0, 0
	for n < len(lines) && n < 500 {
		l := lines[n]
		if l.table != nil || l.leader || l.column != lines[0].column ||
			n > 0 && lines[n-1].y-l.y > 3.5*max(l.size, lines[n-1].size) || l.mono {
			break
		}
		if len(l.cells) >= 2 {
			full++
		} else if n+1 >= len(lines) || len(lines[n+1].cells) < 2 || lines[n+1].column != l.column ||
			l.x1-l.x0 > .6*(lines[0].x1-lines[0].x0) || l.x0 > lines[0].x1 {
			break
		}
		n++
	}
	if full < 3 || 2*full < n {
		return 0
	}
	strips := tableColumns(lines[:n])
	if len(strips) < 2 || len(strips) > 20 {
		return 0
	}
	if len(strips) == 2 { // a list whose markers stand far from its text
		marked := 0
		for _, l := range lines[:n] {
			if m, _ := bullet(l); m != "" {
				marked++
			}
		}
		if 2*marked > n {
			return 0
		}
	}
	return n
}

// tableColumns returns the strips in which the cells of lines stand: cells that overlap are of one column. Only lines
// with as many cells as most have are asked, for others may have cells over several columns. A strip reaches from the
// leftmost to the rightmost end of the cells of its column.
func tableColumns(lines []*line) []gutter {
	counts := map[int]int{}
	usual := 0
	for _, l := range lines {
		if n := len(l.cells); n >= 2 {
			if counts[n]++; counts[n] > counts[usual] || counts[n] == counts[usual] && n > usual {
				usual = n
			}
		}
	}
	var cells []gutter
	for _, l := range lines {
		if len(l.cells) == usual {
			for _, c := range l.cells {
				cells = append(cells, gutter{c.x0, c.x1})
			}
		}
	}
	return mergedStrips(cells)
}

// Rows returns the cells of a table, row by row. All rows have as many cells. A line without a first cell that stands
// close below another goes on with the cells of that one. k must be of kind [Table].
func (k *Block) Rows() (table [][]string) {
	if k.rows != nil {
		return k.rows
	}
	strips := tableColumns(k.lines)
	for i, l := range k.lines {
		cells := make([]string, len(strips))
		for _, c := range l.cells {
			at := 0
			for s := range strips {
				if overlap(c, strips[s]) > overlap(c, strips[at]) {
					at = s
				}
			}
			var text strings.Builder
			for _, p := range c.pieces {
				text.WriteString(p.Text)
			}
			cells[at] = strings.TrimSpace(cells[at] + " " + text.String())
		}
		if i <= 1 || cells[0] != "" || k.lines[i-1].y-l.y >= 1.5*l.size {
			table = append(table, cells)
			continue
		}
		above := table[len(table)-1] // which the line goes on
		for c := range cells {
			above[c] = strings.TrimSpace(above[c] + " " + cells[c])
		}
	}
	return table
}

// overlap returns by how many points a cell of a table and a strip overlap; it is negative for those apart.
func overlap(c cell, g gutter) float32 { return min(c.x1, g.x1) - max(c.x0, g.x0) }
