package markdown

import "bytes"

// headingLevel returns the level of the ATX heading that a text begins with; 0 for none.
func headingLevel(text []byte) int {
	n := 0
	for n < len(text) && text[n] == '#' {
		n++
	}
	if n > 6 || n < len(text) && text[n] != ' ' && text[n] != '\t' && text[n] != '\r' {
		return 0
	}
	return n
}

// isUnderline reports whether a text is nothing but one of = and -, and white space after it.
func isUnderline(text []byte) bool {
	rest := bytes.TrimLeft(text, string(text[:1]))
	return len(bytes.TrimLeft(rest, " \t")) == 0
}

// isBreak reports whether a text is a thematic break (CommonMark): at least three of one of * - _, with white space
// between.
func isBreak(text []byte) bool {
	n := 0
	for _, c := range text {
		switch c {
		case text[0]:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3 && text[0] != '='
}

// itemMarker returns the length of the marker of a list item or of a definition that a text begins with; 0 for none.
func itemMarker(text []byte) int {
	if text[0] == ':' && len(text) > 1 && (text[1] == ' ' || text[1] == '\t') {
		return 1
	}
	return listMarker(text)
}

// listMarker returns the length of the marker of a list item that a text begins with; 0 for none. A number has nine
// digits at most (CommonMark, "List items").
func listMarker(text []byte) int {
	n := 0
	switch c := text[0]; {
	case c == '-' || c == '*' || c == '+':
		n = 1
	case c >= '0' && c <= '9':
		for n < len(text) && n < 9 && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		if n == len(text) || text[n] != '.' && text[n] != ')' {
			return 0
		}
		n++
	default:
		return 0
	}
	if n < len(text) && text[n] != ' ' && text[n] != '\t' && text[n] != '\r' {
		return 0
	}
	return n
}

// interrupts reports whether a list item may begin in the middle of a paragraph: one with text, and of an ordered list
// only the first.
func interrupts(text []byte, marker int) bool {
	if len(bytes.TrimLeft(text[marker:], " \t\r")) == 0 {
		return false
	}
	return text[0] < '0' || text[0] > '9' || marker == 2 && text[0] == '1'
}
