package chars

import (
	"strconv"
	"strings"
)

// Number returns the number that s begins with.
func Number(s string) (n float64, ok bool) {
	s = strings.TrimSpace(s)
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.') {
		end++
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	return n, err == nil
}
