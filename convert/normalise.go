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

// calloutAttr marks a blockquote that is a callout: NOTE, TIP, IMPORTANT, WARNING or CAUTION.
const calloutAttr = "data-callout"

// normalise rewrites the elements below body into the few forms that the renderer knows, while the classes and inputs that
// tell what they are still stand. It returns how many pieces of hidden text it removed.
func normalise(ctx context.Context, body *html.Node, base *url.URL) (hiddenText int) {
	unwrapShadowRoots(body)
	lazyImages(body)
	normaliseMath(body)
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
	hiddenText = removeHidden(ctx, body)
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
	return hiddenText
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
		if href := absolute(base, attr(n, "href")); href != "" {
			setAttr(n, "href", href)
		} else {
			dropAttr(n, "href")
		}
		liftHeading(n)
	case atom.Img:
		normaliseImage(n, base)
	case atom.Table:
		if layout(n) {
			unwrapTable(n)
		}
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

func checkbox(n *html.Node) bool {
	return is(n, atom.Input) && strings.EqualFold(attr(n, "type"), "checkbox") && within(n, atom.Li)
}

// unwrapShadowRoots puts the content of declarative shadow roots, which a rendered page carries, where a reader sees it.
func unwrapShadowRoots(body *html.Node) {
	for _, t := range findAll(body, func(n *html.Node) bool { return is(n, atom.Template) && attr(n, "shadowrootmode") == "open" }) {
		unwrap(t)
	}
}

// labelTabs puts the name of its tab before every panel that a tab shows: all panels become visible in the text.
func labelTabs(body *html.Node) {
	labels := map[string]string{}
	for _, tab := range findAll(body, func(n *html.Node) bool { return attr(n, "role") == "tab" }) {
		for _, id := range []string{attr(tab, "aria-controls"), strings.TrimPrefix(attr(tab, "href"), "#")} {
			if id != "" {
				labels[id] = plain(tab)
			}
		}
	}
	if len(labels) == 0 {
		return
	}
	for _, panel := range findAll(body, func(n *html.Node) bool { return attr(n, "role") == "tabpanel" }) {
		if label := labels[attr(panel, "id")]; label != "" {
			panel.InsertBefore(elementNode(atom.P, elementNode(atom.Strong, textNode(label))), panel.FirstChild)
		}
	}
}

// callouts says which classes make an element a callout, and of which kind (the kinds of GitHub's alerts).
var callouts = map[string]string{
	"note": "NOTE", "info": "NOTE", "seealso": "NOTE", "secondary": "NOTE", "admonition-todo": "NOTE", "abstract": "NOTE", "tip": "TIP", "hint": "TIP", "success": "TIP", "example": "NOTE",
	"important": "IMPORTANT", "warning": "WARNING", "attention": "WARNING", "caution": "CAUTION", "danger": "CAUTION", "error": "CAUTION", "deprecated": "WARNING", "quote": "NOTE", "question": "NOTE",
	"bug": "CAUTION", "failure": "CAUTION",
}

// callout returns the kind of callout that n is, or "".
func callout(n *html.Node) string {
	if !is(n, atom.Div, atom.Aside, atom.Section, atom.Blockquote, atom.P) {
		return ""
	}
	class := strings.ToLower(attr(n, "class"))
	if class == "" {
		return ""
	}
	kind, container := "", false
	for word := range strings.FieldsSeq(class) {
		switch word {
		case "admonition", "admonitionblock", "notecard", "theme-admonition", "markdown-alert", "callout", "starlight-aside", "alert", "custom-block":
			container = true
		}
		for _, prefix := range []string{"theme-admonition-", "markdown-alert-", "callout-", "starlight-aside--", "alert--", "alert-", "admonition-", ""} {
			name, ok := strings.CutPrefix(word, prefix)
			if !ok {
				continue
			}
			if k := callouts[name]; k != "" {
				kind = k
				if prefix == "theme-admonition-" || prefix == "markdown-alert-" || prefix == "starlight-aside--" || prefix == "callout-" {
					container = true
				}
			}
			break
		}
	}
	if !container {
		return ""
	}
	if (hasClass(n, "alert") || hasClass(n, "callout")) && calloutTitle(n) == nil && !hasClass(n, "admonition", "theme-admonition") {
		return ""
	}
	if kind == "" && hasClass(n, "admonition", "admonitionblock", "notecard") {
		kind = "NOTE"
	}
	return kind
}

// calloutTitle returns the element that holds a callout's own title, or nil.
func calloutTitle(n *html.Node) *html.Node {
	return find(n, func(d *html.Node) bool {
		class := strings.ToLower(attr(d, "class"))
		return strings.Contains(class, "admonition-title") || strings.Contains(class, "admonition-heading") || strings.Contains(class, "admonitionheading") ||
			strings.Contains(class, "alert-title") || strings.Contains(class, "alert-heading") || strings.Contains(class, "callout-title") || strings.Contains(class, "aside__title") ||
			strings.Contains(class, "custom-block-title")
	})
}

func normaliseCallout(n *html.Node, kind string) {
	if hasClass(n, "admonitionblock") { // Asciidoctor: a table of an icon and the text
		if content := find(n, func(d *html.Node) bool { return is(d, atom.Td) && hasClass(d, "content") }); content != nil {
			inner := elementNode(atom.Div)
			moveChildren(content, inner)
			empty(n)
			n.AppendChild(inner)
		}
	}
	title := calloutTitle(n)
	text := ""
	if title != nil {
		text = strings.Trim(plain(title), ": ")
		remove(title)
	}
	rename(n, atom.Blockquote)
	n.Attr = []html.Attribute{{Key: calloutAttr, Val: kind}}
	if text != "" && !strings.EqualFold(text, kind) && callouts[strings.ToLower(text)] != kind {
		n.InsertBefore(elementNode(atom.P, elementNode(atom.Strong, textNode(text))), n.FirstChild)
	}
}

// layout reports whether a table only arranges its content: it says so, it has one column or one row, or its cells hold what
// no cell of data holds.
func layout(n *html.Node) bool {
	if role := attr(n, "role"); role == "presentation" || role == "none" {
		return true
	}
	rows, columns := 0, 0
	for _, row := range tableRows(n) {
		cells := 0
		for c := row.FirstChild; c != nil; c = c.NextSibling {
			if is(c, atom.Td, atom.Th) {
				cells++
			}
		}
		if cells > 0 {
			rows++
		}
		columns = max(columns, cells)
	}
	if columns <= 1 {
		return true
	}
	blocks := contains(n, atom.Table, atom.H1, atom.H2, atom.Article, atom.Section, atom.Form)
	return blocks || rows == 1 && contains(n, atom.P, atom.Div, atom.Ul, atom.Ol, atom.Dl, atom.Pre)
}

// tableRows returns the rows of a table, not those of tables in its cells.
func tableRows(table *html.Node) []*html.Node {
	var rows []*html.Node
	for c := table.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case is(c, atom.Tr):
			rows = append(rows, c)
		case is(c, atom.Thead, atom.Tbody, atom.Tfoot):
			for r := c.FirstChild; r != nil; r = r.NextSibling {
				if is(r, atom.Tr) {
					rows = append(rows, r)
				}
			}
		}
	}
	return rows
}

func unwrapTable(n *html.Node) {
	for _, row := range tableRows(n) {
		for c := row.FirstChild; c != nil; c = c.NextSibling {
			if is(c, atom.Td, atom.Th) {
				rename(c, atom.Div)
			}
		}
		if is(row.Parent, atom.Thead, atom.Tbody, atom.Tfoot) {
			rename(row.Parent, atom.Div)
		}
		rename(row, atom.Div)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if is(c, atom.Caption) {
			rename(c, atom.P)
		}
	}
	rename(n, atom.Div)
}
