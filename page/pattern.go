package page

import (
	"path"
	"strings"
)

// MatchHost reports whether a host matches a pattern such as a.example or *.a.example, which a.example matches, too. An
// empty pattern matches every host. Letter case and a dot at the end of host do not count.
// It is for the hosts of rules and recipes.
func MatchHost(pattern, host string) bool {
	if pattern == "" {
		return true
	}
	pattern, host = strings.ToLower(pattern), strings.TrimSuffix(strings.ToLower(host), ".")
	if parent, ok := strings.CutPrefix(pattern, "*."); ok && host == parent {
		return true
	}
	return glob(pattern, host)
}

// MatchPath reports whether the path of a URL matches a pattern such as /docs/*. An empty pattern matches every path.
// The path is matched as an origin would resolve it: "/docs/../admin" is "/admin".
func MatchPath(pattern, urlPath string) bool {
	if pattern == "" {
		return true
	}
	if urlPath == "" {
		return false
	}
	clean := path.Clean("/" + urlPath)
	if strings.HasSuffix(urlPath, "/") && clean != "/" {
		clean += "/"
	}
	return glob(pattern, clean)
}

// glob reports whether s matches a pattern in which * stands for any text, including none. It backtracks only to the
// latest *, so it takes at most time proportional to the product of the lengths.
func glob(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
