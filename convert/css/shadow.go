package css

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/dom"
)

// The rules of a shadow root hold for the elements in it, those of the document for the elements outside (CSS Scoping
// Level 1, §3). A root reaches its host by :host and what fills its slots by ::slotted; what is outside reaches into it
// by ::part.
//
// The sheet is read when the roots still are templates. Later their content stands in their hosts, and what fills a
// slot in the slot: so an element's parent may be of another tree.

// shadows is what is known of the shadow roots of a page. The zero value is a page without any. Read fills the maps
// while roots still are templates; tree and scope are set for each rule that is compared.
type shadows struct {
	trees map[*html.Node]*html.Node // the root that an element is in; none in the document
	hosts map[*html.Node]*html.Node // by root
	tree  *html.Node                // the root that the rule at hand is of, nil for the document
	scope *html.Node                // what :scope stands for; nil: the root of the page
}

// Where a rule comes from, seen from the element that it is about. The cascade ranks them in this order among
// declarations that are not important (CSS Cascading Level 5, §6.1: context).
const (
	fromInner = iota // from the shadow root that the element is the host of, or fills a slot of
	fromSame
	fromOuter // from outside of the shadow root that the element is in
)

// from says, of a subject c, from where its rules come: from the shadow root of which it is the host or fills a slot,
// from its own tree, or from outside of its shadow root.
func (c *compound) from() int {
	switch {
	case c.host || c.slotted != nil:
		return fromInner
	case c.part != "":
		return fromOuter
	}
	return fromSame
}

// enter notes a shadow root. What it holds is noted as it is read. It makes root the tree at hand; the caller restores
// the one before.
func (s *shadows) enter(root *html.Node) {
	if s.trees == nil {
		s.trees, s.hosts = map[*html.Node]*html.Node{}, map[*html.Node]*html.Node{}
	}
	s.hosts[root], s.tree = root.Parent, root
}

// reaches reports whether the rule at hand can be about n in the place of c. A compound with :host is about the host of
// the rule's shadow root alone, any other about elements of the rule's own tree.
func (m *matcher) reaches(c *compound, n *html.Node) bool {
	if c.host {
		return m.tree != nil && m.hosts[m.tree] == n
	}
	return m.trees[n] == m.tree
}

// parent returns the element round n in the tree of the rule at hand; for the outermost of a shadow root, its host.
// Elements of other trees between them are passed over: they stand there since slots were filled.
func (m *matcher) parent(n *html.Node) *html.Node {
	p := n.Parent
	for m.trees != nil && p != nil && m.trees[p] != m.tree && m.hosts[m.tree] != p {
		p = p.Parent
	}
	return p
}

// within calls f as for a rule of the tree, such as a shadow root, that n is in. It restores the rule's own tree before
// it returns.
func (m *matcher) within(n *html.Node, f func() bool) bool {
	tree := m.tree
	m.tree = m.trees[n]
	defer func() { m.tree = tree }()
	return f()
}

// isHost reports whether :host or :host-context, with its argument, holds for n. :host asks for the element itself,
// :host-context for it or an element around it. Arguments are compared in the tree of the element, not in that of the
// root.
func (m *matcher) isHost(p *pseudo, n *html.Node) bool {
	if p.list == nil {
		return true // compound has looked
	}
	for e := n; e != nil; e = e.Parent {
		if m.within(e, func() bool { return m.any(p.list, e, nil) }) {
			return true
		}
		if p.name == "host" {
			break
		}
	}
	return false
}

// slotOf returns the slot that n fills, in the shadow root that the rule at hand is of, perhaps by a slot round it, if
// it is what c asks for, else nil. The argument of ::slotted is compared in the tree that n is of.
func (m *matcher) slotOf(c *compound, n *html.Node) *html.Node {
	slot := *c
	slot.pseudos = slot.pseudos[:len(slot.pseudos)-1] // the last one has the weight of ::slotted
	for p := n.Parent; m.tree != nil && p != nil && p.Data == "slot"; p = p.Parent {
		if m.trees[p] == m.tree && m.trees[n] != m.tree {
			if m.compound(&slot, p, nil) && m.within(n, func() bool { return m.any(c.slotted, n, nil) }) {
				return p
			}
			return nil
		}
	}
	return nil
}

// hostOfPart returns the host of the shadow root that n is in if n has the part that c asks for, else nil. All the
// parts named must be there. What stands before ::part in the selector is then compared with that host.
func (m *matcher) hostOfPart(c *compound, n *html.Node) *html.Node {
	parts := strings.Fields(dom.Attr(n, "part"))
	for part := range strings.FieldsSeq(c.part) {
		if !slices.Contains(parts, part) {
			return nil
		}
	}
	return m.hosts[m.trees[n]]
}

// treeOf returns the tree, the document or a shadow root, in which names of a declaration for n mean something: that of
// its rule, or of n's own style. Names of @keyframes and of anchors are looked up in it.
func (s *Sheet) treeOf(n *html.Node, by *rule) *html.Node {
	if by != nil {
		return by.tree
	}
	return s.trees[n]
}
