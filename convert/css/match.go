package css

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// maxSteps is how many comparisons of an element with a part of a selector one page may cost; no rule may take more
// than a sixteenth of them, so that costly rules leave the others their share.
const (
	maxSteps     = 1 << 21
	maxRuleSteps = maxSteps / 16
)

// matcher compares the elements of one page with selectors, for [Sheet] and [Finder], and counts the comparisons. It
// remembers places among siblings and answers about :has: both would otherwise take time that grows with the square of
// the page.
type matcher struct {
	steps  int  // comparisons left
	quirks bool // classes and ids are compared without case
	places map[*html.Node]place
	had    map[had]bool
	line   []ancestor // see namesOf
	nearOf *html.Node // the element whose outer names are in outer
	outer  nameFilter
	shadows
}

// had is a question about :has that has been answered. For a rule such as ".a:has(.b) p" it comes again with every p in
// one .a.
type had struct {
	s *selector
	n *html.Node
}

// matches reports whether s holds for n, as far as chain[i:] goes. Anchor is the element of a :has round s. It goes
// from the subject outwards and tries every element that a combinator allows. m.tree must be the tree that the rule is
// of. When the comparisons are spent it is false.
func (m *matcher) matches(s *selector, i int, n, anchor *html.Node) bool {
	if m.steps--; m.steps < 0 {
		return false
	}
	switch c := &s.chain[i]; {
	case c.anchor:
		return n == anchor
	case c.slotted != nil:
		if n = m.slotOf(c, n); n == nil {
			return false
		}
	default:
		if c.part != "" {
			n = m.hostOfPart(c, n)
		}
		if n == nil || !m.compound(c, n, anchor) {
			return false
		}
	}
	if i+1 == len(s.chain) {
		return true
	}
	switch s.combinators[i] {
	case '>':
		parent := m.parent(n)
		return parent != nil && m.matches(s, i+1, parent, anchor)
	case '+', '~':
		for p := n.PrevSibling; p != nil; p = p.PrevSibling {
			if p.Type != html.ElementNode || m.trees[p] != m.tree {
				continue
			}
			if m.matches(s, i+1, p, anchor) {
				return true
			}
			if s.combinators[i] == '+' || m.steps < 0 {
				return false
			}
		}
		return false
	}
	for p := n.Parent; p != nil && m.steps >= 0; p = p.Parent {
		if m.matches(s, i+1, p, anchor) {
			return true
		}
	}
	return false
}

// compound reports whether all that c asks for holds of n. What is cheap to compare comes first.
func (m *matcher) compound(c *compound, n, anchor *html.Node) bool {
	if c.never || n.Type != html.ElementNode || !m.reaches(c, n) {
		return false
	}
	if c.tag != "" && n.Data != c.tag && !strings.EqualFold(n.Data, c.tag) {
		return false
	}
	if c.id != "" && m.cased(dom.Attr(n, "id")) != c.id {
		return false
	}
	if len(c.classes) > 0 {
		attr := dom.Attr(n, "class")
		for _, class := range c.classes {
			if !m.hasClass(attr, class) {
				return false
			}
		}
	}
	for i := range c.attrs {
		if !c.attrs[i].matches(n) {
			return false
		}
	}
	for i := range c.pseudos {
		if !m.pseudo(&c.pseudos[i], n, anchor) {
			return false
		}
	}
	return true
}

// cased returns an id or a class of the page as it is compared with those of selectors, which parser.cased has written.
func (m *matcher) cased(s string) string {
	if m.quirks {
		return strings.ToLower(s)
	}
	return s
}

// hasClass reports whether an attribute has a class among its words. Most pages ask millions of times, nearly always in
// vain, so it searches for the class before it looks where words begin and end.
func (m *matcher) hasClass(attr, class string) bool {
	if m.quirks {
		for word, rest := dom.CutWord(attr); word != ""; word, rest = dom.CutWord(rest) {
			if len(word) == len(class) && strings.EqualFold(word, class) {
				return true
			}
		}
		return false
	}
	for from := 0; from < len(attr); {
		i := strings.Index(attr[from:], class)
		if i < 0 {
			return false
		}
		begin := from + i
		end := begin + len(class)
		if (begin == 0 || attr[begin-1] <= ' ') && (end == len(attr) || attr[end] <= ' ') {
			word, rest := dom.CutWord(class)
			return word == class && rest == "" // an escaped space is none between words
		}
		from = begin + 1
	}
	return false
}

// matches reports whether an element has the attribute that a selector asks for, with the value that it asks for
// (Selectors Level 4, §6). An empty value matches by no substring.
func (t *attrTest) matches(n *html.Node) bool {
	if !dom.HasAttr(n, t.key) {
		return false
	}
	v, want := dom.Attr(n, t.key), t.value
	if t.fold {
		v, want = strings.ToLower(v), strings.ToLower(want)
	}
	switch t.operator {
	case '=':
		return v == want
	case '~':
		for word := range strings.FieldsSeq(v) {
			if word == want {
				return true
			}
		}
		return false
	case '|':
		return v == want || strings.HasPrefix(v, want+"-")
	case '^':
		return want != "" && strings.HasPrefix(v, want)
	case '$':
		return want != "" && strings.HasSuffix(v, want)
	case '*':
		return want != "" && strings.Contains(v, want)
	}
	return true
}

