package convert

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Elements of our own that normalising puts into the tree for the renderer.
const (
	mathElement = "x-math" // TeX as its text; attribute display when it is a block
	rawElement  = "x-raw"  // markdown as its text
)

// normalise rewrites the elements below body into the few forms that the renderer knows, while the classes and inputs
// that tell what they are still stand. What no reader sees goes through w.
func normalise(ctx context.Context, body *html.Node, base *url.URL, w *firewall) {
	unwrapShadowRoots(body)
	lazyImages(body)
	normaliseMath(body)
	normaliseFootnotes(body, base)
	openCallouts(body)
	for _, box := range findAll(body, checkbox) {
		mark := "[ ] "
		if hasAttr(box, "checked") {
			mark = "[x] "
		}
		if after := box.NextSibling; after != nil && after.Type == html.TextNode {
			after.Data = strings.TrimLeft(after.Data, " \t\r\n")
		}
		replace(box, raw(mark))
	}
	labelTabs(body)
	w.clean(body)
	listings := map[*html.Node]bool{} // code blocks that are no pre
	for _, n := range findAll(body, func(n *html.Node) bool { check(ctx); return is(n, atom.Pre) || codeBlock(n) }) {
		check(ctx)
		if !attached(n, body) || inCode(n, listings) {
			continue
		}
		listings[n] = !is(n, atom.Pre)
		normaliseCode(n)
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		check(ctx)
		for c := n.FirstChild; c != nil; {
			next := c.NextSibling
			if c.Type == html.ElementNode && !is(c, atom.Pre) {
				if normaliseElement(c, base) {
					walk(c)
				}
			}
			c = next
		}
	}
	walk(body)
	dropOrnaments(body)
}

// attached reports whether n still hangs below root.
func attached(n, root *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == root {
			return true
		}
	}
	return false
}

// inCode reports whether n lies in an element that is a code block already.
func inCode(n *html.Node, listings map[*html.Node]bool) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if is(p, atom.Pre) || listings[p] {
			return true
		}
	}
	return false
}

// normaliseElement rewrites one element. It reports whether its children are still to be looked at.
func normaliseElement(n *html.Node, base *url.URL) bool {
	switch n.DataAtom {
	case atom.A:
		if permalink(n) {
			remove(n)
			return false
		}
		if href := untracked(absolute(base, attr(n, "href"))); href != "" && !selfLink(n) {
			setAttr(n, "href", href)
		} else {
			dropAttr(n, "href")
		}
		liftHeading(n)
	case atom.Img:
		normaliseImage(n, base)
	case atom.Table:
		normaliseTable(n)
	case atom.Code:
		if contains(n, atom.Pre) { // <code><pre>: the pre is the block
			rename(n, atom.Div)
		}
	case atom.Font, atom.Center:
		rename(n, map[bool]atom.Atom{true: atom.Div, false: atom.Span}[n.DataAtom == atom.Center])
	}
	if kind := callout(n); kind != "" {
		normaliseCallout(n, kind)
	}
	return true
}

func dropAttr(n *html.Node, key string) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			n.Attr = append(n.Attr[:i], n.Attr[i+1:]...)
			return
		}
	}
}

func raw(markdown string) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: rawElement}
	n.AppendChild(textNode(markdown))
	return n
}

// checkbox reports whether n is the box of a task: in an item of a list, and not for a reader to tick, or named a
// task's. Boxes that a form or a label knows choose filters, and goods to compare.
func checkbox(n *html.Node) bool {
	if !is(n, atom.Input) || !strings.EqualFold(attr(n, "type"), "checkbox") {
		return false
	}
	item := n.Parent
	for item != nil && !is(item, atom.Li) {
		item = item.Parent
	}
	if item == nil || hasAttr(n, "disabled") || hasClass(n, "task-list-item-checkbox") ||
		hasClass(item, "task-list-item", "task") {
		return item != nil
	}
	return !hasAttr(n, "name") && !hasAttr(n, "value") && !hasAttr(n, "id")
}
