package chars

// Entity reports whether s, the text after an ampersand, completes a character reference.
func Entity(s string) bool {
	for i := range min(len(s), 32) {
		switch c := s[i]; {
		case c == ';':
			return i > 0
		case !Letter(c) && (c < '0' || c > '9') && (c != '#' || i != 0):
			return false
		}
	}
	return false
}
