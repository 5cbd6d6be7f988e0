package pdflayout

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/pdf"
)

// word is a word with the box it fills. Lengths are in points; y is the baseline, from the page's lower edge. It is the
// smallest thing that the layout moves; a row, a run and a cell are lists of them.
type word struct {
	text      string
	x0, x1, y float32
	size      float32
	style     pdf.Style
	url       string
	drawn     int  // its place in the order of drawing, on pages with ruled tables
	spaced    bool // a space was drawn before it
	apart     bool // it begins a cell: no space was drawn before it, as elsewhere on the page
}

// wordsOf joins glyphs, in the order of drawing, to words. A word ends at a space, at a gap and where the baseline
// changes. Glyphs are of one direction. An accent that is drawn on its own is joined to its letter, and a glyph that is
// drawn twice at one place is taken once.
func wordsOf(glyphs []pdf.Glyph) []word {
	var list []word
	var b strings.Builder
	var w word
	spaced := false
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
		if chars.Blank(g.Text) {
			end()
			spaced = true
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
			same := abs32(g.Y-w.y) <= .12*size && gap <= spacing(glyphs, i)*size && gap >= -.6*size &&
				abs32(g.Size-w.size) <= .25*size
			if same && gap < -.2*size && g.X < w.x0 {
				same = false
			}
			if !same {
				end()
			}
		}
		if b.Len() == 0 {
			w = word{x0: g.X, x1: g.X, y: g.Y, size: g.Size, style: g.Style, spaced: spaced}
			spaced = false
		}
		if repeated(list, &b, w, g) {
			continue
		}
		b.WriteString(drawnOrder(g.Text))
		w.x1 = max(w.x1, g.X+g.W)
	}
	end()
	return list
}

// spacing returns the gap, as a share of the size, beyond which the glyph at i begins a word: more than usual where
// letters are set apart evenly, as in some headings. It looks at eight glyphs on either side: if four fifths of their
// gaps are alike, that gap is between letters. i is at least 1.
func spacing(glyphs []pdf.Glyph, i int) float32 {
	const around = 8
	if g := (glyphs[i].X - glyphs[i-1].X - glyphs[i-1].W) / max(glyphs[i].Size, 1); g < .1 || g > 1 {
		return wordGap
	}
	var room [2 * around]float32
	gaps := room[:0]
	for k := max(1, i-around); k < min(len(glyphs), i+around); k++ {
		a, b := glyphs[k-1], glyphs[k]
		if a.Y == b.Y && a.Size == b.Size && !chars.Blank(a.Text) && !chars.Blank(b.Text) && b.X >= a.X {
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

// repeated reports, before words are made, whether a glyph is drawn a second time at its place, as some programs make
// bold. list are the words that are finished, b and w the one that is being made. A repeated word is found by its first
// glyph, if it is of one glyph.
func repeated(list []word, b *strings.Builder, w word, g pdf.Glyph) bool {
	if b.Len() > 0 {
		last, _ := utf8.DecodeLastRuneInString(b.String())
		return string(last) == g.Text && g.W > 0 && g.X < w.x1-.75*g.W && g.X+g.W > w.x1-.25*g.W
	}
	if n := len(list); n > 0 && len(g.Text) == len(list[n-1].text) {
		return list[n-1].text == g.Text && abs32(list[n-1].x0-g.X) < .1*g.Size && list[n-1].y == g.Y
	}
	return false
}

// spacingAccents are the marks that old fonts draw over a letter of their own, and what they are as combining
// characters. TeX's older fonts draw accented letters so.
var spacingAccents = map[string]string{
	"´": "\u0301", "`": "\u0300", "¨": "\u0308", "ˆ": "\u0302", "˜": "\u0303", "ˇ": "\u030c", "˘": "\u0306", "¯": "\u0304",
	"˙": "\u0307", "˝": "\u030b", "˚": "\u030a", "¸": "\u0327", "˛": "\u0328",
}

// accent reports whether s may be a key of spacingAccents, which few texts are. It spares most glyphs the look into the
// map: every key but the grave has several bytes.
func accent(s string) bool { return len(s) > 1 || s == "`" }

// accented joins, in a word, a mark and the letter under it, in either order of drawing. It is false where the two do
// not stand over one another, or the other is no letter. The dotless i under a mark is an i.
func accented(a, b pdf.Glyph) (string, bool) {
	mark, ok := "", false
	letter := b
	if accent(a.Text) {
		mark, ok = spacingAccents[a.Text]
	}
	if !ok {
		if !accent(b.Text) {
			return "", false
		}
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

// ligatures writes out the ligatures of a PDF's words, and makes plain spaces and hyphens of special ones: agents
// search for words as people type them.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "ft", "ﬆ", "st",
	"\u00a0", " ", "\u2010", "-", "\u2011", "-")

// cleanWord returns a word of a PDF without invisible characters. Of the characters of Unicode's private area, seven
// that symbol fonts have for bullets become a bullet; the others go. A soft hyphen at its end goes, and what is left
// may be "".
func cleanWord(s string) string {
	s = ligatures.Replace(strings.TrimRight(s, "\u00ad"))
	if strings.IndexFunc(s, func(r rune) bool { return r >= 0xe000 && r <= 0xf8ff || r == utf8.RuneError }) >= 0 {
		s = strings.Map(func(r rune) rune {
			switch {
			case r == utf8.RuneError:
				return -1
			case r >= 0xf020 && r <= 0xf0ff && (r == 0xf0b7 || r == 0xf0a7 || r == 0xf0d8 || r == 0xf0fc || r == 0xf0a8 ||
				r == 0xf06c || r == 0xf06e):
				return '•'
			case r >= 0xe000 && r <= 0xf8ff:
				return -1
			}
			return r
		}, s)
	}
	s, _ = chars.Visible(s)
	return strings.TrimSpace(s)
}

// linkWords gives words the URL of the area that they stand in, if it is linkable. An area of a later link wins. A word
// is in an area if its middle is.
func linkWords(words []word, links []pdf.Link, linkable func(url string) bool) {
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
