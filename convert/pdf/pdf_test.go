package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/convert/pdf"
)

// read returns the glyphs of all pages of a file, a newline between pages.
func read(tb testing.TB, content []byte) (string, *pdf.File) {
	tb.Helper()
	f, err := pdf.Open(tb.Context(), content)
	if err != nil {
		tb.Fatal(err)
	}
	var pages []string
	for p, err := range f.Pages(tb.Context()) {
		if err != nil {
			tb.Fatal(err)
		}
		var b strings.Builder
		for _, g := range p.Glyphs {
			b.WriteString(g.Text)
		}
		pages = append(pages, b.String())
	}
	return strings.Join(pages, "\n"), f
}

func TestPagesAreInOrderAndPropertiesAreRead(t *testing.T) {
	got, f := read(t, document("BT /F1 12 Tf (one) Tj ET", "BT /F1 12 Tf (two) Tj ET"))
	if got != "one\ntwo" || f.Cut() {
		t.Errorf("%q, cut %v", got, f.Cut())
	}
	if f.Title != "Of rivers" || f.Author != "Ém" || f.Lang != "en" ||
		!f.Created.Equal(time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("%q %q %q %v", f.Title, f.Author, f.Lang, f.Created)
	}
}

func TestTextOperators(t *testing.T) {
	for _, tt := range []struct{ name, content, want string }{
		{"Tj", "BT /F1 12 Tf (a\\(b\\)\\101\\n) Tj ET", "a(b)A"},
		{"TJ with moves", "BT /F1 12 Tf [(a) -500 (b)] TJ ET", "ab"},
		{"quotes", "BT /F1 12 Tf 12 TL 9 99 Td (a) ' 1 2 (b) \" ET", "ab"},
		{"hex", "BT /F1 12 Tf <414> Tj ET", "A@"},
		{"WinAnsi", "BT /F1 12 Tf (\\223\\344\\224) Tj ET", "“ä”"},
		{"comment and odd numbers", "BT % x\n/F1 12. Tf 1 0 0 1 --5 -.5 Tm (a) Tj ET", "a"},
		{"inline image", "q BI /W 1 /H 1 ID \x00EI\xff EI Q BT /F1 9 Tf (after) Tj ET", "after"},
		{"no font, no text", "BT (a) Tj ET", ""},
		{"unknown font", "BT /F9 12 Tf (a) Tj ET", ""},
		{"stray operators", "Q Q ET EMC ] >> BT /F1 12 Tf (a) Tj ET", "a"},
		{"ActualText replaces glyphs", "BT /F1 12 Tf /Span << /ActualText (fi) >> BDC (\\001x) Tj EMC (n) Tj ET", "fin"},
		{
			"running heads that are marked",
			"/Artifact << /Type /Pagination >> BDC BT /F1 9 Tf (7) Tj ET EMC BT /F1 9 Tf (b) Tj ET", "b",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := read(t, document(tt.content)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestGlyphPositions(t *testing.T) {
	f, err := pdf.Open(t.Context(), documentWith("/Rotate 90", "",
		"q 2 0 0 2 10 20 cm BT /F1 10 Tf 0 1 -1 0 100 50 Tm (AV) Tj ET Q"))
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range f.Pages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if p.Width != 792 || p.Height != 612 || len(p.Glyphs) != 2 {
			t.Fatalf("%v × %v, %d glyphs", p.Width, p.Height, len(p.Glyphs))
		}
		a, b := p.Glyphs[0], p.Glyphs[1]
		// Drawn upwards at 210,120 on a page that is turned clockwise: from left to right at 120, 612-210.
		if a.Turn != 0 || a.X != 120 || a.Y != 402 || a.Size != 20 || math.Abs(float64(b.X-a.X-a.W)) > .01 ||
			math.Abs(float64(a.W)-.667*20) > .01 {
			t.Errorf("%+v, %+v", a, b)
		}
	}
}

func TestRulesAreLinesAndThinBoxes(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		want          []pdf.Rule
	}{
		{"line", "2 0 0 2 0 0 cm 10 20 m 60 20 l S", []pdf.Rule{{20, 40, 120, 40}}},
		{
			"box drawn round", "10 20 40 30 re s",
			[]pdf.Rule{{10, 20, 50, 20}, {50, 20, 50, 50}, {10, 50, 50, 50}, {10, 20, 10, 50}},
		},
		{"thin boxes", "10 20 40 1 re f 10 20 2 -12 re f*", []pdf.Rule{{10, 20.5, 50, 20.5}, {11, 8, 11, 20}}},
		{"triangle that is closed", "10 10 m 60 10 l 60 50 l b", []pdf.Rule{{10, 10, 60, 10}, {60, 10, 60, 50}}},
		{
			"areas, curves, dots and what only clips",
			"10 20 40 30 re f 10 10 m 20 10 30 10 40 10 c S 9 9 m 10 9 l S 0 0 99 1 re W n 7 7 l S", nil,
		},
		{"off the page, and no numbers", "-90 20 m -50 20 l S 9e9 1 m 1e99 1 l S (a) 1 m /b 2 l S", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := pdf.Open(t.Context(), document(tt.content))
			if err != nil {
				t.Fatal(err)
			}
			for p, err := range f.Pages(t.Context()) {
				if err != nil || !slices.Equal(p.Rules, tt.want) {
					t.Errorf("%v, %v, want %v", p.Rules, err, tt.want)
				}
			}
		})
	}
}

func TestGlyphsOfPicturesHaveText(t *testing.T) {
	const font = "/F2 << /Subtype /Type3 /FontMatrix [1 0 0 1 0 0] /FontBBox [0 -2 8 10] /FirstChar 0 /Widths [%s] " +
		"/Encoding << /Differences [%s] >> >>"
	widths := strings.Repeat("8 ", 128)
	for _, tt := range []struct {
		name, glyphs, shown, want string
		unmapped                  int
	}{
		{"codes as names", "12 /a12 73 /a73 108 /a108", `(I\014l)`, "Iﬁl", 0},
		{"names of letters", "1 /s /o", `(\001\002)`, "so", 0},
		{"numbers that are no codes", "65 /g1 /g2", "(AB)", "", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			content := documentWith("", fmt.Sprintf(font, widths, tt.glyphs), "BT /F2 1 Tf 9 9 Td "+tt.shown+" Tj ET")
			f, err := pdf.Open(t.Context(), content)
			if err != nil {
				t.Fatal(err)
			}
			for p, err := range f.Pages(t.Context()) {
				var text strings.Builder
				for _, g := range p.Glyphs {
					if text.WriteString(g.Text); g.Size != 12 || g.W != 8 {
						t.Errorf("%+v", g)
					}
				}
				if err != nil || text.String() != tt.want || p.Unmapped != tt.unmapped {
					t.Errorf("%q, %d unmapped, %v; want %q, %d", text.String(), p.Unmapped, err, tt.want, tt.unmapped)
				}
			}
		})
	}
}

