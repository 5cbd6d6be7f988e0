package crawl

import (
	"net/url"
	"path"
	"strings"

	"github.com/readthru/readthru/page"
)

// roundSize is how many URLs are fetched in parallel before the next ones are chosen. The choice never depends on which
// of them answers first, so the order of a crawl depends on its site alone.
const roundSize = 32

// item is a URL to crawl.
type item struct {
	URL    string `json:"u"`
	Depth  int    `json:"d,omitempty"` // links away from the start
	Listed bool   `json:"l,omitempty"` // the site lists it; no page read so far links to it
}

// frontier holds which URLs of a site come next and which are known. It does no I/O and is deterministic: the same
// calls lead to the same state.
type frontier struct {
	scope scope
	limit int // pages
	depth int // links away from the start; 0 is unbounded
	most  int // maximum number of queued URLs

	queues [tiers][]item
	late   []item                // URLs of shapes that say nothing new, for the end
	hand   []item                // URLs of the round in hand that are not done
	added  []item                // since take was called last
	raw    map[string]struct{}   // URLs as they were linked: saves parsing a menu again on every page
	seen   map[page.Key]struct{} // by normalised URL
	forms  map[string]formats    // by formatless URL
	hashes map[string]struct{}   // of pages yielded
	said   said
	shapes shapes
	report Report
}

// formats says which forms of a page are known: its HTML, its markdown, or both.
type formats struct{ html, markdown bool }

// newFrontier returns the frontier of a crawl before its start page. most is fifty times the limit of pages, but 20,000
// URLs at least, and at most 200,000 or twice the limit if that is more: most links of a site lead nowhere new.
func newFrontier(s scope, limit, depth int) *frontier {
	return &frontier{
		scope: s, limit: limit, depth: depth, most: min(max(20_000, 50*limit), max(200_000, 2*limit)),
		raw: map[string]struct{}{}, seen: map[page.Key]struct{}{},
		forms: map[string]formats{}, hashes: map[string]struct{}{},
		shapes: newShapes(limit),
		report: *newReport(),
	}
}

// add queues a URL that a page or a list names, if the crawl wants it and does not know it. It reports whether it
// queued the URL. What looks endless or is too much is counted in the report instead.
func (f *frontier) add(it item) bool {
	if _, known := f.raw[it.URL]; known || f.depth > 0 && it.Depth > f.depth {
		return false
	}
	if len(f.raw) < 4*f.most {
		f.raw[it.URL] = struct{}{}
	}
	u, err := url.Parse(it.URL)
	if err != nil {
		return false
	}
	u, ok := f.scope.site(u)
	if !ok || !f.scope.wants(u) || !f.see(u) {
		return false
	}
	if endless(u) {
		f.report.Trapped++
		return false
	}
	if f.left() >= f.most {
		f.report.Dropped++
		return false
	}
	it.URL = u.String()
	tier := f.scope.tier(u, it.Listed)
	f.queues[tier] = append(f.queues[tier], it)
	f.added = append(f.added, it)
	return true
}

// begin queues the start page of a crawl, which no pattern excludes.
func (f *frontier) begin(u *url.URL) {
	f.see(u)
	f.queues[0] = append(f.queues[0], item{URL: u.String()})
}

// take returns the URLs queued since the last call, to be saved with the step that found them.
func (f *frontier) take() []item {
	added := f.added
	f.added = nil
	return added
}

// see marks a URL of the site as known. It reports whether the URL was new, and not another form of a known page: the
// markdown of a page in HTML, or the HTML of one in markdown.
func (f *frontier) see(u *url.URL) bool {
	k := page.KeyOf(page.Normalize(u))
	if _, known := f.seen[k]; known {
		return false
	}
	if len(f.seen) >= 4*f.most {
		f.report.Dropped++
		return false
	}
	f.seen[k] = struct{}{}
	name, markdown := formatless(u)
	t := f.forms[name]
	if markdown && t.html || !markdown && t.markdown {
		return false
	}
	t.markdown, t.html = t.markdown || markdown, t.html || !markdown
	f.forms[name] = t
	return true
}

