package rules

import (
	"context"
	"iter"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// measure tells how much text an element holds: bytes without white space, those inside links, and those inside code
// blocks. Code counts as text, too, as do links.
type measure struct{ text, links, code int32 }

// add adds what another element holds.
func (m *measure) add(o measure) { m.text += o.text; m.links += o.links; m.code += o.code }

// own is the text that is not links. Menus and lists of links have little of it.
func (m measure) own() int32 { return m.text - m.links }

// measureAll measures n and every element below it. The result omits elements without text. Who needs it no longer
// calls forget. forget gives the room of the map to the next page.
func measureAll(ctx context.Context, n *html.Node) (all map[*html.Node]measure, forget func()) {
	all, used := measures.Get().(map[*html.Node]measure)
	if !used {
		elements := 0
		for d := range n.Descendants() {
			if d.Type == html.ElementNode {
				elements++
			}
		}
		all = make(map[*html.Node]measure, elements+1) // growing it would take most of the time
	}
	t := tape{ctx: ctx, all: all}
	t.measure(n, false, false)
	const most = 10_000 // elements; of a larger page the room is worth more than the time
	return all, func() {
		if len(all) <= most {
			clear(all)
			measures.Put(all)
		}
	}
}

// measures holds maps for the measures of a page. Only those of moderate size are kept.
var measures sync.Pool

// measureOf measures n alone, without the dropped elements below it. It walks over all of n, so that it is not for
// every element of a page.
func measureOf(ctx context.Context, n *html.Node, dropped map[*html.Node]bool) measure {
	t := tape{ctx: ctx, dropped: dropped}
	return t.measure(n, false, false)
}

// tape measures elements. all is filled when it is not nil.
type tape struct {
	ctx     context.Context
	dropped map[*html.Node]bool
	all     map[*html.Node]measure // what was measured; nil when it is not asked for
}

// measure measures n, which stands in a link or in code. It panics, by guard.Check, when ctx ends.
func (t *tape) measure(n *html.Node, link, code bool) (m measure) {
	guard.Check(t.ctx)
	if n.Type == html.TextNode {
		for i := range len(n.Data) {
			if n.Data[i] > ' ' {
				m.text++
			}
		}
		if link {
			m.links = m.text
		}
		if code {
			m.code = m.text
		}
		return m
	}
	if t.dropped[n] {
		return m
	}
	link, code = link || n.DataAtom == atom.A, code || n.DataAtom == atom.Pre
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		m.add(t.measure(c, link, code))
	}
	if t.all != nil && n.Type == html.ElementNode && m.text > 0 {
		t.all[n] = m
	}
	return m
}

// remainder measures what is left of a page after some elements are dropped. Few elements contain dropped ones, so it
// measures only these again. The measures of the whole page are shared by all stages.
type remainder struct {
	all     map[*html.Node]measure
	dropped map[*html.Node]bool
	lost    map[*html.Node]measure // what of an element is dropped
}

// newRemainder measures what is left of n and the elements below it. Elements dropped later do not count as dropped. n
// is the body.
func newRemainder(ctx context.Context, n *html.Node, all map[*html.Node]measure,
	dropped map[*html.Node]bool,
) *remainder {
	r := &remainder{all, dropped, map[*html.Node]measure{}}
	var walk func(n *html.Node) measure
	walk = func(n *html.Node) (lost measure) {
		guard.Check(ctx)
		if dropped[n] {
			lost = all[n]
		} else {
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.Type == html.ElementNode {
					lost.add(walk(c))
				}
			}
		}
		if lost.text > 0 {
			r.lost[n] = lost
		}
		return lost
	}
	walk(n)
	return r
}

// of returns the measure of an element outside the dropped ones. For elements within dropped ones it means nothing.
func (r *remainder) of(n *html.Node) measure {
	m, lost := r.all[n], r.lost[n]
	return measure{m.text - lost.text, m.links - lost.links, m.code - lost.code}
}

// below yields the remaining elements below n in document order.
func (r *remainder) below(n *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) { r.eachBelow(n, yield) }
}

// eachBelow does the work of below. It is false when yield wants no more.
func (r *remainder) eachBelow(n *html.Node, yield func(*html.Node) bool) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && !r.dropped[c] && (!yield(c) || !r.eachBelow(c, yield)) {
			return false
		}
	}
	return true
}

// contentText measures the text in the body outside elements that are chrome by their tag. What pruning keeps is
// compared with it.
func contentText(ctx context.Context, body *html.Node) int32 {
	chrome := map[*html.Node]bool{}
	for d := range body.Descendants() {
		if dom.Is(d, atom.Nav, atom.Header, atom.Footer, atom.Aside) {
			chrome[d] = true
		}
	}
	return measureOf(ctx, body, chrome).text
}