func TestInvisibleTextIsKeptOnlyOnAScannedPage(t *testing.T) {
	hidden := "BT /F1 12 Tf 3 Tr (behind) Tj 0 Tr (seen) Tj ET"
	if got, _ := read(t, document(hidden)); got != "seen" {
		t.Errorf("got %q", got)
	}
	behind := "BT /F1 12 Tf 3 Tr (behind) Tj ET q 612 0 0 792 0 0 cm BI /W 1 ID x EI Q"
	if got, _ := read(t, document(behind)); got != "behind" {
		t.Errorf("behind a picture: got %q", got)
	}
	if got, _ := read(t,
		document("BT /F1 12 Tf (a) Tj /F1 .2 Tf (tiny) Tj /F1 12 Tf 1 0 0 1 5000 5000 Tm (away) Tj ET")); got != "a" {
		t.Errorf("tiny and off the page: got %q", got)
	}
}

func TestFiltersAreDecoded(t *testing.T) {
	const text = "BT /F1 12 Tf (filtered) Tj ET"
	for _, tt := range []struct{ name, entries, data string }{
		{"deflate", "/Filter /FlateDecode", deflated(text)},
		{"two", "/Filter [/ASCIIHexDecode /FlateDecode]", fmt.Sprintf("%x>", deflated(text))},
		{"deflate that ends early", "/Filter /FlateDecode", deflated(text + strings.Repeat(" ", 5000))[:50]},
		{"ASCII85", "/Filter /A85", `6<#'\7PQ#?1*BP.+=Li9Cij6/ARm54<,*OE;u~>`},
		{"runs", "/Filter /RunLengthDecode", "\x0fBT /F1 12 Tf (fi\x0cltered) Tj ET\x80"},
		{"PNG predictor", "/Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns 4 >>", deflated(predicted(text))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &builder{}
			font := b.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
			content := b.add(stream(tt.entries, tt.data))
			page := b.add(fmt.Sprintf("<< /Type /Page /MediaBox [0 0 612 792] /Contents %d 0 R "+
				"/Resources << /Font << /F1 %d 0 R >> >> >>", content, font))
			pages := b.add(fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R] >>", page))
			root := b.add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", pages))
			got, _ := read(t, b.finish(root, ""))
			if got != "filtered" {
				t.Errorf("got %q", got)
			}
		})
	}
}

// predicted writes rows of 4 bytes by the PNG predictors Sub and Up in turn.
func predicted(s string) string {
	for len(s)%4 != 0 {
		s += " "
	}
	var b strings.Builder
	above := make([]byte, 4)
	for i := 0; i < len(s); i += 4 {
		row := []byte(s[i : i+4])
		if i%8 == 0 {
			b.WriteByte(1)
			left := byte(0)
			for _, c := range row {
				b.WriteByte(c - left)
				left = c
			}
		} else {
			b.WriteByte(2)
			for k, c := range row {
				b.WriteByte(c - above[k])
			}
		}
		above = row
	}
	return b.String()
}

