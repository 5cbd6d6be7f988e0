// Package chars knows what the characters of a plain text are to its reader: visible or invisible, letters, words,
// white space. It knows nothing of markup.
//
// Invisible characters matter for two reasons: as typography (soft hyphens, joiners) they break searches, and some of
// them (tags, variation selectors, bidirectional overrides) carry text to a model that no reader sees. [Visible] takes
// out both and tells of the second.
package chars

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine returns s on one line, with single spaces between its words.
func OneLine(s string) string {
	space := true // one more is too many
	for _, r := range s {
		if unicode.IsSpace(r) && (space || r != ' ') {
			return strings.Join(strings.Fields(s), " ")
		}
		space = r == ' '
	}
	if space {
		return strings.TrimSuffix(s, " ")
	}
	return s // as most are
}

// Blank reports whether s is empty or all white space.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }

// Letter reports whether c is an ASCII letter.
func Letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// Words counts the runs of letters and digits in s. A letter of a script without spaces counts by itself.
func Words(s string) (n int) {
	in := false
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			alnum := r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'
			if alnum && !in {
				n++
			}
			in = alnum
		case r >= 0x3040 && r <= 0x9fff || r >= 0xf900 && r <= 0xfaff || r >= 0x0e00 && r <= 0x0eff:
			n++ // two such letters make a word; a page of fifty of them is thin as well
			in = false
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if !in {
				n++
			}
			in = true
		default:
			in = false
		}
	}
	return n
}

// FirstWord returns the first word of s, "" when there is none. Words are separated by white space.
func FirstWord(s string) string {
	for field := range strings.FieldsSeq(s) {
		return field
	}
	return ""
}

// maxClip is the longest text that [Clip] returns, in bytes.
const maxClip = 2000

// Clip returns s on one line, without invisible characters, at most maxClip bytes long.
func Clip(s string) string {
	if len(s) > 4*maxClip {
		s = strings.ToValidUTF8(s[:4*maxClip], "")
	}
	s, _ = Visible(s)
	s = OneLine(s)
	if len(s) > maxClip {
		s = strings.ToValidUTF8(s[:maxClip], "")
	}
	return s
}

// Spaced returns text with each run of white space as one space.
func Spaced(s string) string {
	text := strings.Join(strings.Fields(s), " ")
	if text == "" {
		if s != "" {
			return " "
		}
		return ""
	}
	if strings.TrimLeft(s, " \t\r\n\f") != s {
		text = " " + text
	}
	if strings.TrimRight(s, " \t\r\n\f") != s {
		text += " "
	}
	return text
}

// SpacesForNewlines returns s with spaces for its newlines.
func SpacesForNewlines(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, s)
}

// Number returns the number that s begins with.
func Number(s string) (n float64, ok bool) {
	s = strings.TrimSpace(s)
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.') {
		end++
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	return n, err == nil
}

// TrimIcons removes the white space at both ends of s, and the characters there that have a meaning in one font alone:
// icons.
func TrimIcons(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Co, r) })
}

// Entity reports whether s, the text after an ampersand, completes a character reference.
func Entity(s string) bool {
	for i := range min(len(s), 32) {
		switch c := s[i]; {
		case c == ';':
			return i > 0
		case !Letter(c) && (c < '0' || c > '9') && (c != '#' || i != 0):
			return false
		}
	}
	return false
}

// Set makes a set of the words of s, which white space parts. Tables of names are written so.
func Set(s string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(s) {
		m[word] = true
	}
	return m
}

// NotWord reports whether r is neither a letter nor a digit, and so parts two words.
func NotWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
