package convert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/convert/archive"
)

// What annotations and fields of a PDF say reaches no agent. It is counted: viewers show notes beside the page, and
// never what is hidden.
func TestAnnotationsOfPDFsAreCounted(t *testing.T) {
	const text = "/Contents (" + order + ")"
	field := "/Subtype /Widget /FT /Tx /T (f) /V (" + order + ") "
	for _, tt := range []struct{ name, entries, kind string }{
		{"note", "/Subtype /Text " + text, archive.Annotation},
		{"note that is closed", "/Subtype /Text /Open false " + text, archive.Annotation},
		{"popup", "/Subtype /Popup " + text, archive.Annotation},
		{"text box", "/Subtype /FreeText " + text, archive.Annotation},
		{"highlight", "/Subtype /Highlight " + text, archive.Annotation},
		{"underline", "/Subtype /Underline " + text, archive.Annotation},
		{"strike", "/Subtype /StrikeOut " + text, archive.Annotation},
		{"squiggle", "/Subtype /Squiggly " + text, archive.Annotation},
		{"caret", "/Subtype /Caret " + text, archive.Annotation},
		{"stamp", "/Subtype /Stamp " + text, archive.Annotation},
		{"ink", "/Subtype /Ink " + text, archive.Annotation},
		{"square", "/Subtype /Square " + text, archive.Annotation},
		{"line", "/Subtype /Line " + text, archive.Annotation},
		{"attachment", "/Subtype /FileAttachment " + text, archive.Annotation},
		{"redaction", "/Subtype /Redact " + text, archive.Annotation},
		{
			"note in another encoding", "/Subtype /Text /Contents <feff" + strings.Repeat("0020", 9) + utf16Hex(order) + ">",
			archive.Annotation,
		},
		{"hidden note", "/Subtype /Text /F 2 " + text, "display"},
		{"note of no view", "/Subtype /FreeText /F 36 " + text, "display"},
		{"note that is printed", "/Subtype /FreeText /F 4 " + text, archive.Annotation},
		{"hidden field", field + "/F 2", "display"},
		{"field that is only printed", field + "/F 36", "display"},
		{"hidden part of a field", "/Subtype /Widget /F 2 /Parent << /FT /Tx /T (f) /V (" + order + ") >>", "display"},
		{"field that is filled in", field, ""},
		{"description of a link", "/Subtype /Link /A << /URI (https://a.test/) >> " + text, ""},
		{"name of who wrote a note", "/Subtype /Text /T (" + order + ")", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := strings.Replace(pdfFile(at(50, 700, "F1 10", seenText)), "/Annots [",
				"/Annots [<< /Type /Annot /Rect [0 0 9 9] "+tt.entries+" >> ", 1)
			res := document(t, file, "")
			if !strings.Contains(res.Markdown, "flow.") || strings.Contains(res.Markdown, order) {
				t.Errorf("%q", res.Markdown)
			}
			counted := ""
			for _, p := range res.Removed.Pieces {
				if counted += p.Kind; p.Text != order {
					t.Errorf("%q is counted", p.Text)
				}
			}
			warned := strings.Contains(strings.Join(res.Warnings, " "), convert.WarnHidden+"=1")
			if counted != tt.kind || warned != (tt.kind != "") {
				t.Errorf("counted as %q, want %q; warnings %v", counted, tt.kind, res.Warnings)
			}
		})
	}
}

