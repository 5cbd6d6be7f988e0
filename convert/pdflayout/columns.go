package pdflayout

import (
	"context"
	"slices"

	"github.com/readthru/readthru/convert/guard"
)

// gutter is a strip of a page in which no word stands. Columns of text, and the columns of tables, are found by them.
// Strips at the page's sides reach to a million points.
type gutter struct{ x0, x1 float32 }

// minGutter is the least width of the space between columns, in points. LaTeX puts 10 there. Word spaces of justified
// text are narrower.
const minGutter = 7

// columns puts rows into reading order: consecutive rows that leave a common gutter free are columns, which are read
// one after the other, if both sides look like text. Each list that is returned is one column, or a stretch of rows
// over the whole width. drawn says that the rows were drawn one after the other, so that the sides have to look more
// like text than else. It works on rows from the top: a heading over the whole width waits until the next columns
// begin. Columns may have columns in them, up to four deep. Fewer than six rows are never divided.
func columns(ctx context.Context, rows []row, drawn bool, depth int) [][]row {
	if depth > 4 || len(rows) < 6 {
		if len(rows) == 0 {
			return nil
		}
		return [][]row{rows}
	}
	var out [][]row
	var whole []row // rows over the whole width that wait
	flush := func() {
		if len(whole) > 0 {
			out = append(out, whole)
			whole = nil
		}
	}
	for at := 0; at < len(rows); {
		guard.Check(ctx)
		end, free := band(rows, at)
		middle, ok := split(rows[at:end], free, drawn)
		if !ok {
			whole = append(whole, rows[at])
			at++
			continue
		}
		flush()
		var left, right []row
		for _, r := range rows[at:end] {
			a, b := r.cut(middle)
			if len(a.words) > 0 {
				left = append(left, a)
			}
			if len(b.words) > 0 {
				right = append(right, b)
			}
		}
		out = append(out, columns(ctx, left, drawn, depth+1)...)
		out = append(out, columns(ctx, right, drawn, depth+1)...)
		at = end
	}
	flush()
	return out
}

// band returns, to divide them into columns, the end of the stretch of rows from at on that have a common gutter, and
// the strips they leave free. free is nil for a row that leaves no strip free.
func band(rows []row, at int) (end int, free []gutter) {
	free = []gutter{{-1e6, 1e6}}
	for end = at; end < len(rows); end++ {
		next := meet(free, rows[end].gaps(minGutter), minGutter)
		if !inner(next, rows[at:end+1]) {
			if end == at {
				return at + 1, nil
			}
			break
		}
		free = next
	}
	return end, free
}

// gaps returns the strips between the words of a row that may part columns: those at least as wide as width, the
// margins of the page among them.
func (r row) gaps(width float32) []gutter {
	list := []gutter{}
	from := float32(-1e6)
	for _, w := range r.words {
		if w.x0-from >= width {
			list = append(list, gutter{from, w.x0})
		}
		from = max(from, w.x1)
	}
	return append(list, gutter{from, 1e6})
}

// meet returns the strips that are free in both lists, if they are wide enough to part columns. Both lists go from left
// to right.
func meet(a, b []gutter, width float32) []gutter {
	var out []gutter
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if g := (gutter{max(a[i].x0, b[j].x0), min(a[i].x1, b[j].x1)}); g.x1-g.x0 >= width {
			out = append(out, g)
		}
		if a[i].x1 < b[j].x1 {
			i++
		} else {
			j++
		}
	}
	return out
}

// inner reports whether one of the strips may part columns: it lies between words, and is not a margin of all rows.
// Later rows may still put words beside it. Fewer than three rows do not settle it: a strip between words may be
// missing in short ones.
func inner(free []gutter, rows []row) bool {
	return inside(free) > 0 || len(free) > 0 && len(rows) < 3 // too early to say
}

// cut divides the words of a row into columns at x, a place in a gutter.
func (r row) cut(x float32) (left, right row) {
	i := slices.IndexFunc(r.words, func(w word) bool { return w.x0 >= x })
	if i < 0 {
		i = len(r.words)
	}
	left, right = r, r
	left.words, right.words = r.words[:i], r.words[i:]
	return left, right
}

