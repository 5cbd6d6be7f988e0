// Package robots reads robots.txt (RFC 9309), and what it states about the use of pages. It fetches nothing: [Judge]
// says what is known of a site by an answer, and [Sites] keeps that.
//
// A fetch asks [Sites] for the site of a URL. If nothing there holds, it requests [FileOf], reads the answer by
// [ReadText] and gives it to [Judge], which calls [Parse]; [Site.Verdict] then says whether the URL may be read, and
// [Site.Preferences] what its origin states.
package robots

import (
	"bytes"
	"cmp"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/preference"
	"github.com/readthru/readthru/page"
)

// MaxSize is the number of bytes read of a robots.txt (RFC 9309 §2.5).
const MaxSize = 500 << 10

// Rules are the rules of a robots.txt for one crawler (RFC 9309 §2.2).
type Rules struct {
	rules    []rule
	Delay    time.Duration // Crawl-delay, which is not part of the RFC; 0: none
	Sitemaps []string      // as written
	usage    []usage       // Content-Usage and Content-Signal
}

// usage is a line of robots.txt that states preferences about the use of what lies below a path.
type usage struct {
	key   string // content-usage or content-signal
	scope rule
	says  page.Preferences
}

// rule is one allow or disallow line of robots.txt.
type rule struct {
	allow  bool
	length int      // length of the pattern in octets; the longest pattern is the most specific
	parts  []string // the pattern, split at its asterisks
	ends   bool     // the pattern ends with $
}

// Parse returns the rules in the text of a robots.txt for the crawler with a product token. It skips malformed lines.
// Several groups for the same crawler count as one; groups for * apply only if no group names the crawler (RFC 9309
// §2.2.1). Crawl-delay and Sitemap lines, which are "other records" in the RFC, do not end a group (§2.2.4).
func Parse(text []byte, token string) Rules {
	var ours, everyone Rules
	var sitemaps []string
	named := false              // a group names the crawler
	toUs, toAll := false, false // whether the group names the crawler, or *
	begun := false              // the group has a rule; the next user-agent line begins another group
	// Files written on Windows begin with a byte order mark, which is no part of the first line.
	for line := range bytes.FieldsFuncSeq(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")),
		func(r rune) bool { return r == '\n' || r == '\r' }) {
		key, value := splitLine(string(line))
		var groups []*Rules
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
			case strings.EqualFold(ProductToken(value), token):
				toUs, named = true, true
			}
		case "allow", "disallow":
			begun = true
			// An empty path matches nothing, so that an empty Disallow allows all.
			if value == "" {
				continue
			}
			for _, g := range groups {
				g.rules = append(g.rules, newRule(key == "allow", value))
			}
		case "crawl-delay", "crawldelay":
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil || !(seconds > 0) {
				continue
			}
			for _, g := range groups {
				g.Delay = time.Duration(min(seconds, 1e6) * float64(time.Second))
			}
		case "content-usage", "content-signal":
			begun = true // a rule of the group (draft-ietf-aipref-attach-05)
			pattern, statement := preference.SplitRobots(value)
			says := preference.OfRobots(key, statement)
			if len(says) == 0 {
				continue
			}
			for _, g := range groups {
				g.usage = append(g.usage, usage{key, newRule(true, pattern), says})
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
	ours.Sitemaps = sitemaps
	return ours
}

// splitLine returns the lower-case key and the value of a line of robots.txt, without comment. Lines without a colon
// are read as their authors meant them.
func splitLine(line string) (key, value string) {
	line, _, _ = strings.Cut(line, "#")
	key, value, ok := strings.Cut(line, ":")
	if !ok { // the colon is missing
		key, value, _ = strings.Cut(strings.TrimSpace(line), " ")
	}
	return strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)
}

