package pdf_test

import (
	"fmt"
	"testing"

	"github.com/readthru/readthru/convert/pdf"
)

// cffIndex returns a list of byte strings as the Compact Font Format writes it.
func cffIndex(list ...string) string {
	s := string([]byte{0, byte(len(list)), 1, 1})
	if len(list) == 0 {
		return "\x00\x00"
	}
	at := 1
	data := ""
	for _, item := range list {
		at += len(item)
		data += item
		s += string([]byte{byte(at)})
	}
	return s + data
}

// cffProgram returns a font program of three glyphs besides that of no character, with a charset and an encoding.
func cffProgram(charset, codes string) string {
	head := "\x01\x00\x04\x01" + cffIndex("Font")
	names := cffIndex("ffi", "g65", "alpha")
	glyphs := cffIndex("", "a", "b", "c")
	const entry = "\x1c%c%c%c"
	size := len(head) + len(cffIndex(fmt.Sprintf(entry+entry+entry, 0, 0, 15, 0, 0, 16, 0, 0, 17))) + len(names) + 2
	at := func(n int, op rune) string { return string([]byte{0x1c, byte(n >> 8), byte(n), byte(op)}) }
	top := at(size, 15) + at(size+len(charset), 16) + at(size+len(charset)+len(codes), 17)
	return head + cffIndex(top) + names + "\x00\x00" + charset + codes + glyphs
}

func TestEncodingInsideAFont(t *testing.T) {
	for _, tt := range []struct {
		name, charset, codes string
		code                 byte
		want                 string
	}{
		{"single codes", "\x00\x00\x6d\x01\x87\x00\x22", "\x00\x03\x02\x03\x04", 2, "fi"},
		{"a name of its own", "\x00\x00\x6d\x01\x87\x00\x22", "\x00\x03\x02\x03\x04", 3, "ffi"},
		{"ranges", "\x01\x00\x22\x02", "\x01\x01\x61\x02", 'c', "C"},
		{"long ranges", "\x02\x01\x87\x00\x02", "\x01\x02\x41\x00\x21\x01", 0x22, "α"},
		{"a number as a name", "\x02\x01\x87\x00\x02", "\x01\x02\x21\x00\x41\x01", 'A', "A"},
		{"two codes of a glyph", "\x01\x00\x22\x02", "\x81\x01\x61\x02\x01\x7a\x00\x6e", 'z', "fl"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			program := cffProgram(tt.charset, tt.codes)
			if got, ok := pdf.CFFText([]byte(program), tt.code); !ok || got != tt.want {
				t.Errorf("%q, %v, want %q", got, ok, tt.want)
			}
			b := &builder{}
			file := b.add(stream("/Subtype /Type1C", program))
			font := b.add(fmt.Sprintf("<< /Subtype /Type1 /BaseFont /AAAAAA+Odd /FontDescriptor << /Flags 4 /FontFile3 %d 0 R >> >>",
				file))
			content := b.add(stream("", fmt.Sprintf("BT /F1 9 Tf 50 700 Td <%02x> Tj ET", tt.code)))
			page := b.add(fmt.Sprintf("<< /Type /Page /Contents %d 0 R /Resources << /Font << /F1 %d 0 R >> >> >>", content, font))
			pages := b.add(fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R] >>", page))
			root := b.add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", pages))
			if got, _ := read(t, b.finish(root, "")); got != tt.want {
				t.Errorf("in a file: %q, want %q", got, tt.want)
			}
		})
	}
	for _, program := range []string{"", "\x01\x00\x04\x01", cffProgram("\x00", "\x07"), cffProgram("", "")[:20]} {
		if got, ok := pdf.CFFText([]byte(program), 'a'); ok {
			t.Errorf("%q: %q", program, got)
		}
	}
}

func FuzzEncodingInsideAFont(f *testing.F) {
	f.Add([]byte(cffProgram("\x00\x00\x6d\x01\x87\x00\x22", "\x80\x03\x02\x03\x04\x01\x7a\x00\x6e")))
	f.Add([]byte(cffProgram("\x02\xff\xff\xff\xff", "\x01\xff\x00\xff")))
	f.Fuzz(func(t *testing.T, program []byte) {
		for code := range 256 {
			if text, _ := pdf.CFFText(program, byte(code)); len(text) > 400 {
				t.Errorf("%d: %d bytes", code, len(text))
			}
		}
	})
}
