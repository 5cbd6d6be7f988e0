package convert

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Elements of our own for footnotes; both carry the label in the attribute id.
const (
	noteElement    = "x-note"     // a footnote: its text
	noteRefElement = "x-note-ref" // a reference to one
)

// Limits of what is taken for footnotes.
const (
	maxNotes    = 2000
	maxNoteSize = 2000    // elements and pieces of text of one note
	maxNoteText = 8 << 10 // bytes of one note's text; what is longer is a section that a short link leads to
)

// noteNames are the words in class, id, role or address that say footnote, endnote or citation.
var noteNames = set(`fn fnref fnr ftn ftnt footnote footnotes footref footdef footnum noteref note notes endnote endnotes cite
	citation citations reference references ref bib biblio bibr sidenote fna easyfootnote easy doc-noteref
	rearnote`)

// footnotes rewrites the references to a page's footnotes into x-note-ref elements and the footnotes into x-note elements,
// where each stands. It knows a reference by its form, a short label that leads to an element of the page, and a footnote by
// what stands there: text that is no section, with a way back, the same label, or a name that says so.
type footnotes struct {
	base  *url.URL
	order map[*html.Node]int    // of elements with an id, anchors and references
	ids   map[string]*html.Node // first element of each id or anchor name
	marks []mark
	notes []*note
	found map[*html.Node]*note // by the element that holds the footnote
	taken map[string]bool      // labels
	back  map[string]bool      // ids at references, to which ways back lead
}

// mark is an element that may refer to a footnote.
type mark struct {
	node  *html.Node
	label string
	id    string // of the footnote
	sure  bool   // says itself that it refers to a footnote
}

// note is a footnote.
type note struct {
	node  *html.Node // what holds its text
	label string     // as it is written
	own   string     // as the page's references show it
	refs  []*html.Node
}

// normaliseFootnotes runs before anything is removed: footnotes may be hidden until their reference is pressed.
func normaliseFootnotes(body *html.Node, base *url.URL) {
	f := &footnotes{
		base: base, order: map[*html.Node]int{}, ids: map[string]*html.Node{}, found: map[*html.Node]*note{},
		taken: map[string]bool{}, back: map[string]bool{},
	}
	f.collect(body)
	for _, m := range f.marks {
		f.resolve(m)
	}
	f.sidenotes(body)
	if len(f.notes) == 0 {
		f.loose(body)
	}
	f.rewrite(body)
}

// collect reads a page once: ids, and what may refer to a footnote.
func (f *footnotes) collect(body *html.Node) {
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
				if (key == "id" && !is(c, atom.Input) || key == "name" && is(c, atom.A)) && value != "" {
					f.order[c] = index
					if _, ok := f.ids[value]; !ok {
						f.ids[value] = c
					}
				}
			}
			if m, ok := f.markOf(c); ok && len(f.marks) < maxNotes {
				f.order[c] = index
				f.marks = append(f.marks, m)
				continue
			}
			if !is(c, atom.Pre, atom.Code, atom.Nav, atom.Svg, atom.Button) && c.Data != "math" {
				walk(c)
			}
		}
	}
	walk(body)
}

// markOf reads an element as a reference to a footnote.
func (f *footnotes) markOf(n *html.Node) (mark, bool) {
	id, named := "", false
	switch n.DataAtom {
	case atom.A:
		id = f.fragment(attr(n, "href"))
		if id == "" && attr(n, "href") != "" && attr(n, "href") != "#" {
			return mark{}, false
		}
	case atom.Span, atom.Label, atom.Sup:
		for _, key := range [...]string{"data-definition", "data-footnote-id", "data-fn", "for"} {
			if id == "" {
				id, named = attr(n, key), key != "for"
			}
		}
		if id != "" && find(n, func(d *html.Node) bool { return is(d, atom.A) && f.fragment(attr(d, "href")) != "" }) != nil {
			return mark{}, false // the link inside tells more
		}
	}
	if id == "" {
		return mark{}, false
	}
	text := shortText(n)
	label, bracketed := noteLabel(text)
	if label == "" {
		return mark{}, false
	}
	sure := named || bracketed || within1(n, atom.Sup) || contains(n, atom.Sup) || noteWords(n) || n.Parent != nil &&
		noteWords(n.Parent) || noteID(id) || bracketsRound(n)
	return mark{n, label, id, sure}, true
}

