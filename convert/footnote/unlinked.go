package footnote

import (
	"strconv"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// loose takes footnotes without links: a raised number in the text, and at the end, or right below, a paragraph that
// begins with the same number raised. The numbers must run from 1 on, and each must occur in the text above. It is
// asked only if no other footnote was found.
func (f *noteFinder) loose(body *html.Node) {
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

// listed takes the items of a list as footnotes without links if each one's number is raised in the text above and the
// list stands alone in an aside, below a heading that says footnotes, or in an element whose name does. raised has the
// first raised number of each label.
func (f *noteFinder) listed(list *html.Node, raised map[string]*html.Node) {
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

// withContinuation puts p, with which an unlinked footnote begins, and the blocks after it, up to end or to the next
// section, into one element. A footnote may have several paragraphs. end is nil for the last one, which ends with the
// first block of another kind.
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
