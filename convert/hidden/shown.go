package hidden

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

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

// foldName reports whether a class of n or of its parent has a part of foldNames.
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

// prose reports whether n is text more than links, and asks for nothing. A form asks, and is a part of the machinery.
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

// isPage reports whether n is the page itself, waiting for a script to show it: it holds over 60 % of all text, and
// next to nothing is said outside it but navigation, or the page's builder is known to show pages so. Of a later part
// the first part's report tells, and a composed page never waits. It sets w.kept.
func (w *Cleaner) isPage(n *html.Node) bool {
	if w.part || w.final {
		return w.kept
	}
	held := 0
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !neverText[d.Parent.DataAtom] {
			if held += len(d.Data); held*5 > w.total*3 {
				break
			}
		}
	}
	if held*5 <= w.total*3 {
		return false
	}
	said := 0
	var walk func(c *html.Node)
	walk = func(c *html.Node) {
		for d := c.FirstChild; d != nil && said < saidOutside; d = d.NextSibling {
			switch {
			case d.Type == html.TextNode:
				said += chars.Words(d.Data)
			case d == n || neverText[d.DataAtom] || dom.Is(d, atom.Nav, atom.Header, atom.Footer, atom.A, atom.Aside):
			default:
				walk(d)
			}
		}
	}
	top := n
	for top.Parent != nil && !dom.Is(top, atom.Body) {
		top = top.Parent
	}
	walk(top)
	is := said < saidOutside || top.Parent != nil && dom.HasAttr(top.Parent, webflow)
	w.kept = w.kept || is
	return is
}

// webflow is an attribute of the root of pages whose builder has scripts show them, with menus that are made of div.
const webflow = "data-wf-page"

// entrances are names by which scripts find what they let appear while the reader scrolls. They are classes of widely
// used libraries.
var entrances = map[string]bool{
	"wow": true, "elementor-invisible": true, "aos-init": true, "animate": true, "animated": true, "reveal": true,
	"fade-in": true, "fadein": true, "lazyload": true, "lazy": true, "js-reveal": true,
}

// entrance reports whether n waits for its entrance: a script shows it when the reader comes to it. Attributes of such
// libraries count, too.
func entrance(n *html.Node) bool {
	for i := range n.Attr {
		switch key := n.Attr[i].Key; {
		case key == "data-aos" || strings.HasPrefix(key, "data-anim") || strings.HasPrefix(key, "data-wow") ||
			key == "data-w-id" || key == "data-framer-appear-id":
			return true
		case key == "class":
			for class := range strings.FieldsSeq(strings.ToLower(n.Attr[i].Val)) {
				if entrances[class] {
					return true
				}
			}
		}
	}
	return false
}
