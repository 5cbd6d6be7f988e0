package css

import (
	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/dom"
)

// Style sheets of many pages have hundreds of rules such as ".menu .item", each of which is asked of every item and
// would be compared with all its ancestors. A filter of the names of ancestors answers most of them at once.

// nameFilter is a Bloom filter of the ids and classes of an element and of its ancestors: 512 bits, two of them for
// each name. It may say that a name is there which is not; then the selector is compared in full.
type nameFilter [8]uint64

// add enters the hash of a name into a filter of an element and its ancestors.
func (f *nameFilter) add(name uint32) {
	f[name>>6&7] |= 1 << (name & 63)
	f[name>>15&7] |= 1 << (name >> 9 & 63)
}

// has reports whether a name may be in f, a filter of an element and its ancestors.
func (f *nameFilter) has(name uint32) bool {
	return f[name>>6&7]>>(name&63)&1 != 0 && f[name>>15&7]>>(name>>9&63)&1 != 0
}

// full is a filter that has all names. It stands for elements whose names cannot be hashed so that equal ones have
// equal hashes.
var full = nameFilter{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

// nameHash returns the hash by which filters of ancestors have an id, with kind '#', or a class, with kind '.'. It is
// the same in either case, which does not count in quirks mode. ascii is false for a name whose other characters may be
// equal to letters there. It is FNV-1a, with its upper bits mixed into the lower ones, of which the filter takes its
// two places.
func nameHash(kind byte, name string) (hash uint32, ascii bool) {
	hash, ascii = (2166136261^uint32(kind))*16777619, true
	for i := range len(name) {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		ascii = ascii && c < 0x80
		hash = (hash ^ uint32(c)) * 16777619
	}
	return hash ^ hash>>15, ascii
}

// outerNames returns the hashes of ids and classes that ancestors of the subject of s must have. They are hashed once,
// when the rule is read. Only names beside ' ' and '>' count: a sibling is no ancestor of the subject.
func (s *selector) outerNames() (names []uint32) {
	for i := 1; i < len(s.chain); i++ {
		if c := s.combinators[i-1]; c != ' ' && c != '>' {
			continue // a sibling; what is around that is around the subject, too
		}
		if id := s.chain[i].id; id != "" {
			name, _ := nameHash('#', id)
			names = append(names, name)
		}
		for _, class := range s.chain[i].classes {
			name, _ := nameHash('.', class)
			names = append(names, name)
		}
	}
	return names
}

// ancestor is an element with the names of it and of its own ancestors. The line of them is a stack that follows the
// walk over the page.
type ancestor struct {
	node  *html.Node
	names nameFilter
}

// near reports whether names, the hashes of a selector's outer names, may be those of ancestors of n. If it is false
// the selector cannot match n, and no comparison is needed; the filter of the last n is kept, because many rules are
// asked of one element.
func (m *matcher) near(n *html.Node, names []uint32) bool {
	if m.nearOf != n {
		m.nearOf, m.outer = n, *m.namesOf(n.Parent)
	}
	for _, name := range names {
		if !m.outer.has(name) {
			return false
		}
	}
	return true
}

// namesOf returns the names of n and of its ancestors. It keeps those of the last n and of its ancestors, from the
// outermost: elements are asked for in document order. The result is valid until the next call.
func (m *matcher) namesOf(n *html.Node) *nameFilter {
	if n == nil || n.Type != html.ElementNode {
		m.line = m.line[:0]
		return &nameFilter{}
	}
	for i := len(m.line) - 1; i >= 0; i-- {
		if m.line[i].node == n && m.still(i) {
			m.line = m.line[:i+1]
			return &m.line[i].names
		}
	}
	e := ancestor{n, *m.namesOf(n.Parent)}
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "id":
			m.addName(&e.names, '#', n.Attr[i].Val)
		case "class":
			for class, rest := dom.CutWord(n.Attr[i].Val); class != ""; class, rest = dom.CutWord(rest) {
				m.addName(&e.names, '.', class)
			}
		}
	}
	m.line = append(m.line, e)
	return &m.line[len(m.line)-1].names
}

// still reports whether the ancestors that are kept up to i are still one in another: the tree changes while it is
// asked about.
func (m *matcher) still(i int) bool {
	for ; i > 0; i-- {
		if m.line[i].node.Parent != m.line[i-1].node {
			return false
		}
	}
	parent := m.line[0].node.Parent
	return parent == nil || parent.Type != html.ElementNode
}

// addName enters an id or a class of an element into its filter, which has those of its ancestors already. In quirks
// mode a name with characters beyond ASCII fills the whole filter: such names may be equal without having equal hashes.
func (m *matcher) addName(f *nameFilter, kind byte, name string) {
	hash, ascii := nameHash(kind, name)
	if f.add(hash); m.quirks && !ascii {
		*f = full
	}
}
