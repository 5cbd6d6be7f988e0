package convert

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"readthru/convert/guard"
	"readthru/pdf"
)

// pdfRow is what stands on one baseline, from left to right.
type pdfRow struct {
	words []pdfWord
	y     float32
	size  float32 // of most of it
}

// pdfPage is a page whose lines are in reading order.
type pdfPage struct {
	number        int
	width, height float32
	lines         []*pdfLine
	hidden        int     // glyphs left out because no reader sees them
	head, foot    float32 // above and below which its margins are
}

// The shares of a font's size by which gaps are judged. Word spaces of justified text begin at .2, kerning ends at .1.
const (
	wordGap = .15
	cellGap = 1.5 // wider gaps part the cells of a row
)

// layPage puts a page's glyphs into lines. Text that is turned comes after the rest.
func layPage(ctx context.Context, p *pdf.Page) *pdfPage {
	page := &pdfPage{number: p.Number, width: float32(p.Width), height: float32(p.Height), hidden: p.Hidden}
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
		words := pdfWords(glyphs)
		if turn == 0 {
			linkWords(words, p.Links)
		}
		for column, rows := range columns(ctx, pdfRows(words), 0) {
			cuts := cellCuts(rows)
			for i, r := range rows {
				l := newLine(r, p.Number, cuts[i])
				l.column = column + int(turn)<<16
				page.lines = append(page.lines, l)
			}
		}
	}
	return page
}

// pdfRows puts words that share a baseline into rows, the highest first. Small words a little above or below, as
// exponents are, belong to the row that they touch.
func pdfRows(words []pdfWord) []pdfRow {
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(words[b].size, words[a].size) })
	const grain = 4 // points of a bucket
	buckets := map[int][]int{}
	var rows []pdfRow
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
					if touches(row, w) {
						limit = .6 * row.size
					}
				}
				if off <= limit && off < bestOff {
					best, bestOff = n, off
				}
			}
		}
		if best < 0 {
			rows = append(rows, pdfRow{y: w.y, size: w.size})
			best = len(rows) - 1
			buckets[key] = append(buckets[key], best)
		}
		rows[best].words = append(rows[best].words, w)
	}
	for i := range rows {
		slices.SortStableFunc(rows[i].words, func(a, b pdfWord) int { return cmp.Compare(a.x0, b.x0) })
		rows[i].words = slices.CompactFunc(rows[i].words, func(a, b pdfWord) bool { // shadows and simulated bold
			return a.text == b.text && abs32(a.x0-b.x0) < .15*a.size && abs32(a.y-b.y) < .15*a.size
		})
	}
	slices.SortStableFunc(rows, func(a, b pdfRow) int { return cmp.Compare(b.y, a.y) })
	return rows
}

// touches reports whether w stands right beside a word of the row.
func touches(row *pdfRow, w pdfWord) bool {
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

// pdfCell is a part of a line that a wide gap parts from the next.
type pdfCell struct {
	pieces []piece
	x0, x1 float32
}

// piece is text with the URL that it leads to, which may be empty.
type piece struct{ text, url string }

// pdfLine is a line of a column.
type pdfLine struct {
	page, column int
	cells        []pdfCell
	x0, x1, y    float32
	size         float32
	letters      int // runes
	bold, mono   bool
}

func (l *pdfLine) text() string {
	var b strings.Builder
	for i, c := range l.cells {
		if i > 0 {
			b.WriteByte(' ')
		}
		for _, p := range c.pieces {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// newLine makes a line of the words of one row within a column. Its cells are parted by wide gaps, and at cuts.
func newLine(r pdfRow, page int, cuts []float32) *pdfLine {
	words := r.words
	if rightToLeft(words) {
		words = reversed(words)
	}
	l := &pdfLine{page: page, x0: r.words[0].x0, y: r.y, size: r.size}
	sizes := map[float32]int{}
	bold, mono := 0, 0
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
		l.x1 = max(l.x1, w.x1)
		gap := float32(0)
		if i > 0 {
			gap = w.x0 - words[i-1].x1
		}
		if i == 0 || gap > cellGap*r.size || slices.ContainsFunc(cuts,
			func(x float32) bool { return x >= words[i-1].x1 && x <= w.x0 }) {
			l.cells = append(l.cells, pdfCell{x0: w.x0})
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
	l.bold, l.mono = 2*bold > l.letters, 5*mono > 4*l.letters
	return l
}

func (c *pdfCell) add(w pdfWord, apart bool) {
	n := len(c.pieces)
	text := w.text
	if apart {
		switch last := &c.pieces[n-1]; {
		case last.url != "" && last.url != w.url:
			c.pieces = append(c.pieces, piece{text: " "})
			n++
		case last.url == "" && w.url != "":
			last.text += " "
		default:
			text = " " + text
		}
	}
	if n > 0 && c.pieces[n-1].url == w.url {
		c.pieces[n-1].text += text
		return
	}
	c.pieces = append(c.pieces, piece{text, w.url})
}

// rightToLeft reports whether most letters of words are of a script written from right to left.
func rightToLeft(words []pdfWord) bool {
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

// reversed puts words drawn from left to right into the order in which they are read.
func reversed(words []pdfWord) []pdfWord {
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
