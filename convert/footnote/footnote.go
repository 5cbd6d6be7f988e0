// Package footnote finds the footnotes of a page and their references.
//
// Hardly two sites mark footnotes alike, so that [Normalise] judges by form: a reference is a short label that leads to
// an element of the page, and a footnote is text there that is no section and that leads back, has the same label, or
// has a name that says footnote (notenames.go). Notes in the margin (sidenote.go) stand beside their reference instead.
// Both become elements of our own, [dom.NoteRefElement] and [dom.NoteElement] (rewrite.go), which the renderer writes.
package footnote

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// Limits of what is taken for footnotes. Beyond them nothing is taken for one.
const (
	maxNotes    = 2000
	maxNoteSize = 2000    // elements and pieces of text of one note
	maxNoteText = 8 << 10 // bytes of one note's text; what is longer is a section that a short link leads to
)

// Rules are the tables of this package, which count in the version of the rules.
var Rules = []any{noteNames, sideNoteClasses, noteHeadings}

// noteFinder is what is found of the footnotes of one page. It is made for one page, filled by collect, and then asked
// mark by mark.
type noteFinder struct {
	base  *url.URL
	order map[*html.Node]int        // of elements with an id, anchors and references
	ids   map[string]*html.Node     // first element of each id or anchor name, and of its lower case
	homes map[*html.Node]*html.Node // what holds the footnote of a heading that is a label
	marks []mark
	notes []*note
	found map[*html.Node]*note // by the element that holds the footnote
	taken map[string]bool      // labels
	back  map[string]bool      // ids at references, to which ways back lead
	cites map[*html.Node]bool  // references that keep their text
}

// note is a footnote. refs are the references that lead to it, in the order in which they were found.
type note struct {
	node  *html.Node // what holds its text
	label string     // as it is written
	own   string     // as the page's references show it
	refs  []*html.Node
}

// Normalise rewrites the references to a page's footnotes into [dom.NoteRefElement] and the footnotes into
// [dom.NoteElement]. base is the page's URL and may be nil. It must run before anything is removed: footnotes may be
// hidden until their reference is pressed.
func Normalise(body *html.Node, base *url.URL) {
	f := &noteFinder{
		base: base, order: map[*html.Node]int{}, ids: map[string]*html.Node{}, homes: map[*html.Node]*html.Node{},
		found: map[*html.Node]*note{},
		taken: map[string]bool{}, back: map[string]bool{}, cites: map[*html.Node]bool{},
	}
	f.collect(body)
	f.partAtBreaks()
	opening := f.opening()
	for _, m := range f.marks {
		f.resolve(m, opening)
	}
	f.sidenotes(body)
	if len(f.notes) == 0 {
		f.loose(body)
	}
	f.rewrite(body)
}

// collect reads a page once: ids, and what may refer to a footnote. Code, formulas, menus and drawings have none.
func (f *noteFinder) collect(body *html.Node) {
	index := 0
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type != html.ElementNode {
				continue
			}
			index++
			for i := range c.Attr {
				key, value := c.Attr[i].Key, c.Attr[i].Val
				if (key == "id" && !dom.Is(c, atom.Input) || key == "name" && dom.Is(c, atom.A)) && value != "" {
					f.order[c] = index
					for _, id := range [...]string{value, strings.ToLower(value)} {
						if f.ids[id] == nil {
							f.ids[id] = c
						}
					}
				}
			}
			if m, ok := f.markOf(c); ok && len(f.marks) < maxNotes {
				f.order[c] = index
				f.marks = append(f.marks, m)
				continue
			}
			if !dom.Is(c, atom.Pre, atom.Code, atom.Nav, atom.Svg, atom.Button) && c.Data != "math" {
				walk(c)
			}
		}
	}
	walk(body)
}

// target returns the element that an id names, or nil. Sanitizers put a prefix before the ids of a text and leave its
// links as they are, and some pages write one name in two cases. It tries the id as it is written first.
func (f *noteFinder) target(id string) *html.Node {
	for _, name := range [...]string{id, "user-content-" + id, strings.ToLower(id)} {
		if n := f.ids[name]; n != nil && id != "" {
			return n
		}
	}
	return nil
}

// opening returns the marks that open a block of text, by label: a footnote that has no id may begin with one that
// leads back. Of several marks of one label the last counts.
func (f *noteFinder) opening() map[string]mark {
	opening := map[string]mark{}
	for _, m := range f.marks {
		n := m.node
		for n.Parent != nil && !dom.IsBlock(n.Parent) && dom.OpensParent(n) {
			n = n.Parent
		}
		if m.sure && dom.OpensParent(n) && dom.Is(n.Parent, atom.P, atom.Li, atom.Div) {
			opening[m.label] = m
		}
	}
	return opening
}

// resolve finds the footnote that a mark leads to. A footnote stands behind its reference; what a mark leads to must
// look like one, the more so the less the mark does.
func (f *noteFinder) resolve(m mark, opening map[string]mark) {
	target := f.target(m.id)
	if target == nil {
		target = f.target(m.other)
	}
	if b := opening[m.label]; target == nil && m.sure && b.node != nil && b.node != m.node {
		if back := f.target(b.id); back == nil || f.near(back, m.node) {
			target = b.node
		}
	}
	if target == nil || f.order[target] <= f.order[m.node] {
		return
	}
	holder := f.noteHolder(target, m.sure)
	if holder == nil || !m.sure && !noteWords(holder) || f.found[holder] == nil && !f.plausible(holder, target, m) {
		return
	}
	f.add(holder, m.label, m.node)
	f.cites[m.node] = m.cites
	for n, i := m.node, 0; n != nil && i < 3; n, i = n.Parent, i+1 {
		if id := dom.Attr(n, "id"); id != "" {
			f.back[backName(id)] = true
		}
	}
}

