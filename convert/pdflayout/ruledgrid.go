package pdflayout

import (
	"cmp"
	"math"
	"slices"

	"github.com/readthru/readthru/convert/pdf"
)

// The limits of tables that rules or the order of drawing tell: rules of a page, cells on a side, and lines of text in
// a cell. What exceeds them is a drawing, or would be too much work, and is no table.
const (
	maxGridRules = 2000
	maxGridSide  = 100
	maxCellLines = 40
)

// near is how far rules may miss each other and still meet, in points.
const near = 3

// ruledGrids returns the tables that rules draw, each with the places of its words in words. There are two kinds: those
// whose cells are all ruled, and those with lines between the rows alone. A page with more rules than maxGridRules is a
// drawing. A word is in one table at most.
func ruledGrids(words []word, rules []pdf.Rule, height float32) (grids []*grid, members [][]int) {
	if len(rules) < 2 || len(rules) > maxGridRules {
		return nil, nil
	}
	var level, upright []pdf.Rule
	for _, r := range rules {
		if r.Level() {
			level = append(level, r)
		} else {
			upright = append(upright, r)
		}
	}
	pieces := slices.Clone(level) // whose ends may say where cells end
	level, upright = joinedRules(level, true), joinedRules(upright, false)
	taken := make([]bool, len(words))
	keep := func(g *grid, of []int) {
		if g != nil {
			grids, members = append(grids, g), append(members, of)
			for _, i := range of {
				taken[i] = true
			}
		}
	}
	for _, part := range connected(level, upright) {
		keep(cellGrid(words, taken, part))
	}
	for _, part := range alike(level) {
		keep(rowGrid(words, taken, part, cellEnds(part, pieces), height))
	}
	return grids, members
}

