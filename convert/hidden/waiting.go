package hidden

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
)

// waiting is a text of a page that waits for a script. kind says how styles hide it. They are gathered in the walk and
// settled after it.
type waiting struct {
	text *html.Node
	kind string
}

// mayWait reports whether the page itself may be hidden until a script has run. A later part waits if the first did.
func (w *Cleaner) mayWait() bool { return !w.final && (!w.part || w.kept) }

// outermost returns the look of the text of n, the root of the page or its body. What hides it hides the page itself.
// Some pages hide their root until a script has run, against a flash of unstyled text.
func (w *Cleaner) outermost(n *html.Node, l look) look {
	style := w.sheet.StylesOf(n)
	l = w.paint(n, l, style)
	kind, _ := hiddenByStyle(style.Values, l.size)
	if dom.HasAttr(n, "hidden") && style.Values.Get("display") == "" {
		kind = "hidden"
	}
	if kind != "" && len(style.Windows) == 0 && w.mayWait() {
		l.inside, w.kept = kind, true
	}
	return l
}

// await sets the look of n, which is the page itself and hidden. Where visibility hides it, two looks are followed from
// here on: that of now, and that after the script.
func (w *Cleaner) await(n *html.Node, l *look, outer look, style css.Styles) {
	if !unseenBy(style.Values) {
		l.inside = w.pageHidden
		return
	}
	style.Values.Drop("visibility") // elements in it may be visible even now
	shown := w.painted(n, outer, style)
	l.shown = &shown
}

// settle keeps the texts that wait for a script only if next to nothing else is said on the page, and sets them apart
// from what is seen without a script. What is said beside them shows that the page is not the one that waits: a hidden
// text as large as a page then goes like any other.
func (w *Cleaner) settle(body *html.Node) {
	if len(w.waiting) == 0 || body.Parent != nil && dom.HasAttr(body.Parent, webflow) {
		return
	}
	waits := map[*html.Node]string{} // of elements: a text in them does
	for _, t := range w.waiting {
		for n := t.text; n != body && n != nil && waits[n] == ""; n = n.Parent {
			waits[n] = t.kind
		}
	}
	seen, said := map[*html.Node]bool{}, 0
	for d := range body.Descendants() {
		if d.Type != html.TextNode || waits[d] != "" || chars.Blank(d.Data) {
			continue
		}
		if !dom.Within(d, atom.Nav, atom.Header, atom.Footer, atom.A, atom.Aside) {
			said += chars.Words(d.Data)
		}
		for n := d; n != body && n != nil && !seen[n]; n = n.Parent {
			seen[n] = true
		}
	}
	switch {
	case said >= saidOutside && !w.part:
		w.kept = false
		for _, t := range w.waiting {
			w.reported.add(t.kind, t.text.Data, t.text.Parent)
			dom.Remove(t.text)
		}
	case said > 0 || w.beside:
		w.beside = true
		w.setOff(body, waits, seen)
	}
}

// besideMark begins a quote of what the styles of a page hide until a script has run. Agents read it.
const besideMark = "The styles of the page hide this text:"

// setOff puts what waits below n in quotes that say so. It removes what waits in the middle of a sentence that is seen.
// A text in a quote and one beside it come from different states of the page, and must not be read as one. waits and
// seen are the elements with text of either kind.
func (w *Cleaner) setOff(n *html.Node, waits map[*html.Node]string, seen map[*html.Node]bool) {
	var next *html.Node
	for c := n.FirstChild; c != nil; c = next {
		next = c.NextSibling
		switch {
		case waits[c] == "":
		case c.Type == html.ElementNode && (seen[c] || partOfGroup(c)):
			w.setOff(c, waits, seen)
		case !holdsBlocks(n):
			w.reported.addNode(waits[c], c)
			dom.Remove(c)
		default:
			mark := dom.NewElement(atom.P, dom.NewElement(atom.Em, dom.NewText(besideMark)))
			quote := dom.NewElement(atom.Blockquote, mark)
			n.InsertBefore(quote, c)
			for ; c != nil && !seen[c] && !partOfGroup(c); c = next {
				next = c.NextSibling
				dom.Remove(c)
				quote.AppendChild(c)
			}
			next = quote.NextSibling
		}
	}
}

// partOfGroup reports whether n is a part of a list or table, which stays where it is when text in it waits for a
// script. The quote that sets the text off goes into it.
func partOfGroup(n *html.Node) bool {
	return dom.Is(n, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Thead, atom.Tfoot,
		atom.Caption, atom.Summary, atom.Figcaption)
}

// holdsBlocks reports whether the quote around text that waits for a script may stand in n. Elsewhere HTML has no place
// for a blockquote.
func holdsBlocks(n *html.Node) bool {
	return n.DataAtom == 0 || dom.IsBlock(n) && !dom.IsHeading(n) && !dom.Is(n, atom.P, atom.Pre, atom.Ul, atom.Ol,
		atom.Dl, atom.Dt, atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Th, atom.Caption, atom.Summary,
		atom.Figcaption)
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

// webflow is an attribute of the root of pages whose builder has scripts show them, with menus that are made of div.
const webflow = "data-wf-page"

// saidOutside is how many words beside a hidden element make it a hidden part of a page, and not the page.
const saidOutside = 25