// fragment returns the id that an address leads to on the same page, or "".
func (f *footnotes) fragment(href string) string {
	path, id, ok := strings.Cut(strings.TrimSpace(href), "#")
	if !ok || id == "" {
		return ""
	}
	if path != "" {
		if f.base == nil {
			return ""
		}
		// A page under a second address, or a chapter that names its own file.
		if path, _, _ = strings.Cut(path, "?"); lastSegment(path) != lastSegment(f.base.Path) {
			return ""
		}
	}
	if plain, err := url.PathUnescape(id); err == nil {
		id = plain
	}
	return id
}

func lastSegment(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// shortText returns the text below n, or "" when it is longer than a label.
func shortText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			if b.WriteString(d.Data); b.Len() > 100 {
				return ""
			}
		}
	}
	return squash(b.String())
}

// noteLabel returns the label of a footnote that a text consists of, without brackets: a number, a letter, a sign, "note 3".
func noteLabel(text string) (label string, bracketed bool) {
	label = strings.TrimRight(text, ".:^↩\ufe0e ")
	for _, pair := range [...]string{"[]", "()", "［］"} {
		opening, closing := firstRune(pair), pair[len(firstRune(pair)):]
		if inner, ok := strings.CutPrefix(label, opening); ok {
			if inner, ok = strings.CutSuffix(inner, closing); ok {
				label, bracketed = strings.TrimSpace(inner), true
			}
		}
	}
	label = strings.TrimLeft(label, "^")
	switch {
	case label == "" || len(label) > 12:
		return "", false
	case digits(label) && len(label) <= 4:
		return label, bracketed
	case strings.Trim(label, "*†‡§‖") == "":
		return label, bracketed
	case len(label) == 1 && letter(label[0]):
		return label, bracketed
	case strings.Trim(label, "ivxIVX") == "" && len(label) <= 6:
		return label, bracketed
	}
	if word, number, ok := strings.Cut(strings.ToLower(label), " "); ok && digits(number) && noteNames[word] || ok &&
		(word == "nb" || word == "anm.") && digits(number) {
		return label, true
	}
	return "", false
}

func firstRune(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return s[:size]
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// within1 reports whether n's parent, or the parent of its parent, is one of the elements and holds little more than n.
func within1(n *html.Node, names ...atom.Atom) bool {
	p := n.Parent
	return is(p, names...) || p != nil && is(p.Parent, names...) && is(p, atom.Span, atom.A, atom.I, atom.B, atom.Em,
		atom.Strong, atom.Cite)
}

// noteWords reports whether an element's class, id or role says footnote.
func noteWords(n *html.Node) bool {
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "data-footnote-ref", "data-footnote-id", "data-footnote":
			return true
		case "class", "role", "data-type", "epub:type":
			if nameSaysNote(n.Attr[i].Val) {
				return true
			}
		}
	}
	return false
}

func nameSaysNote(name string) bool {
	if len(name) > 200 {
		return false
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool {
		return strings.ContainsRune(" -_:.", r) || r >= '0' && r <= '9'
	}) {
		if noteNames[word] {
			return true
		}
	}
	return false
}

// noteID reports whether an id is one that generators give to footnotes: fn1, fn:name, cite_note-3, ftnt2, bib.bib7.
func noteID(id string) bool {
	if nameSaysNote(id) {
		return true
	}
	for _, prefix := range [...]string{"fn", "_ftn", "ftnt", "footnote", "endnote", "_edn", "cite_note", "easy-footnote", "r", "n"} {
		if rest, ok := strings.CutPrefix(id, prefix); ok && rest != "" && (len(prefix) > 1 || digits(rest)) {
			return true
		}
	}
	return false
}

