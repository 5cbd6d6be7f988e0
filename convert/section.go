package convert

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/internal/markdown"
)

// section returns the elements of the section that id names below body: a heading and what follows it up to the next
// heading of the same level or above; a term and its definition; otherwise the element itself. It is empty if no
// element has that id. A box that holds nothing but its heading stands for the section of that heading. Elements are
// those of the page as it was sent.
func section(ctx context.Context, body *html.Node, id string) []*html.Node {
	n := target(ctx, body, id)
	if n == nil {
		return nil
	}
	n = blockOf(n, body)
	switch {
	case n == nil:
		return nil
	case n.DataAtom == atom.Dt:
		return following(n, func(s *html.Node) bool { return dom.Is(s, atom.Dt) && !emptyTerm(n) })
	case dom.IsHeading(n):
		return headed(n, body)
	}
	if h := dom.Find(n, dom.IsHeading); h != nil && leadsIn(h, n) &&
		chars.Fold(dom.OneLine(h)) == chars.Fold(dom.OneLine(n)) {
		return headed(h, body) // a box round a heading alone
	}
	return []*html.Node{n}
}

// target returns the beginning of a section: the element that a fragment points at (HTML, 7.4.6.3): by its id, by the
// name of an anchor, or by the id that GitHub gives it. An id goes before a name. It looks through the whole page.
func target(ctx context.Context, body *html.Node, id string) *html.Node {
	var named, prefixed *html.Node
	for d := range body.Descendants() {
		guard.Check(ctx)
		if d.Type != html.ElementNode {
			continue
		}
		for i := range d.Attr {
			switch a := &d.Attr[i]; {
			case a.Key == "id" && a.Val == id:
				return d
			case a.Key == "id" && a.Val == "user-content-"+id, a.Key == "name" && a.Val == "user-content-"+id:
				prefixed = d
			case a.Key == "name" && a.Val == id && d.DataAtom == atom.A && named == nil:
				named = d
			}
		}
	}
	if named == nil {
		return prefixed
	}
	return named
}

// blockOf returns the block at which a section begins for an anchor: the block around it, or the next block if the
// anchor stands alone. Anchors often stand empty before what they name. It is nil if nothing follows.
func blockOf(n, body *html.Node) *html.Node {
	for n != body {
		if !dom.IsBlock(n) && chars.Blank(dom.OneLine(n)) {
			if next := dom.NextElement(n); next != nil && dom.IsBlock(next) && chars.Blank(textBetween(n, next)) {
				n = next
				continue
			}
		}
		if dom.IsBlock(n) {
			if !chars.Blank(dom.OneLine(n)) {
				return n
			}
			if next := dom.NextElement(n); next != nil {
				n = next
				continue
			}
		}
		n = n.Parent
		if dom.Is(n, atom.Thead, atom.Tbody, atom.Tfoot) {
			n = n.Parent
		}
	}
	return nil
}

// textBetween returns the text of a section between an element and a later sibling, without that in other elements.
func textBetween(from, to *html.Node) string {
	var b strings.Builder
	for s := from.NextSibling; s != nil && s != to; s = s.NextSibling {
		if s.Type == html.TextNode {
			b.WriteString(s.Data)
		}
	}
	return b.String()
}

// emptyTerm reports whether a section's term of a definition list has no definition of its own and shares that of the
// next term.
func emptyTerm(n *html.Node) bool { return dom.Is(dom.NextElement(n), atom.Dt) }

// following returns the elements of a section: n and its siblings up to the first for which end returns true. White
// space between them is left out.
func following(n *html.Node, end func(*html.Node) bool) []*html.Node {
	list := []*html.Node{n}
	for s := n.NextSibling; s != nil && !end(s); s = s.NextSibling {
		if s.Type == html.ElementNode || !chars.Blank(s.Data) && s.Type == html.TextNode {
			list = append(list, s)
		}
	}
	return list
}

// headed returns a heading and the elements of its section: its siblings, up to one that is or holds a heading of the
// same level or above. A box that holds nothing but the heading stands for it.
func headed(h, body *html.Node) []*html.Node {
	level := h.Data
	ends := func(s *html.Node) bool {
		if dom.IsHeading(s) {
			return s.Data <= level
		}
		inner := dom.Find(s, dom.IsHeading)
		return inner != nil && inner.Data <= level
	}
	first := h
	for first.Parent != body && first.Parent != nil && leadsIn(first, first.Parent) &&
		chars.Fold(dom.OneLine(first.Parent)) == chars.Fold(dom.OneLine(h)) {
		first = first.Parent // a box round the heading and its handles
	}
	return following(first, ends)
}

// leadsIn reports whether a section begins with n: no text precedes n in outer. n lies in outer.
func leadsIn(n, outer *html.Node) bool {
	for n != outer {
		for p := n.PrevSibling; p != nil; p = p.PrevSibling {
			if p.Type == html.TextNode && !chars.Blank(p.Data) || p.Type == html.ElementNode && !chars.Blank(dom.OneLine(p)) {
				return false
			}
		}
		n = n.Parent
	}
	return true
}

// sectionBySlug converts the page without a section, and returns the section of its markdown under the heading that
// o.Section names by its slug. It fails with [ErrNoMatch] if no heading has that slug.
func (d *Document) sectionBySlug(ctx context.Context, o Options) (*Result, error) {
	name := o.Section
	o.Section = ""
	res, err := d.Convert(ctx, o)
	if err != nil {
		return nil, err
	}
	begin, end, found := markdown.Section([]byte(res.Markdown), name)
	if !found {
		return nil, fmt.Errorf("section %q: %w", name, ErrNoMatch)
	}
	res.Markdown = strings.TrimRight(res.Markdown[begin:end], "\n") + "\n"
	res.Tokens = Tokens(res.Markdown)
	return res, nil
}
