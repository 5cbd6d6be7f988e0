package pdflayout_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert/pdf"
	"github.com/readthru/readthru/convert/pdflayout"
)

// at returns the glyphs of a line of text in which each glyph is half as wide as its size.
func at(x, y, size float32, text string) (glyphs []pdf.Glyph) {
	for _, r := range text {
		if r != ' ' {
			glyphs = append(glyphs, pdf.Glyph{Text: string(r), X: x, Y: y, W: size / 2, Size: size})
		}
		x += size / 2
	}
	return glyphs
}

// lines returns the glyphs of lines below one another.
func lines(x, y float32, texts ...string) (glyphs []pdf.Glyph) {
	for i, text := range texts {
		glyphs = append(glyphs, at(x, y-12*float32(i), 10, text)...)
	}
	return glyphs
}

// layOut returns the text of the blocks of one page, each with the letter of its kind.
func layOut(t *testing.T, glyphs ...[]pdf.Glyph) string {
	t.Helper()
	p := &pdf.Page{Number: 1, Width: 600, Height: 800}
	for _, list := range glyphs {
		p.Glyphs = append(p.Glyphs, list...)
	}
	page := pdflayout.NewPage(t.Context(), p, func(string) bool { return false })
	var b strings.Builder
	for _, block := range pdflayout.Blocks(t.Context(), []*pdflayout.Page{page}) {
		b.WriteString([]string{"P", "H", "I", "C", "T"}[block.Kind] + ":")
		if block.Kind == pdflayout.Table {
			for _, row := range block.Rows() {
				b.WriteString(" " + strings.Join(row, "|"))
			}
		}
		for _, piece := range block.Pieces {
			b.WriteString(" " + strings.TrimSpace(piece.Text))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestBlocks(t *testing.T) {
	filler := lines(50, 300, "Some text that is here for its size alone, and for nothing else at all,",
		"since most of a page is text.")
	const fill = "P: Some text that is here for its size alone, and for nothing else at all, since most of a page is text.\n"
	for _, tt := range []struct {
		name   string
		glyphs []pdf.Glyph
		want   string
	}{
		{"heading by size", at(50, 700, 20, "A title"), "H: A title\n"},
		{"paragraphs by gaps", append(lines(50, 650, "One."), lines(50, 610, "Two.")...), "P: One.\nP: Two.\n"},
		{"list", lines(50, 650, "1. first", "2. second"), "I: first\nI: second\n"},
		{
			"table", append(append(lines(50, 650, "Year", "2021", "2022"), lines(150, 650, "Revenue", "1,200", "1,400")...),
				lines(250, 650, "Profit", "100", "150")...), "T: Year|Revenue|Profit 2021|1,200|100 2022|1,400|150\n",
		},
		{
			"hyphen at the end of a line", lines(50, 650, "Words of the charac-",
				"teristics that all pages have, as it seems to all."),
			"P: Words of the characteristics that all pages have, as it seems to all.\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := layOut(t, tt.glyphs, filler); got != tt.want+fill {
				t.Errorf("got\n%swant\n%s", got, tt.want+fill)
			}
		})
	}
}

// TestTextFromRightToLeft holds that such text, which is drawn from left to right, is put into the order in which it is
// read: words, letters, the letters of ligatures, brackets, and what is quoted of another script.
func TestTextFromRightToLeft(t *testing.T) {
	ligature := at(50, 650, 10, "م س")
	ligature = append(ligature[:1:1], pdf.Glyph{Text: "لا", X: 55, Y: 650, W: 5, Size: 10}, ligature[1])
	for _, tt := range []struct {
		name   string
		glyphs []pdf.Glyph
		want   string
	}{
		{"a ligature of two letters", ligature, "سلام"},
		{"a ligature that is a presentation form", at(50, 650, 10, "مﻻس"), "سلام"},
		{"a word in brackets", at(50, 650, 10, "(ملع) بتك"), "كتب (علم)"},
		{"a bracket that is not drawn mirrored", at(50, 650, 10, ")ملع( بتك"), "كتب (علم)"},
		{"words of another script", at(50, 650, 10, "سردم بتك A Tale ملع"), "علم A Tale كتب مدرس"},
		{"a word in a line of another script", at(50, 650, 10, "the word ملع means to know"), "the word علم means to know"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := layOut(t, tt.glyphs); got != "P: "+tt.want+"\n" {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestTextBetweenRulesIsNoTable holds that prose and code between rules of one length, as stand over and under boxes of
// code, are not cut up into the columns of the few lines with wide gaps.
func TestTextBetweenRulesIsNoTable(t *testing.T) {
	p := &pdf.Page{Number: 1, Width: 600, Height: 800}
	p.Glyphs = slices.Concat(at(50, 700, 10, "Chapter 4"), at(350, 700, 10, "The example"),
		lines(50, 680, "The upstream version of the example is stated here at some length.",
			"It is followed by a second line, which runs as far to the right."),
		lines(50, 640, "cat debhello/debian/control and all that stands in it", "Source: debhello and a few words"),
		at(50, 600, 10, "Note"), at(350, 600, 10, "The end"),
		at(50, 580, 10, "A last line of text is as long as all of the other ones are."))
	for _, y := range []float32{715, 655, 615, 570} {
		p.Rules = append(p.Rules, pdf.Rule{X0: 50, Y0: y, X1: 500, Y1: y})
	}
	page := pdflayout.NewPage(t.Context(), p, func(string) bool { return false })
	for _, block := range pdflayout.Blocks(t.Context(), []*pdflayout.Page{page}) {
		if block.Kind == pdflayout.Table {
			t.Errorf("a table: %q", block.Rows())
		}
	}
}

// FuzzLayOut lays out pages of glyphs and rules at random and checks that each letter is in a block, once.
func FuzzLayOut(f *testing.F) {
	f.Add([]byte("a row of cells\x00and more of them"), uint8(4))
	f.Add([]byte(strings.Repeat("Ab3\xff\x10\x80", 60)), uint8(20))
	f.Add([]byte(strings.Repeat("\x10\x20x\x10\x30y\x60\x20z\x60\x30w", 20)), uint8(9))
	f.Fuzz(func(t *testing.T, places []byte, rules uint8) {
		p := &pdf.Page{Number: 1, Width: 600, Height: 800}
		want := 0
		for i := 0; i+2 < len(places) && i < 3000; i += 3 {
			x, y, size := float32(places[i])*2, float32(places[i+1])*3, float32(places[i+2]%4)*2+6
			for k := range int(places[i+2]>>2) % 12 {
				letter := string(rune('a' + k))
				p.Glyphs = append(p.Glyphs, pdf.Glyph{Text: letter, X: x + float32(k)*size, Y: y, W: size, Size: size})
				want++
			}
		}
		for i := range min(int(rules), len(places)) {
			at := float32(places[i]) * 2
			if i%2 == 0 {
				p.Rules = append(p.Rules, pdf.Rule{X0: 50, Y0: at, X1: 500, Y1: at})
			} else {
				p.Rules = append(p.Rules, pdf.Rule{X0: at, Y0: 60, X1: at, Y1: 700})
			}
		}
		page := pdflayout.NewPage(t.Context(), p, func(string) bool { return false })
		got := 0
		for _, block := range pdflayout.Blocks(t.Context(), []*pdflayout.Page{page}) {
			var b strings.Builder
			for _, piece := range block.Pieces {
				b.WriteString(piece.Text)
			}
			switch block.Kind {
			case pdflayout.Table:
				for _, row := range block.Rows() {
					b.WriteString(strings.Join(row, " "))
				}
			case pdflayout.Code:
				b.WriteString(block.Text())
			}
			got += strings.Count(strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'l' {
					return 'x'
				}
				return -1
			}, b.String()), "x")
		}
		if got > want || got < want && !overprinted(p.Glyphs) {
			t.Errorf("%d letters of %d", got, want)
		}
	})
}

// overprinted reports whether two equal glyphs stand nearly at one place: of those, as programs make bold, one is kept.
func overprinted(glyphs []pdf.Glyph) bool {
	for i, a := range glyphs {
		for _, b := range glyphs[:i] {
			if a.Text == b.Text && max(a.X-b.X, b.X-a.X) < a.Size+b.Size && max(a.Y-b.Y, b.Y-a.Y) < a.Size {
				return true
			}
		}
	}
	return false
}