// bracketsRound reports whether the text round n puts it between square brackets, perhaps with others like it.
func bracketsRound(n *html.Node) bool {
	p, s := n.PrevSibling, n.NextSibling
	return p != nil && s != nil && p.Type == html.TextNode && s.Type == html.TextNode &&
		(strings.HasSuffix(p.Data, "[") || squash(p.Data) == ",") && (strings.HasPrefix(s.Data, "]") || squash(s.Data) == ",")
}

// resolve finds the footnote that a mark leads to.
func (f *footnotes) resolve(m mark) {
	target := f.ids[m.id]
	if target == nil || f.order[target] <= f.order[m.node] {
		return
	}
	holder := noteHolder(target)
	if holder == nil || !m.sure && !noteWords(holder) || f.found[holder] == nil && !f.plausible(holder, target, m) {
		return
	}
	f.add(holder, m.label, m.node)
	for n, i := m.node, 0; n != nil && i < 3; n, i = n.Parent, i+1 {
		if id := attr(n, "id"); id != "" {
			f.back[id] = true
		}
	}
}

func (f *footnotes) add(holder *html.Node, label string, ref *html.Node) {
	n := f.found[holder]
	if n == nil {
		n = &note{node: holder, own: label}
		f.found[holder] = n
		f.notes = append(f.notes, n)
	}
	n.refs = append(n.refs, ref)
}

// noteHolder returns the element that holds the footnote whose id or anchor target carries, or nil.
func noteHolder(target *html.Node) *html.Node {
	n := target
	for range 6 {
		switch {
		case n == nil || heading(n) || is(n, atom.Body, atom.Main, atom.Article, atom.Table, atom.Tbody, atom.Ol, atom.Ul,
			atom.Dl, atom.Form, atom.Html):
			if is(n, atom.Table) && hasClass(n, "footnote", "citation") { // older docutils: a table for each
				return find(n, func(d *html.Node) bool { return is(d, atom.Td) && !hasClass(d, "label") })
			}
			return nil
		case is(n, atom.Dt):
			for s := n.NextSibling; s != nil; s = s.NextSibling {
				if is(s, atom.Dd) {
					return s
				}
			}
			return nil
		case is(n, atom.Tr):
			return lastCell(n)
		case is(n, atom.P, atom.Dd) && is(n.Parent, atom.Li, atom.Dd) && opens(n), is(n, atom.Td):
			n = n.Parent
			continue
		}
		label, _ := noteLabel(shortText(n))
		if label == "" && hasText(n) && (blockElement(n) || is(n, atom.Span) && !is(n.Parent, atom.Li, atom.Dd)) {
			return n
		}
		n = n.Parent
	}
	return nil
}

func lastCell(row *html.Node) *html.Node {
	for c := row.LastChild; c != nil; c = c.PrevSibling {
		if is(c, atom.Td) {
			return c
		}
	}
	return nil
}

func hasText(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !blank(d.Data) {
			return true
		}
	}
	return false
}

// plausible reports whether holder is a footnote and not a section that a link with a short name leads to.
func (f *footnotes) plausible(holder, target *html.Node, m mark) bool {
	size, nodes := 0, 0
	returns := false
	for d := range holder.Descendants() {
		if nodes++; nodes > maxNoteSize {
			return false
		}
		switch {
		case d == m.node, is(d, atom.H1, atom.H2, atom.H3, atom.H4, atom.Main, atom.Article):
			return false
		case d.Type == html.TextNode:
			if size += len(d.Data); size > maxNoteText {
				return false
			}
		case is(d, atom.A):
			if back := f.ids[f.fragment(attr(d, "href"))]; back != nil && f.near(back, m.node) {
				returns = true
			}
		}
	}
	if returns || is(holder, atom.Li, atom.Dd) && m.sure || noteWords(holder) || noteWords(target) {
		return true
	}
	label, _ := noteLabel(firstWord(holder))
	return m.sure && label == m.label
}

// near reports whether one of the elements is the other, or close round it.
func (f *footnotes) near(a, b *html.Node) bool {
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

// firstWord returns the first word of n's text.
func firstWord(n *html.Node) string {
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !blank(d.Data) {
			return firstField(d.Data)
		}
	}
	return ""
}
