package knowledge

import (
	"strings"

	"readthru/markdown"
)

// maxHeadingChars is how much of a heading stands in a path, in code points.
const maxHeadingChars = 200

// titleText returns the text of a heading's markdown: plain, with single spaces, at most 200 code points.
func titleText(md []byte) string {
	title, _ := markdown.OwnID(md)
	text := strings.Join(strings.Fields(markdown.Plain(title)), " ")
	if short := cutRunes(text, maxHeadingChars); short != text {
		return short + goesOn
	}
	return text
}

// cutRunes returns the first n code points of s.
func cutRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
