package hidden

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// keepLabel rewrites a button whose text a reader needs: that of a heading, and that of a question whose answer the
// button folds. It reports whether it did; other buttons are controls. It renames the button to span or div, so that
// its text is treated as any other.
func keepLabel(n *html.Node) bool {
	switch {
	case dom.Within(n, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Summary, atom.Dt):
		if !dom.OpensParent(n) {
			return false // it copies the link of the heading before it
		}
		dom.Rename(n, atom.Span)
		return true
	case dom.Within(n, atom.Nav, atom.Header, atom.Footer, atom.Menu):
		return false
	case dom.Find(n, dom.IsHeading) != nil,
		(dom.HasAttr(n, "aria-expanded") || dom.HasAttr(n, "aria-controls")) && beforeProse(n):
		dom.Rename(n, atom.Div)
		return true
	}
	return false
}

// beforeProse reports whether what a button n may fold, the next element after n, or after a box with no text but that
// of n, begins with prose. It looks at three boxes around n.
func beforeProse(n *html.Node) bool {
	title := dom.OneLine(n)
	for range 3 {
		for next := n.NextSibling; next != nil; next = next.NextSibling {
			if next.Type == html.ElementNode {
				return startsProse(next)
			}
		}
		if n = n.Parent; n == nil || dom.Is(n, atom.Body) || dom.OneLine(n) != title {
			return false
		}
	}
	return false
}

// startsProse reports whether n, which a button may fold, begins with a sentence that is no link. It looks at the first
// few nodes only. Eight words are prose.
func startsProse(n *html.Node) bool {
	const words, nodes = 8, 60
	said, seen := 0, 0
	for d := range n.Descendants() {
		if seen++; seen > nodes {
			break
		}
		if d.Type == html.TextNode && !dom.Within(d, atom.A, atom.Button, atom.Script, atom.Style, atom.Svg) {
			if said += chars.Words(d.Data); said >= words {
				return true
			}
		}
	}
	return false
}

// control records the elements that d opens or unfolds if it is a control: the panel of a tab, the section under a
// button. They are found by ids in the attributes of ARIA, Bootstrap and the HTML standard's popovers and commands.
func (w *Cleaner) control(d *html.Node) {
	for _, key := range [...]string{"popovertarget", "commandfor"} {
		if id := dom.Attr(d, key); id != "" {
			w.controls[id] = true
		}
	}
	if len(d.Attr) < 2 {
		return
	}
	toggle := dom.Attr(d, "data-toggle") + dom.Attr(d, "data-bs-toggle")
	switch {
	case dom.Attr(d, "role") == "tab", dom.HasAttr(d, "aria-expanded"), toggle == "tab", toggle == "pill",
		toggle == "collapse":
	default:
		return
	}
	for _, id := range []string{
		dom.Attr(d, "aria-controls"), strings.TrimPrefix(dom.Attr(d, "href"), "#"),
		strings.TrimPrefix(dom.Attr(d, "data-target"), "#"), strings.TrimPrefix(dom.Attr(d, "data-bs-target"), "#"),
	} {
		if id != "" {
			w.controls[id] = true
		}
	}
}

// opened reports whether the reader can open n: a control of the page names it, or it is the folded part under a
// visible head. It must be text, not a menu or a form. Panels of tabs need not be text.
func (w *Cleaner) opened(n *html.Node) bool {
	if dom.Is(n, atom.Nav, atom.Form, atom.Dialog, atom.Ul) {
		return false
	}
	switch dom.Attr(n, "role") {
	case "dialog", "menu", "listbox", "navigation", "search", "alertdialog":
		return false
	}
	if id := dom.Attr(n, "id"); id == "" || !w.controls[id] {
		return foldName(n) && underHead(n) && prose(n)
	}
	return dom.Attr(n, "role") == "tabpanel" || prose(n)
}

// foldNames are parts of the class names of what folds and unfolds: the same as details, made by scripts. They are
// looked for in the class of an element and of the one around it.
var foldNames = []string{"accordion", "collaps", "faq", "expand", "disclosure", "callout-content", "spoiler"}

// foldName reports whether n is named as what folds: whether a class of n or of its parent has a part of foldNames.
func foldName(n *html.Node) bool {
	class := strings.ToLower(dom.Attr(n, "class"))
	if n.Parent != nil {
		class += " " + strings.ToLower(dom.Attr(n.Parent, "class"))
	}
	for _, name := range foldNames {
		if strings.Contains(class, name) {
			return true
		}
	}
	return false
}

// underHead reports whether a text precedes n, by which a reader knows what is folded there. It is that of the element
// right before n.
func underHead(n *html.Node) bool {
	for p := n.PrevSibling; p != nil; p = p.PrevSibling {
		if p.Type == html.ElementNode {
			return !chars.Blank(dom.Text(p))
		}
	}
	return false
}

// prose reports whether n, which the reader may open, is text more than links, and asks for nothing. A form asks, and
// is a part of the machinery.
func prose(n *html.Node) bool {
	text, links := 0, 0
	for d := range n.Descendants() {
		switch {
		case dom.Is(d, atom.Nav, atom.Form, atom.Input):
			return false
		case d.Type == html.TextNode && !chars.Blank(d.Data):
			text += len(d.Data)
			if dom.Within(d, atom.A) {
				links += len(d.Data)
			}
		}
	}
	return links*2 < text
}
