package crawl

import (
	"net/url"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/page"
)

// Bounds on URLs that look endless by themselves. A site may be endless by mistake (a relative link that makes the path
// longer on every page), by design or by malice. A crawler cannot tell which. What looks endless only by what its pages
// say has bounds in [shapes].
const (
	maxURL      = 2000 // bytes
	maxSegments = 20   // of a path
	maxRepeats  = 3    // of one segment in a path
	maxParams   = 6    // of a query
)

// escapedAgain matches the name of a parameter whose separator was escaped twice as HTML: each page does it again.
var escapedAgain = lazy.Pattern(`(?i)(?:amp(?:;|%3b)){2}`)

// endless reports whether a URL by itself looks like part of something endless: it is long, deep, or repeats itself.
// The frontier leaves such links out and counts them.
func endless(u *url.URL) bool {
	if len(u.String()) > maxURL || strings.Count(u.RawQuery, "&") >= maxParams || escapedAgain().MatchString(u.RawQuery) {
		return true
	}
	parts := segments(u)
	if len(parts) > maxSegments {
		return true
	}
	for i, p := range parts {
		if i >= 2 && p == parts[i-1] && p == parts[i-2] {
			return true
		}
		n := 0
		for _, q := range parts {
			if p == q {
				n++
			}
		}
		if n > maxRepeats {
			return true
		}
	}
	return false
}

// segments returns, to find what is endless, the segments of the path of a URL, and of the route in its fragment that
// an application in a browser has.
func segments(u *url.URL) []string {
	route, _, _ := strings.Cut(page.Route(u), "?")
	return strings.FieldsFunc(u.Path+route, func(r rune) bool { return r == '/' })
}

// sessions are names of parameters that identify a visit, not a page.
var sessions = []string{
	"phpsessid", "jsessionid", "sid", "sessionid", "session_id", "aspsessionid", "cfid", "cftoken",
	"zenid", "oscsid",
}

// withoutSession returns, so that a site is not endless, a copy of a URL without the session that servers put in URLs
// for clients without cookies: each request gets another one, and the site would have no end.
func withoutSession(u *url.URL) *url.URL {
	clean := *u
	if i := strings.Index(strings.ToLower(clean.Path), ";jsessionid="); i >= 0 {
		clean.Path, clean.RawPath = clean.Path[:i], ""
	}
	if clean.RawQuery == "" {
		return &clean
	}
	var kept []string
	for part := range strings.SplitSeq(clean.RawQuery, "&") {
		if name, _, _ := strings.Cut(part, "="); part != "" && !slices.Contains(sessions, strings.ToLower(name)) {
			kept = append(kept, part)
		}
	}
	clean.RawQuery, clean.ForceQuery = strings.Join(kept, "&"), false
	return &clean
}
