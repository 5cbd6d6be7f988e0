package page

import (
	"net"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// SameSite reports whether two hosts are one site: they are equal, or have the same registrable domain by the Public
// Suffix List (docs.example.co.uk and example.co.uk, but not a.github.io and b.github.io). Letter case does not count.
// Addresses, and names that a public suffix is, are one site with themselves alone. It is no ground for trust.
func SameSite(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	domain := registrable(a)
	return a == b || domain != "" && domain == registrable(b)
}

// SiteName returns what a host is called, in lower case: of docs.example.co.uk, example. It is empty for an address,
// for a public suffix, and for a name of one label.
// The converter tells by it which part of a title is only the name of the site.
func SiteName(host string) string {
	name, _, _ := strings.Cut(registrable(host), ".")
	return name
}

// registrable returns a site, the registrable domain of a host, in lower case: of docs.example.co.uk, example.co.uk. It
// is empty for an address, for a public suffix, and for a name of one label.
func registrable(host string) string {
	if net.ParseIP(strings.Trim(host, "[]")) != nil {
		return ""
	}
	domain, err := publicsuffix.EffectiveTLDPlusOne(strings.TrimSuffix(strings.ToLower(host), "."))
	if err != nil {
		return ""
	}
	return domain
}
