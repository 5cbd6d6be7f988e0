package pdf_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/convert/pdf"
)

// many repeats s n times; great numbers are smaller under the race detector, which makes everything that much slower.
func many(s string, n int) string {
	if n >= 10000 {
		n /= raceFactor
	}
	return strings.Repeat(s, n)
}

// hostile are files that hang, overflow or exhaust readers which trust them.
func hostile() map[string][]byte {
	loop := func(body string) []byte {
		b := &builder{}
		b.add(body)
		return b.finish(1, "")
	}
	zeros := deflated(many("\x00", 80<<20))
	formLoop := &builder{}
	formLoop.add(stream("/Subtype /Form /Resources << /XObject << /X 1 0 R >> >>", many("/X Do ", 1000)))
	page := formLoop.add("<< /Type /Page /Contents 1 0 R /Resources << /XObject << /X 1 0 R >> >> >>")
	pages := formLoop.add(fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R] >>", page))
	root := formLoop.add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", pages))
	return map[string][]byte{
		"length that is its own stream":  loop("<< /Type /Catalog /Pages 1 0 R /Length 1 0 R >>\nstream\nx\nendstream"),
		"pages within themselves":        loop("<< /Type /Catalog /Pages << /Kids [1 0 R 1 0 R] /Type /Pages >> /Kids [1 0 R 1 0 R] >>"),
		"pages below pages, twice each":  document(many("q ", 1000)),
		"table that is its own previous": []byte("%PDF-1.4\nxref\n0 0\ntrailer << /Prev 9 /Root 1 0 R >>\nstartxref\n9\n%%EOF"),
		"table of a billion":             []byte("%PDF-1.4\nxref\n0 999999999\n0000000000 65535 f \ntrailer << /Size 99999999999 /Root 1 0 R >>\nstartxref\n9\n%%EOF"),
		"a million brackets":             []byte("%PDF-1.4\n1 0 obj " + many("[", 1e6)),
		"a million dictionaries":         []byte("%PDF-1.4\n1 0 obj " + many("<</A", 1e6)),
		"a million objects":              []byte("%PDF-1.4\n" + many("1 0 obj\n", 1e6)),
		"forms within forms":             formLoop.finish(root, ""),
		"bomb in a page":                 documentWith("", "", "x"),
		"bomb as a table":                append([]byte("%PDF-1.5\n1 0 obj << /Type /XRef /W [1 8 8] /Size 99999999 /Filter /FlateDecode /Length 99 >>\nstream\n"), zeros...),
		"bomb in bombs":                  loop(stream("/Type /ObjStm /N 99999999 /First 10 /Filter [/FlateDecode /FlateDecode /FlateDecode]", deflated(zeros))),
		"a million glyphs":               document("BT /F1 12 Tf (" + many("a", 1e6) + ") Tj ET"),
		"a million operators":            document(many("1 0 0 1 0 0 cm ", 1e6)),
		"widths of a billion codes": documentWith("",
			"/F2 << /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /W [0 999999999 500 0 999999999 500] >>] >>",
			many("/F2 9 Tf ", 100)),
		"a path without end":  document("0 0 m " + many("9 9 l 1 1 9 .1 re ", 1e5) + "B"),
		"rules without end":   document(many("0 0 m 9 0 l S ", 1e5)),
		"numbers without end": document("BT /F1 " + many("9", 10000) + " Tf 1e99 0 0 1 0 0 Tm (a) Tj ET"),
		"text matrix that runs away": document("BT /F1 12 Tf " + many("9999 0 0 9999 0 0 Tm 99999 Tz (aaaa) Tj ",
			1000) + "ET"),
		"NUL, and nothing else":          bytes.Repeat([]byte{0}, 1<<20),
		"endstream that never comes":     []byte("%PDF-1.4\n" + many("1 0 obj << /Length 1 >> stream\n", 30000)),
		"a string that never ends":       []byte("%PDF-1.4\n" + many("1 0 obj (", 100000)),
		"a percent sign that never ends": []byte("%PDF-1.4\n1 0 obj << /A %" + many("x", 1<<20)),
		"encryption by a circle": bytes.Replace(document("BT ET"), []byte("/Info"),
			[]byte("/Encrypt 1 0 R /ID [1 0 R] /Info"), 1),
		"predictor of a billion columns": loop(stream("/Type /ObjStm /N 1 /First 5 /Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 999999999 >>", deflated("x"))),
		"strings within strings":         within(func(n int) string { return fmt.Sprintf("%d 0 obj(", n) }),
		"streams that end together":      append(within(func(n int) string { return fmt.Sprintf("%d 0 obj<</Type/ObjStm/N 9>>stream\n", n) }), "endstream"...),
		"an array of all there is": []byte("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages [" + many("<</A 1>>", 1e6) +
			"] >> endobj trailer << /Root 1 0 R >>"),
		"pictures without data": document(many("BI EI ", 1e5)),
		"much text for one sign": document(many("/S << /ActualText ("+many("x", 1e5)+") >> BDC (a) Tj EMC ", 100) +
			many("/P BDC (a) Tj EMC ", 1e5)),
		"widths said again and again": documentWith("",
			"/F2 << /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /W ["+manyWidths()+"] >>] >>",
			many("/F2 9 Tf ", 1000)),
		"a form of comments": commentForm(),
		"rows longer than what they hold": contentStream("/Filter [/FlateDecode "+many("/FlateDecode ", 6)+
			"] /DecodeParms [<< /Predictor 12 /Columns 1048576 /Colors 32 /BitsPerComponent 16 >>]", deflated("x")),
		"table of objects that are not": contentlessTable(),
		"marked content that never closes": document(many("/S << /ActualText (x) >> BDC ", 100000) + "BT /F1 12 Tf (" +
			many("a", 1000) + ") Tj ET"),
	}
}

