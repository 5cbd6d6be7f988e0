package footnote

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// sideNoteClasses name the elements that hold a footnote where its reference stands: in the margin, or to be shown on
// demand.
var sideNoteClasses = []string{
	"sidenote", "side-note", "marginnote", "margin-note", "footnotecontent", "footnote-content", "footnote__content",
	"inline-footnote-content", "sidenote-content", "footnote-text",
}

// sidenotes takes the footnotes that stand beside their references. The reference is the label right before the note.
// Notes that have been found by links already, and are said again beside the text, are removed.
func (f *noteFinder) sidenotes(body *html.Node) {
	refs := map[*html.Node]bool{}
	for _, n := range f.notes {
		for _, ref := range n.refs {
			refs[ref] = true
		}
	}
	for _, side := range dom.FindAll(body, func(n *html.Node) bool {
		return dom.Is(n, atom.Span, atom.Aside, atom.Small, atom.Div) && dom.HasClass(n, sideNoteClasses...) ||
			dom.Is(n, atom.Span, atom.Small) && noteWords(n) && besideMark(n)
	}) {
		if !dom.HasText(side) || dom.Within(side, atom.Pre) || f.inNote(side) || len(f.notes) >= maxNotes {
			continue
		}
		if strings.Contains(shortText(side), "footnotemark") { // LaTeXML says so of a mark whose text is elsewhere
			dom.Remove(side)
			continue
		}
		before := side.PrevSibling
		for before != nil && (dom.Is(before, atom.Input) || before.Type == html.TextNode && chars.Blank(before.Data)) {
			before = before.PrevSibling
		}
		switch {
		case before != nil && f.leadsTo(before, refs): // said again, for another width of the window
			dom.Remove(side)
		case before == nil || before.Type == html.TextNode:
			f.sideAlone(side)
		case dom.Is(before, atom.Label, atom.Sup, atom.A, atom.Span, atom.Button):
			label, _ := noteLabel(shortText(before))
			if label == "" && dom.HasText(before) {
				continue
			}
			f.order[before] = len(f.order) + 1
			f.add(side, label, before)
		}
	}
}

// besideMark reports whether n follows a raised label or a button with one, within a line of text: it is what the label
// refers to, whatever it is called. At the start of a block it is a footnote's text behind its own label. The label
// alone is no note.
func besideMark(n *html.Node) bool {
	p := n.PrevSibling
	if !dom.Is(p, atom.Sup, atom.Label, atom.Button, atom.A) || !isLabel(p) || isLabel(n) {
		return false
	}
	for p != nil && !dom.IsBlock(p) && dom.OpensParent(p) {
		p = p.Parent
	}
	return p != nil && !dom.IsBlock(p)
}

// inNote reports whether n, which may be a sidenote, is or lies in a footnote that has been found. It is not taken
// twice.
func (f *noteFinder) inNote(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if f.found[n] != nil {
			return true
		}
	}
	return false
}

// leadsTo reports whether n, beside a sidenote, is a reference to a footnote that has been found, or holds nothing
// else. refs are all such references.
func (f *noteFinder) leadsTo(n *html.Node, refs map[*html.Node]bool) bool {
	return refs[n] || isLabel(n) && dom.Find(n, func(d *html.Node) bool { return refs[d] }) != nil
}

// sideAlone takes a note without a reference of its own: its parent may show the label and hold the note. The note is
// moved behind the parent, which becomes its reference.
func (f *noteFinder) sideAlone(side *html.Node) {
	parent := side.Parent
	if !dom.Is(parent, atom.Span, atom.Sup, atom.A, atom.Label) {
		return
	}
	dom.Remove(side)
	label, _ := noteLabel(shortText(parent))
	if label == "" {
		parent.AppendChild(side)
		return
	}
	parent.Parent.InsertBefore(side, parent.NextSibling)
	f.order[parent] = len(f.order) + 1
	f.add(side, label, parent)
}
