package pdflayout

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/readthru/readthru/convert/pdf"
)

// row is what stands on one baseline of a page or of a column, from left to right. It is made by rowsOf and cut by
// columns, before it becomes a line.
type row struct {
	words []word
	y     float32
	size  float32 // of most of it
}

// line is a line of a column. It is what rows become when their place in the reading order is known. Sizes and styles
// are those of most of its letters. One that stands for a table has no cells of its own.
type line struct {
	page, column int
	cells        []cell
	x0, x1, y    float32
	size         float32
	letters      int // runes
	bold, mono   bool
	italic       bool
	leader       bool        // dots lead to the number at its end
	table        [][][]*line // the lines of its cells, of a line that stands for a table
}

// cell is a part of a line that a wide gap parts from the next. Lines of running text have one.
type cell struct {
	pieces []Piece
	x0, x1 float32
}

// Piece is text with the URL that it links to, if any.
type Piece struct{ Text, URL string }

// text returns the text of a line of a page, its cells apart by a space; of a line that stands for a table, that of all
// its cells.
func (l *line) text() string {
	var b strings.Builder
	for _, row := range l.table {
		for _, lines := range row {
			for _, own := range lines {
				b.WriteString(own.text() + " ")
			}
		}
	}
	for i, c := range l.cells {
		if i > 0 {
			b.WriteByte(' ')
		}
		for _, p := range c.pieces {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// newLine makes a line of the words of one row within a column. Its cells are parted by wide gaps, and at cuts. Words
// of scripts written from right to left are put into reading order. cuts are the places at which the columns of a table
// part the rows around it.
func newLine(r row, page int, cuts []float32) *line {
	words := r.words
	if rightToLeft(words) {
		words = reversed(words)
	} else {
		words = quoted(words)
	}
	words, leader := withoutLeaders(words)
	l := &line{page: page, x0: r.words[0].x0, y: r.y, size: r.size, leader: leader}
	sizes := map[float32]int{}
	bold, mono, italic := 0, 0, 0
	for i, w := range words {
		n := utf8.RuneCountInString(w.text)
		l.letters += n
		sizes[w.size] += n
		if w.style&pdf.Bold != 0 {
			bold += n
		}
		if w.style&pdf.Mono != 0 {
			mono += n
		}
		if w.style&pdf.Italic != 0 {
			italic += n
		}
		l.x1 = max(l.x1, w.x1)
		gap := float32(0)
		if i > 0 {
			gap = w.x0 - words[i-1].x1
		}
		if i == 0 || gap > cellGap*r.size && !leader || w.apart && gap > .4*r.size || slices.ContainsFunc(cuts,
			func(x float32) bool { return x >= words[i-1].x1 && x <= w.x0 }) {
			l.cells = append(l.cells, cell{x0: w.x0})
		}
		c := &l.cells[len(l.cells)-1]
		c.x1 = max(c.x1, w.x1)
		apart := len(c.pieces) > 0 && (gap > .1*r.size || gap < -.5*r.size || abs32(w.size-words[i-1].size) <= .25*w.size &&
			w.y == words[i-1].y)
		c.add(w, apart)
	}
	most := 0
	for size, n := range sizes {
		if n > most || n == most && size > l.size {
			most, l.size = n, size
		}
	}
	l.bold, l.mono, l.italic = 2*bold > l.letters, 5*mono > 4*l.letters, 2*italic > l.letters
	return l
}

// minLeader is how many dots lead from a title to its page number at least. Fewer are an ellipsis.
const minLeader = 4

// withoutLeaders returns the words of a line with an ellipsis for each row of dots that leads from a title to its page
// number, as in a table of contents, and whether there was one. The words given are not changed.
func withoutLeaders(words []word) (out []word, found bool) {
	for i := 0; i < len(words); i++ {
		dots, end := 0, i
		for end < len(words) && strings.Trim(words[end].text, ".·․…") == "" {
			dots += utf8.RuneCountInString(words[end].text)
			end++
		}
		inside := strings.Contains(words[i].text, "....")
		if dots < minLeader && !inside {
			if found {
				out = append(out, words[i])
			}
			continue
		}
		if !found {
			out, found = slices.Clone(words[:i]), true
		}
		dot := words[i]
		if dots < minLeader { // between title and number, without a space
			title, _, _ := strings.Cut(dot.text, "....")
			dot.text = strings.TrimSpace(title + " … " + dot.text[strings.LastIndexByte(dot.text, '.')+1:])
			out = append(out, dot)
			continue
		}
		dot.text, dot.x1 = "…", words[end-1].x1
		out = append(out, dot)
		i = end - 1
	}
	if !found {
		return words, false
	}
	return out, true
}

// add puts a word behind the text of a cell. apart says that a space stands between them; it is kept out of links.
// Words that link to one URL become one piece.
func (c *cell) add(w word, apart bool) {
	n := len(c.pieces)
	text := w.text
	if apart {
		switch last := &c.pieces[n-1]; {
		case last.URL != "" && last.URL != w.url:
			c.pieces = append(c.pieces, Piece{Text: " "})
			n++
		case last.URL == "" && w.url != "":
			last.Text += " "
		default:
			text = " " + text
		}
	}
	if n > 0 && c.pieces[n-1].URL == w.url {
		c.pieces[n-1].Text += text
		return
	}
	c.pieces = append(c.pieces, Piece{text, w.url})
}

// linesOf makes lines of the rows of one column of a page, each with its cells parted where those of the rows around it
// are.
func linesOf(rows []row, page int) []*line {
	list := make([]*line, len(rows))
	cuts := cellCuts(rows)
	for i, r := range rows {
		list[i] = newLine(r, page, cuts[i])
	}
	return list
}

// rowsOf puts words that share a baseline into rows, the highest first. Small words a little above or below, as
// exponents are, belong to the row that they touch. Large words come first, so that small ones find the rows that they
// belong to. Rows are found by buckets of their height, or each word would be compared with every row of the page.
func rowsOf(words []word) []row {
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(words[b].size, words[a].size) })
	const grain = 4 // points of a bucket
	buckets := map[int][]int{}
	var rows []row
	for _, i := range order {
		w := words[i]
		best, bestOff := -1, float32(1e9)
		key := int(w.y / grain)
		reach := int(w.size/grain) + 2
		for k := key - min(reach, 20); k <= key+min(reach, 20); k++ {
			for _, n := range buckets[k] {
				row := &rows[n]
				off := abs32(row.y - w.y)
				limit := .35 * min(row.size, 2*w.size)
				if w.size < .85*row.size {
					limit = .25 * w.size
					if beside(row, w) {
						limit = .6 * row.size
					}
				}
				if off <= limit && off < bestOff {
					best, bestOff = n, off
				}
			}
		}
		if best < 0 {
			rows = append(rows, row{y: w.y, size: w.size})
			best = len(rows) - 1
			buckets[key] = append(buckets[key], best)
		}
		rows[best].words = append(rows[best].words, w)
	}
	for i := range rows {
		slices.SortStableFunc(rows[i].words, func(a, b word) int { return cmp.Compare(a.x0, b.x0) })
		rows[i].words = slices.CompactFunc(rows[i].words, func(a, b word) bool { // shadows and simulated bold
			return a.text == b.text && abs32(a.x0-b.x0) < .15*a.size && abs32(a.y-b.y) < .15*a.size
		})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.y, a.y) })
	return rows
}

// beside reports whether the word w is of the line that the row becomes: it stands right beside a word of it, as an
// exponent does. It looks at the last 400 words of the row: longer ones are of no page of text.
func beside(row *row, w word) bool {
	for _, v := range row.words[max(0, len(row.words)-400):] {
		if w.x0-v.x1 < .3*row.size && w.x0-v.x1 > -.3*row.size || v.x0-w.x1 < .3*row.size && v.x0-w.x1 > -.3*row.size {
			return true
		}
	}
	return false
}

// abs32 returns the absolute value of f: how far apart two places on a page of a PDF are.
func abs32(f float32) float32 {
	if f < 0 {
		return -f
	}
	return f
}
