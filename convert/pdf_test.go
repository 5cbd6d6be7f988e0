package convert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

// pdfFile returns a PDF of one page for each content stream, without a table of its objects. F1 is a text font, F2 its
// bold, F3 a font for code and F4 its italics.
func pdfFile(contents ...string) string {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n")
	for i, name := range []string{"Helvetica", "Helvetica-Bold", "Courier", "Helvetica-Oblique"} {
		fmt.Fprintf(&b, "%d 0 obj << /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >> endobj\n", 3+i,
			name)
	}
	var kids []string
	for i, c := range contents {
		fmt.Fprintf(&b, "%d 0 obj << /Length %d >> stream\n%s\nendstream endobj\n", 10+2*i, len(c), c)
		fmt.Fprintf(&b, "%d 0 obj << /Type /Page /MediaBox [0 0 600 800] /Contents %d 0 R /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R /F4 6 0 R >> >> /Annots [<< /Subtype /Link /Rect [50 690 72 712] /A << /URI (https://a.test/x) >> >>] >> endobj\n", 11+2*i, 10+2*i)
		kids = append(kids, fmt.Sprintf("%d 0 R", 11+2*i))
	}
	fmt.Fprintf(&b, "2 0 obj << /Type /Pages /Kids [%s] >> endobj\n", strings.Join(kids, " "))
	return b.String()
}

// at draws a line of text in a font and size.
func at(x, y int, font string, text string) string {
	return fmt.Sprintf("BT /%s Tf 1 0 0 1 %d %d Tm (%s) Tj ET\n", font, x, y,
		strings.NewReplacer("(", `\(`, ")", `\)`).Replace(text))
}

// lines draws lines of text below one another.
func lines(x, y int, texts ...string) string {
	var b strings.Builder
	for i, s := range texts {
		b.WriteString(at(x, y-12*i, "F1 10", s))
	}
	return b.String()
}

// rules draws the lines between cells, from an upper left corner on: upright ones at xs and level ones at ys from
// there.
// Of the last row, the lines between its cells are left out if it is open.
func rules(x, y int, xs, ys []int, open bool) string {
	var b strings.Builder
	last := len(ys) - 1
	for _, dy := range ys {
		fmt.Fprintf(&b, "%d %d m %d %d l S ", x+xs[0], y-dy, x+xs[len(xs)-1], y-dy)
	}
	for i, dx := range xs {
		end := ys[last]
		if open && i > 0 && i < len(xs)-1 {
			end = ys[last-1]
		}
		fmt.Fprintf(&b, "%d %d .4 %d re f ", x+dx, y-end, end-ys[0])
	}
	return b.String()
}

