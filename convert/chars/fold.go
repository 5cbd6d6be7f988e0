package chars

import (
	"unicode"
	"unicode/utf8"
)

// Fold returns the letters and digits of s in lower case, for comparing texts however they are spelled.
//
//go:noinline
func Fold(s string) string {
	var room [64]byte
	if folded := AppendFold(room[:0], s); string(folded) != s {
		return string(folded)
	}
	return s
}

// AppendFold appends what [Fold] returns.
func AppendFold(to []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			to = append(to, byte(r))
		case r >= 'A' && r <= 'Z':
			to = append(to, byte(r)|0x20)
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			to = utf8.AppendRune(to, unicode.ToLower(r))
		}
	}
	return to
}
