package mdwrite

import "strings"

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
