package footnote

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/convert/chars"
	"readthru/convert/dom"
)

// rewrite puts the elements for footnotes into the tree.
func (f *finder) rewrite(body *html.Node) {
	if len(f.notes) == 0 {
		return
	}
	slices.SortStableFunc(f.notes, func(a, b *note) int { return f.order[a.refs[0]] - f.order[b.refs[0]] })
	for i, n := range f.notes {
		n.label = f.label(n.own, i+1)
	}
	for _, n := range f.notes {
		if !dom.Attached(n.node, body) {
			continue
		}
		for _, ref := range n.refs {
			if dom.Attached(ref, body) {
				placeReference(ref, n.label)
			}
		}
	}
	for _, n := range f.notes {
		if dom.Attached(n.node, body) {
			f.placeNote(n, body)
		}
	}
	dropNoteHeadings(body)
}

// label returns a label for markdown: the page's own where it is a number or a letter not yet taken, else a free
// number.
func (f *finder) label(own string, number int) string {
	if !digits(own) && (len(own) != 1 || !chars.Letter(own[0])) || f.taken[own] {
		for own = strconv.Itoa(number); f.taken[own]; own = strconv.Itoa(number) {
			number++
		}
	}
	f.taken[own] = true
	return own
}

// placeReference puts a reference in the place of ref and of what stands round it for its look.
func placeReference(ref *html.Node, label string) {
	for p := ref.Parent; dom.Is(p, atom.Sup, atom.Span, atom.Cite, atom.Small, atom.A, atom.Strong, atom.B, atom.Em,
		atom.I); p = p.Parent {
		if l, _ := noteLabel(shortText(p)); l == "" {
			break
		}
		ref = p
	}
	if p, s := ref.PrevSibling, ref.NextSibling; p != nil && s != nil && p.Type == html.TextNode &&
		s.Type == html.TextNode &&
		strings.HasSuffix(p.Data, "[") && strings.HasPrefix(s.Data, "]") {
		p.Data, s.Data = strings.TrimSuffix(p.Data, "["), s.Data[1:]
	}
	mark := &html.Node{Type: html.ElementNode, Data: dom.NoteRefElement, Attr: []html.Attribute{{Key: "id", Val: label}}}
	mark.AppendChild(dom.NewText(label))             // or white space round it would collapse
	if s := ref.NextSibling; dom.Is(s, atom.Input) { // the switch of a note in the margin
		dom.Remove(s)
	}
	dom.Replace(ref, mark)
}

// placeNote turns what holds a footnote into an x-note element, after the outermost list, table or paragraph that it
// stands in.
func (f *finder) placeNote(n *note, body *html.Node) {
	f.withoutWayBack(n)
	element := &html.Node{Type: html.ElementNode, Data: dom.NoteElement, Attr: []html.Attribute{{Key: "id", Val: n.label}}}
	if dom.IsBlock(n.node) && !dom.Is(n.node, atom.Li, atom.Dd, atom.Td, atom.P) {
		element.Attr = append(element.Attr, html.Attribute{Key: "block", Val: ""})
	}
	dom.MoveChildren(n.node, element)
	place := n.node
	for p := n.node; p != nil && p != body; p = p.Parent {
		if dom.Is(p, atom.Li, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Blockquote, atom.P, atom.Dd) || !dom.IsBlock(p) &&
			p != n.node || dom.IsHeading(p) {
			place = p
		}
	}
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
	for holder != body && holder != place.Parent && holder.Parent != nil && (!dom.HasText(holder) || isLabel(holder)) &&
		!dom.Contains(holder, atom.Img, atom.Input) {
		parent := holder.Parent
		dom.Remove(holder)
		holder = parent
	}
}

func isLabel(n *html.Node) bool {
	label, _ := noteLabel(shortText(n))
	return label != ""
}

// withoutWayBack removes from a footnote the links that lead back to its references, and its own label.
func (f *finder) withoutWayBack(n *note) {
	for _, a := range dom.FindAll(n.node, func(d *html.Node) bool { return dom.Is(d, atom.A) }) {
		id := f.fragment(dom.Attr(a, "href"))
		text := shortText(a)
		label, _ := noteLabel(text)
		arrow := strings.Trim(text, "↩︎️↑⤴⇧^⬆ \u200d") == "" && (text != "" || nameSaysBack(a))
		leadsBack := id != "" && (arrow || f.back[id] && (label != "" || len(text) < 30))
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

// onlySigns reports whether n has no text but the signs that stand round a way back.
func onlySigns(n *html.Node) bool {
	text := dom.Text(n)
	return len(text) < 100 && strings.Trim(text, "^↑ .[]()\n\u00a0") == ""
}

func nameSaysBack(a *html.Node) bool {
	name := strings.ToLower(dom.Attr(a, "class") + " " + dom.Attr(a, "role") + " " + dom.Attr(a, "rev"))
	for _, word := range [...]string{
		"backref", "backlink", "back-link", "reversefootnote", "footnote-back",
		"footnote-return", "footnote-to-top",
	} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return dom.HasAttr(a, "data-footnote-backref")
}

// withoutLabel removes the label at the start of a footnote.
func (f *finder) withoutLabel(n *note) {
	for range 3 {
		var first *html.Node
		for d := range n.node.Descendants() {
			if d.Type == html.TextNode && !chars.Blank(d.Data) {
				first = d
				break
			}
		}
		if first == nil {
			return
		}
		data := strings.TrimLeft(first.Data, " \t\n\u00a0")
		if rest := strings.TrimLeft(data, "^↑ "); rest != data {
			first.Data = rest
			continue
		}
		word := chars.FirstWord(data)
		label, bracketed := noteLabel(word)
		alone := len(data) == len(word) || word != n.own || bracketed || strings.HasSuffix(word, ".") || strings.Trim(word,
			"*†‡§‖") == ""
		whole := first.Parent != n.node && chars.OneLine(dom.Text(first.Parent)) == word && !dom.IsBlock(first.Parent)
		if label == "" || label != n.own && (!whole || !dom.Is(first.Parent, atom.Sup)) || !alone && !whole {
			return
		}
		first.Data = strings.TrimLeft(strings.TrimLeft(data[len(word):], " \t\n\u00a0"), ".:)] ")
		if whole {
			dom.Remove(first.Parent)
		}
	}
}
