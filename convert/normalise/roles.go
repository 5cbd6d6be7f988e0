package normalise

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// byRole renames an element to the one that its role, or its name on an AMP page, says it is. Sites that are made of
// div elements say only by roles (WAI-ARIA) what is a heading, a list or a table. Headings of level 1 are left alone,
// as there is one of the page already.
func byRole(n *html.Node) {
	if n.Data == "amp-img" {
		dom.Empty(n)
		dom.Rename(n, atom.Img)
	}
	if !dom.Is(n, atom.Div, atom.Span, atom.P) {
		return
	}
	switch dom.Attr(n, "role") {
	case "heading":
		if level := dom.Attr(n, "aria-level"); len(level) == 1 && level >= "2" && level <= "6" {
			dom.Rename(n, atom.Lookup([]byte("h"+level)))
		}
	case "list":
		if items := listItems(n); len(items) > 1 {
			dom.Rename(n, atom.Ul)
			for _, item := range items {
				dom.Rename(item, atom.Li)
			}
		}
	case "table":
		if parts := tableParts(n); parts != nil {
			dom.Rename(n, atom.Table)
			for part, name := range parts {
				dom.Rename(part, name)
			}
		}
	}
}

// listItems returns the items of a list by their roles, or nil if there is anything else in it, or more than a line in
// one of them: site builders call rows of cards lists. A list needs two items to be made one; the caller looks.
func listItems(list *html.Node) (items []*html.Node) {
	for c := list.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case dom.Attr(c, "role") == "listitem" && dom.Is(c, atom.Div, atom.Span, atom.P) && dom.Find(c, notInLine) == nil:
			items = append(items, c)
		case c.Type == html.TextNode && chars.Blank(c.Data), c.Type == html.CommentNode:
		default:
			return nil
		}
	}
	return items
}

// notInLine reports whether n, in an item of a list by roles, is no part of a line of text. Items with such in them are
// cards.
func notInLine(n *html.Node) bool { return dom.IsBlock(n) || dom.Is(n, atom.Img, atom.Br) }

// partRoles are the roles of the parts of a table. Grids have them, too, but are not asked.
var partRoles = map[string]atom.Atom{
	"rowgroup": atom.Tbody, "row": atom.Tr, "cell": atom.Td, "columnheader": atom.Th, "rowheader": atom.Th,
}

// tableParts returns the elements that are the rows and cells of a table by their roles, or nil if there is anything
// else in it. The value is the element that each becomes. A table needs two rows.
func tableParts(table *html.Node) map[*html.Node]atom.Atom {
	parts := map[*html.Node]atom.Atom{}
	rows := 0
	var walk func(n *html.Node) bool
	walk = func(n *html.Node) bool {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch name := partRoles[dom.Attr(c, "role")]; {
			case c.Type == html.TextNode && chars.Blank(c.Data), c.Type == html.CommentNode:
			case name == atom.Tbody && n == table, name == atom.Tr && parts[n] != atom.Tr:
				parts[c] = name
				if name == atom.Tr {
					rows++
				}
				if !walk(c) {
					return false
				}
			case (name == atom.Td || name == atom.Th) && parts[n] == atom.Tr:
				parts[c] = name
			default:
				return false
			}
		}
		return true
	}
	if !walk(table) || rows < 2 {
		return nil
	}
	return parts
}
