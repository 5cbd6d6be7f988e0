package gate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A third party may answer with another page: one that it keeps, or one that the origin gave it. Its text is believed
// if it has a word of what was seen of the page: of its title, its description or its text. Short words stand in every
// text, and shellWords in pages whose scripts did not run. Of a page of which fewer than minSeenWords others are left,
// nothing was seen.
const (
	minSharedWord = 5 // characters
	minSeenWords  = 2
)

// shellWords stand in place of a page until its scripts have run.
var shellWords = map[string]bool{
	"javascript": true, "enable": true, "enabled": true, "loading": true, "please": true, "browser": true,
	"requires": true, "required": true, "support": true, "supported": true, "without": true,
	"properly": true, "continue": true, "doesn": true, "working": true, "application": true,
}

// SharesWords reports whether a text has a word of what was seen of a page, or too little was seen to tell.
func SharesWords(seen, text string) bool {
	known := tellingWords(seen)
	if len(known) < minSeenWords {
		return true
	}
	for word := range tellingWords(text) {
		if known[word] {
			return true
		}
	}
	return false
}

// tellingWords returns the words of a text that are long enough to tell pages apart, in lower case, for SharesWords.
// Where words are written without spaces between them, two characters are one.
func tellingWords(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if runes := []rune(word); unicode.In(runes[0], unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			for i := range len(runes) - 1 {
				words[string(runes[i:i+2])] = true
			}
		} else if utf8.RuneCountInString(word) >= minSharedWord && !shellWords[word] {
			words[word] = true
		}
	}
	return words
}
