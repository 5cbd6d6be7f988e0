// Package pdflayout makes text of the glyphs on the pages of a PDF: glyphs become words, words lines, lines columns in
// reading order, and those headings, paragraphs, lists, tables and code.
//
// A PDF says where each glyph is and nothing about words or paragraphs, so that all of this is inferred from distances,
// sizes and fonts: words from gaps (words.go), columns from strips without words (columns.go), headings from sizes
// larger than that of most text (blocks.go). Call [NewPage] for each page, then [DropMargins] with all pages to remove
// headers and footers, then [Blocks].
package pdflayout

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/pdf"
)

// row is what stands on one baseline of a page or of a column, from left to right. It is made by rowsOf and cut by
// columns, before it becomes a line.
type row struct {
	words []word
	y     float32
	size  float32 // of most of it
}

// Page is a page whose lines are in reading order. Lengths are in points, from the page's lower left corner, as in
// package pdf. [NewPage] makes it, [DropMargins] takes lines out of it, and [Blocks] reads it.
type Page struct {
	number        int
	width, height float32
	lines         []*line
	head, foot    float32 // above and below which its margins are
}

// The shares of a font's size by which gaps are judged. Word spaces of justified text begin at .2, kerning ends at .1.
const (
	wordGap = .15
	cellGap = 1.5 // wider gaps part the cells of a row
)

// NewPage puts a page's glyphs into lines. Turned text comes after the rest. A link is kept if linkable accepts its
// URL. It reads first what is upright, then what is turned by one, two and three quarters; only upright text has links
// and ruled tables. Lines are numbered by the column that they stand in, so that later steps know which lines follow
// one another; the columns of turned text have numbers from 1<<16 on. It panics, by guard.Check, when ctx ends: package
// convert recovers that.
func NewPage(ctx context.Context, p *pdf.Page, linkable func(url string) bool) *Page {
	page := &Page{number: p.Number, width: float32(p.Width), height: float32(p.Height)}
	for turn := range uint8(4) {
		glyphs := make([]pdf.Glyph, 0, len(p.Glyphs))
		for _, g := range p.Glyphs {
			if g.Turn == turn {
				glyphs = append(glyphs, g)
			}
		}
		if len(glyphs) == 0 {
			continue
		}
		guard.Check(ctx)
		words := wordsOf(glyphs)
		if turn == 0 {
			linkWords(words, p.Links, linkable)
		}
		var grids []*grid
		var members [][]int
		if turn == 0 {
			grids, members = ruledGrids(words, p.Rules, page.height)
		}
		column := int(turn) << 16
		// A flow is read as columns by places, unless it is a table; what goes on below the flow before it is of the same
		// column.
		for i, f := range flowsOf(ctx, words, grids, members) {
			if i > 0 && !f.joined {
				column++
			}
			if f.grid != nil {
				page.lines = append(page.lines, f.grid.line(p.Number, column))
				continue
			}
			for k, rows := range columns(ctx, rowsOf(f.words()), !f.tangled, 0) {
				if k > 0 {
					column++
				}
				for _, l := range linesOf(rows, p.Number) {
					l.column = column
					page.lines = append(page.lines, l)
				}
			}
		}
	}
	return page
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

// Length returns the size of the page's text, in bytes. Package convert bounds the text of a file by it.
func (p *Page) Length() (n int) {
	for _, l := range p.lines {
		n += len(l.text()) + 1
	}
	return n
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

// beside reports whether the word w stands right beside a word of the row, as an exponent does. It looks at the last
// 400 words of the row: longer ones are of no page of text.
func beside(row *row, w word) bool {
	for _, v := range row.words[max(0, len(row.words)-400):] {
		if w.x0-v.x1 < .3*row.size && w.x0-v.x1 > -.3*row.size || v.x0-w.x1 < .3*row.size && v.x0-w.x1 > -.3*row.size {
			return true
		}
	}
	return false
}

func abs32(f float32) float32 {
	if f < 0 {
		return -f
	}
	return f
}

// cell is a part of a line that a wide gap parts from the next. Lines of running text have one.
type cell struct {
	pieces []Piece
	x0, x1 float32
}

// Piece is text with the URL that it links to, if any.
type Piece struct{ Text, URL string }

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

// rightToLeft reports whether most letters of words are of a script written from right to left: Hebrew, Arabic and
// others, and their presentation forms. Words without letters are not.
func rightToLeft(words []word) bool {
	right, all := 0, 0
	for _, w := range words {
		for _, r := range w.text {
			if unicode.IsLetter(r) {
				if all++; r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfefc {
					right++
				}
			}
		}
	}
	return 2*right > all
}

// quoted puts words of scripts written from right to left, in a line of another script, into the order in which they
// are read. The words given are not changed.
func quoted(words []word) []word {
	var out []word
	for from := 0; from < len(words); from++ {
		end := from
		for end < len(words) && rightToLeft(words[end:end+1]) {
			end++
		}
		if end == from {
			continue
		}
		if out == nil {
			out = slices.Clone(words)
		}
		copy(out[from:end], reversed(words[from:end]))
		from = end
	}
	if out == nil {
		return words
	}
	return out
}

// reversed puts words of scripts written from right to left, which a PDF draws from left to right, into the order in
// which they are read: the words, and the letters in each. Presentation forms become plain letters.
func reversed(words []word) []word {
	out := slices.Clone(words)
	slices.Reverse(out)
	for i := range out {
		if rightToLeft(out[i : i+1]) {
			letters := []rune(norm.NFKC.String(out[i].text))
			slices.Reverse(letters)
			out[i].text = string(letters)
		}
	}
	return out
}
