package page

import "strings"

// SameSite reports whether two hosts are one site: they are equal, or have the same registrable domain by the Public
// Suffix List (docs.example.co.uk and example.co.uk, but not a.github.io and b.github.io). Letter case does not count.
// Addresses, and names that a public suffix is, are one site with themselves alone. It is no ground for trust.
func SameSite(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	domain := registrable(a)
	return a == b || domain != "" && domain == registrable(b)
}
