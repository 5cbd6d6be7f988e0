package convert

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Small moves on html.Node trees that the rules share. None of them follows more than one node's children, but textOf.

func attr(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return n.Attr[i].Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, key string) bool {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return true
		}
	}
	return false
}

func setAttr(n *html.Node, key, value string) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			n.Attr[i].Val = value
			return
		}
	}
	n.Attr = append(n.Attr, html.Attribute{Key: key, Val: value})
}

// is reports whether n is an element with one of the names.
func is(n *html.Node, names ...atom.Atom) bool {
	if n == nil || n.Type != html.ElementNode {
		return false
	}
	return slices.Contains(names, n.DataAtom)
}

// hasClass reports whether one of n's classes is one of names. Class names are compared without case.
func hasClass(n *html.Node, names ...string) bool {
	for word, rest := cutWord(attr(n, "class")); word != ""; word, rest = cutWord(rest) {
		for _, name := range names {
			if len(word) == len(name) && strings.EqualFold(word, name) {
				return true
			}
		}
	}
	return false
}

// cutWord returns the first word of an attribute, "" when there is none, and what follows it.
func cutWord(s string) (word, rest string) {
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

func remove(n *html.Node) {
	if n.Parent != nil {
		n.Parent.RemoveChild(n)
	}
}

// unwrap puts n's children in its place.
func unwrap(n *html.Node) {
	for c := n.FirstChild; c != nil; c = n.FirstChild {
		n.RemoveChild(c)
		n.Parent.InsertBefore(c, n)
	}
	n.Parent.RemoveChild(n)
}

// replace puts other in n's place.
func replace(n, other *html.Node) {
	n.Parent.InsertBefore(other, n)
	n.Parent.RemoveChild(n)
}

func rename(n *html.Node, a atom.Atom) { n.Data, n.DataAtom = a.String(), a }

func empty(n *html.Node) {
	for c := n.FirstChild; c != nil; c = n.FirstChild {
		n.RemoveChild(c)
	}
}

func moveChildren(from, to *html.Node) {
	for c := from.FirstChild; c != nil; c = from.FirstChild {
		from.RemoveChild(c)
		to.AppendChild(c)
	}
}

func textNode(s string) *html.Node { return &html.Node{Type: html.TextNode, Data: s} }

func elementNode(a atom.Atom, children ...*html.Node) *html.Node {
	n := &html.Node{Type: html.ElementNode, DataAtom: a, Data: a.String()}
	for _, c := range children {
		n.AppendChild(c)
	}
	return n
}

// find returns the first element below n, in document order, for which match holds, or nil.
func find(n *html.Node, match func(*html.Node) bool) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && match(d) {
			return d
		}
	}
	return nil
}

// findAll returns all elements below n, in document order, for which match holds.
func findAll(n *html.Node, match func(*html.Node) bool) []*html.Node {
	var found []*html.Node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && match(d) {
			found = append(found, d)
		}
	}
	return found
}

func contains(n *html.Node, names ...atom.Atom) bool {
	return find(n, func(d *html.Node) bool { return is(d, names...) }) != nil
}

// within reports whether n has an ancestor with one of the names.
func within(n *html.Node, names ...atom.Atom) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if is(p, names...) {
			return true
		}
	}
	return false
}

// textOf returns the text below n as it stands.
func textOf(n *html.Node) string {
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

// plain returns the text below n on one line, single-spaced.
func plain(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode && !is(d.Parent, atom.Script, atom.Style, atom.Noscript, atom.Template):
			b.WriteString(d.Data)
		case blockElement(d):
			b.WriteByte(' ')
		}
	}
	return squash(b.String())
}

func squash(s string) string { return strings.Join(strings.Fields(s), " ") }

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// blockElement reports whether n begins and ends a block of text.
func blockElement(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case 0:
		return n.Data == noteElement
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

func heading(n *html.Node) bool { return is(n, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6) }
