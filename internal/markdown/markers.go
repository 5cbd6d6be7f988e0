package markdown

import "bytes"

// headingLevel returns the level of the ATX heading whose marker a text begins with; 0 for none.
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

// isUnderline reports whether a text is the marker below a setext heading: nothing but one of = and -, and white space
// after it.
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

// interrupts reports whether a list item, after its marker, may begin in the middle of a paragraph: one with text, and
// of an ordered list only the first.
func interrupts(text []byte, marker int) bool {
	if len(bytes.TrimLeft(text[marker:], " \t\r")) == 0 {
		return false
	}
	return text[0] < '0' || text[0] > '9' || marker == 2 && text[0] == '1'
}

// ListMarker returns how many bytes the marker takes that a text begins with, with one white space after it; 0 when it
// begins no list item.
func ListMarker(text []byte) int {
	n := listMarker(text)
	if n == 0 {
		return 0
	}
	return min(n+1, len(text))
}

// QuoteMarkers returns how many bytes the markers of block quotes take that a line begins with, with the space after
// each.
func QuoteMarkers(line []byte) int {
	n := 0
	for {
		i := n + Indentation(line[n:])
		if i == len(line) || line[i] != '>' || i-n > 3 {
			return n
		}
		n = i + 1
		if n < len(line) && line[n] == ' ' {
			n++
		}
	}
}

// Markers returns the length of the markers of quotes, list items and a heading that a line begins with, with the white
// space after them, and where the last marker of a list item begins; -1 when there is none.
func Markers(line []byte) (n, item int) {
	item = -1
	for n = Indentation(line); n < len(line); n += Indentation(line[n:]) {
		if marker := ListMarker(line[n:]); marker > 0 {
			item = n
			n += marker
		} else if line[n] == '>' {
			n++
		} else {
			level := headingLevel(line[n:])
			return n + level + Indentation(line[n+level:]), item
		}
	}
	return n, item
}

// IsDelimiterRow reports whether a line is the row under the header of a table (GitHub Flavored Markdown, "Tables"):
// hyphens, colons and at least one vertical line.
func IsDelimiterRow(line []byte) bool {
	dash, pipe := false, false
	for _, c := range line {
		switch c {
		case '-':
			dash = true
		case '|':
			pipe = true
		case ':', ' ', '\t', '\r':
		default:
			return false
		}
	}
	return dash && pipe
}
