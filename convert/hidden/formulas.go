package hidden

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// Formulas removes the hidden parts of the formulas below body. It comes first because a formula is rewritten from its
// parts, and after that nothing tells which of them were shown. It looks at MathML, and at MathJax's own elements.
func (w *Cleaner) Formulas(body *html.Node) {
	for _, formula := range dom.FindAll(body,
		func(n *html.Node) bool { return n.Data == "math" || n.Data == "mjx-math" }) {
		w.formula(formula, w.plain())
	}
}

// formula removes n from a formula if styles, attributes or its name hide it, else looks at its parts. outer is the
// look of what is around it.
func (w *Cleaner) formula(n *html.Node, outer look) {
	style := w.sheet.StylesOf(n)
	var kind string
	switch l := w.paint(n, outer, style); {
	case n.Data == "mphantom":
		kind = "visibility"
	case dom.HasAttr(n, "hidden") && style.Values.Get("display") == "":
		kind = "hidden"
	case l.visibility == "hidden" && n.FirstChild != nil && n.FirstChild.Type == html.ElementNode: // a part may be visible
		w.formulaParts(n, l)
		return
	default:
		if kind, _ = hiddenByStyle(style.Values, l.size); kind == "" {
			kind = l.unseen()
		}
		if kind == "" {
			w.formulaParts(n, l)
			return
		}
	}
	w.reported.addNode(kind, n)
	dom.Remove(n)
}

// formulaParts goes on to the children of n that browsers show. Of annotations only a source in TeX stays, from which
// the formula is written; of semantics and of actions browsers show the first child alone.
func (w *Cleaner) formulaParts(n *html.Node, l look) {
	shown := 0
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type != html.ElementNode:
		case c.Data == "annotation" && strings.Contains(strings.ToLower(dom.Attr(c, "encoding")), "tex"): // its source
		case c.Data == "annotation", c.Data == "annotation-xml":
			w.reported.addNode("display", c)
			n.RemoveChild(c)
		default:
			if shown++; shown > 1 && (n.Data == "semantics" || n.Data == "maction") {
				w.reported.addNode("display", c)
				n.RemoveChild(c)
			} else if !dom.Is(c, atom.Script) {
				w.formula(c, l)
			}
		}
		c = next
	}
}
