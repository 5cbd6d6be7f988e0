package footnote

import (
	"strconv"
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

// noteHeadings head a page's footnotes and say nothing once these are marked as such. They are in lower case, of many
// languages.
var noteHeadings = map[string]bool{
	"note": true, "notes": true, "footnote": true, "footnotes": true, "endnote": true, "endnotes": true,
	"sidenotes": true, "fußnoten": true, "anmerkungen": true, "fussnoten": true, "notas": true, "voetnoten": true,
	"notes de bas de page": true, "przypisy": true, "примечания": true, "fotnoter": true, "noter": true, "脚注": true,
	"foot notes": true, "end notes": true, "notas al pie": true, "notas de rodapé": true, "note a piè di pagina": true,
}

// sidenotes takes the footnotes that stand beside their references. The reference is the label right before the note.
// Notes that have been found by links already, and are said again beside the text, are removed.
func (f *finder) sidenotes(body *html.Node) {
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

// inNote reports whether n is, or lies in, a footnote that has been found. It is not taken twice.
func (f *finder) inNote(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if f.found[n] != nil {
			return true
		}
	}
	return false
}

// leadsTo reports whether n is a reference to a footnote that has been found, or holds nothing else. refs are all such
// references.
func (f *finder) leadsTo(n *html.Node, refs map[*html.Node]bool) bool {
	return refs[n] || isLabel(n) && dom.Find(n, func(d *html.Node) bool { return refs[d] }) != nil
}

// sideAlone takes a note without a reference of its own: its parent may show the label and hold the note. The note is
// moved behind the parent, which becomes its reference.
func (f *finder) sideAlone(side *html.Node) {
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

// loose takes footnotes without links: a raised number in the text, and at the end, or right below, a paragraph that
// begins with the same number raised. The numbers must run from 1 on, and each must occur in the text above. It is
// asked only if no other footnote was found.
func (f *finder) loose(body *html.Node) {
	raised := map[string]*html.Node{}
	var openers []*html.Node // the blocks that begin with a number
	for d := range body.Descendants() {
		switch {
		case dom.Is(d, atom.Sup) && digits(shortText(d)) && len(shortText(d)) <= 3 && !dom.OpensParent(d):
			if raised[shortText(d)] == nil {
				f.order[d] = len(f.order) + 1
				raised[shortText(d)] = d
			}
		case dom.Is(d, atom.Ol) && len(raised) > 0:
			f.listed(d, raised)
		case dom.Is(d, atom.Sup, atom.Strong, atom.B) && len(raised) > 0 && dom.OpensParent(d) && len(openers) < maxNotes:
			block := d.Parent
			if dom.Is(d, atom.Sup) && dom.Is(block, atom.Strong, atom.B) && dom.OpensParent(block) {
				block = block.Parent
			}
			label, _ := noteLabel(shortText(d))
			if dom.Is(block, atom.P, atom.Li) && label == strconv.Itoa(len(openers)+1) && raised[label] != nil &&
				(dom.Is(d, atom.Sup) || len(openers) > 0 || bounded(block)) {
				openers = append(openers, block)
			}
		}
	}
	if len(f.notes) > 0 || len(openers) == 0 || len(openers) == 1 && !bounded(openers[0]) && !noteWords(openers[0]) {
		return
	}
	together := bounded(openers[0])
	for i, holder := range openers {
		if together && dom.Is(holder, atom.P) {
			end := (*html.Node)(nil)
			if i+1 < len(openers) {
				end = openers[i+1]
			}
			holder = withContinuation(holder, end)
		}
		label := strconv.Itoa(i + 1)
		f.add(holder, label, raised[label])
	}
}

// listed takes the items of a list as footnotes if each one's number is raised in the text above and the list stands
// alone in an aside, below a heading that says footnotes, or in an element whose name does. raised has the first raised
// number of each label.
func (f *finder) listed(list *html.Node, raised map[string]*html.Node) {
	heading := list.PrevSibling
	for heading != nil && heading.Type != html.ElementNode {
		heading = heading.PrevSibling
	}
	alone := dom.Is(list.Parent, atom.Aside) && dom.OpensParent(list)
	if !alone && (heading == nil || !noteHeading(heading)) && !noteWords(list) && !noteWords(list.Parent) {
		return
	}
	number, err := strconv.Atoi(dom.Attr(list, "start"))
	if err != nil {
		number = 1
	}
	var items []*html.Node
	for item := list.FirstChild; item != nil; item = item.NextSibling {
		if dom.Is(item, atom.Li) {
			if ref := raised[strconv.Itoa(number+len(items))]; ref == nil {
				return
			}
			items = append(items, item)
		}
	}
	for i, item := range items {
		label := strconv.Itoa(number + i)
		f.add(item, label, raised[label])
	}
}

// bounded reports whether a rule or a heading that says footnotes stands right before n. It says that what follows are
// footnotes, and not sections with numbers.
func bounded(n *html.Node) bool {
	p := n.PrevSibling
	for p != nil && (p.Type != html.ElementNode) {
		p = p.PrevSibling
	}
	return dom.Is(p, atom.Hr) || p != nil && noteHeading(p)
}

// noteHeading reports whether n is a heading that says footnotes.
func noteHeading(n *html.Node) bool {
	return dom.IsHeading(n) && saysNotes(n)
}

// saysNotes reports whether the text of n is one of noteHeadings.
func saysNotes(n *html.Node) bool {
	return noteHeadings[strings.TrimRight(strings.ToLower(shortText(n)), ".: ")]
}

// withContinuation puts p and the blocks after it, up to end or to the next section, into one element. A footnote may
// have several paragraphs. end is nil for the last one, which ends with the first block of another kind.
func withContinuation(p, end *html.Node) *html.Node {
	holder := dom.NewElement(atom.Div)
	p.Parent.InsertBefore(holder, p)
	for n := p; n != nil && n != end && !dom.IsHeading(n) &&
		!dom.Is(n, atom.Hr, atom.Section, atom.Article, atom.Aside, atom.Footer,
			atom.Nav); {
		next := n.NextSibling
		if next != end && end == nil && n != p && !dom.Is(n, atom.P, atom.Ul, atom.Ol, atom.Blockquote, atom.Pre) &&
			n.Type == html.ElementNode {
			break
		}
		dom.Remove(n)
		holder.AppendChild(n)
		n = next
	}
	return holder
}

// dropNoteHeadings removes the headings and rules that only lead to footnotes. It is called when footnotes are elements
// of our own.
func dropNoteHeadings(body *html.Node) {
	for _, n := range dom.FindAll(body, func(n *html.Node) bool {
		return dom.Is(n, atom.Hr) || noteHeading(n) || dom.Is(n, atom.P, atom.B, atom.Strong, atom.Summary) && saysNotes(n)
	}) {
		s := n.NextSibling
		for s != nil && (s.Type != html.ElementNode || !dom.HasText(s) && !dom.Is(s, atom.Hr, atom.Img) &&
			s.Data != dom.NoteElement) {
			if s.Type == html.TextNode && !chars.Blank(s.Data) {
				break
			}
			s = s.NextSibling
		}
		for dom.Is(s, atom.Div, atom.Section) {
			first := s.FirstChild
			for first != nil && (first.Type != html.ElementNode || !dom.HasText(first)) {
				first = first.NextSibling
			}
			s = first
		}
		if s != nil && (s.Data == dom.NoteElement || dom.Is(n, atom.Hr) && noteHeading(s)) {
			dom.Remove(n)
		}
	}
}
