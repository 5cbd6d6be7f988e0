// Package clip makes texts short: it cuts them at a length, between characters, and puts them on one line.
//
// A character is a code point here. A byte that is no UTF-8 counts as one, and stays unless a function says otherwise.
// What has to end at a word, at a line or within a number of tokens or of cells of a terminal is cut where that is
// known.
package clip

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bytes returns the longest beginning of s that has at most n bytes and does not end within a character.
func Bytes[T ~string | ~[]byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for at := n; at >= 0 && at > n-utf8.UTFMax; at-- {
		if utf8.RuneStart(s[at]) {
			return s[:at]
		}
	}
	return s[:n] // it is no UTF-8
}

// Runes returns the first n characters of s.
func Runes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n <= 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Ellipsis returns s if it has at most n characters. If not, it returns the beginning of s, without white space at its
// end, and "…", which are at most n characters together.
func Ellipsis(s string, n int) string {
	if len(Runes(s, n)) == len(s) {
		return s
	}
	return strings.TrimRightFunc(Runes(s, n-1), unicode.IsSpace) + "…"
}

// Line returns s as [OneLine] does, and cut as [Ellipsis] cuts it. It is for what others wrote and people or agents
// read among other words: titles, names, messages of servers.
func Line(s string, n int) string { return Ellipsis(OneLine(s), n) }

// LastLine returns the last line of s that is not empty, as [Line] does.
func LastLine(s string, n int) string {
	s = strings.TrimRightFunc(s, unicode.IsSpace)
	return Line(s[strings.LastIndexByte(s, '\n')+1:], n)
}

// OneLine returns s on one line, with single spaces for its white space and none at its ends. Characters that show
// nothing and do harm are gone: those that control, turn the direction of text around or spell hidden text, and bytes
// that are no UTF-8.
func OneLine(s string) string {
	if isLine(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Co, unicode.Noncharacter_Code_Point) || r == 0xfeff ||
			r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r >= 0xe0000:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// isLine reports whether s is a line of ASCII as it stands, as most are.
func isLine(s string) bool {
	before := byte(' ')
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == ' ' && before == ' ' {
			return false
		}
		before = s[i]
	}
	return s == "" || before != ' '
}

// Incomplete returns how many bytes at the end of p begin a character of which the rest is missing. Who reads a text in
// parts keeps them for the next one.
func Incomplete(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if last := p[len(p)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}