// split returns the middle of the gutter that parts rows into columns of text; false where there is none. Columns of
// text are filled from side to side; the cells of a table are not, and read better row by row. It takes the first such
// gutter; columns divides each side again. Fewer than five rows are no columns.
func split(rows []row, free []gutter, drawn bool) (float32, bool) {
	if len(rows) < 5 {
		return 0, false
	}
	for _, g := range free {
		if g.x0 < -1e5 || g.x1 > 1e5 {
			continue
		}
		middle := (g.x0 + g.x1) / 2
		var left, right side
		for _, r := range rows {
			a, b := r.cut(middle)
			left.add(a)
			right.add(b)
		}
		if left.text(drawn) && right.text(drawn) {
			return middle, true
		}
	}
	return 0, false
}

// side measures one side of a gutter. It is filled row by row, and then asked whether it looks like text.
type side struct {
	rows, letters int
	filled        float32 // widths of its rows, in all
	x0, x1        float32
}

// add measures, for a column, what one row has on this side of the gutter. An empty part does not count as a row.
func (s *side) add(r row) {
	if len(r.words) == 0 {
		return
	}
	last := r.words[len(r.words)-1]
	if s.rows == 0 {
		s.x0, s.x1 = r.words[0].x0, last.x1
	}
	s.rows++
	s.x0, s.x1 = min(s.x0, r.words[0].x0), max(s.x1, last.x1)
	s.filled += last.x1 - r.words[0].x0
	for _, w := range r.words {
		s.letters += len(w.text)
	}
}

// text reports whether a side of a gutter looks like a column of text. Text has long rows that fill the width; cells of
// a table have not. Rows that were drawn one after the other need ten rows, 24 letters in each on average and four
// fifths of the width filled, others less.
func (s *side) text(drawn bool) bool {
	width := s.x1 - s.x0
	if drawn && (s.rows < 10 || s.letters < 24*s.rows || s.filled < .8*width*float32(s.rows)) {
		return false
	}
	return s.rows >= 4 && width > 60 && s.letters >= 14*s.rows && s.filled >= .58*width*float32(s.rows)
}

// cellCuts returns for each row where the columns of a table divide it: in the middle of gutters, narrower than those
// of columns of text, that three rows or more have in common. In running text spaces hardly ever lie below one another
// for so long. Three rows alone need a wider gutter, and two thirds of the rows must have words on both sides of it. A
// row without cuts is not of such a table.
func cellCuts(rows []row) [][]float32 {
	cuts := make([][]float32, len(rows))
	for at := 0; at < len(rows); {
		width := max(.55*rows[at].size, 3)
		free := rows[at].gaps(width)
		if inside(free) == 0 {
			at++
			continue
		}
		end := at + 1
		for end < len(rows) {
			next := meet(free, rows[end].gaps(width), width)
			if inside(next) == 0 || end-at >= 3 && inside(next) < inside(free) {
				break
			}
			free = next
			end++
		}
		n := end - at
		if n < 3 {
			at++
			continue
		}
		if n == 3 {
			width *= 1.8
		}
		for _, g := range free {
			if g.x0 < -1e5 || g.x1 > 1e5 || g.x1-g.x0 < width {
				continue
			}
			middle, both := (g.x0+g.x1)/2, 0
			for _, r := range rows[at:end] {
				if a, b := r.cut(middle); len(a.words) > 0 && len(b.words) > 0 {
					both++
				}
			}
			if 3*both >= 2*n {
				for i := at; i < end; i++ {
					cuts[i] = append(cuts[i], middle)
				}
			}
		}
		at = end
	}
	return cuts
}

// inside returns how many strips are no margins, and so may part columns. They are the strips that have words on both
// sides.
func inside(free []gutter) (n int) {
	for _, g := range free {
		if g.x0 > -1e5 && g.x1 < 1e5 {
			n++
		}
	}
	return n
}
