package page

import (
	"net/url"
	"strings"
)

// A parameter that only carries the session of a reader names no other page: it stands in every address of a page for
// readers without cookies. With it, an address is a secret (see [HasSecret]); without it, it is the page's.

// sessionNames are the parameters that carry nothing but a session, in lower case. A star at the end stands for any
// ending.
var sessionNames = strings.Fields(`phpsessid jsessionid aspsessionid* oscsid zenid cftoken phpsessionid`)

// sessionWords are the parameters that carry a session if their value looks like one: many hexadecimal digits.
var sessionWords = strings.Fields(`sid sessid sessionid session_id session`)

// sessionParam reports whether a parameter only carries a session. path is that of its URL: forums written in PHP call
// a session s.
// A word such as sid may also number an article, so the value of sessionWords must look like a session; a name that
// only PHP's or a servlet's sessions have needs no such look.
func sessionParam(name, value, path string) bool {
	if value == "" {
		return false
	}
	if anyName(sessionNames, name) {
		return true
	}
	const shortest = 16
	if len(value) < shortest || strings.Trim(value, "0123456789abcdefABCDEF") != "" {
		return false
	}
	return anyName(sessionWords, name) || name == "s" && len(value) == 32 && strings.HasSuffix(path, ".php")
}

// WithoutSession returns an absolute or relative URL without the parameters of its path and query that only carry the
// session of a reader. All other bytes stay. ok is false if there are none.
// The converter cleans the links of a page with it, so that they are the same for every reader.
func WithoutSession(raw string) (plain string, ok bool) {
	rest, fragment, hasFragment := strings.Cut(raw, "#")
	path, query, hasQuery := strings.Cut(rest, "?")
	var b strings.Builder // an address may have many thousands of parameters
	bare, params, found := strings.Cut(path, ";")
	b.WriteString(bare)
	if found {
		for param := range strings.SplitSeq(params, ";") {
			name, value, _ := strings.Cut(param, "=")
			if strings.Contains(value, "/") || !sessionParam(name, value, "") {
				b.WriteString(";" + param)
			}
		}
	}
	if hasQuery {
		kept := keptParams(query, path)
		if len(kept) > 0 || query == "" {
			b.WriteString("?" + strings.Join(kept, "&"))
		}
	}
	if hasFragment {
		b.WriteString("#" + fragment)
	}
	plain = b.String()
	return plain, plain != raw
}

// keptParams returns the parameters of a query that carry more than a session.
func keptParams(query, path string) (kept []string) {
	if query == "" {
		return nil
	}
	for param := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(param, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if !sessionParam(strings.TrimPrefix(name, "amp;"), value, path) {
			kept = append(kept, param)
		}
	}
	return kept
}
