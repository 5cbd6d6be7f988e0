package mdwrite

import (
	"bytes"
	"strings"

	"github.com/readthru/readthru/convert/chars"
)

// Fence puts text between fences that are longer than any run of backticks in it. lang may be empty. It ends without a
// newline.
func Fence(text, lang string) string {
	marks := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return marks + lang + "\n" + strings.TrimRight(text, "\n") + "\n" + marks
}

// longestRun returns the length of the longest run of c in s. Fences and code within a line need one more.
func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] == c {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}

// writeCodeBlock writes text between fences that are longer than any run of backticks in it. Newlines in it are
// codeNewline until the end, so that tidy leaves them alone.
func writeCodeBlock(out *bytes.Buffer, text, lang string) {
	if chars.Blank(text) {
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	out.WriteString("\n\n" + fence + lang + string(codeNewline))
	out.WriteString(strings.ReplaceAll(text, "\n", string(codeNewline)))
	out.WriteString(string(codeNewline) + fence + "\n\n")
}
