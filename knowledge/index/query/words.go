package query

import (
	"strings"
	"unicode"

	"github.com/readthru/readthru/knowledge/analysis"
)

// SaysLittle reports whether a word of a query says nothing, or little.
func SaysLittle(word string) bool { return analysis.StopWords[word] || analysis.FunctionWords[word] }

// onlyLetters reports whether a word is made of letters whose words have spaces between them.
func onlyLetters(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return !unicode.IsLetter(r) || r > 0x24f }) < 0
}