// backName returns an id as [noteFinder.target] compares it. Case and prefix do not count.
func backName(id string) string { return strings.TrimPrefix(strings.ToLower(id), "user-content-") }

// add notes that ref refers to the footnote that holder holds, which is a new one if no reference has led to it yet.
func (f *noteFinder) add(holder *html.Node, label string, ref *html.Node) {
	n := f.found[holder]
	if n == nil {
		n = &note{node: holder, own: label}
		f.found[holder] = n
		f.notes = append(f.notes, n)
	}
	n.refs = append(n.refs, ref)
}

// noteHolder returns the element that holds the footnote whose id or anchor target carries, or nil. A heading that is
// only a label may head the footnote of a sure mark. It goes outwards from target, six elements at most, and gives up
// at what is larger than a note.
func (f *noteFinder) noteHolder(target *html.Node, sure bool) *html.Node {
	n := target
	for range 6 {
		switch {
		case sure && dom.IsHeading(n) && isLabel(n):
			if f.homes[n] == nil && n.NextSibling != nil {
				f.homes[n] = withContinuation(n.NextSibling, nil)
			}
			return f.homes[n]
		case n == nil || dom.IsHeading(n) || dom.Is(n, atom.Body, atom.Main, atom.Article, atom.Table, atom.Tbody, atom.Ol,
			atom.Ul, atom.Dl, atom.Form, atom.Html):
			if dom.Is(n, atom.Table) && dom.HasClass(n, "footnote", "citation") { // older docutils: a table for each
				return dom.Find(n, func(d *html.Node) bool { return dom.Is(d, atom.Td) && !dom.HasClass(d, "label") })
			}
			return nil
		case dom.Is(n, atom.Dt):
			for s := n.NextSibling; s != nil; s = s.NextSibling {
				if dom.Is(s, atom.Dd) {
					return s
				}
			}
			return nil
		case dom.Is(n, atom.Tr):
			return lastCell(n)
		case dom.Is(n, atom.P, atom.Dd) && dom.Is(n.Parent, atom.Li, atom.Dd) && dom.OpensParent(n), dom.Is(n, atom.Td):
			n = n.Parent
			continue
		}
		label, _ := noteLabel(shortText(n))
		if label == "" && dom.HasText(n) && (dom.IsBlock(n) || dom.Is(n, atom.Span) && !dom.Is(n.Parent, atom.Li, atom.Dd)) {
			return n
		}
		n = n.Parent
	}
	return nil
}

// lastCell returns the last cell of a row: the one with the footnote, where the first has its label.
func lastCell(row *html.Node) *html.Node {
	for c := row.LastChild; c != nil; c = c.PrevSibling {
		if dom.Is(c, atom.Td) {
			return c
		}
	}
	return nil
}

// plausible reports whether holder is a footnote and not a section that a link with a short name leads to. It must not
// hold the reference, a heading or a section, and not be too large; and something must say that it is a footnote.
func (f *noteFinder) plausible(holder, target *html.Node, m mark) bool {
	size, nodes := 0, 0
	leadsBack := func(n *html.Node) bool {
		return dom.Is(n, atom.A) && f.near(f.target(anchor(dom.Attr(n, "href"))), m.node)
	}
	returns := m.named || leadsBack(target) || leadsBack(target.FirstChild) || leadsBack(target.Parent)
	for d := range holder.Descendants() {
		if nodes++; nodes > maxNoteSize {
			return false
		}
		switch {
		case d == m.node, dom.Is(d, atom.H1, atom.H2, atom.H3, atom.H4, atom.Main, atom.Article):
			return false
		case d.Type == html.TextNode:
			if size += len(d.Data); size > maxNoteText {
				return false
			}
		case leadsBack(d):
			returns = true
		}
	}
	if returns || dom.Is(holder, atom.Li, atom.Dd) && m.sure || noteWords(holder) || noteWords(target) {
		return true
	}
	label, _ := noteLabel(firstWord(holder))
	return m.sure && label != "" && label == m.label
}

// near reports whether a, to which a footnote leads back, is its mark b, or one of them is close round the other. a may
// be nil. Close is three elements.
func (f *noteFinder) near(a, b *html.Node) bool {
	if a == nil {
		return false
	}
	for n, i := b, 0; n != nil && i < 3; n, i = n.Parent, i+1 {
		if n == a {
			return true
		}
	}
	for n, i := a, 0; n != nil && i < 3; n, i = n.Parent, i+1 {
		if n == b {
			return true
		}
	}
	return false
}

// firstWord returns the first word of n's text. A footnote without a link back may begin with its label.
func firstWord(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			if b.WriteString(d.Data); b.Len() > 40 && !chars.Blank(d.Data) {
				break
			}
		}
	}
	return chars.FirstWord(strings.TrimSpace(b.String()))
}