// any reports whether one of the selectors holds for n. An empty list holds for none. anchor is the element of a :has
// around them, or nil.
func (m *matcher) any(list []*selector, n, anchor *html.Node) bool {
	for _, s := range list {
		if m.matches(s, 0, n, anchor) {
			return true
		}
	}
	return false
}

// pseudo reports whether a pseudo-class holds for n on a page at rest. :lang and :dir go by the nearest attribute
// around n; without one, text runs from left to right.
func (m *matcher) pseudo(p *pseudo, n, anchor *html.Node) bool {
	switch p.name {
	case "is", "where":
		return m.any(p.list, n, anchor)
	case "not":
		return !m.any(p.list, n, anchor)
	case "has":
		for _, s := range p.list {
			if m.has(s, n) {
				return true
			}
		}
		return false
	case "host", "host-context":
		return m.isHost(p, n)
	case "scope":
		if m.scope != nil {
			return n == m.scope
		}
		fallthrough
	case "root":
		return n.Parent != nil && n.Parent.Type == html.DocumentNode
	case "empty":
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode || c.Type == html.TextNode && c.Data != "" {
				return false
			}
		}
		return true
	case "lang":
		for e := n; e != nil; e = e.Parent {
			if lang := strings.ToLower(dom.Attr(e, "lang")); lang != "" {
				return lang == p.word || strings.HasPrefix(lang, p.word+"-")
			}
		}
		return false
	case "dir":
		for e := n; e != nil; e = e.Parent {
			if dir := strings.ToLower(dom.Attr(e, "dir")); dir != "" {
				return dir == p.word
			}
		}
		return p.word == "ltr"
	}
	if p.counts() {
		return m.nth(p, n)
	}
	return inState(p.name, n)
}

// inState reports whether n matches a pseudo-class of a state that its attributes show. Names that it does not know
// hold for no element. Attributes are those that the page was sent with; what a reader or a script would change has not
// happened.
func inState(name string, n *html.Node) bool {
	input := dom.Is(n, atom.Input, atom.Textarea, atom.Select)
	control := input || dom.Is(n, atom.Button, atom.Fieldset, atom.Option, atom.Optgroup)
	switch name {
	case "link", "any-link", "-webkit-any-link":
		return dom.Is(n, atom.A, atom.Area) && dom.HasAttr(n, "href")
	case "checked":
		return dom.Is(n, atom.Input) && dom.HasAttr(n, "checked") || dom.Is(n, atom.Option) && dom.HasAttr(n, "selected")
	case "disabled":
		return control && dom.HasAttr(n, "disabled")
	case "enabled":
		return control && !dom.HasAttr(n, "disabled")
	case "required":
		return input && dom.HasAttr(n, "required")
	case "optional":
		return input && !dom.HasAttr(n, "required")
	case "read-only":
		return !dom.Is(n, atom.Input, atom.Textarea) && !dom.HasAttr(n, "contenteditable")
	case "read-write":
		return dom.Is(n, atom.Input, atom.Textarea) || dom.HasAttr(n, "contenteditable")
	case "open":
		return dom.Is(n, atom.Details, atom.Dialog) && dom.HasAttr(n, "open")
	case "defined": // scripts define the elements that HTML does not know
		return true
	case "valid":
		return dom.Is(n, atom.Form, atom.Fieldset) || input && !dom.HasAttr(n, "required")
	}
	return false
}

// has reports whether n has an element that matches s, the relative selector of a :has: below it, or behind it among
// its siblings and what they hold. Answers are kept, for each n and s.
func (m *matcher) has(s *selector, n *html.Node) bool {
	key := had{s, n}
	if is, known := m.had[key]; known {
		return is
	}
	is := false
	switch s.combinators[len(s.combinators)-1] {
	case '+', '~':
		for e := n.NextSibling; e != nil && !is && m.steps >= 0; e = e.NextSibling {
			is = e.Type == html.ElementNode && m.matches(s, 0, e, n)
			if len(s.chain) > 2 && !is {
				is = m.hasBelow(s, e, n)
			}
		}
	default:
		is = m.hasBelow(s, n, n)
	}
	if m.had == nil {
		m.had = map[had]bool{}
	}
	m.had[key] = is
	return is
}

// hasBelow reports whether an element below top matches s, whose outermost compound is anchor.
func (m *matcher) hasBelow(s *selector, top, anchor *html.Node) bool {
	for d := range top.Descendants() {
		if m.steps < 0 {
			return false
		}
		if d.Type == html.ElementNode && m.matches(s, 0, d, anchor) {
			return true
		}
	}
	return false
}
