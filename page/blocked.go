package page

import "strings"

// Blocked reports whether host is one of domains or below one of them (suffix match, rule A11). Case, a port and a
// trailing dot do not matter, nor does "*." before a domain.
func Blocked(host string, domains []string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if h, port, ok := strings.Cut(host, ":"); ok && digits(port) {
		host = strings.TrimSuffix(h, ".")
	}
	for _, d := range domains {
		d = strings.TrimPrefix(strings.TrimPrefix(strings.ToLower(strings.Trim(d, ". ")), "*."), "www.")
		if OnHost(host, d) {
			return true
		}
	}
	return false
}
