package signs

import (
	"strings"

	"github.com/readthru/readthru/convert/chars"
)

// FirstIn returns the first of phrases that stands in text as whole words, or "". phrases are in lower case, as text
// must be.
func FirstIn(phrases []string, text string) string {
	for _, phrase := range phrases {
		for at := 0; ; at++ {
			i := strings.Index(text[at:], phrase)
			if i < 0 {
				break
			}
			if at += i; wordAt(text, at, len(phrase)) {
				return phrase
			}
		}
	}
	return ""
}

// wordAt reports whether the phrase of n bytes at i is whole words in s. So "404" is not found in "40404".
func wordAt(s string, i, n int) bool {
	alnum := func(c byte) bool { return c >= '0' && c <= '9' || chars.Letter(c) }
	return (i == 0 || !alnum(s[i-1])) && (i+n == len(s) || !alnum(s[i+n]))
}
