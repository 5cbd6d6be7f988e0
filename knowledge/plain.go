package knowledge

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf8"
)

// maxHeadingChars is how much of a heading stands in a path, in code points.
const maxHeadingChars = 200

// plainText returns the text of one line of markdown, such as a heading: no marks, no tags, of links and images only
// their text, single spaces; at most 200 code points.
func plainText(md []byte) string {
	md = md[:min(len(md), 8*maxHeadingChars)] // what is longer than that is no heading
	md = bytes.TrimSpace(md)
	if open := bytes.TrimRight(md, "#"); len(open) == 0 || open[len(open)-1] == ' ' {
		md = open // the marks that close a heading
	}
	if n := len(md); n > 0 && md[n-1] == '}' { // an id, as in {#install}
		if at := bytes.LastIndex(md, []byte("{#")); at >= 0 {
			md = md[:at]
		}
	}
	var b strings.Builder
	writePlain(&b, md, 0)
	text := strings.Join(strings.Fields(strings.ToValidUTF8(html.UnescapeString(b.String()), "")), " ")
	if short := cutRunes(text, maxHeadingChars); short != text {
		return short + goesOn
	}
	return text
}

// maxNested is how deep links and images within each other are read.
const maxNested = 4

func writePlain(b *strings.Builder, md []byte, depth int) {
	for i := 0; i < len(md); {
		i += writePiece(b, md[i:], i == 0 || md[i-1] == ' ', depth)
	}
}

// writePiece writes what stands at the beginning of md, after a space or not, and returns how many bytes of md that
// took.
func writePiece(b *strings.Builder, md []byte, spaced bool, depth int) int {
	switch c := md[0]; {
	case c == '\\' && len(md) > 1 && isPunctuation(md[1]):
		b.WriteByte(md[1])
		return 2
	case c == '`':
		run := len(md) - len(bytes.TrimLeft(md, "`"))
		if n := bytes.Index(md[run:], md[:run]); n > 0 {
			b.Write(md[run : run+n])
			return run + n + run
		}
		return run
	case c == '*' || c == '~' && len(md) > 1 && md[1] == '~':
		run := len(md) - len(bytes.TrimLeft(md, string(rune(c))))
		if spaced && (run == len(md) || md[run] == ' ') {
			b.Write(md[:run])
		}
		return run
	case c == '!' && len(md) > 1 && md[1] == '[':
		if text, n := linkIn(md[1:]); n > 0 && depth < maxNested {
			writePlain(b, text, depth+1)
			return 1 + n
		}
	case c == '[':
		if text, n := linkIn(md); n > 0 && depth < maxNested {
			writePlain(b, text, depth+1)
			return n
		}
	case c == '<':
		if n := bytes.IndexByte(md, '>'); n > 1 && (isLetter(md[1]) || md[1] == '/' || md[1] == '!') {
			if bytes.Contains(md[1:n], []byte("://")) {
				b.Write(md[1:n])
			}
			return n + 1
		}
	}
	_, n := utf8.DecodeRune(md)
	b.Write(md[:n])
	return n
}

// link reads the link that md begins with, [text](target) or [text][name]: its text, and how many bytes it takes; 0 if
// it is none.
func link(md []byte) (text []byte, n int) {
	end := matching(md, '[', ']')
	if end < 0 || end+1 >= len(md) {
		return nil, 0
	}
	after := -1
	switch rest := md[end+1:]; rest[0] {
	case '(':
		after = matching(rest, '(', ')')
	case '[':
		after = matching(rest, '[', ']')
	}
	if after < 0 {
		return nil, 0
	}
	return md[1:end], end + 1 + after + 1
}

// matching returns where the bracket closes that md begins with, or -1.
func matching(md []byte, open, closing byte) int {
	depth := 0
	for i := 0; i < len(md); i++ {
		switch md[i] {
		case '\\':
			i++
		case open:
			depth++
		case closing:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isPunctuation(c byte) bool { return c > ' ' && c < 0x7f && !isLetter(c) && (c < '0' || c > '9') }

// cutRunes returns the first n code points of s.
func cutRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
