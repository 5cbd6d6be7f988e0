package chars

import (
	"strings"
	"unicode"
)

// TrimIcons removes the white space at both ends of s, and the characters there that have a meaning in one font alone:
// icons.
func TrimIcons(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Co, r) })
}
