package pdflayout

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/readthru/readthru/convert/guard"
)

// run is a part of a line that was drawn at one go: words that follow one another on a baseline without a wide gap.
// Runs, not words, are compared when the order of drawing is judged: there are far fewer.
type run struct {
	box
	words []word
	size  float32
}

// box is the place of a run. Lengths are in points; y is the baseline. Runs have no height but their size.
type box struct{ x0, x1, y float32 }

// flow is text that was drawn without a leap to another part of the page: a column, or the cell of a table. A program
// that makes a PDF mostly draws each column in one go, so that flows are the best sign of the reading order.
type flow struct {
	runs    []run
	joined  bool  // it goes on below the flow before it
	grid    *grid // of a table
	tangled bool  // it was not drawn in reading order
	begun   int   // place of a ruled table's first word, in the order of drawing
}

// The most runs and flows of a page that are put in order. A page with more, such as a map, is read by its places
// alone. Flows are compared with one another, run by run.
const (
	maxRuns  = 4000
	maxFlows = 300
)

// runsOf begins flows of text: it joins words, in the order of drawing, to runs. It sets apart on words that begin a
// cell. Where spaces are drawn, a gap of .4 of the size without one ends a run; else only a gap as wide as between
// cells.
func runsOf(words []word) []run {
	var list []run
	gap := float32(cellGap)
	spaces := drawsSpaces(words)
	if spaces {
		gap = .4
	}
	for i, w := range words {
		if n := len(list) - 1; n >= 0 {
			r := &list[n]
			size := max(r.size, w.size)
			most := gap * size
			if w.spaced {
				most = cellGap * size
			}
			if abs32(w.y-r.y) <= .35*size && w.x0 >= r.x1-.5*size {
				if w.x0-r.x1 <= most {
					r.words = words[i-len(r.words) : i+1]
					r.x1, r.size = max(r.x1, w.x1), size
					continue
				}
				words[i].apart = spaces && !w.spaced && abs32(w.y-r.y) < .1*size
			}
		}
		list = append(list, run{box: box{w.x0, w.x1, w.y}, words: words[i : i+1], size: w.size})
	}
	return list
}

// drawsSpaces reports, for flows of text, whether most words on a line are parted by spaces that were drawn. Then a gap
// without one parts cells. Of the gaps that look like word spaces, more than seven in ten must have one.
func drawsSpaces(words []word) bool {
	spaces, gaps := 0, 0
	for i := 1; i < len(words); i++ {
		a, b := &words[i-1], &words[i]
		if gap := b.x0 - a.x1; abs32(a.y-b.y) < .1*b.size && gap > wordGap*b.size && gap < cellGap*b.size {
			if gaps++; b.spaced {
				spaces++
			}
		}
	}
	return 10*spaces > 7*gaps
}

// leaps reports whether a flow of text ends at r, because drawing left the line on which before ends for another part
// of the page. from and to are the ends of that line, all its runs together. A leap ends a flow. Exponents, fractions
// and the next line of a column are none; the top of another column is.
func leaps(before, r run, from, to float32) bool {
	size := max(before.size, r.size)
	up := r.y - before.y
	apart := max(r.x0-to, from-r.x1) // how far it stands beside the line
	switch {
	case up > 1.7*size:
		return true
	case up > 1.05*size: // else it may be the rest of a formula
		return apart > 1.2*size || apart < 0
	case up < -1.05*size:
		return apart > .5*size || up < -12*size
	}
	return false
}

// flowsOf divides words, in the order of drawing, at leaps, and returns the flows in reading order: that of drawing,
// but what stands above other text and overlaps it from side to side comes first. Flows that stand between each other's
// lines were not drawn in reading order and become one. Where there is too much on the page, all but its tables is one
// flow. grids are the tables whose cells are known, and members the places of their words. Words must be upright, or
// turned back. Time is bounded by maxRuns, maxFlows and maxGridWork.
func flowsOf(ctx context.Context, words []word, grids []*grid, members [][]int) []flow {
	tables, words := tableFlows(words, grids, members)
	runs := runsOf(words)
	if len(runs) > maxRuns {
		return append(tables, flow{runs: runs, tangled: true})
	}
	var list []flow
	var from, to float32 // of the line
	looked := 0
	for at := 0; at < len(runs); at++ {
		if looked < maxGridWork {
			g, n, seen := drawnGrid(runs[at:])
			if looked += seen; g != nil {
				list = append(list, flow{runs: runs[at : at+n], grid: g})
				at += n - 1
				continue
			}
		}
		r := runs[at]
		last := len(list) - 1
		switch {
		case last < 0 || list[last].grid != nil || leaps(runs[at-1], r, from, to) || passes(tables, runs[at-1], r):
			list = append(list, flow{})
			from, to = r.x0, r.x1
			last++
		case abs32(r.y-runs[at-1].y) <= .35*r.size:
			from, to = min(from, r.x0), max(to, r.x1)
		default:
			from, to = r.x0, r.x1
		}
		list[last].runs = append(list[last].runs, r)
	}
	if len(list)+len(tables) > maxFlows {
		return append(tables, flow{runs: runs, tangled: true})
	}
	list = inserted(list, tables)
	guard.Check(ctx)
	list, above := untangled(sideBySide(list))
	return ordered(list, above)
}

// sideBySide makes one flow of the columns of a table that were drawn one after the other: they have the same
// baselines, and hold numbers. Columns of words, drawn so, are read one after the other. It uses the room of list
// again.
func sideBySide(list []flow) []flow {
	out := list[:0]
	for _, f := range list {
		n := len(out) - 1
		if n >= 0 && out[n].grid == nil && f.grid == nil && len(f.runs) >= 3 && len(out[n].runs)%len(f.runs) == 0 {
			last := out[n].runs[len(out[n].runs)-len(f.runs):]
			level := true
			for i, r := range f.runs {
				level = level && abs32(r.y-last[i].y) < .2*r.size && r.x0 > last[i].x1
			}
			if level && (numeric(last) || numeric(f.runs)) {
				out[n].runs = slices.Concat(out[n].runs, f.runs)
				continue
			}
		}
		out = append(out, f)
	}
	return out
}