// knows reports whether a URL of the site is known to the crawl.
func (f *frontier) knows(u *url.URL) bool {
	_, known := f.seen[page.KeyOf(page.Normalize(u))]
	return known
}

// formatless returns, for the frontier, what the URLs of a page and of its markdown form have in common, and whether u
// is the URL of the markdown.
func formatless(u *url.URL) (name string, markdown bool) {
	p := u.EscapedPath()
	switch ext := strings.ToLower(path.Ext(p)); ext {
	case ".md", ".markdown":
		markdown = true
		p = p[:len(p)-len(ext)]
	case ".html", ".htm":
		p = p[:len(p)-len(ext)]
	}
	p = strings.TrimSuffix(strings.TrimSuffix(p, "/"), "/index")
	return p + "?" + u.RawQuery + "#" + page.Route(u), markdown
}

// next takes the URLs of the next round, all equally near to the start, roundSize at most and no more than the limit
// leaves. It returns none at the end of the crawl. URLs that wait for the end come when nothing else is left.
func (f *frontier) next() []item {
	n := min(roundSize, f.limit-f.report.Pages)
	var round []item
	for t := range f.queues {
		// A round may have linked and listed URLs of one degree, but not of two.
		if t%2 == 0 && len(round) > 0 {
			break
		}
		var more bool
		if round, f.queues[t], more = f.pick(round, f.queues[t], n, false); !more {
			break
		}
	}
	if len(round) == 0 {
		round, f.late, _ = f.pick(round, f.late, n, true)
	}
	f.hand = round
	return round
}

// pick moves URLs from a queue to a round, until that has n or it depends on what those of the round say how to go on;
// more reports whether it does neither. Those that have to wait for the end it moves to late.
func (f *frontier) pick(round, queue []item, n int, late bool) (picked, rest []item, more bool) {
	for len(round) < n {
		if len(queue) == 0 {
			return round, nil, true
		}
		it := queue[0]
		u, err := url.Parse(it.URL)
		if err != nil { // a damaged state
			queue = queue[1:]
			continue
		}
		switch f.shapes.turn(u, late) {
		case atOnce:
			f.shapes.begin(u)
			round = append(round, it)
		case nextRound:
			return round, queue, false
		case atEnd:
			f.late = append(f.late, it)
		}
		queue = queue[1:]
	}
	return round, queue, false
}

// round returns the URLs of the round in hand that are not done, which a resumed crawl begins with, or else those of
// the next one.
func (f *frontier) round() []item {
	if len(f.hand) > 0 {
		return f.hand
	}
	return f.next()
}

// left returns the number of URLs of the crawl that are queued or in hand.
func (f *frontier) left() int {
	n := len(f.hand) + len(f.late)
	for _, q := range f.queues {
		n += len(q)
	}
	return n
}

// pageless returns how many URLs of the crawl gave no page; when these are many, it gives up.
func (f *frontier) pageless() int {
	n := -f.report.Pages
	for _, count := range f.report.Outcomes {
		n += count
	}
	return n
}

// done counts the outcome of the first URL in hand, and what its page said. The order is that of the round: a resumed
// crawl replays it.
func (f *frontier) done(d done) {
	f.hand = f.hand[1:]
	f.report.count(d.URL, d.Outcome)
	if u, err := url.Parse(d.URL); err == nil {
		f.said.add(unpackFacts(d.Facts))
		f.shapes.end(u, d.Hash != "", d.Repeats)
	}
	switch d.Outcome {
	case Added, Changed, Unchanged:
		f.report.Pages++
		f.hashes[d.Hash] = struct{}{}
	}
}

// has reports whether a page with this content hash was yielded in this crawl.
func (f *frontier) has(hash string) bool {
	_, ok := f.hashes[hash]
	return ok
}
