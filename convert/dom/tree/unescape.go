package tree

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// unescapeValue replaces the character references in the value of an attribute. In text a reference may lack its
// semicolon wherever it ends; in a value it may not stand before a letter, a digit or a sign of equality then, so that
// addresses stay as they are.
func unescapeValue(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		end := len(s)
		if next := strings.IndexByte(s[1:], '&'); next >= 0 {
			end = 1 + next
		}
		if isReference(s[:end]) {
			b.WriteString(html.UnescapeString(s[:end]))
		} else {
			b.WriteString(s[:end])
		}
		s = s[end:]
	}
}

// isReference reports whether s, which begins with the only & in it, begins with a reference by number, or with the
// whole name of a character.
func isReference(s string) bool {
	if strings.HasPrefix(s, "&#") {
		return true
	}
	end := 1
	for end < len(s) && (lowerByte(s[end]) >= 'a' && lowerByte(s[end]) <= 'z' || s[end] >= '0' && s[end] <= '9') {
		end++
	}
	if end < len(s) && s[end] == ';' {
		end++
	} else if end < len(s) && s[end] == '=' {
		return false
	}
	// What is not a whole name but begins with one keeps its last character.
	whole := html.UnescapeString(s[:end])
	return whole != s[:end] && (utf8.RuneCountInString(whole) == 1 || whole[len(whole)-1] != s[end-1])
}