// numeric reports whether a flow is figures: half of the runs or more are numbers. A run counts as one if it has digits
// and no letters.
func numeric(runs []run) bool {
	n := 0
	for _, r := range runs {
		letters, digits := false, false
		for _, w := range r.words {
			letters = letters || strings.IndexFunc(w.text, unicode.IsLetter) >= 0
			digits = digits || strings.IndexFunc(w.text, unicode.IsDigit) >= 0
		}
		if digits && !letters {
			n++
		}
	}
	return 2*n >= len(runs)
}

// tableFlows returns a flow for each table, and the words that are in none. Words that are left remember their place,
// for inserted.
func tableFlows(words []word, grids []*grid, members [][]int) (tables []flow, rest []word) {
	if len(grids) == 0 {
		return nil, words
	}
	taken := make([]bool, len(words))
	for i, g := range grids {
		var own []word
		for _, at := range members[i] {
			own = append(own, words[at])
			taken[at] = true
		}
		tables = append(tables, flow{runs: runsOf(own), grid: g, begun: members[i][0]})
	}
	for i, w := range words {
		if !taken[i] {
			w.drawn = i
			rest = append(rest, w)
		}
	}
	return tables, rest
}

// passes reports, for flows of text, whether a table stands between two runs that were drawn one after the other. Text
// that goes on below a table is a flow of its own: the table belongs between.
func passes(tables []flow, before, r run) bool {
	return slices.ContainsFunc(tables, func(t flow) bool {
		return slices.ContainsFunc(t.runs, func(c run) bool { return over(before, c) && over(c, r) })
	})
}

// inserted puts tables between the flows where they were drawn. A table goes before the first flow that begins with a
// word drawn later.
func inserted(list, tables []flow) []flow {
	for _, t := range tables {
		at := slices.IndexFunc(list, func(f flow) bool { return f.runs[0].words[0].drawn > t.begun })
		if at < 0 {
			at = len(list)
		}
		list = slices.Insert(list, at, t)
	}
	return list
}

// over reports, for flows of text, whether a stands above b and overlaps it from side to side. The overlap must be more
// than one and a half sizes, or three tenths of the narrower run, whichever is less.
func over(a, b run) bool {
	width := min(a.x1, b.x1) - max(a.x0, b.x0)
	size := min(a.size, b.size)
	return a.y > b.y+.35*size && width > min(1.5*size, .3*min(a.x1-a.x0, b.x1-b.x0))
}

// untangled makes one flow of flows that stand between each other's lines, and returns for each pair whether the first
// has a line above one of the second. Programs that draw row by row over several columns give such flows; columns
// divides them afterwards by their places. After each union all pairs are looked at again.
func untangled(list []flow) ([]flow, [][]bool) {
	above := make([][]bool, len(list))
	for i := range list {
		above[i] = make([]bool, len(list))
	}
	for i := range list {
		for j := range list {
			if i != j {
				above[i][j] = slices.ContainsFunc(list[i].runs, func(a run) bool {
					return slices.ContainsFunc(list[j].runs, func(b run) bool { return over(a, b) })
				})
			}
		}
	}
	for i := 0; i < len(list); i++ {
		for j := i + 1; j < len(list); j++ {
			if !above[i][j] || !above[j][i] {
				continue
			}
			list[i].runs = slices.Concat(list[i].runs, list[j].runs)
			list[i].grid = nil
			list[i].tangled = true
			list = slices.Delete(list, j, j+1)
			for k := range above {
				above[i][k] = above[i][k] || above[j][k]
				above[k][i] = above[k][i] || above[k][j]
			}
			above = slices.Delete(above, j, j+1)
			for k := range above {
				above[k] = slices.Delete(above[k], j, j+1)
			}
			above[i][i] = false
			i, j = -1, len(list) // what was in order may not be now
		}
	}
	return list, above
}

// ordered returns flows in reading order. above says which flow has a line above another. It takes the first flow, in
// the order of drawing, for which no other has to wait, again and again, and notes in joined which go on below the one
// before.
func ordered(list []flow, above [][]bool) []flow {
	var out []flow
	placed := make([]bool, len(list))
	for range list {
		next := -1
		for i := range list {
			if placed[i] {
				continue
			}
			if next < 0 {
				next = i // in a circle of flows, the first that was drawn
			}
			waits := false
			for k := range list {
				waits = waits || !placed[k] && above[k][i]
			}
			if !waits {
				next = i
				break
			}
		}
		placed[next] = true
		f := list[next]
		if n := len(out); n > 0 {
			last, first := out[n-1].runs[len(out[n-1].runs)-1], f.runs[0]
			low, high := out[n-1].sides()
			f.joined = last.y > first.y && first.x0 < high && first.x1 > low
		}
		out = append(out, f)
	}
	return out
}

// sides returns the left and right end of the text of a flow.
func (f *flow) sides() (left, right float32) {
	left, right = f.runs[0].x0, f.runs[0].x1
	for _, r := range f.runs {
		left, right = min(left, r.x0), max(right, r.x1)
	}
	return left, right
}

// words returns the words of all runs of a flow, in the order of drawing.
func (f *flow) words() []word {
	n := 0
	for _, r := range f.runs {
		n += len(r.words)
	}
	list := make([]word, 0, n)
	for _, r := range f.runs {
		list = append(list, r.words...)
	}
	return list
}
