package page

import "strings"

// SameSite reports whether two hosts look like one site: their names are equal but for the first label, or one lies
// below the other. It is a guess, and no ground for trust.
func SameSite(a, b string) bool {
	parent := func(name string) string {
		if _, rest, ok := strings.Cut(name, "."); ok && strings.Contains(rest, ".") {
			return rest
		}
		return name
	}
	return parent(a) == parent(b) || strings.HasSuffix(a, "."+b) || strings.HasSuffix(b, "."+a)
}
