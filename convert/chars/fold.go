package chars

import (
	"strings"
	"unicode"
)

// Fold returns the letters and digits of s in lower case, for comparing texts however they are spelled.
//
//go:noinline
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// Set makes a set of the words of s, which white space parts.
func Set(s string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(s) {
		m[word] = true
	}
	return m
}

// NotWord reports whether r is neither a letter nor a digit, and so parts two words.
func NotWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