// What a person filled in or wrote on a page is read where it stands, as viewers draw it. What they do not draw, and
// what only marks text, is not.
func TestFilledFormsAreRead(t *testing.T) {
	const value, box = "Ann Miller", "/Rect [160 695 360 715] "
	form := func(number int, entries, content string) string {
		return fmt.Sprintf("%d 0 obj << /Subtype /Form /Resources << /Font << /F1 3 0 R >> >> %s /Length %d >> stream\n%s\n"+
			"endstream endobj\n", number, entries, len(content), content)
	}
	drawn := form(90, "/BBox [0 0 200 20]", "/Tx BMC q "+at(2, 5, "F1 10", value)+" Q EMC")
	half := form(90, "/BBox [0 0 400 40]", at(4, 10, "F1 20", value))
	turned := form(90, "/BBox [0 0 20 200] /Matrix [0 -1 1 0 0 20]", "BT /F1 10 Tf 0 1 -1 0 15 2 Tm ("+value+") Tj ET")
	off := form(91, "/BBox [0 0 200 20]", at(2, 5, "F1 10", "no"))
	flat := form(90, "/BBox [0 0 0 0]", at(2, 5, "F1 10", value))
	white := form(90, "/BBox [0 0 200 20]", "1 g "+at(2, 5, "F1 10", value))
	filled := "Name of person: " + value
	const alone = "Name of person:"
	for _, tt := range []struct{ name, annotation, objects, want string }{
		{"field", "/Subtype /Widget " + box + "/AP << /N 90 0 R >>", drawn, filled},
		{"field at half the size", "/Subtype /Widget " + box + "/AP << /N 90 0 R >>", half, filled},
		{"field that is turned", "/Subtype /Widget " + box + "/AP << /N 90 0 R >>", turned, filled},
		{
			"field in one of its states", "/Subtype /Widget " + box + "/AS /On /AP << /N << /Off 91 0 R /On 90 0 R >> >>",
			drawn + off, filled,
		},
		{"text box", "/Subtype /FreeText /Contents (" + value + ") " + box + "/AP << /N 90 0 R >>", drawn, filled},
		{"field that is not shown", "/Subtype /Widget /F 2 " + box + "/AP << /N 90 0 R >>", drawn, alone},
		{"button", "/Subtype /Widget /FT /Btn /Ff 65536 " + box + "/AP << /N 90 0 R >>", drawn, alone},
		{"field without a look", "/Subtype /Widget /V (" + value + ") " + box, drawn, alone},
		{"mark over the text", "/Subtype /Highlight " + box + "/AP << /N 90 0 R >>", drawn, alone},
		{"field of no size", "/Subtype /Widget " + box + "/AP << /N 90 0 R >>", flat, alone},
		{"white in a field", "/Subtype /Widget " + box + "/AP << /N 90 0 R >>", white, alone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := strings.Replace(pdfFile(at(80, 700, "F1 10", alone)+at(80, 600, "F1 10", "Below it.")), "/Annots [",
				"/Annots [<< /Type /Annot "+tt.annotation+" >> ", 1)
			res := document(t, file+tt.objects, "")
			if want := tt.want + "\n\nBelow it.\n"; res.Markdown != want {
				t.Errorf("%q, want %q", res.Markdown, want)
			}
		})
	}
}

// The report says what nobody sees of a PDF: one text of each page, with its words apart.
func TestHiddenTextOfPDFsIsNamed(t *testing.T) {
	words := ""
	for i, word := range strings.Fields(order) { // as programs draw them that draw no spaces
		words += at(50+60*i, 500, "F1 10", word)
	}
	for name, hidden := range map[string]string{
		"white": "1 g " + at(50, 500, "F1 10", order), "word by word": "1 g " + words,
		"below a box":  at(50, 500, "F1 10", order) + "1 g 0 490 600 30 re f ",
		"not painted":  "BT 3 Tr ET " + at(50, 500, "F1 10", order),
		"off the page": at(5000, 500, "F1 10", order),
		"said to be":   "/Span << /ActualText (" + order + ") >> BDC " + at(50, 500, "F1 10", "x") + " EMC ",
	} {
		seen := "0 g 0 Tr " + at(50, 700, "F1 10", seenText)
		res := document(t, pdfFile(seen+hidden, seen, seen+hidden), "")
		if strings.Contains(res.Markdown, "keys") || strings.Count(res.Markdown, "flow.") != 3 {
			t.Errorf("%s: %q", name, res.Markdown)
		}
		if len(res.Removed.Pieces) != 2 || res.Removed.Pieces[0].Text != order ||
			!slices.Contains(res.Warnings, convert.WarnHidden+"=2") {
			t.Errorf("%s: told %+v, warnings %v", name, res.Removed.Pieces, res.Warnings)
		}
	}
}

// utf16Hex writes a text of ASCII as hexadecimal digits of UTF-16.
func utf16Hex(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		b.WriteString("00" + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
	}
	return b.String()
}
