package httpfield

import (
	"net/http"
	"net/url"
	"strings"
)

// Link is one link of a Link field (RFC 8288 §3).
type Link struct {
	Target    string // as written between < and >
	rel       string // relation types, separated by spaces
	MediaType string // parameter type, without parameters of its own
}

// Has reports whether the link has the relation type rel.
func (l Link) Has(rel string) bool {
	for r := range strings.FieldsSeq(l.rel) {
		if strings.EqualFold(r, rel) {
			return true
		}
	}
	return false
}

// Links parses Link fields: several lines with several links each. It ignores the rest of a line after a malformed
// link. Of a repeated parameter the first counts (RFC 8288 §3.3).
func Links(lines []string) []Link {
	var links []Link
	for _, s := range lines {
		for {
			s = strings.TrimLeft(s, ", \t")
			rest, ok := strings.CutPrefix(s, "<")
			if !ok {
				break
			}
			target, rest, ok := strings.Cut(rest, ">")
			if !ok {
				break
			}
			l := Link{Target: strings.TrimSpace(target)}
			s = l.params(rest)
			links = append(links, l)
		}
	}
	return links
}

// params parses ;name=value pairs and returns the rest of s.
func (l *Link) params(s string) string {
	for {
		rest, ok := strings.CutPrefix(strings.TrimLeft(s, " \t"), ";")
		if !ok {
			return s
		}
		end := strings.IndexAny(rest, "=;,")
		if end < 0 {
			return ""
		}
		name, value := strings.ToLower(strings.TrimSpace(rest[:end])), ""
		s = rest[end:]
		if s[0] == '=' {
			value, s = paramValue(strings.TrimLeft(s[1:], " \t"))
		}
		switch {
		case name == "rel" && l.rel == "":
			l.rel = value
		case name == "type" && l.MediaType == "":
			value, _, _ = strings.Cut(value, ";")
			l.MediaType = strings.TrimSpace(value)
		}
	}
}

// paramValue parses the value of a link's parameter, a token or a quoted string at the start of s.
func paramValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, ";,")
		if end < 0 {
			end = len(s)
		}
		return strings.TrimSpace(s[:end]), s[end:]
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:]
		case '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}

// CanonicalLink returns the Link that names a page's canonical URL (RFC 6596). It is empty if that is not a URL of the
// web, or if a Link of h names one already.
func CanonicalLink(canonical string, h http.Header) string {
	u, err := url.Parse(canonical)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		strings.ContainsAny(canonical, "<>\"\\ \t\r\n") {
		return ""
	}
	for _, l := range Links(h.Values("Link")) {
		if l.Has("canonical") {
			return ""
		}
	}
	return "<" + u.String() + `>; rel="canonical"`
}
