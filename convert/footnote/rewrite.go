package footnote

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// rewrite puts the elements for footnotes into the tree. Footnotes are numbered in the order of their first references,
// unless the page has labels of its own.
func (f *noteFinder) rewrite(body *html.Node) {
	if len(f.notes) == 0 {
		return
	}
	slices.SortStableFunc(f.notes, func(a, b *note) int { return f.order[a.refs[0]] - f.order[b.refs[0]] })
	for i, n := range f.notes {
		n.label = f.label(n.own, i+1)
	}
	var placed []*html.Node
	for _, n := range f.notes {
		if !dom.Attached(n.node, body) {
			continue
		}
		for _, ref := range n.refs {
			if f.cites[ref] && dom.Attached(ref, body) {
				ref.Parent.InsertBefore(reference(n.label), ref.NextSibling)
				dom.Unwrap(ref)
			} else if dom.Attached(ref, body) {
				placed = append(placed, placeReference(ref, n.label))
			}
		}
	}
	for _, ref := range placed {
		withoutBrackets(ref)
	}
	for _, n := range f.notes {
		if dom.Attached(n.node, body) {
			f.placeNote(n, body)
		}
	}
	dropNoteHeadings(body)
}

// placeReference puts a reference in the place of ref and of what stands round it for its look, and returns it. A note
// in the margin has a switch beside it, which goes, too.
func placeReference(ref *html.Node, label string) *html.Node {
	for p := ref.Parent; dom.Is(p, atom.Sup, atom.Span, atom.Cite, atom.Small, atom.A, atom.Strong, atom.B, atom.Em,
		atom.I); p = p.Parent {
		if l, _ := noteLabel(shortText(p)); l == "" {
			break
		}
		ref = p
	}
	mark := reference(label)
	if s := ref.NextSibling; dom.Is(s, atom.Input) { // the switch of a note in the margin
		dom.Remove(s)
	}
	dom.Replace(ref, mark)
	return mark
}

// reference returns the element as which a reference to a footnote is rewritten. The renderer writes it as [^label].
func reference(label string) *html.Node {
	mark := &html.Node{Type: html.ElementNode, Data: dom.NoteRefElement, Attr: []html.Attribute{{Key: "id", Val: label}}}
	mark.AppendChild(dom.NewText(label)) // or white space round it would collapse
	return mark
}

// withoutBrackets removes the square brackets round the references that begin with first, when these are rewritten, and
// the commas between them. Brackets around a note's mark of markdown would show twice.
func withoutBrackets(first *html.Node) {
	opening := first.PrevSibling
	for dom.Is(opening, atom.A) && opening.FirstChild == nil { // an anchor
		opening = opening.PrevSibling
	}
	if opening == nil || opening.Type != html.TextNode || !strings.HasSuffix(opening.Data, "[") {
		return
	}
	var between []*html.Node
	for n := first.NextSibling; n != nil; n = n.NextSibling {
		switch {
		case n.Data == dom.NoteRefElement && n.Type == html.ElementNode:
		case n.Type != html.TextNode:
			return
		case strings.HasPrefix(n.Data, "]"):
			opening.Data, n.Data = strings.TrimSuffix(opening.Data, "["), n.Data[1:]
			for _, comma := range between {
				comma.Data = " "
			}
			return
		case strings.Trim(n.Data, ",; \n\u00a0") != "":
			return
		default:
			between = append(between, n)
		}
	}
}

// placeNote rewrites what holds a footnote into an element of our own, after the outermost list, table or paragraph
// that it stands in. Notes keep their order there. What is left empty by it is removed.
func (f *noteFinder) placeNote(n *note, body *html.Node) {
	f.withoutWayBack(n)
	element := &html.Node{Type: html.ElementNode, Data: dom.NoteElement, Attr: []html.Attribute{{Key: "id", Val: n.label}}}
	if dom.IsBlock(n.node) && !dom.Is(n.node, atom.Li, atom.Dd, atom.Td, atom.P) {
		element.Attr = append(element.Attr, html.Attribute{Key: "block", Val: ""})
	}
	dom.MoveChildren(n.node, element)
	place := n.node
	for p := n.node; p != nil && p != body; p = p.Parent {
		if dom.Is(p, atom.Li, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Blockquote, atom.P, atom.Dd) || !dom.IsBlock(p) &&
			p != n.node || dom.IsHeading(p) || folded(p) {
			place = p
		}
	}
	n.dropLabel()
	after := place.NextSibling
	for after != nil && after.Data == dom.NoteElement {
		after = after.NextSibling
	}
	if place == n.node {
		place.Parent.InsertBefore(element, after)
		dom.Remove(place)
		return
	}
	holder := n.node.Parent
	if dom.Is(n.node, atom.Dd) { // its term is its label
		for p := n.node.PrevSibling; p != nil && !dom.Is(p, atom.Dd); p = n.node.PrevSibling {
			dom.Remove(p)
		}
	}
	dom.Remove(n.node)
	place.Parent.InsertBefore(element, after)
	kept := func(d *html.Node) bool { return dom.Is(d, atom.Img, atom.Input) || d.Data == dom.NoteRefElement }
	for holder != body && holder != place.Parent && holder.Parent != nil && (!dom.HasText(holder) || isLabel(holder)) &&
		dom.Find(holder, kept) == nil {
		parent := holder.Parent
		dom.Remove(holder)
		holder = parent
	}
}

// folded reports whether n, around a footnote that is rewritten, is a box of footnotes that is hidden until a reference
// is pressed. Everything in it goes otherwise when package hidden comes.
func folded(n *html.Node) bool {
	style := strings.ReplaceAll(dom.Attr(n, "style"), " ", "")
	return (dom.HasAttr(n, "hidden") || strings.Contains(style, "display:none")) && noteWords(n)
}

// withoutWayBack removes from a footnote that is rewritten the links that lead back to its references, and its own
// label. A link is one by its arrow, its name, or where it leads.
func (f *noteFinder) withoutWayBack(n *note) {
	for _, a := range dom.FindAll(n.node, func(d *html.Node) bool { return dom.Is(d, atom.A) }) {
		id := anchor(dom.Attr(a, "href"))
		text := shortText(a)
		label, _ := noteLabel(text)
		arrow := strings.Trim(text, "↩↵⏎⤶↥︎️↑⤴⇧^⬆ \u200d") == "" && (text != "" || nameSaysBack(a))
		leadsBack := id != "" && (arrow || f.back[backName(id)] && (label != "" || len(text) < 30))
		if !nameSaysBack(a) && !leadsBack {
			continue
		}
		holder := a.Parent
		dom.Remove(a)
		for holder != n.node && holder.Parent != nil && onlySigns(holder) && !dom.Contains(holder, atom.Img) {
			parent := holder.Parent
			dom.Remove(holder)
			holder = parent
		}
	}
	f.withoutLabel(n)
}

// onlySigns reports whether n has no text but the signs that stand round a way back. Such an element goes with the link
// in it when the footnote is rewritten.
func onlySigns(n *html.Node) bool {
	text := dom.Text(n)
	return len(text) < 100 && strings.Trim(text, "^↑ .[]()\n\u00a0") == ""
}
