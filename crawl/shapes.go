package crawl

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/page"
)

// When the shape of URLs is left, by the pages of it that said nothing new.
const (
	patience = 10 // pages in a row that say nothing new, after which their shape waits for the rest of the site
	shareOf  = 8  // the limit of pages is divided by it: so many in a row, and their shape is left
	partOf   = 3  // likewise of the pages of the shape, for both
)

// shapes decides by what pages say which URLs are worth a request. It does no I/O and is deterministic.
//
// A shape is what URLs have in common: the path that they begin with, or their whole path and the names of their
// parameters, without numbers. What is endless is so in a shape: a calendar in the names of its days, a filter in its
// parameters, a link that deepens the path in what lies below it. No name of a path or a parameter tells that; that the
// pages of a shape say nothing new does.
//
// A shape ends with a slash, or with a question mark and the names of parameters, or with a question mark if it is for
// all of them. Numbers in it are written as 0.
type shapes struct {
	limit   int      // of pages of the crawl
	asked   []string // patterns of the URLs that are wanted, and the path below which the crawl began
	tallies map[string]*tally
	cuts    []Cut
}

// A tally counts the pages of a shape.
type tally struct {
	pages int
	row   int // the last ones, which said nothing new
	hand  int // URLs that are being read
}

// Cut is a part of a site that a crawl left because its pages say nothing new.
type Cut struct {
	Pattern string // chooses its URLs; as one of [Options].Include it asks for them
	Row     int    // pages that were read last, and said nothing new
	Left    int    // URLs that were left out
}

// newShapes returns the shapes of a crawl with a limit of pages.
func newShapes(limit int) shapes { return shapes{limit: limit, tallies: map[string]*tally{}} }

// turn says when a URL is to be read.
type turn int

const (
	atOnce    turn = iota
	nextRound      // when it is known what those say that are being read
	atEnd          // after the rest of the site
	never
)

// turn says when a URL of the crawl is to be read, by the tallies of its shapes: at once if they say something new, at
// the end of the crawl after patience pages in a row that did not, and never after a share of the limit. late is set
// when only those are left that wait for the rest of the site.
func (s *shapes) turn(u *url.URL, late bool) turn {
	when := atOnce
	for _, shape := range shapesOf(u) {
		t := s.tallies[shape]
		if t == nil || s.wanted(shape) {
			continue
		}
		wait := max(patience, t.pages/partOf)
		share := max(s.limit/shareOf, wait)
		bound := wait
		switch {
		case t.row >= share:
			s.leave(shape, t.row)
			return never
		case t.row >= wait && !late:
			when = atEnd
			continue
		case t.row >= wait:
			bound = share
		case t.row == 0 && t.pages > 0: // the last one said something
			continue
		}
		if t.row+t.hand >= bound {
			when = max(when, nextRound)
		}
	}
	return when
}

// leave counts a URL that is left out because of a shape, of which so many pages in a row said nothing new, for the
// report.
func (s *shapes) leave(shape string, row int) {
	pattern := patternOf(shape)
	i := slices.IndexFunc(s.cuts, func(c Cut) bool { return c.Pattern == pattern })
	if i < 0 {
		i = len(s.cuts)
		s.cuts = append(s.cuts, Cut{Pattern: pattern, Row: row})
	}
	s.cuts[i].Left++
}

// wanted reports whether a pattern asks for a shape, which then is never left: one that chooses a part of it or all of
// it, and nothing else. Names of parameters are left out: who asks for a path with any of them asks for each.
func (s *shapes) wanted(shape string) bool {
	fixed, _, _ := strings.Cut(patternOf(shape), "*")
	if path, _, query := strings.Cut(fixed, "?"); query {
		fixed = path + "?"
	}
	return slices.ContainsFunc(s.asked, func(pattern string) bool { return strings.HasPrefix(pattern, fixed) })
}

// begin counts a URL of the crawl that is being read, in each of its shapes: a round must not read more of a shape at
// once than its patience allows.
func (s *shapes) begin(u *url.URL) {
	for _, shape := range shapesOf(u) {
		t := s.tallies[shape]
		if t == nil {
			t = &tally{}
			s.tallies[shape] = t
		}
		t.hand++
	}
}

// end counts what came of a URL that was being read: a page that says nothing new, or another one, or none.
func (s *shapes) end(u *url.URL, isPage, repeats bool) {
	for _, shape := range shapesOf(u) {
		t := s.tallies[shape]
		if t == nil { // the start page
			t = &tally{hand: 1}
			s.tallies[shape] = t
		}
		t.hand--
		switch {
		case !isPage:
			continue
		case repeats:
			t.row++
		default:
			t.row = 0
		}
		t.pages++
	}
}

// shapesOf returns the shapes of a URL of a site, the widest first: each folder that it lies in, then its path with any
// parameters and with the names of its own.
func shapesOf(u *url.URL) (list []string) {
	path := number().ReplaceAllStringFunc(pathOf(u)+page.Route(u), func(s string) string {
		if s[0] == '%' {
			return s
		}
		return "0"
	})
	for at := range len(path) {
		if path[at] == '/' {
			list = append(list, path[:at+1])
		}
	}
	switch names := strings.Join(paramNames(u), "&"); {
	case u.RawQuery != "":
		list = append(list, path+"?", path+"?"+names)
	case !strings.HasSuffix(path, "/"):
		list = append(list, path)
	}
	return list
}

// pathOf returns the path of a URL as the server gets it, for patterns and shapes.
func pathOf(u *url.URL) string { return cmp.Or(u.EscapedPath(), "/") }

// number matches digits in a path, or an escaped byte, whose digits are no number.
var number = lazy.Pattern(`%[0-9A-Fa-f]{2}|[0-9]+`)

// patternOf returns the pattern (see [Options]) that chooses the URLs of a shape, for the report and for comparing with
// what is wanted.
func patternOf(shape string) string {
	path, names, query := strings.Cut(shape, "?")
	path = strings.ReplaceAll(path, "0", "*")
	switch {
	case query && names != "" && !strings.Contains(names, "&"):
		return path + "?" + names + "=*"
	case query:
		return path + "?*"
	case strings.HasSuffix(path, "/"):
		return path + "*"
	}
	return path
}

// paramNames returns the names of a query's parameters, sorted and without duplicates, for shapes.
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
