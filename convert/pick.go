package convert

import (
	"context"
	"fmt"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// The limits of a selector that a caller gives. A page may have talked the caller into it: each descendant combinator
// may look at all ancestors of an element, so few of them keep what one element costs small, whatever the page.
const (
	maxSelectorBytes   = 500
	maxCombinators     = 3
	searchingSelectors = "has( haschild( contains( containsown( matches( matchesown( contains-own( has-child("
)

// selector is a list of CSS selectors. Those of recipes are read by package css instead, which knows CSS as browsers do
// and counts its comparisons.
type selector = cascadia.SelectorGroup

// parseSelector reads the list of CSS selectors (level 3) by which a caller picks a part of a page, at most 500 bytes
// long, each with at most three combinators that search (a space or ~). Pseudo-classes that look into elements, such as
// :has, are refused. The error says what is wrong with it, for the caller's user.
func parseSelector(s string) (selector, error) {
	if len(s) > maxSelectorBytes {
		return nil, fmt.Errorf("parse selector %.40q…: it is longer than %d bytes", s, maxSelectorBytes)
	}
	lower := strings.ToLower(s)
	for name := range strings.FieldsSeq(searchingSelectors) {
		if strings.Contains(lower, ":"+name) {
			return nil, fmt.Errorf("parse selector %q: %q is not supported", s, ":"+strings.TrimSuffix(name, "("))
		}
	}
	group, err := cascadia.ParseGroup(s)
	if err != nil {
		return nil, fmt.Errorf("parse selector %q: %w", s, err)
	}
	for _, one := range group {
		if one.PseudoElement() != "" {
			return nil, fmt.Errorf("parse selector %q: pseudo-element ::%s is not supported", s, one.PseudoElement())
		}
	}
	for list := s; list != ""; {
		end := css.SelectorEnd(list)
		if searches(list[:end]) > maxCombinators {
			return nil, fmt.Errorf("parse selector %q: more than %d descendant or sibling combinators", s, maxCombinators)
		}
		list = strings.TrimPrefix(list[end:], ",")
	}
	return group, nil
}

// searches counts the combinators of a selector, by which a caller picks a part of a page, that examine more than one
// element: spaces and ~ outside brackets. Combinators in :not() count too. The others look at one element.
func searches(s string) (n int) {
	s = strings.Join(strings.Fields(s), " ")
	for _, c := range []string{">", "+", "~"} {
		s = strings.ReplaceAll(strings.ReplaceAll(s, " "+c, c), c+" ", c)
	}
	return strings.Count(s, " ") + strings.Count(s, "~") - strings.Count(s, "~=")
}

// pick narrows a page to the part that the caller chose, before elements are rewritten. It is what [Options.Selector],
// Drop and Section ask for.
type pick struct {
	keep    selector // nil: all
	drop    selector // nil: nothing
	section string   // id of an element; "": all

	chosen []*html.Node // what keep or section chose, in document order
}

// apply drops the elements below body that the caller does not want and records the ones that it chose.
func (p *pick) apply(ctx context.Context, body *html.Node) {
	if p.drop != nil {
		for _, n := range outermost(ctx, p.drop, body) {
			dom.Remove(n)
		}
	}
	switch {
	case p.section != "":
		p.chosen = section(ctx, body, p.section)
	case p.keep != nil:
		p.chosen = outermost(ctx, p.keep, body)
	}
}

// outermost returns the elements below body that a caller picks by a selector, in document order, without those that
// lie in another.
func outermost(ctx context.Context, s selector, body *html.Node) []*html.Node {
	var found []*html.Node
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		guard.Check(ctx)
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode && s.Match(c) {
				found = append(found, c)
			} else {
				walk(c)
			}
		}
	}
	walk(body)
	return found
}

// narrowed parses the page again and returns it with the elements that o chooses: selectors refer to the original page,
// and the elements of d are rewritten. roots are the chosen elements; they are nil if o only drops some. A page that
// was composed here is copied instead. The error wraps [ErrNoMatch] if nothing is left of the choice.
func (d *Document) narrowed(ctx context.Context, o Options) (*Document, []*html.Node, error) {
	p := &pick{section: o.Section}
	var err error
	if o.Selector != "" && o.Section == "" {
		if p.keep, err = parseSelector(o.Selector); err != nil {
			return nil, nil, err
		}
	}
	if o.Drop != "" {
		if p.drop, err = parseSelector(o.Drop); err != nil {
			return nil, nil, err
		}
	}
	other := &Document{url: d.url, content: d.content, entire: d.entire, pick: p}
	if d.form != "" || d.whole { // the tree was written here, there is no other
		*other = *d
		other.body = cloned(ctx, d.body)
		p.apply(ctx, other.body)
	} else if err := guard.Run(func() { other.parse(ctx) }); err != nil {
		return nil, nil, err
	}
	if p.keep == nil && p.section == "" {
		return other, nil, nil
	}
	var roots []*html.Node
	for _, n := range p.chosen {
		if dom.Attached(n, other.body) && (!chars.Blank(dom.OneLine(n)) || dom.Contains(n, atom.Img) || dom.Is(n, atom.Img)) {
			roots = append(roots, n)
		}
	}
	if len(roots) == 0 {
		if p.section != "" {
			return nil, nil, fmt.Errorf("section %q: %w", o.Section, ErrNoMatch)
		}
		return nil, nil, fmt.Errorf("selector %q: %w", o.Selector, ErrNoMatch)
	}
	return other, housed(roots), nil
}

// housed wraps what a caller has picked, list items, terms, rows and the like in a list or table of their own, because
// they mean nothing outside one. Neighbours of one kind come into one list or table; cells become boxes.
func housed(roots []*html.Node) []*html.Node {
	var list []*html.Node
	for _, n := range roots {
		var house atom.Atom
		switch n.DataAtom {
		case atom.Li:
			house = atom.Ul
			if dom.Is(n.Parent, atom.Ol) {
				house = atom.Ol
			}
		case atom.Dt, atom.Dd:
			house = atom.Dl
		case atom.Tr, atom.Thead, atom.Tbody, atom.Tfoot:
			house = atom.Table
		case atom.Td, atom.Th:
			dom.Rename(n, atom.Div)
		}
		if house == 0 {
			list = append(list, n)
			continue
		}
		if len(list) == 0 || list[len(list)-1].DataAtom != house || list[len(list)-1].Parent != nil {
			list = append(list, dom.NewElement(house))
		}
		dom.Remove(n)
		list[len(list)-1].AppendChild(n)
	}
	return list
}

// cloned returns a copy of n and of what is below it, of which a caller picks a part, without parent and siblings. A
// document may be converted by several callers at once, so that the tree of d must not change.
func cloned(ctx context.Context, n *html.Node) *html.Node {
	guard.Check(ctx)
	c := &html.Node{
		Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace,
		Attr: append([]html.Attribute(nil), n.Attr...),
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		c.AppendChild(cloned(ctx, child))
	}
	return c
}
