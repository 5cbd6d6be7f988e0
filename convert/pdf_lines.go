package convert

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"readthru/pdf"
)

// pdfWord is a word with the box it fills. Lengths are in points; y is the baseline, from the page's lower edge.
type pdfWord struct {
	text      string
	x0, x1, y float32
	size      float32
	style     pdf.Style
	url       string
}

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
		check(ctx)
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

// pdfWords joins glyphs, in the order of drawing, to words. A word ends at a space, at a gap and where the baseline changes.
func pdfWords(glyphs []pdf.Glyph) []pdfWord {
	var list []pdfWord
	var b strings.Builder
	var w pdfWord
	end := func() {
		if b.Len() > 0 {
			if w.text = cleanWord(b.String()); w.text != "" {
				list = append(list, w)
			}
		}
		b.Reset()
	}
	for i := 0; i < len(glyphs); i++ {
		g := glyphs[i]
		if blank(g.Text) {
			end()
			continue
		}
		if i+1 < len(glyphs) {
			if text, ok := accented(g, glyphs[i+1]); ok {
				g = glyphs[i+1]
				g.Text = text
				i++
			}
		}
		if b.Len() > 0 {
			gap, size := g.X-w.x1, max(g.Size, w.size)
			same := abs32(g.Y-w.y) <= .12*size && gap <= spacing(glyphs, i)*size && gap >= -.6*size && abs32(g.Size-w.size) <= .25*size
			if same && gap < -.2*size && g.X < w.x0 {
				same = false
			}
			if !same {
				end()
			}
		}
		if b.Len() == 0 {
			w = pdfWord{x0: g.X, x1: g.X, y: g.Y, size: g.Size, style: g.Style}
		}
		if repeated(list, &b, w, g) {
			continue
		}
		b.WriteString(g.Text)
		w.x1 = max(w.x1, g.X+g.W)
	}
	end()
	return list
}

// spacing returns the gap, as a share of the size, beyond which the glyph at i begins a word: more than usual where letters are
// set apart evenly, as in some headings.
func spacing(glyphs []pdf.Glyph, i int) float32 {
	const around = 8
	if g := (glyphs[i].X - glyphs[i-1].X - glyphs[i-1].W) / max(glyphs[i].Size, 1); g < .1 || g > 1 {
		return wordGap
	}
	var gaps []float32
	for k := max(1, i-around); k < min(len(glyphs), i+around); k++ {
		a, b := glyphs[k-1], glyphs[k]
		if a.Y == b.Y && a.Size == b.Size && !blank(a.Text) && !blank(b.Text) && b.X >= a.X {
			gaps = append(gaps, (b.X-a.X-a.W)/max(b.Size, 1))
		}
	}
	if len(gaps) < 6 {
		return wordGap
	}
	slices.Sort(gaps)
	middle, even := gaps[len(gaps)/2], 0
	for _, g := range gaps {
		if abs32(g-middle) < .1 {
			even++
		}
	}
	if middle > .1 && middle < .8 && 5*even >= 4*len(gaps) {
		return middle + wordGap
	}
	return wordGap
}

// repeated reports whether a glyph is drawn a second time at its place, as some programs make bold.
func repeated(list []pdfWord, b *strings.Builder, w pdfWord, g pdf.Glyph) bool {
	if b.Len() > 0 {
		last, _ := utf8.DecodeLastRuneInString(b.String())
		return string(last) == g.Text && g.W > 0 && g.X < w.x1-.75*g.W && g.X+g.W > w.x1-.25*g.W
	}
	if n := len(list); n > 0 && len(g.Text) == len(list[n-1].text) {
		return list[n-1].text == g.Text && abs32(list[n-1].x0-g.X) < .1*g.Size && list[n-1].y == g.Y
	}
	return false
}

// spacingAccents are the marks that old fonts draw over a letter of their own, and what they are as combining characters.
var spacingAccents = map[string]string{
	"´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "ˇ": "\u030c", "˘": "\u0306", "¯": "\u0304", "˙": "\u0307", "˝": "\u030b", "˚": "\u030a", "¸": "\u0327", "˛": "\u0328",
}

// accented joins a mark and the letter under it, in either order of drawing.
func accented(a, b pdf.Glyph) (string, bool) {
	mark, ok := spacingAccents[a.Text]
	letter := b
	if !ok {
		if mark, ok = spacingAccents[b.Text]; !ok {
			return "", false
		}
		letter = a
	}
	r, _ := utf8.DecodeRuneInString(letter.Text)
	if !unicode.IsLetter(r) || abs32(a.X+a.W/2-b.X-b.W/2) > .3*b.Size || abs32(a.Y-b.Y) > .5*b.Size {
		return "", false
	}
	if letter.Text == "ı" {
		letter.Text = "i"
	}
	return norm.NFC.String(letter.Text + mark), true
}

// ligatures are letters that one sign shows.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "ft", "ﬆ", "st", "\u00a0", " ", "\u2010", "-", "\u2011", "-")

// cleanWord returns a word without what nobody sees. Signs of Unicode's private area, which are bullets of symbol fonts mostly,
// become one.
func cleanWord(s string) string {
	s = ligatures.Replace(strings.TrimRight(s, "\u00ad"))
	if strings.IndexFunc(s, func(r rune) bool { return r >= 0xe000 && r <= 0xf8ff || r == utf8.RuneError }) >= 0 {
		s = strings.Map(func(r rune) rune {
			switch {
			case r == utf8.RuneError:
				return -1
			case r >= 0xf020 && r <= 0xf0ff && (r == 0xf0b7 || r == 0xf0a7 || r == 0xf0d8 || r == 0xf0fc || r == 0xf0a8 || r == 0xf06c || r == 0xf06e):
				return '•'
			case r >= 0xe000 && r <= 0xf8ff:
				return -1
			}
			return r
		}, s)
	}
	s, _ = visible(s)
	return strings.TrimSpace(s)
}

// pdfRows puts words that share a baseline into rows, the highest first. Small words a little above or below, as exponents are,
// belong to the row that they touch.
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

// linkWords gives words the URL of the area that they stand in.
func linkWords(words []pdfWord, links []pdf.Link) {
	for _, l := range links {
		if !linkable(l.URL) {
			continue
		}
		for i := range words {
			w := &words[i]
			if x, y := (w.x0+w.x1)/2, w.y+.3*w.size; x >= l.X0 && x <= l.X1 && y >= l.Y0 && y <= l.Y1 {
				w.url = l.URL
			}
		}
	}
}

// linkable reports whether a URL may stand in markdown as it is.
func linkable(u string) bool {
	scheme, _, ok := strings.Cut(u, ":")
	return ok && schemes[strings.ToLower(scheme)] && !strings.ContainsAny(u, " <>()\\\"\n\r\t") && strings.IndexFunc(u, invisible) < 0
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
		if i == 0 || gap > cellGap*r.size || slices.ContainsFunc(cuts, func(x float32) bool { return x >= words[i-1].x1 && x <= w.x0 }) {
			l.cells = append(l.cells, pdfCell{x0: w.x0})
		}
		c := &l.cells[len(l.cells)-1]
		c.x1 = max(c.x1, w.x1)
		apart := len(c.pieces) > 0 && (gap > .1*r.size || gap < -.5*r.size || abs32(w.size-words[i-1].size) <= .25*w.size && w.y == words[i-1].y)
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
