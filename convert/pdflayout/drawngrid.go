package pdflayout

import (
	"strings"
	"unicode/utf8"

	"github.com/readthru/readthru/convert/pdf"
)

// drawnCell is what may be a cell of a table: text of lines below one another that were drawn one after the other.
type drawnCell struct {
	from, to  int // its runs
	lines     int
	x0, x1    float32
	high, low float32 // baselines of its first and last line
	size      float32
}

// The most runs that are looked at for one table, and for all of a page. They bound the time for pages with thousands
// of short texts, such as maps.
const (
	maxGridRuns = 2000
	maxGridWork = 100_000
)

// nextCell returns the drawnCell that begins with the run at at: the runs after it that stand right beside its last
// line, as exponents do, or below it at the distance of lines.
func nextCell(runs []run, at int) drawnCell {
	r := runs[at]
	c := drawnCell{from: at, to: at + 1, lines: 1, x0: r.x0, x1: r.x1, high: r.y, low: r.y, size: r.size}
	bold := r.words[0].style&pdf.Bold != 0 // else a bold line is a heading below the table
	end, most := r.x1, 1.8*c.size          // of the last line; how far below it the next may stand
	for ; c.to < len(runs); c.to++ {
		r := runs[c.to]
		down := c.low - r.y
		switch {
		case abs32(down) <= .6*c.size && r.x0 >= end-.5*c.size && r.x0-end < .8*c.size: // an exponent
			end = max(end, r.x1)
		case down > .8*c.size && down < most && r.x0 < c.x1 && r.x1 > c.x0 && abs32(r.size-c.size) < .12*c.size &&
			(r.x0 > c.x0-.5*c.size || abs32(r.x0+r.x1-c.x0-c.x1) < c.size) && (bold || r.words[0].style&pdf.Bold == 0):
			c.lines++
			c.low, end, most = r.y, r.x1, 1.25*down
		default:
			return c
		}
		c.x0, c.x1 = min(c.x0, r.x0), max(c.x1, r.x1)
	}
	return c
}

// drawnGrid returns the table that the first runs are, how many they are, and how many it looked at: cells with several
// lines, drawn one after the other, row by row. Tables whose cells have one line each are found by those lines; see
// [builder.tableAt]. It begins with the first run and goes on until a cell does not fit below the row before. The
// caller tries again at the next run if there is no table, and counts seen against maxGridWork.
func drawnGrid(runs []run) (g *grid, n, seen int) {
	runs = runs[:min(len(runs), maxGridRuns)]
	var rows [][]drawnCell
	at := 0
	for at < len(runs) {
		cells := []drawnCell{nextCell(runs, at)}
		low := cells[0].low
		for at = cells[0].to; at < len(runs); {
			c, last := nextCell(runs, at), cells[len(cells)-1]
			if c.x0 < last.x1+.2*c.size || c.high+.7*c.size < low ||
				c.low > cells[0].high+.7*c.size && c.low > last.high+.7*c.size {
				break
			}
			cells = append(cells, c)
			low, at = min(low, c.low), c.to
		}
		if n := len(rows); n > 0 {
			above := float32(1e9)
			for _, c := range rows[n-1] {
				above = min(above, c.low)
			}
			if top := highest(cells); top > above-.5*cells[0].size || above-top > 3.5*cells[0].size {
				break
			}
		}
		if len(cells) < 2 && (len(rows) == 0 || cells[0].lines > 4) {
			break
		}
		rows = append(rows, cells)
	}
	g, n = gridOf(runs, rows)
	return g, n, at
}

// highest returns the highest baseline of the drawn cells of a row, which is where the row begins.
func highest(cells []drawnCell) float32 {
	top := cells[0].high
	for _, c := range cells {
		top = max(top, c.high)
	}
	return top
}

// gridOf returns the table that the first rows of drawn cells are, as far as their cells stand below one another, and
// how many runs it has; nil if they are none. The text below a table is drawn like a row of one cell, and is left out
// again.
func gridOf(runs []run, rows [][]drawnCell) (*grid, int) {
	strips := cellStrips(rows)
	if len(strips) < 2 || len(strips) > 20 {
		return nil, 0
	}
	n := 0
	for ; n < len(rows); n++ {
		if !inStrips(rows[n], strips) {
			break
		}
	}
	for n > 0 && len(rows[n-1]) < 2 { // text below the table
		n--
	}
	rows = rows[:n]
	if strips = cellStrips(rows); len(strips) < 2 || n < 2 || n == 2 && len(strips) < 3 {
		return nil, 0
	}
	cells, lines, several, letters, mono, marked, led := 0, 0, 0, 0, 0, 0, 0
	g := &grid{}
	for _, row := range rows {
		list := make([]gridCell, len(strips))
		for _, c := range row {
			cells++
			if lines += c.lines; c.lines > 1 {
				several++
			}
			if c.lines > maxCellLines {
				return nil, 0
			}
			at := stripOf(strips, c.x0, c.x1)
			for _, r := range runs[c.from:c.to] {
				list[at].words = append(list[at].words, r.words...)
				for _, w := range r.words {
					k := utf8.RuneCountInString(w.text)
					if letters += k; w.style&pdf.Mono != 0 {
						mono += k
					}
				}
			}
		}
		if marker(list[0].words) {
			marked++
		}
		if _, leader := withoutLeaders(list[0].words); leader {
			led++
		}
		g.rows = append(g.rows, list)
	}
	// Columns of text have more lines, code is no table, a list's markers may stand far from its text, and dots lead to
	// the numbers of a table of contents.
	if several == 0 || lines > 12*cells || 10*mono > 9*letters || len(strips) == 2 && 2*marked > n || 2*led > n {
		return nil, 0
	}
	last := rows[n-1][len(rows[n-1])-1]
	if g = g.checked(); g == nil {
		return nil, 0
	}
	return g, last.to
}

// cellStrips returns the strips in which the drawn cells of rows stand, by the rows with as many cells as most have.
// Rows with cells across several columns are not among those.
func cellStrips(rows [][]drawnCell) []gutter {
	counts := map[int]int{}
	usual := 0
	for _, row := range rows {
		if n := len(row); n > 1 {
			if counts[n]++; counts[n] > counts[usual] || counts[n] == counts[usual] && n > usual {
				usual = n
			}
		}
	}
	var strips []gutter
	for _, row := range rows {
		if len(row) != usual {
			continue
		}
		for _, c := range row {
			strips = append(strips, gutter{c.x0, c.x1})
		}
	}
	return mergedStrips(strips)
}

// inStrips reports whether each drawn cell of a row stands in a strip of its own. A cell across two columns ends the
// table.
func inStrips(row []drawnCell, strips []gutter) bool {
	used := map[int]bool{}
	for _, c := range row {
		n := 0
		for i, s := range strips {
			if c.x0 < s.x1-1 && c.x1 > s.x0+1 {
				if used[i] {
					return false
				}
				used[i] = true
				n++
			}
		}
		if n > 1 {
			return false
		}
	}
	return true
}

// marker reports whether the words of a drawn cell are the marker of an item or of a reference: "•", "2.", "(a)",
// "[Knu84]". A list is such text in two columns, and is told from a table by it. No words at all count, too.
func marker(words []word) bool {
	if len(words) != 1 {
		return len(words) == 0
	}
	t := words[0].text
	r, size := utf8.DecodeRuneInString(t)
	return size == len(t) && strings.ContainsRune(bullets, r) || ordinal(t) ||
		len(t) < 12 && (strings.HasPrefix(t, "[") && strings.HasSuffix(t, "]") || len(t) < 6 && strings.HasSuffix(t, ")"))
}
