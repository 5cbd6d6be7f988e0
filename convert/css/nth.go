package css

import (
	"math"
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
)

// place counts the elements around an element, from 1: among all of its parent, and among those of its name.
type place struct{ child, last, ofType, lastOfType int32 }

// counts reports whether p selects by the place of an element among its siblings. nth answers it.
func (p *pseudo) counts() bool {
	return nths[p.name] || strings.HasSuffix(p.name, "-child") || strings.HasSuffix(p.name, "-of-type")
}

// nth reports whether n has the place among its siblings that p, such as :nth-child, asks for. It is false for an
// element without a parent.
func (m *matcher) nth(p *pseudo, n *html.Node) bool {
	if n.Parent == nil {
		return false
	}
	if p.list != nil {
		return m.nthOf(p, n)
	}
	at := m.place(n)
	switch p.name {
	case "first-child":
		return at.child == 1
	case "last-child":
		return at.last == 1
	case "only-child":
		return at.child == 1 && at.last == 1
	case "first-of-type":
		return at.ofType == 1
	case "last-of-type":
		return at.lastOfType == 1
	case "only-of-type":
		return at.ofType == 1 && at.lastOfType == 1
	case "nth-child":
		return p.counted(at.child)
	case "nth-last-child":
		return p.counted(at.last)
	case "nth-of-type":
		return p.counted(at.ofType)
	}
	return p.counted(at.lastOfType)
}

// counted reports whether i, a place among siblings, is a·n+b for some n from 0 on, as in :nth-child(an+b).
func (p *pseudo) counted(i int32) bool {
	rest := int(i) - p.b
	if p.a == 0 {
		return rest == 0
	}
	return rest%p.a == 0 && rest/p.a >= 0
}

// nthOf counts only the siblings that match the list of p. It is :nth-child(an+b of S), and counts anew for each n.
func (m *matcher) nthOf(p *pseudo, n *html.Node) bool {
	if !m.any(p.list, n, nil) {
		return false
	}
	count := int32(1)
	next := func(e *html.Node) *html.Node { return e.PrevSibling }
	if p.name == "nth-last-child" {
		next = func(e *html.Node) *html.Node { return e.NextSibling }
	}
	for e := next(n); e != nil && m.steps >= 0; e = next(e) {
		if e.Type == html.ElementNode && m.any(p.list, e, nil) {
			count++
		}
	}
	return p.counted(count)
}

// place returns the place that n has among its siblings, for :nth-child and the like. The places of all of them are
// found at once. n must have a parent.
func (m *matcher) place(n *html.Node) place {
	if at, known := m.places[n]; known {
		return at
	}
	if m.places == nil {
		m.places = map[*html.Node]place{}
	}
	ofType := map[string]int32{}
	count := int32(0)
	for c := n.Parent.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			count++
			ofType[c.Data]++
			m.places[c] = place{child: count, ofType: ofType[c.Data]}
		}
	}
	for c := n.Parent.FirstChild; c != nil; c = c.NextSibling {
		if at, is := m.places[c]; is {
			at.last, at.lastOfType = count-at.child+1, ofType[c.Data]-at.ofType+1
			m.places[c] = at
		}
	}
	return m.places[n]
}

// parseNth reads the argument of :nth-child and the like: an+b, odd, even or a number. ok is false for what is none of
// these, and for numbers beyond a million.
func parseNth(s string) (a, b int, ok bool) {
	s = strings.Join(strings.Fields(s), "")
	switch s {
	case "odd":
		return 2, 1, true
	case "even":
		return 2, 0, true
	}
	step, offset, found := strings.Cut(s, "n")
	if !found {
		step, offset = "0", s
	}
	switch step {
	case "", "+":
		step = "1"
	case "-":
		step = "-1"
	}
	x, unit, ok := Number(step)
	y := 0.0
	if ok && unit == "" && offset != "" {
		y, unit, ok = Number(offset)
	}
	if !ok || unit != "" || math.Abs(x) > 1e6 || math.Abs(y) > 1e6 {
		return 0, 0, false
	}
	return int(x), int(y), true
}

// nths are the pseudo-classes that count siblings, and take a formula such as 2n+1.
var nths = chars.Set("nth-child nth-last-child nth-of-type nth-last-of-type")
