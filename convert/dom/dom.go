// Package dom parses HTML, and reads and changes its tree. It is a thin layer over golang.org/x/net/html that the rules
// of a conversion share.
//
// [Parse] never fails for a page that nests too deep: it flattens such a page. The other functions are short moves on
// one node. Those that walk all below a node say so, by "find", "below" or "text" in their comment.
package dom

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
)

// Elements that normalising puts into the tree for the renderer. No element of a page has a name with a space.
const (
	MathElement    = "tex source"         // TeX as its text; attribute display when it is a block
	RawElement     = "raw markdown"       // markdown as its text
	NoteElement    = "footnote text"      // a footnote: its text; its label is the attribute id
	NoteRefElement = "footnote reference" // a reference to a footnote, whose label is the attribute id
)

// Attr returns the value of an attribute, "" when n has none of that name. Like Is, it is called in hundreds of places,
// and is not inlined, so that the program is smaller.
//
//go:noinline
func Attr(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return n.Attr[i].Val
		}
	}
	return ""
}

// HasAttr reports whether n has an attribute, which may be empty.
//
//go:noinline
func HasAttr(n *html.Node, key string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return true
		}
	}
	return false
}

// SetAttr sets or adds an attribute.
func SetAttr(n *html.Node, key, value string) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			n.Attr[i].Val = value
			return
		}
	}
	n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value})
}

// Is reports whether n is an element with one of the names. It is called in a thousand places: inlined, it would add
// 40 kB to the program, and it would not be faster.
//
//go:noinline
func Is(n *html.Node, names ...atom.Atom) bool {
	if n == nil || n.Type != html.ElementNode {
		return false
	}
	return slices.Contains(names, n.DataAtom)
}

// HasClass reports whether one of n's classes is one of names. Class names are compared without case.
func HasClass(n *html.Node, names ...string) bool {
	for word, rest := CutWord(Attr(n, "class")); word != ""; word, rest = CutWord(rest) {
		for _, name := range names {
			if len(word) == len(name) && strings.EqualFold(word, name) {
				return true
			}
		}
	}
	return false
}

// CutWord returns the first word of an attribute, "" when there is none, and the rest.
func CutWord(s string) (word, rest string) {
	begin := 0
	for begin < len(s) && s[begin] <= ' ' {
		begin++
	}
	end := begin
	for end < len(s) && s[end] > ' ' {
		end++
	}
	return s[begin:end], s[end:]
}

// Remove takes n out of its tree. It does nothing to a node that has no parent.
func Remove(n *html.Node) {
	if n.Parent != nil {
		n.Parent.RemoveChild(n)
	}
}

// Unwrap puts n's children in its place.
func Unwrap(n *html.Node) {
	for c := n.FirstChild; c != nil; c = n.FirstChild {
		n.RemoveChild(c)
		n.Parent.InsertBefore(c, n)
	}
	n.Parent.RemoveChild(n)
}

// Replace puts other in n's place.
func Replace(n, other *html.Node) {
	n.Parent.InsertBefore(other, n)
	n.Parent.RemoveChild(n)
}

// Rename makes n an element of another name, with the same attributes and children.
func Rename(n *html.Node, a atom.Atom) { n.Data, n.DataAtom = a.String(), a }

// Empty removes all children of n.
func Empty(n *html.Node) {
	for c := n.FirstChild; c != nil; c = n.FirstChild {
		n.RemoveChild(c)
	}
}

// MoveChildren moves the children of one node behind those of another.
func MoveChildren(from, to *html.Node) {
	for c := from.FirstChild; c != nil; c = from.FirstChild {
		from.RemoveChild(c)
		to.AppendChild(c)
	}
}

// NewText makes a node of text.
func NewText(s string) *html.Node { return &html.Node{Type: html.TextNode, Data: s} }

// NewElement makes an element with children, which must not be in a tree.
func NewElement(a atom.Atom, children ...*html.Node) *html.Node {
	n := &html.Node{Type: html.ElementNode, DataAtom: a, Data: a.String()}
	for _, c := range children {
		n.AppendChild(c)
	}
	return n
}

// Find returns the first element below n, in document order, for which match holds, or nil.
func Find(n *html.Node, match func(*html.Node) bool) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && match(d) {
			return d
		}
	}
	return nil
}

// FindAll returns all elements below n, in document order, for which match holds.
func FindAll(n *html.Node, match func(*html.Node) bool) []*html.Node {
	var found []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && match(d) {
			found = append(found, d)
		}
	}
	return found
}

