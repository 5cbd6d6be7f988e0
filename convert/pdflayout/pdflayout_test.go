package pdflayout_test

import (
	"strings"
	"testing"

	"readthru/convert/pdflayout"
	"readthru/pdf"
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