// within returns a file of objects each of which holds all that follow, and all of which are pages.
func within(begin func(n int) string) []byte {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages<</Kids[")
	const objects = 50000 / raceFactor
	for n := 2; n < objects; n++ {
		fmt.Fprintf(&b, "%d 0 R ", n)
	}
	b.WriteString("]>>>>endobj\n")
	for n := 2; n < objects; n++ {
		b.WriteString(begin(n))
	}
	b.WriteString(many("x", 4<<20))
	return []byte(b.String())
}

func manyWidths() string {
	var b strings.Builder
	widths := "[" + strings.Repeat("5 ", 1000) + "]"
	for i := range 100 / raceFactor {
		fmt.Fprintf(&b, "%d %s ", i*1000, widths)
	}
	return b.String()
}

func commentForm() []byte {
	b := &builder{}
	form := b.add(stream("/Subtype /Form", "%"+many("x", 4<<20)))
	content := b.add(stream("", many("/X Do ", 1e5)))
	page := b.add(fmt.Sprintf("<< /Type /Page /Contents %d 0 R /Resources << /XObject << /X %d 0 R >> >> >>", content,
		form))
	pages := b.add(fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R] >>", page))
	return b.finish(b.add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", pages)), "")
}

func contentlessTable() []byte {
	data := deflated(many("\x01", 30<<20))
	return []byte("%PDF-1.5\n1 0 obj\n" + stream("/Type /XRef /W [1 0 0] /Size 99999999 /Root 2 0 R /Filter /FlateDecode",
		data) + "\nendobj\nstartxref\n9\n%%EOF")
}

func TestHostileFilesEndInTime(t *testing.T) {
	steps := 2_000_000 / raceFactor // a tenth of what is allowed: what is bounded is bounded by it too
	if testing.Short() {
		steps /= 10
	}
	pdf.LimitSteps(t, steps)
	for name, file := range hostile() {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			f, err := pdf.Open(ctx, file)
			if err == nil {
				for _, err = range f.Pages(ctx) {
					if err != nil {
						break
					}
				}
			}
			if ctx.Err() != nil {
				t.Errorf("it did not end by itself")
			}
		})
	}
}