// Contains reports whether an element with one of the names is below n.
func Contains(n *html.Node, names ...atom.Atom) bool {
	return Find(n, func(d *html.Node) bool { return Is(d, names...) }) != nil
}

// Within reports whether n has an ancestor with one of the names.
//
//go:noinline
func Within(n *html.Node, names ...atom.Atom) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if Is(p, names...) {
			return true
		}
	}
	return false
}

// Text returns the text of the nodes below n unchanged.
func Text(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	if c := n.FirstChild; c != nil && c.Type == html.TextNode && c.NextSibling == nil {
		return c.Data
	}
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// OneLine returns the text below n on one line, single-spaced.
func OneLine(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode && !Is(d.Parent, atom.Script, atom.Style, atom.Noscript, atom.Template):
			b.WriteString(d.Data)
		case IsBlock(d):
			b.WriteByte(' ')
		}
	}
	return chars.OneLine(b.String())
}

// IsBlock reports whether n is an element that begins and ends a block of text.
func IsBlock(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case 0:
		return n.Data == NoteElement
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center, atom.Dd,
		atom.Details, atom.Dialog, atom.Dir, atom.Div,
		atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3,
		atom.H4, atom.H5, atom.H6,
		atom.Header, atom.Hgroup, atom.Hr, atom.Html, atom.Legend, atom.Li, atom.Main, atom.Menu, atom.Nav, atom.Ol,
		atom.Optgroup, atom.Option, atom.P, atom.Pre,
		atom.Search, atom.Section, atom.Summary, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr,
		atom.Ul:
		return true
	}
	return false
}

// IsHeading reports whether n is one of h1 to h6.
func IsHeading(n *html.Node) bool { return Is(n, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6) }

// Attached reports whether n is root or below it.
func Attached(n, root *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == root {
			return true
		}
	}
	return false
}

// DropAttr removes an attribute.
func DropAttr(n *html.Node, key string) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			n.Attr = append(n.Attr[:i], n.Attr[i+1:]...)
			return
		}
	}
}

// HasText reports whether there is text below n that is not blank.
func HasText(n *html.Node) bool {
	return FirstText(n) != nil
}

// FirstText returns the first piece of text below n that is not blank, or nil.
func FirstText(n *html.Node) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !chars.Blank(d.Data) {
			return d
		}
	}
	return nil
}

// OpensParent reports whether there is no text before n in its parent.
func OpensParent(n *html.Node) bool {
	steps := 0
	for p := n.PrevSibling; p != nil; p = p.PrevSibling {
		if steps++; steps > 100 || p.Type == html.ElementNode && HasText(p) || p.Type == html.TextNode &&
			!chars.Blank(p.Data) {
			return false
		}
	}
	return true
}

// Around returns a new div whose only child is a copy of c, with the children of c. The tree of c stays as it is.
func Around(c *html.Node) *html.Node {
	twin := *c
	twin.Parent, twin.PrevSibling, twin.NextSibling = nil, nil, nil
	return &html.Node{Type: html.ElementNode, DataAtom: atom.Div, Data: "div", FirstChild: &twin, LastChild: &twin}
}

// Shape returns equal values for elements that the author of a page would style alike.
func Shape(n *html.Node) uint32 {
	h := uint32(n.DataAtom) * 2654435761
	class := Attr(n, "class")
	first, _, _ := strings.Cut(strings.TrimSpace(class), " ")
	for i := range len(first) {
		if c := first[i]; c < '0' || c > '9' {
			h = (h ^ uint32(c)) * 16777619
		}
	}
	return h
}

// Rows returns the rows of a table, without those of tables in its cells.
func Rows(table *html.Node) []*html.Node {
	var rows []*html.Node
	for c := table.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case Is(c, atom.Tr):
			rows = append(rows, c)
		case Is(c, atom.Thead, atom.Tbody, atom.Tfoot):
			for r := c.FirstChild; r != nil; r = r.NextSibling {
				if Is(r, atom.Tr) {
					rows = append(rows, r)
				}
			}
		}
	}
	return rows
}

// FirstElement returns the first child of n that is an element, or nil.
func FirstElement(n *html.Node) *html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			return c
		}
	}
	return nil
}

// LastElement returns the last child of n that is an element, or nil.
func LastElement(n *html.Node) *html.Node {
	for c := n.LastChild; c != nil; c = c.PrevSibling {
		if c.Type == html.ElementNode {
			return c
		}
	}
	return nil
}

// NextElement returns the next sibling of n that is an element, or nil.
func NextElement(n *html.Node) *html.Node {
	for s := n.NextSibling; s != nil; s = s.NextSibling {
		if s.Type == html.ElementNode {
			return s
		}
	}
	return nil
}
