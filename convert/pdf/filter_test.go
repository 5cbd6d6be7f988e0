package pdf_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// LZW is written here by the book: codes of 9 to 12 bits, a table that is cleared when it is full.
func TestLZWIsDecoded(t *testing.T) {
	shown := randomText(20000) // enough for all widths of codes, and for a table that is full
	var lines strings.Builder
	lines.WriteString("BT /F1 12 Tf ")
	for i := 0; i < len(shown); i += 50 {
		fmt.Fprintf(&lines, "(%s) Tj 1 0 0 1 9 9 Tm ", shown[i:i+50])
	}
	text := lines.String() + "ET"
	for early, entries := range []string{"/Filter /LZWDecode /DecodeParms << /EarlyChange 0 >>", "/Filter /LZWDecode"} {
		if got, f := read(t, contentStream(entries, lzw(text, early))); got != shown || f.Cut() {
			t.Errorf("early change %d: %d signs, want %d; cut %v", early, len(got), len(shown), f.Cut())
		}
	}
	// The example of ISO 32000-1 §7.4.4.2, in a content stream that draws nothing.
	if got, _ := read(t, contentStream("/Filter /LZWDecode", "\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01")); got != "" {
		t.Errorf("got %q", got)
	}
}

// contentStream returns a file whose one page has a content stream with these entries and data.
func contentStream(entries, data string) []byte {
	b := &builder{}
	font := b.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	content := b.add(stream(entries, data))
	page := b.add(fmt.Sprintf("<< /Type /Page /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 %d 0 R >> >> >>", content, font))
	pages := b.add(fmt.Sprintf("<< /Type /Pages /Kids [%d 0 R] >>", page))
	return b.finish(b.add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R >>", pages)), "")
}

func randomText(n int) string {
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < n {
		b.WriteByte("abcdefgh"[random.IntN(8)])
	}
	return b.String()
}

// lzw encodes text. With early change 1 codes grow one code sooner than they must.
func lzw(text string, early int) string {
	const clearTable, end = 256, 257
	var out []byte
	held, bits, width := 0, 0, 9
	put := func(code int) {
		for held, bits = held<<width|code, bits+width; bits >= 8; bits -= 8 {
			out = append(out, byte(held>>(bits-8)))
			held &= 1<<(bits-8) - 1
		}
	}
	var table map[string]int
	next := 0
	reset := func() {
		put(clearTable)
		table, next, width = map[string]int{}, 258, 9
		for i := range 256 {
			table[string([]byte{byte(i)})] = i
		}
	}
	reset()
	run := ""
	for i := range len(text) {
		longer := run + text[i:i+1]
		if _, known := table[longer]; known {
			run = longer
			continue
		}
		put(table[run])
		table[longer] = next
		if next++; next == 4095 {
			reset()
		} else if next+early > 1<<width {
			width++
		}
		run = text[i : i+1]
	}
	put(table[run])
	if next++; next+early > 1<<width && width < 12 {
		width++
	}
	put(end)
	put(0)
	return string(out)
}