func TestFontsMapCodesToText(t *testing.T) {
	const cmap = "1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfchar <0001> <00660069> endbfchar " +
		"2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<03B1> <03B2>] endbfrange"
	for _, tt := range []struct{ name, font, shown, want string }{
		{
			"differences", "/Type1 /BaseFont /X /Encoding << /Differences " +
				"[1 /fi /eacute /uni20AC /f_i /afii10065 /afii10103 /a.sc] >>",
			"(\\001\\002\\003\\004\\005\\006\\007)", "fié€fiаіa",
		},
		{"symbol", "/Type1 /BaseFont /Symbol", "(abS)", "αβΣ"},
		{"standard", "/Type1 /BaseFont /X", "(\\256 ')", "ﬁ ’"},
		{
			"to Unicode", "/Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 1 0 R /DescendantFonts [<< /W [1 [500]] >>]",
			"<0001001000120021>", "fiACβ",
		},
		{"Unicode codes", "/Type0 /BaseFont /X /Encoding /UniGB-UCS2-H /DescendantFonts [<< >>]", "<4F60597D>", "你好"},
		{"GBK codes", "/Type0 /BaseFont /X /Encoding /GBK-EUC-H /DescendantFonts [<< >>]", "<41C4E3>", "A你"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &builder{}
			b.add(stream("", cmap))
			content := b.add(stream("", "BT /F1 12 Tf "+tt.shown+" Tj ET"))
			page := b.add(fmt.Sprintf("<< /Type /Page /Contents %d 0 R "+
				"/Resources << /Font << /F1 << /Type /Font /Subtype %s >> >> >> >>", content, tt.font))
			pages := b.add(fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R] >>", page))
			root := b.add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", pages))
			if got, _ := read(t, b.finish(root, "")); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDamagedFilesAreRead(t *testing.T) {
	whole := document("BT /F1 12 Tf (one) Tj ET", "BT /F1 12 Tf (two) Tj ET")
	for _, tt := range []struct {
		name string
		file []byte
	}{
		{"no cross-reference table", whole[:bytes.LastIndex(whole, []byte("xref\n0"))]},
		{"wrong startxref", bytes.Replace(whole, []byte("startxref\n"), []byte("startxref\n9"), 1)},
		{"offsets moved", append([]byte("%PDF-1.4\n% something put before\n"), whole[9:]...)},
		{"junk before the header", append([]byte("HTTP/1.0 200 OK\r\n\r\n"), whole...)},
		{"lengths wrong", bytes.ReplaceAll(whole, []byte("/Length 2"), []byte("/Length 9"))},
		{"no end", bytes.TrimSuffix(whole, []byte("%%EOF\n"))},
		{"unknown version", bytes.Replace(whole, []byte("1.7"), []byte("2.0"), 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := read(t, tt.file); got != "one\ntwo" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestContentThatIsNotAPDFIsAnError(t *testing.T) {
	for _, content := range []string{
		"", "%PDF-1.7\n", "<html>",
		"%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj trailer << /Root 1 0 R >>",
	} {
		if _, err := pdf.Open(t.Context(), []byte(content)); !errors.Is(err, pdf.ErrDamaged) {
			t.Errorf("%q: %v", content, err)
		}
	}
	locked := bytes.Replace(document("BT ET"), []byte("/Info"),
		[]byte("/Encrypt << /Filter /Standard /V 1 /R 2 /O (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) "+
			"/U (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) /P -4 >> /Info"), 1)
	if _, err := pdf.Open(t.Context(), locked); !errors.Is(err, pdf.ErrEncrypted) {
		t.Errorf("%v, want ErrEncrypted", err)
	}
}

func TestReadingStopsWhenTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	file := document(strings.Repeat("1 0 0 1 0 0 cm ", 1e5))
	f, err := pdf.Open(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for p, err := range f.Pages(ctx) {
		if !errors.Is(err, context.Canceled) || p != nil {
			t.Errorf("%v, %v, want context.Canceled", p, err)
		}
	}
}

// FuzzRead holds that no file panics or runs on, and that glyphs are text within bounds.
func FuzzRead(f *testing.F) {
	f.Add(document("BT /F1 12 Tf (one) Tj ET"))
	for _, file := range hostile() {
		f.Add(file[:min(len(file), 4000)])
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := pdf.Open(t.Context(), content)
		if err != nil {
			return
		}
		for p, err := range file.Pages(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range p.Glyphs {
				if g.Text == "" || g.X != g.X || g.Y != g.Y || g.W != g.W {
					t.Fatalf("glyph %+v", g)
				}
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	line := "BT /F1 10 Tf 72 700 Td 12 TL " +
		strings.Repeat("(A line of text as pages have it, with some words and more.) ' ", 45) + "ET"
	file := document(strings.Split(strings.Repeat(line+"\x00", 20), "\x00")[:20]...)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		f, err := pdf.Open(b.Context(), file)
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range f.Pages(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(20*float64(b.N)/b.Elapsed().Seconds(), "pages/s")
}
