package convert

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// rewrite puts the elements for footnotes into the tree.
func (f *footnotes) rewrite(body *html.Node) {
	if len(f.notes) == 0 {
		return
	}
	slices.SortStableFunc(f.notes, func(a, b *note) int { return f.order[a.refs[0]] - f.order[b.refs[0]] })
	for i, n := range f.notes {
		n.label = f.label(n.own, i+1)
	}
	for _, n := range f.notes {
		if !attached(n.node, body) {
			continue
		}
		for _, ref := range n.refs {
			if attached(ref, body) {
				placeReference(ref, n.label)
			}
		}
	}
	for _, n := range f.notes {
		if attached(n.node, body) {
			f.placeNote(n, body)
		}
	}
	dropNoteHeadings(body)
}

// label returns a label for markdown: the page's own where it is a number or a letter not yet taken, else a free
// number.
func (f *footnotes) label(own string, number int) string {
	if !digits(own) && (len(own) != 1 || !letter(own[0])) || f.taken[own] {
		for own = strconv.Itoa(number); f.taken[own]; own = strconv.Itoa(number) {
			number++
		}
	}
	f.taken[own] = true
	return own
}

// placeReference puts a reference in the place of ref and of what stands round it for its look.
func placeReference(ref *html.Node, label string) {
	for p := ref.Parent; is(p, atom.Sup, atom.Span, atom.Cite, atom.Small, atom.A, atom.Strong, atom.B, atom.Em,
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
	mark := &html.Node{Type: html.ElementNode, Data: noteRefElement, Attr: []html.Attribute{{Key: "id", Val: label}}}
	mark.AppendChild(textNode(label))            // or white space round it would collapse
	if s := ref.NextSibling; is(s, atom.Input) { // the switch of a note in the margin
		remove(s)
	}
	replace(ref, mark)
}

// placeNote turns what holds a footnote into an x-note element, after the outermost list, table or paragraph that it
// stands in.
func (f *footnotes) placeNote(n *note, body *html.Node) {
	f.withoutWayBack(n)
	element := &html.Node{Type: html.ElementNode, Data: noteElement, Attr: []html.Attribute{{Key: "id", Val: n.label}}}
	if blockElement(n.node) && !is(n.node, atom.Li, atom.Dd, atom.Td, atom.P) {
		element.Attr = append(element.Attr, html.Attribute{Key: "block", Val: ""})
	}
	moveChildren(n.node, element)
	place := n.node
	for p := n.node; p != nil && p != body; p = p.Parent {
		if is(p, atom.Li, atom.Ul, atom.Ol, atom.Dl, atom.Table, atom.Blockquote, atom.P, atom.Dd) || !blockElement(p) &&
			p != n.node || heading(p) {
			place = p
		}
	}
	after := place.NextSibling
	for after != nil && after.Data == noteElement {
		after = after.NextSibling
	}
	if place == n.node {
		place.Parent.InsertBefore(element, after)
		remove(place)
		return
	}
	holder := n.node.Parent
	if is(n.node, atom.Dd) { // its term is its label
		for p := n.node.PrevSibling; p != nil && !is(p, atom.Dd); p = n.node.PrevSibling {
			remove(p)
		}
	}
	remove(n.node)
	place.Parent.InsertBefore(element, after)
	for holder != body && holder != place.Parent && holder.Parent != nil && (!hasText(holder) || isLabel(holder)) &&
		!contains(holder, atom.Img, atom.Input) {
		parent := holder.Parent
		remove(holder)
		holder = parent
	}
}

func isLabel(n *html.Node) bool {
	label, _ := noteLabel(shortText(n))
	return label != ""
}

// withoutWayBack removes from a footnote the links that lead back to its references, and its own label.
func (f *footnotes) withoutWayBack(n *note) {
	for _, a := range findAll(n.node, func(d *html.Node) bool { return is(d, atom.A) }) {
		id := f.fragment(attr(a, "href"))
		text := shortText(a)
		label, _ := noteLabel(text)
		arrow := strings.Trim(text, "↩︎️↑⤴⇧^⬆ \u200d") == "" && (text != "" || nameSaysBack(a))
		leadsBack := id != "" && (arrow || f.back[id] && (label != "" || len(text) < 30))
		if !nameSaysBack(a) && !leadsBack {
			continue
		}
		holder := a.Parent
		remove(a)
		for holder != n.node && holder.Parent != nil && onlySigns(holder) && !contains(holder, atom.Img) {
			parent := holder.Parent
			remove(holder)
			holder = parent
		}
	}
	f.withoutLabel(n)
}

// onlySigns reports whether n has no text but the signs that stand round a way back.
func onlySigns(n *html.Node) bool {
	text := textOf(n)
	return len(text) < 100 && strings.Trim(text, "^↑ .[]()\n\u00a0") == ""
}

func nameSaysBack(a *html.Node) bool {
	name := strings.ToLower(attr(a, "class") + " " + attr(a, "role") + " " + attr(a, "rev"))
	for _, word := range [...]string{
		"backref", "backlink", "back-link", "reversefootnote", "footnote-back",
		"footnote-return", "footnote-to-top",
	} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return hasAttr(a, "data-footnote-backref")
}

// withoutLabel removes the label at the start of a footnote.
func (f *footnotes) withoutLabel(n *note) {
	for range 3 {
		var first *html.Node
		for d := range n.node.Descendants() {
			if d.Type == html.TextNode && !blank(d.Data) {
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
		word := firstField(data)
		label, bracketed := noteLabel(word)
		alone := len(data) == len(word) || word != n.own || bracketed || strings.HasSuffix(word, ".") || strings.Trim(word,
			"*†‡§‖") == ""
		whole := first.Parent != n.node && squash(textOf(first.Parent)) == word && !blockElement(first.Parent)
		if label == "" || label != n.own && (!whole || !is(first.Parent, atom.Sup)) || !alone && !whole {
			return
		}
		first.Data = strings.TrimLeft(strings.TrimLeft(data[len(word):], " \t\n\u00a0"), ".:)] ")
		if whole {
			remove(first.Parent)
		}
	}
}
