package convert

import (
	"cmp"
	"slices"
	"strings"
)

// tableAt returns how many lines from the first on are a table: rows of several cells, with lines of one cell that fill
// cells of the row above.
func (b *pdfBlocks) tableAt(lines []*pdfLine) int {
	if len(lines[0].cells) < 2 || lines[0].mono {
		return 0
	}
	n, full := 0, 0
	for n < len(lines) && n < 500 {
		l := lines[n]
		if l.column != lines[0].column || n > 0 && lines[n-1].y-l.y > 3.5*max(l.size, lines[n-1].size) || l.mono {
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
// with as many cells as most have are asked, for others may have cells over several columns.
func tableColumns(lines []*pdfLine) []gutter {
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
	slices.SortFunc(cells, func(a, b gutter) int { return cmp.Compare(a.x0, b.x0) })
	var out []gutter
	for _, c := range cells {
		if n := len(out); n > 0 && c.x0 < out[n-1].x1 {
			out[n-1].x1 = max(out[n-1].x1, c.x1)
			continue
		}
		out = append(out, c)
	}
	return out
}

// table writes the lines of a table.
func (k *pdfBlock) table() string {
	strips := tableColumns(k.lines)
	t := rows{}
	var row []string
	flush := func() {
		if row != nil {
			t.add(row)
		}
	}
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
				text.WriteString(p.text)
			}
			cells[at] = join(cells[at], text.String())
		}
		more := i > 1 && cells[0] == "" && k.lines[i-1].y-l.y < 1.5*l.size
		if !more {
			flush()
			row = cells
			continue
		}
		for c := range cells {
			row[c] = join(row[c], cells[c])
		}
	}
	flush()
	return strings.TrimRight(t.b.String(), "\n")
}

func overlap(c pdfCell, g gutter) float32 { return min(c.x1, g.x1) - max(c.x0, g.x0) }