// ProductToken returns the product token at the start of a user-agent line of robots.txt, or of the field (RFC 9309
// §2.2.1): letters, - and _.
func ProductToken(agent string) string {
	end := strings.IndexFunc(agent, func(r rune) bool {
		return r != '-' && r != '_' && (r|0x20 < 'a' || r|0x20 > 'z')
	})
	if end < 0 {
		return agent
	}
	return agent[:end]
}

// newRule returns the rule of a pattern in robots.txt, which is not empty. A path that does not begin with a slash is
// taken to. A $ is special at the end alone.
func newRule(allow bool, pattern string) rule {
	if pattern[0] != '/' && pattern[0] != '*' {
		pattern = "/" + pattern
	}
	r := rule{allow: allow}
	pattern, r.ends = strings.CutSuffix(octets(pattern, ""), "$")
	r.length = len(pattern)
	if r.ends {
		r.length++
	}
	r.parts = strings.Split(strings.ReplaceAll(pattern, "$", "%24"), "*")
	return r
}

// matches reports whether the rule matches a result of robotsPath, from its first octet. An asterisk matches any octets
// (RFC 9309 §2.2.3). It takes time proportional to the lengths of path and pattern.
func (r rule) matches(path string) bool {
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

// Allows reports whether a path may be read. The longest matching rule decides; among rules of equal length, allow
// wins. A path that no rule matches is allowed (RFC 9309 §2.2.2).
func (rs Rules) Allows(path string) bool {
	longest, allowed := -1, true
	for _, r := range rs.rules {
		if (r.length > longest || r.length == longest && r.allow) && r.matches(path) {
			longest, allowed = r.length, r.allow
		}
	}
	return allowed
}

// Preferences returns what the lines of each key that match the path most specifically state. Statements about equal
// paths count together (draft-ietf-aipref-attach-05, "Content-Usage Rule Semantics").
func (rs Rules) Preferences(path string) (stated page.Preferences) {
	longest := map[string]int{}
	for _, u := range rs.usage {
		if u.scope.length > longest[u.key] && u.scope.matches(path) {
			longest[u.key] = u.scope.length
		}
	}
	for _, u := range rs.usage {
		if u.scope.length == longest[u.key] && u.scope.matches(path) {
			stated = append(stated, u.says...)
		}
	}
	return stated
}

// Size returns the approximate memory size of the rules in bytes, for the bound of Sites.
func (rs Rules) Size() int {
	n := 0
	for _, r := range rs.rules {
		n += 64 + r.length + 16*len(r.parts)
	}
	for _, u := range rs.usage {
		n += 96 + u.scope.length + 16*len(u.scope.parts)
		for _, p := range u.says {
			n += 64 + len(p.Says)
		}
	}
	for _, s := range rs.Sitemaps {
		n += 16 + len(s)
	}
	return n
}

// PathOf returns path and query of a URL for matching with robots.txt, normalised by octets. It escapes asterisks and
// dollar signs, so that they match only escaped ones in a pattern.
func PathOf(u *url.URL) string {
	path := cmp.Or(u.EscapedPath(), "/")
	if u.RawQuery != "" || u.ForceQuery {
		path += "?" + u.RawQuery
	}
	return octets(path, "*$")
}

// octets normalises the percent-encoding of a path or pattern of robots.txt (RFC 9309 §2.2.2): it decodes unreserved
// octets and encodes those that must be encoded and those in also.
func octets(s, also string) string {
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

// unreserved reports whether an octet of a path or pattern in robots.txt is an unreserved character (RFC 3986 §2.3).
func unreserved(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '-' || c == '.' || c == '_' || c == '~'
}

// ReadText reads a robots.txt up to MaxSize, and says whether there is more. It drops a line cut by the limit, because
// half a rule is a different rule.
func ReadText(r io.Reader) (text []byte, more bool, err error) {
	text, err = io.ReadAll(io.LimitReader(r, MaxSize+1))
	if more = err == nil && len(text) > MaxSize; more {
		text = text[:bytes.LastIndexAny(text[:MaxSize], "\r\n")+1]
	}
	return text, more, err
}
