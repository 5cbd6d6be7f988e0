package crawl

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// patterns choose URLs by path and query.
type patterns []*regexp.Regexp

// parsePatterns parses the patterns of a crawl: globs, and regular expressions after "re:".
func parsePatterns(list []string) (patterns, error) {
	var ps patterns
	for _, s := range list {
		text := globText(s)
		if expr, ok := strings.CutPrefix(s, "re:"); ok {
			text = expr
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, fmt.Errorf("parse pattern %q: %w", s, err)
		}
		ps = append(ps, re)
	}
	return ps, nil
}

// globText returns a pattern that is a glob over path and query as a regular expression. One that begins with neither a
// slash nor an asterisk is taken to begin with a slash.
func globText(glob string) string {
	if !strings.HasPrefix(glob, "/") && !strings.HasPrefix(glob, "*") {
		glob = "/" + glob
	}
	return "^" + strings.ReplaceAll(regexp.QuoteMeta(glob), `\*`, ".*") + "$"
}

// match reports whether one of the patterns matches the path and query of a URL.
func (ps patterns) match(u *url.URL) bool {
	subject := pathOf(u)
	if u.RawQuery != "" {
		subject += "?" + u.RawQuery
	}
	return slices.ContainsFunc(ps, func(re *regexp.Regexp) bool { return re.MatchString(subject) })
}