func TestPDFBecomesMarkdown(t *testing.T) {
	filler := lines(50, 300, "Some text that is here for its size alone, and for nothing else at all in the world,",
		"since most of a page is text.")
	const fill = "Some text that is here for its size alone, and for nothing else at all in the world, since most of a page is text."
	for _, tt := range []struct{ name, content, want string }{
		{
			"headings by size, paragraphs by gaps",
			at(50, 750, "F1 20", "A title") + at(50, 700, "F1 14", "A section") + lines(50, 650,
				"First line of a paragraph that is as long as lines are on pages such as this one is,", "and its second.") +
				lines(50, 610, "Another one.") + filler,
			"# A title\n\n## [A](https://a.test/x) section\n\nFirst line of a paragraph that is as long as lines are on pages such as this one is, and its second.\n\nAnother one.\n\n" + fill + "\n",
		},
		{
			"bold line alone is a heading", at(50, 750, "F2 10", "Bold heading") + lines(50, 720, "Text.") + filler,
			"# Bold heading\n\nText.\n\n" + fill + "\n",
		},
		{
			"hyphens at line ends", lines(50, 760, "The characteris-", "tics of a well-",
				"Known thing, and again of the charac-", "teristics that all pages of this kind have, or so it seems.") + filler,
			"The characteristics of a well-Known thing, and again of the characteristics that all pages of this kind have, or so it seems.\n\n" + fill + "\n",
		},
		{
			"words drawn apart", "BT /F1 10 Tf 50 700 Td [(w) 10 (o) -20 (rd) -300 (two)] TJ ET " + filler,
			"[word](https://a.test/x) two\n\n" + fill + "\n",
		},
		{
			"list", lines(50, 700-60, "\\225 one", "\\225 two that is long") + lines(60, 700-84, "and goes on") + lines(50, 604,
				"1. first", "2. second") + filler,
			"- one\n- two that is long and goes on\n1. first\n2. second\n\n" + fill + "\n",
		},
		{
			"contents", lines(50, 650, "1 Basics") + lines(400, 650, "1") + lines(60, 638, "1.1 Why . . . . . . . . . . . . . 2") +
				lines(50, 626, "2 More") + lines(400, 626, "4") + filler,
			"- 1 Basics 1\n  - 1.1 Why … 2\n- 2 More 4\n\n" + fill + "\n",
		},
		{
			"contents whose entries have two lines", lines(50, 650, "1 Why . . . . . . . . . . . . . . . 2",
				"2 What is asked of those who") + lines(62, 626, "come late . . . . . . . . . . . 3") +
				lines(50, 614, "3 How . . . . . . . . . . . . . . . 5") + filler,
			"- 1 Why … 2\n- 2 What is asked of those who come late … 3\n- 3 How … 5\n\n" + fill + "\n",
		},
		{
			"contents without dots", at(50, 670, "F2 10", "Contents") + lines(50, 650, "1 Basics") + lines(400, 650, "1") +
				lines(50, 638, "2 Use") + lines(400, 638, "2") + lines(50, 626, "3 More") + lines(400, 626, "4") +
				at(50, 590, "F2 10", "1 Basics") + filler,
			"# Contents\n\n- 1 Basics 1\n- 2 Use 2\n- 3 More 4\n\n# 1 Basics\n\n" + fill + "\n",
		},
		{
			"index", lines(50, 650, "blank . . . . . . . . . . . . . . . 2", "frame . . 4, 5, 6, 11, 22,", "23, 25",
				"goto . . . . . . . . . . . . . . . 7") + filler,
			"- blank … 2\n- frame . . 4, 5, 6, 11, 22, 23, 25\n- goto … 7\n\n" + fill + "\n",
		},
		{
			"numbered headings in italics, and none", lines(50, 660, "Some text.") + at(50, 630, "F4 10", "2.1. What it is") +
				lines(50, 610, "More text.") + at(50, 580, "F4 10", "2.2. First of two lines") +
				at(50, 568, "F4 10", "of a remark.") + filler,
			"Some text.\n\n## 2.1. What it is\n\nMore text.\n\n2.2. First of two lines of a remark.\n\n" + fill + "\n",
		},
		{
			"table", lines(50, 650, "Year", "2021", "2022") + lines(150, 650, "Revenue", "1,200", "1,400") + lines(250, 650,
				"Profit", "*100*", "150") + filler,
			"| Year | Revenue | Profit |\n| --- | --- | --- |\n| 2021 | 1,200 | \\*100\\* |\n| 2022 | 1,400 | 150 |\n\n" + fill +
				"\n",
		},
		{
			"table whose cells are ruled, with a cell over two columns and cells of two lines",
			rules(50, 702, []int{0, 80, 200}, []int{0, 30, 60, 90}, true) + lines(55, 690, "Name", "of all") +
				lines(135, 690, "What it is") + lines(55, 660, "a", "and b") + lines(135, 660, "the first", "letters") +
				lines(55, 630, "over both") + filler,
			"| Name of all | What it is |\n| --- | --- |\n| a and b | the first letters |\n| over both |  |\n\n" + fill + "\n",
		},
		{
			"table with lines between its rows, and the header above the first",
			at(50, 690, "F2 10", "Name") + at(150, 690, "F2 10", "What it is for") +
				"50 685 m 150 685 l 150 685 m 290 685 l S " + lines(50, 672, "one that", "is long") + lines(150, 672, "to begin") +
				"50 655 m 150 655 l 150 655 m 290 655 l S " + lines(50, 642, "two") + lines(150, 642, "to go on") +
				"50 637 m 150 637 l 150 637 m 290 637 l S " + filler,
			"| Name | What it is for |\n| --- | --- |\n| one that is long | to begin |\n| two | to go on |\n\n" + fill + "\n",
		},
		{
			"table between three rules", "50 704 240 .5 re 50 684 240 .5 re 50 640 240 .5 re f " +
				lines(50, 690, "Year") + lines(150, 690, "Gain in all") + lines(50, 672, "2021") + lines(150, 672, "nothing") +
				lines(50, 660, "2022") + lines(150, 660, "as much") + lines(50, 648, "2023") + lines(150, 648, "more") + filler,
			"| Year | Gain in all |\n| --- | --- |\n| 2021 | nothing |\n| 2022 | as much |\n| 2023 | more |\n\n" + fill + "\n",
		},
		{
			"frame round text is no table", rules(45, 665, []int{0, 500}, []int{0, 40}, false) + lines(50, 650,
				"Text in a box, which is as wide as the text of the page is, and which", "goes on.") + filler,
			"Text in a box, which is as wide as the text of the page is, and which goes on.\n\n" + fill + "\n",
		},
		{
			"contents", lines(50, 640, "1 Rivers . . . . . . . . . . 3", "2 Seas ........ 12", "Index....iv") + filler,
			"- 1 Rivers … 3\n- 2 Seas … 12\n- Index … iv\n\n" + fill + "\n",
		},
		{
			"code", at(50, 650, "F3 10", "if x {") + at(74, 638, "F3 10", "`y`") + at(50, 626, "F3 10", "}") + filler,
			"```\nif x {\n    `y`\n}\n```\n\n" + fill + "\n",
		},
		{"exponents stay in their line", at(50, 650, "F1 10", "E = mc") + at(82, 654, "F1 6", "2") + at(88, 650, "F1 10",
			"holds.") + filler, "E = mc2 holds.\n\n" + fill + "\n"},
		{
			"marks over letters",
			"BT /F1 10 Tf 50 650 Td (Caf) Tj 1 0 0 1 66.7 650 Tm (\\264) Tj 1 0 0 1 65.6 650 Tm (e) Tj ET " + filler,
			"Café\n\n" + fill + "\n",
		},
		{
			"what is drawn is no markdown", lines(50, 650, "# no heading", "- - -") + filler,
			"\\# no heading\n\n- \\- -\n\n" + fill + "\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := document(t, pdfFile(tt.content), "application/pdf").Markdown; got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestColumnsAreReadOneAfterTheOther(t *testing.T) {
	var left, right []string
	for i := range 8 {
		left = append(left, fmt.Sprintf("left %d of a column with enough words", i))
		right = append(right, fmt.Sprintf("right %d of a column with enough words", i))
	}
	got := document(t, pdfFile(at(50, 760, "F1 18", "A title over the whole width of the page")+lines(50, 700, left...)+
		lines(320, 700, right...)), "application/pdf").Markdown
	if strings.Index(got, "left 7") > strings.Index(got, "right 0") || !strings.HasPrefix(got, "# A title over") {
		t.Errorf("markdown = %q", got)
	}
}

func TestPDFLosesRunningHeadsAndMarksPages(t *testing.T) {
	var pages []string
	for i := range 4 {
		pages = append(pages, at(50, 770, "F1 8", "The book of rivers")+lines(50, 700,
			fmt.Sprintf("Page text number %c, a sentence that says something and ends here.", 'a'+i))+at(290, 30, "F1 8",
			fmt.Sprint(i+1)))
	}
	got := document(t, pdfFile(pages...), "application/pdf").Markdown
	if strings.Contains(got, "book of rivers") || !strings.Contains(got, "<!-- page 3 -->\n\n") ||
		strings.Contains(got, "\n3\n") || !strings.Contains(got, "number d") {
		t.Errorf("markdown = %q", got)
	}
}

func TestPDFWithoutTextHasAWarning(t *testing.T) {
	for _, tt := range []struct{ name, content, warning string }{
		{"no text layer", pdfFile("q BI /W 1 ID x EI Q"), convert.WarnScanned},
		{"no pages", "%PDF-1.4\nnothing", convert.WarnDamaged},
		{"password", "%PDF-1.4\n1 0 obj << /Type /Catalog /Pages << /Kids [<< /Type /Page >>] >> >> endobj\ntrailer << /Root 1 0 R /Encrypt << /Filter /Other >> >>", convert.WarnEncrypted},
		{"fonts without a meaning", strings.Replace(pdfFile("BT /F4 9 Tf 50 700 Td (ab) Tj ET"), "/F4 6 0 R",
			"/F4 << /Subtype /Type3 /FontMatrix [1 0 0 1 0 0] /FirstChar 97 /Widths [1 1] /Encoding << /Differences [97 /g1 /g2] >> >>",
			1), convert.WarnUnmapped + "=2"},
	} {
		res := document(t, tt.content, "application/pdf")
		if res.Markdown != "" || !slices.Contains(res.Warnings, tt.warning) {
			t.Errorf("%s: %q, warnings %q, want %s", tt.name, res.Markdown, res.Warnings, tt.warning)
		}
	}
	if res := document(t, "<!doctype html><p>The file is gone.",
		"application/pdf"); res.Markdown != "The file is gone.\n" {
		t.Errorf("HTML labelled as PDF: %q", res.Markdown)
	}
}