// joinedRules makes one rule of those drawn on a page of a PDF that continue each other. Programs draw the line of a
// row as one piece for each cell. level says which way they run.
func joinedRules(list []pdf.Rule, level bool) []pdf.Rule {
	along := func(r *pdf.Rule) (from, to *float32, across float32) {
		if level {
			return &r.X0, &r.X1, r.Y0
		}
		return &r.Y0, &r.Y1, r.X0
	}
	slices.SortFunc(list, func(a, b pdf.Rule) int {
		fromA, _, acrossA := along(&a)
		fromB, _, acrossB := along(&b)
		return cmp.Or(cmp.Compare(math.Round(float64(acrossA)), math.Round(float64(acrossB))), cmp.Compare(*fromA, *fromB))
	})
	var out []pdf.Rule
	for _, r := range list {
		if n := len(out); n > 0 {
			_, end, across := along(&out[n-1])
			from, to, own := along(&r)
			if abs32(across-own) < 1 && *from-*end <= near {
				*end = max(*end, *to)
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// connected returns the groups of drawn rules that meet, each of which may be a grid. Groups of fewer than five rules
// enclose no table of several cells. Time grows with the square of the rules, of which maxGridRules allows 2,000.
func connected(level, upright []pdf.Rule) [][]pdf.Rule {
	all := slices.Concat(level, upright)
	group := make([]int, len(all))
	for i := range group {
		group[i] = i
	}
	root := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	for i, a := range all {
		for j := range i {
			b := all[j]
			if a.X0 <= b.X1+near && b.X0 <= a.X1+near && a.Y0 <= b.Y1+near && b.Y0 <= a.Y1+near {
				group[root(i)] = root(j)
			}
		}
	}
	parts := map[int][]pdf.Rule{}
	var order []int
	for i := range all {
		k := root(i)
		if parts[k] == nil {
			order = append(order, k)
		}
		parts[k] = append(parts[k], all[i])
	}
	var out [][]pdf.Rule
	for _, k := range order {
		if len(parts[k]) >= 5 {
			out = append(out, parts[k])
		}
	}
	return out
}

// places returns the different places of drawn rules in list, the smallest first. Those near each other are one. list
// is sorted in place.
func places(list []float32) []float32 {
	slices.Sort(list)
	var out []float32
	for _, v := range list {
		if n := len(out); n == 0 || v-out[n-1] > 2*near {
			out = append(out, v)
		}
	}
	return out
}

// cellGrid returns the table whose cells rules enclose, and the places of its words; nil if they enclose none. rules
// are one group of those that meet. Cells that no rule parts are one, whose words stand in its upper left cell. A table
// of one or two ruled rows often has several lines of cells in them, which are divided by their baselines.
func cellGrid(words []word, taken []bool, rules []pdf.Rule) (*grid, []int) {
	var xs, ys []float32
	for _, r := range rules {
		if r.Level() {
			ys = append(ys, r.Y0)
		} else {
			xs = append(xs, r.X0)
		}
	}
	xs, ys = places(xs), places(ys)
	wide, high := len(xs)-1, len(ys)-1
	if wide < 2 || high < 1 || wide > maxGridSide || high > maxGridSide {
		return nil, nil
	}
	slices.Reverse(ys)
	parted := make([]bool, 2*wide*high) // whether a cell is parted from the next to its right, and from that below
	for _, r := range rules {
		for row := range high {
			for col := range wide {
				x, y := (xs[col]+xs[col+1])/2, (ys[row]+ys[row+1])/2
				at := 2 * (row*wide + col)
				if r.Level() {
					parted[at+1] = parted[at+1] || abs32(r.Y0-ys[row+1]) <= 2*near && r.X0 <= x && r.X1 >= x
				} else {
					parted[at] = parted[at] || abs32(r.X0-xs[col+1]) <= 2*near && r.Y0 <= y && r.Y1 >= y
				}
			}
		}
	}
	// A cell that is not parted from the one to its left or above is part of that one.
	owner := make([]int, wide*high)
	for row := range high {
		for col := range wide {
			at := row*wide + col
			owner[at] = at
			if col > 0 && !parted[2*(at-1)] {
				owner[at] = owner[at-1]
			} else if row > 0 && !parted[2*(at-wide)+1] {
				owner[at] = owner[at-wide]
			}
		}
	}
	g := &grid{rows: make([][]gridCell, high)}
	for row := range g.rows {
		g.rows[row] = make([]gridCell, wide)
	}
	var of []int
	for i, w := range words {
		x, y := (w.x0+w.x1)/2, w.y+.3*w.size
		if taken[i] || x < xs[0] || x > xs[wide] || y > ys[0] || y < ys[high] {
			continue
		}
		col, row := 0, 0
		for xs[col+1] < x {
			col++
		}
		for ys[row+1] > y {
			row++
		}
		at := owner[row*wide+col]
		c := &g.rows[at/wide][at%wide]
		c.words = append(c.words, w)
		of = append(of, i)
	}
	if high <= 2 { // no rules part its rows
		g.divide()
	}
	return g.checked(), of
}

// alike returns, for tables without upright rules, the groups of drawn rules that are level, lie below one another and
// are of one length, the highest first. They may be those of a table with rules above, below and between its rows.
// Rules of less than 60 points are underlines.
func alike(level []pdf.Rule) [][]pdf.Rule {
	level = slices.Clone(level)
	slices.SortStableFunc(level, func(a, b pdf.Rule) int { return cmp.Compare(b.Y0, a.Y0) })
	var groups [][]pdf.Rule
next:
	for _, r := range level {
		if r.X1-r.X0 < 60 {
			continue
		}
		for i, g := range groups {
			if abs32(g[0].X0-r.X0) <= near && abs32(g[0].X1-r.X1) <= near {
				if g[len(g)-1].Y0-r.Y0 > 2 {
					groups[i] = append(g, r)
				}
				continue next
			}
		}
		groups = append(groups, []pdf.Rule{r})
	}
	return slices.DeleteFunc(groups, func(g []pdf.Rule) bool { return len(g) < 2 })
}

// cellEnds returns where the cells of a table between rules end from side to side, if its level rules were drawn in
// pieces: at the ends that most rules have in common. It is empty for rules in one piece.
func cellEnds(rules, pieces []pdf.Rule) (ends []float32) {
	counts := map[int]int{}
	for _, r := range rules {
		on := map[int]bool{}
		for _, p := range pieces {
			if x := p.X1; abs32(p.Y0-r.Y0) < 1 && x > r.X0+2*near && x < r.X1-2*near && !on[int(x)] {
				on[int(x)] = true
				counts[int(x)]++
			}
		}
	}
	var list []float32
	for x, n := range counts {
		if 2*n > len(rules) {
			list = append(list, float32(x)+.5)
		}
	}
	return places(list)
}

// between returns the strips between the ends of drawn rules. They are the columns of a table between from and to.
func between(from, to float32, ends []float32) (strips []gutter) {
	for _, x := range append(slices.Clone(ends), to) {
		strips = append(strips, gutter{from, x})
		from = x
	}
	return strips
}

// rowGrid returns the table between level rules, and the places of its words; nil if what stands there is no table.
// ends are where its columns end, if that is known. It is more careful than cellGrid, since two rules may also stand
// around a part of the text: rules nearly as far apart as the page is high, a leap to another column, or few words are
// none.
func rowGrid(words []word, taken []bool, rules []pdf.Rule, ends []float32, height float32) (*grid, []int) {
	top, bottom := rules[0], rules[len(rules)-1]
	if top.Y0-bottom.Y0 > .9*height || len(rules) == 2 && top.Y0-bottom.Y0 > .4*height {
		return nil, nil
	}
	var of, above []int
	var inside []word
	last := -1
	for i, w := range words {
		if middle := (w.x0 + w.x1) / 2; taken[i] || middle < top.X0-near || middle > top.X1+near {
			continue
		}
		y := w.y + .3*w.size
		switch {
		case y >= top.Y0 && y < top.Y0+6*w.size:
			above = append(above, i)
		case y < top.Y0 && y > bottom.Y0:
			if last >= 0 && w.y-words[last].y > 14*w.size {
				return nil, nil // a leap to another column of text
			}
			last = i
			of, inside = append(of, i), append(inside, w)
		}
	}
	if len(inside) < 4 {
		return nil, nil
	}
	rows := rowsOf(inside)
	strips := between(top.X0, top.X1, ends)
	if len(ends) == 0 {
		var several, across bool
		if strips, several, across = stripsOf(rows, inside); !several && (len(rules) < 4 || across) {
			return nil, nil
		}
	}
	if len(strips) < 2 || len(strips) > 20 {
		return nil, nil
	}
	head, headRows := headOf(words, above, top.Y0, strips)
	of = append(of, head...)
	slices.Sort(of)
	g := &grid{}
	at := -1 // the rule above the row; -2 for the header above all of them
	for i, r := range slices.Concat(headRows, rows) {
		below := -2
		if i >= len(headRows) {
			for below = max(at, -1); below+1 < len(rules) && rules[below+1].Y0 > r.y+.3*r.size; {
				below++
			}
		}
		cells := make([]gridCell, len(strips))
		for _, w := range r.words {
			to := stripOf(strips, w.x0, w.x1)
			cells[to].words = append(cells[to].words, w)
		}
		if n := len(g.rows); n > 0 && below == at &&
			(len(rules) > 3 || len(ends) > 0 || below == -2 || len(cells[0].words) == 0 && goesOn(g.rows[n-1], cells)) {
			for i, c := range cells {
				g.rows[n-1][i].words = append(g.rows[n-1][i].words, c.words...)
			}
		} else {
			g.rows = append(g.rows, cells)
		}
		at = below
	}
	return g.checked(), of
}

// headOf returns the places of the words of a header that stands above the first rule of a table, and its rows: lines
// close to one another, in which no word stands across two columns. above are the places in words of what stands there,
// y is the height of the rule. Rows are returned from the top down.
func headOf(words []word, above []int, y float32, strips []gutter) (of []int, rows []row) {
	list := make([]word, len(above))
	for k, i := range above {
		list[k] = words[i]
		list[k].drawn = i
	}
	all := rowsOf(list)
	used := false
	for _, r := range slices.Backward(all) {
		several := fits(r.words, strips)
		if r.y-y > 1.5*r.size || !several && (!alone(r.words, strips) || used && r.y-y > .95*r.size) {
			break
		}
		used = used || several
		rows, y = append(rows, r), r.y
		for _, w := range r.words {
			of = append(of, w.drawn)
		}
	}
	if !used {
		return nil, nil
	}
	slices.Reverse(rows)
	return of, rows
}

// alone reports whether the words of a row between rules stand in a single column of the table.
func alone(words []word, strips []gutter) bool {
	at := stripOf(strips, words[0].x0, words[0].x1)
	return !slices.ContainsFunc(words, func(w word) bool { return w.x0 < strips[at].x0-1 || w.x1 > strips[at].x1+1 })
}

// fits reports whether the words of a row between rules stand in several columns of the table, and none across two.
func fits(words []word, strips []gutter) bool {
	used := map[int]bool{}
	for _, w := range words {
		n := 0
		for i, s := range strips {
			if w.x0 < s.x1-1 && w.x1 > s.x0+1 {
				used[i] = true
				n++
			}
		}
		if n > 1 {
			return false
		}
	}
	return len(used) > 1
}
