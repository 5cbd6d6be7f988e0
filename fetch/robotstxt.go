package fetch

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// robotsLimit is how much of a robots.txt is read, in bytes (RFC 9309 §2.5).
const robotsLimit = 500 << 10

// robotsRules are what a robots.txt says to one crawler (RFC 9309 §2.2).
type robotsRules struct {
	rules    []robotsRule
	delay    time.Duration // Crawl-delay, which is no part of the RFC; 0: none
	sitemaps []string      // as written
}

// robotsRule is one allow or disallow line.
type robotsRule struct {
	allow  bool
	length int      // of the pattern, in octets: the most specific rule is the longest one
	parts  []string // of the pattern between its asterisks
	ends   bool     // the pattern ends with $
}

// parseRobots reads what text says to the crawler with a product token. What cannot be read is passed over, line by
// line. Groups for the same crawler count as one; those for * only where no group names it (RFC 9309 §2.2.1).
// Crawl-delay and Sitemap lines, which the RFC knows as other records, end no group (§2.2.4).
func parseRobots(text []byte, token string) robotsRules {
	var ours, everyone robotsRules
	var sitemaps []string
	named := false              // a group names us
	toUs, toAll := false, false // whom the group speaks to
	begun := false              // the group has a rule: the next user-agent line begins another one
	for line := range bytes.FieldsFuncSeq(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")),
		func(r rune) bool { return r == '\n' || r == '\r' }) {
		key, value := robotsLine(string(line))
		var groups []*robotsRules
		if toUs {
			groups = append(groups, &ours)
		}
		if toAll {
			groups = append(groups, &everyone)
		}
		switch key {
		case "user-agent", "useragent":
			if begun {
				toUs, toAll, begun = false, false, false
			}
			switch {
			case strings.HasPrefix(value, "*"):
				toAll = true
			case strings.EqualFold(productToken(value), token):
				toUs, named = true, true
			}
		case "allow", "disallow":
			begun = true
			if value == "" {
				continue
			}
			for _, g := range groups {
				g.rules = append(g.rules, newRobotsRule(key == "allow", value))
			}
		case "crawl-delay", "crawldelay":
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil || !(seconds > 0) {
				continue
			}
			for _, g := range groups {
				g.delay = time.Duration(min(seconds, 1e6) * float64(time.Second))
			}
		case "sitemap":
			if value != "" && len(sitemaps) < 100 {
				sitemaps = append(sitemaps, value)
			}
		}
	}
	if !named {
		ours = everyone
	}
	ours.sitemaps = sitemaps
	return ours
}

// robotsLine returns the key of a line in lower case, and its value, without comment.
func robotsLine(line string) (key, value string) {
	line, _, _ = strings.Cut(line, "#")
	key, value, ok := strings.Cut(line, ":")
	if !ok { // a colon forgotten
		key, value, _ = strings.Cut(strings.TrimSpace(line), " ")
	}
	return strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
}

// productToken returns the product token that a user-agent line or field begins with (RFC 9309 §2.2.1): letters, - and
// _.
func productToken(agent string) string {
	end := strings.IndexFunc(agent, func(r rune) bool {
		return r != '-' && r != '_' && (r|0x20 < 'a' || r|0x20 > 'z')
	})
	if end < 0 {
		return agent
	}
	return agent[:end]
}

func newRobotsRule(allow bool, pattern string) robotsRule {
	if pattern[0] != '/' && pattern[0] != '*' {
		pattern = "/" + pattern
	}
	r := robotsRule{allow: allow}
	pattern, r.ends = strings.CutSuffix(robotsOctets(pattern, ""), "$")
	r.length = len(pattern)
	if r.ends {
		r.length++
	}
	r.parts = strings.Split(strings.ReplaceAll(pattern, "$", "%24"), "*")
	return r
}

// matches reports whether the rule matches a path as robotsPath gives it: from its first octet, in time proportional to
// path and pattern. An asterisk is any octets (RFC 9309 §2.2.3).
func (r robotsRule) matches(path string) bool {
	first, rest := r.parts[0], r.parts[1:]
	path, ok := strings.CutPrefix(path, first)
	if !ok || len(rest) == 0 {
		return ok && (!r.ends || path == "")
	}
	last := rest[len(rest)-1]
	for _, part := range rest[:len(rest)-1] {
		at := strings.Index(path, part)
		if at < 0 {
			return false
		}
		path = path[at+len(part):]
	}
	if r.ends {
		return strings.HasSuffix(path, last)
	}
	return strings.Contains(path, last)
}

// allows reports whether a path may be read: the longest rule that matches decides, of two of a length the one that
// allows, and what no rule matches is allowed (RFC 9309 §2.2.2).
func (rs robotsRules) allows(path string) bool {
	longest, allowed := -1, true
	for _, r := range rs.rules {
		if (r.length > longest || r.length == longest && r.allow) && r.matches(path) {
			longest, allowed = r.length, r.allow
		}
	}
	return allowed
}

// size is about how many bytes the rules take in memory.
func (rs robotsRules) size() int {
	n := 0
	for _, r := range rs.rules {
		n += 64 + r.length + 16*len(r.parts)
	}
	for _, s := range rs.sitemaps {
		n += 16 + len(s)
	}
	return n
}

// robotsPath returns what rules are held against: path and query, in octets. An asterisk or dollar sign of the URL
// stands for itself, as an escaped one of a pattern does.
func robotsPath(u *url.URL) string {
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" || u.ForceQuery {
		path += "?" + u.RawQuery
	}
	return robotsOctets(path, "*$")
}

// robotsOctets makes escapes uniform (RFC 9309 §2.2.2): what need not be escaped is not, what must be is, and so are
// the octets in also.
func robotsOctets(s, also string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				if c = byte(n); unreserved(c) {
					b.WriteByte(c)
				} else {
					b.WriteString(strings.ToUpper(s[i : i+3]))
				}
				i += 2
				continue
			}
		}
		if c <= ' ' || c >= 0x7f || strings.IndexByte(also, c) >= 0 {
			b.Write([]byte{'%', hex[c>>4], hex[c&0xf]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unreserved reports whether an octet is an unreserved character (RFC 3986 §2.3).
func unreserved(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '.' || c == '_' || c == '~'
}
