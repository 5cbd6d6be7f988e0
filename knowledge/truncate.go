package knowledge

// ellipsis marks where text was cut off. Before the rest of a cut line it also keeps the rest from being read as the
// beginning of a block.
const ellipsis = "…"

// truncateBytes returns the longest prefix of s that has at most n bytes and ends with a whole code point.
func truncateBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// truncateRunes returns the first n code points of s.
func truncateRunes(s string, n int) string {
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
