package footnote

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// mark is an element that may refer to a footnote. A mark that is not sure needs a footnote that says it is one.
type mark struct {
	node  *html.Node
	label string
	id    string // of the footnote
	other string // the id that another attribute than the address gives
	named bool   // an attribute for footnotes alone gives the id
	cites bool   // names author or year, which stay
	sure  bool   // says itself that it refers to a footnote
}

// markOf reads an element as a reference to a footnote. Links lead by their address, other elements by an attribute. ok
// is false for what is none.
func (f *noteFinder) markOf(n *html.Node) (mark, bool) {
	id, other, named := "", "", false
	switch n.DataAtom {
	case atom.A:
		href := dom.Attr(n, "href")
		id = f.fragment(href)
		other = otherID(n)
		if id == "" && other == "" && noteID(anchor(href)) { // of a copy of the page at another address
			other = anchor(href)
		}
	case atom.Span, atom.Label, atom.Sup:
		for _, key := range [...]string{"data-definition", "data-footnote-id", "data-fn", "for"} {
			if id == "" {
				id, named = dom.Attr(n, key), key != "for"
			}
		}
		if id != "" && dom.Find(n, func(d *html.Node) bool {
			return dom.Is(d, atom.A) &&
				f.fragment(dom.Attr(d, "href")) != ""
		}) != nil {
			return mark{}, false // the link inside tells more
		}
	}
	if id == "" && other == "" {
		return mark{}, false
	}
	text := shortText(n)
	label, bracketed := noteLabel(text)
	if dom.Is(n, atom.A) && year(text) && !bracketed && (dom.Attr(n, "role") == "doc-biblioref" ||
		inWrapper(n, atom.Cite) && noteID(id)) {
		return mark{node: n, id: id, cites: true, sure: true}, true
	}
	if label == "" {
		return mark{}, false
	}
	sure := named || bracketed || inWrapper(n, atom.Sup) || dom.Contains(n, atom.Sup) || noteWords(n) || n.Parent != nil &&
		noteWords(n.Parent) || noteID(id) || noteID(other) || bracketsRound(n)
	return mark{node: n, label: label, id: id, other: other, named: named, sure: sure}, true
}

// year reports whether the short text of what may be a mark ends with the year of a publication, as "Crane, 1999a"
// does. A letter may tell several of one year apart. Years are those from 1500 to 2099.
func year(text string) bool {
	text = strings.TrimRight(text, "abcdef)]")
	if len(text) < 4 || len(text) > 60 {
		return false
	}
	last := text[len(text)-4:]
	return digits(last) && (last[:2] == "20" || last[0] == '1' && last[1] >= '5')
}

// otherID returns the id that a mark names besides its address, or in a script in its place: the first quoted word that
// looks like the id of a footnote. Scripts show the note in a box then.
func otherID(a *html.Node) string {
	for _, key := range [...]string{"data-xml-rid", "data-rid", "aria-describedby", "aria-controls"} {
		if id := dom.Attr(a, key); id != "" {
			return id
		}
	}
	for i, quoted := range strings.Split(dom.Attr(a, "onclick"), "'") {
		if i%2 == 1 && noteID(quoted) {
			return quoted
		}
	}
	return ""
}

// fragment returns the id that the address of a mark leads to on the same page, or "". An address of another path
// counts if its last part is that of the page.
func (f *noteFinder) fragment(href string) string {
	path, _, _ := strings.Cut(strings.TrimSpace(href), "#")
	if path != "" {
		if f.base == nil {
			return ""
		}
		// A page under a second address, or a chapter that names its own file.
		if path, _, _ = strings.Cut(path, "?"); lastSegment(path) != lastSegment(f.base.Path) {
			return ""
		}
	}
	return anchor(href)
}

// anchor returns the id in the address of a mark or of a way back, of whatever page, or "". It is unescaped where it
// can be.
func anchor(href string) string {
	_, id, _ := strings.Cut(strings.TrimSpace(href), "#")
	if plain, err := url.PathUnescape(id); err == nil {
		id = plain
	}
	return id
}

// lastSegment returns what follows the last slash of the path of a mark's address.
func lastSegment(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// inWrapper reports whether the parent of a mark, or the parent of that, is one of the elements and holds little more
// than the mark. Such wrappers are spans, links and emphasis.
func inWrapper(n *html.Node, names ...atom.Atom) bool {
	p := n.Parent
	return dom.Is(p, names...) || p != nil && dom.Is(p.Parent, names...) &&
		dom.Is(p, atom.Span, atom.A, atom.I, atom.B, atom.Em,
			atom.Strong, atom.Cite)
}

// bracketsRound reports whether the text round a mark puts it between square brackets, perhaps with others like it. As
// in [1, 2], commas part them.
func bracketsRound(n *html.Node) bool {
	p, s := n.PrevSibling, n.NextSibling
	return p != nil && s != nil && p.Type == html.TextNode && s.Type == html.TextNode &&
		(strings.HasSuffix(p.Data, "[") || chars.OneLine(p.Data) == ",") &&
		(strings.HasPrefix(s.Data, "]") || chars.OneLine(s.Data) == ",")
}
