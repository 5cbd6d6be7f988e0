package crawl

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/readthru/readthru/page"
)

// Bounds on what looks endless. A site may be endless by mistake (a relative link that makes the path longer on every
// page), by design (a calendar, a list with every combination of sorting and filtering) or by malice. A crawler cannot
// tell which.
const (
	maxURL      = 2000 // bytes
	maxSegments = 20   // of a path
	maxRepeats  = 3    // of one segment in a path
	maxParams   = 6    // of a query

	// What looks endless in one of these ways gets a share of a crawl's pages each, so that it does not take the place of
	// others: dates, combinations of parameters, paths that repeat segments.
	shareOf   = 8 // the limit of pages is divided by it
	leastPart = 5 // URLs

	maxDates   = 100 // URLs that differ only in a date and in numbers
	maxNumbers = 500 // URLs that differ only in numbers, if the query has several parameters
	maxNames   = 24  // combinations of parameters of one path
	maxValues  = 200 // URLs with one path and one combination of several parameters
	maxPages   = 200 // URLs that differ only in the page number of a list
)

// endless reports whether a URL by itself looks like part of something endless.
func endless(u *url.URL) bool {
	if len(u.String()) > maxURL || strings.Count(u.RawQuery, "&") >= maxParams || escapedAgain.MatchString(u.RawQuery) {
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

// segments returns the segments of the path and the route of u.
func segments(u *url.URL) []string {
	route, _, _ := strings.Cut(page.Route(u), "?")
	return strings.FieldsFunc(u.Path+route, func(r rune) bool { return r == '/' })
}

// traps counts URLs by kind, to find those that are endless only together. The zero value is ready to use.
type traps struct {
	limit  int            // of pages of the crawl
	kinds  map[string]int // URLs by kind
	names  map[string]int // combinations of parameters by path
	shares map[string]int // URLs beside the first of their kind, by what makes them look endless
}

// full counts u and reports whether there are too many URLs of its kind.
func (t *traps) full(u *url.URL) bool {
	if t.kinds == nil {
		t.kinds, t.names, t.shares = map[string]int{}, map[string]int{}, map[string]int{}
	}
	return t.repeats(u) || t.combines(u) || t.counts(u)
}

// share counts a URL that looks endless in some way, unless it is the first of its kind, and reports whether all that
// look so have had their share of the crawl before.
func (t *traps) share(way string, first bool) bool {
	if first {
		return false
	}
	if t.shares[way] >= max(t.limit/shareOf, leastPart) {
		return true
	}
	t.shares[way]++
	return false
}

// repeats counts a URL whose path has a segment twice by the segments that it has.
func (t *traps) repeats(u *url.URL) bool {
	parts := segments(u)
	slices.Sort(parts)
	distinct := slices.Compact(slices.Clone(parts))
	if len(distinct) == len(parts) {
		return false
	}
	kind := "repeats " + strings.Join(distinct, "/")
	t.kinds[kind]++
	return t.share("repeats", t.kinds[kind] == 1)
}

// combines counts a URL by its path and the names of its parameters.
func (t *traps) combines(u *url.URL) bool {
	names := paramNames(u)
	if len(names) == 0 {
		return false
	}
	combination := u.Path + "?" + strings.Join(names, "&")
	if t.kinds[combination] == 0 {
		if t.names[u.Path] == maxNames || t.share("names", t.names[u.Path] == 0) {
			return true
		}
		t.names[u.Path]++
	}
	if len(names) > 1 && t.kinds[combination] >= maxValues {
		return true
	}
	t.kinds[combination]++
	return false
}

// counts counts a URL by what is left of it without its date or its numbers.
func (t *traps) counts(u *url.URL) bool {
	subject := u.Path + "?" + u.RawQuery + page.Route(u)
	if dated := date.ReplaceAllString(subject, "/0"); dated != subject {
		t.kinds["day "+dated]++ // a post has a date and something else, which no other has
		return t.share("dates", t.kinds["day "+dated] == 1) || t.count("date "+numbers.ReplaceAllString(dated, "0"), maxDates)
	}
	if paged := paging.ReplaceAllString(subject, "page=0"); paged != subject {
		return t.count("page "+paged, maxPages)
	}
	if len(paramNames(u)) > 1 {
		return t.count("number "+numbers.ReplaceAllString(subject, "0"), maxNumbers)
	}
	return false
}

// count counts a URL of a kind and reports whether the limit was reached before.
func (t *traps) count(kind string, limit int) bool {
	if t.kinds[kind] >= limit {
		return true
	}
	t.kinds[kind]++
	return false
}

var (
	// date matches a year with a month, in a path or a query.
	date = regexp.MustCompile(`\b(?:1[89]|2[0-9])\d\d[/-](?:0?[1-9]|1[0-2])\b(?:[/-](?:[0-2]?\d|3[01])\b)?|\b(?:year|month|week|day|date)=\d[\d-]*`)
	// escapedAgain matches the name of a parameter whose separator was escaped twice as HTML: each page does it again.
	escapedAgain = regexp.MustCompile(`(?i)(?:amp(?:;|%3b)){2}`)

	paging  = regexp.MustCompile(`\b(?:page|paged|start|offset|skip|from)=\d+|/page/\d+`)
	numbers = regexp.MustCompile(`\d+`)
)

// paramNames returns the names of a query's parameters, sorted and without duplicates.
func paramNames(u *url.URL) []string {
	var names []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		if name, _, _ := strings.Cut(part, "="); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sessions are parameters that identify a visit, not a page.
var sessions = []string{
	"phpsessid", "jsessionid", "sid", "sessionid", "session_id", "aspsessionid", "cfid", "cftoken",
	"zenid", "oscsid",
}

// withoutSession returns a copy of u without the session that servers put in URLs for clients without cookies.
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
