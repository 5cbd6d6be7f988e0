package convert

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/convert/dom"
)

// The limits of reading style sheets. Beyond them a rule is not known, which keeps text rather than loses it.
const (
	maxRules     = 20000
	maxSelector  = 300     // bytes of one selector
	maxSteps     = 1 << 21 // comparisons of an element with a part of a selector, on one page
	maxBlocks    = 8       // of @media and the like, inside one another
	narrowest    = 320     // pixels: every window is as wide
	widest       = 4000    // pixels: no window is
	importantSet = 1 << 28 // added to the weight of a declaration marked !important
	inlineSet    = 1 << 26 // the weight of a style attribute
)

// sheet holds the rules of a page's own style elements that can hide text or show it again. Style sheets that the page
// only links to are not at hand.
type sheet struct {
	rules   map[string][]*rule // by what the subject must have: "#id", ".class", "tag", or "*"
	shows   map[string][]*rule // rules that show something, by every name of their subject
	count   int
	steps   int  // comparisons left
	cut     bool // there are more rules than are read
	unknown bool // not every rule about colours is known
}

// rule is one selector with those of its declarations that matter here.
type rule struct {
	chain       []simple            // the subject first, then outwards
	combinators []byte              // combinators[i] stands between chain[i+1] and chain[i]: ' ', '>', '+' or '~'
	set         map[string]declared // shared with the other selectors of a list
	weight      int                 // its specificity, on top of that of each declaration
	conditional bool                // holds for some windows or readers only
	stateful    bool                // holds in some state only: hover, target, checked
}

// declared is the value of a property with the weight by which it wins.
type declared struct {
	value  string
	weight int
}

// hiding are the properties that can keep text from a reader's eyes, and those that say it is to appear.
var hiding = set(`display visibility opacity font font-size color background background-color background-image
	background-clip -webkit-background-clip -webkit-text-fill-color text-shadow position left right top bottom inset
	text-indent margin margin-left margin-top transform translate scale clip clip-path overflow overflow-x overflow-y
	width height max-width max-height padding padding-top padding-bottom min-height content-visibility filter animation
	animation-name transition will-change`)

// readSheet reads the style elements below root.
func readSheet(root *html.Node) *sheet {
	s := &sheet{rules: map[string][]*rule{}, shows: map[string][]*rule{}, steps: maxSteps}
	for n := range root.Descendants() {
		switch {
		case dom.Is(n, atom.Style) && n.Namespace == "":
			if always, never := media(dom.Attr(n, "media")); !never {
				s.read(withoutComments(dom.Text(n)), !always, 0)
			}
		case dom.Is(n, atom.Link) && strings.Contains(strings.ToLower(dom.Attr(n, "rel")), "stylesheet"):
			s.unknown = true
		}
	}
	return s
}

// withoutComments removes the comments of CSS, an open one to its end. What stands in a string is no comment.
func withoutComments(css string) string {
	if !strings.Contains(css, "/*") {
		return css
	}
	var b strings.Builder
	b.Grow(len(css))
	for {
		at := cssIndex(css, "/")
		if at < 0 {
			b.WriteString(css)
			return b.String()
		}
		rest, found := strings.CutPrefix(css[at+1:], "*")
		if !found {
			b.WriteString(css[:at+1])
			css = css[at+1:]
			continue
		}
		b.WriteString(css[:at])
		b.WriteByte(' ')
		if _, css, found = strings.Cut(rest, "*/"); !found {
			return b.String()
		}
	}
}

// read takes the rules of CSS text without comments.
func (s *sheet) read(css string, conditional bool, depth int) {
	for {
		css = strings.TrimLeft(css, " \t\r\n\f};")
		css = strings.TrimPrefix(strings.TrimPrefix(css, "<!--"), "-->")
		if css == "" || s.count >= maxRules {
			s.cut = s.cut || css != ""
			return
		}
		end := cssIndex(css, "{;")
		if end < 0 {
			return
		}
		prelude := strings.TrimSpace(css[:end])
		if css[end] == ';' {
			s.unknown = s.unknown || strings.HasPrefix(strings.ToLower(prelude), "@import")
			css = css[end+1:]
			continue
		}
		block, rest := cssBlock(css[end+1:])
		css = rest
		if !strings.HasPrefix(prelude, "@") {
			s.add(prelude, block, conditional)
			continue
		}
		name, condition, _ := strings.Cut(prelude, " ")
		always, never := true, false
		switch strings.ToLower(name) {
		case "@media":
			always, never = media(condition)
		case "@supports", "@layer":
		case "@container", "@scope":
			always = false
		default:
			never = true // keyframes, fonts, pages: no rules about elements
		}
		switch {
		case never:
		case depth >= maxBlocks:
			s.cut = true
		default:
			s.read(block, conditional || !always, depth+1)
		}
	}
}

// media says of a media query whether it holds for everybody who reads on a screen, or for nobody.
func media(query string) (always, never bool) {
	query = strings.ToLower(strings.TrimSpace(query))
	if query == "" {
		return true, false
	}
	never = true
	for one := range strings.SplitSeq(query, ",") {
		one = strings.TrimSpace(one)
		kind, features, _ := strings.Cut(one, "(")
		for word := range strings.FieldsSeq(kind) {
			switch word {
			case "only", "and", "screen", "all":
			default:
				features = "other"
			}
		}
		switch {
		case strings.HasPrefix(one, "print") || strings.HasPrefix(one, "speech"):
			continue
		case features == "" || everywhere(features):
			return true, false
		}
		never = false
	}
	return false, never
}

// everywhere reports whether one feature of a media query, as in "min-width: 1px)", holds for every window.
func everywhere(feature string) bool {
	name, value, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(feature), ")"), ":")
	n, unit, ok := number(strings.TrimSpace(value))
	if !ok || unit != "px" && unit != "" {
		return false
	}
	switch strings.TrimSpace(name) {
	case "min-width", "min-height":
		return n <= narrowest
	case "max-width", "max-height":
		return n >= widest
	}
	return false
}

// cssIndex returns where one of chars stands in css outside strings, or -1.
func cssIndex(css, chars string) int {
	for i := 0; i < len(css); i++ {
		switch c := css[i]; {
		case strings.IndexByte(chars, c) >= 0:
			return i
		case c == '\\':
			i++
		case c == '"' || c == '\'':
			end := strings.IndexAny(css[i+1:], string(c)+"\n") // a string ends with its line
			if end < 0 {
				return -1
			}
			i += end + 1
		}
	}
	return -1
}

// cssBlock splits what follows an opening brace at the brace that closes it.
func cssBlock(css string) (block, rest string) {
	depth := 1
	for at := 0; ; {
		i := cssIndex(css[at:], "{}")
		if i < 0 {
			return css, ""
		}
		at += i + 1
		if css[at-1] == '{' {
			depth++
		} else if depth--; depth == 0 {
			return css[:at-1], css[at:]
		}
	}
}

// add takes one rule, if its declarations can hide or show text.
func (s *sheet) add(selectors, block string, conditional bool) {
	if i := cssIndex(block, "{"); i >= 0 { // rules nested in this one are passed over
		block = block[:strings.LastIndexByte(block[:i], ';')+1]
	}
	var set map[string]declared
	for name, d := range eachDeclaration(block) {
		if hiding[name] {
			if set == nil {
				set = map[string]declared{}
			}
			if d.weight >= set[name].weight {
				set[name] = d
			}
		}
	}
	if set == nil {
		return
	}
	for selectors != "" && s.count < maxRules {
		end := selectorEnd(selectors)
		one := strings.TrimSpace(selectors[:end])
		selectors = strings.TrimPrefix(selectors[end:], ",")
		s.count++
		r, ok := parseRule(one)
		if !ok {
			s.unknown = s.unknown || set["color"].value != "" || set["background"].value != "" ||
				set["background-color"].value != ""
			continue
		}
		r.conditional, r.set, r.weight = conditional, set, r.specificity()
		s.index(r)
	}
}

// selectorEnd returns where the first selector of a list ends.
func selectorEnd(list string) int {
	depth := 0
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '\\':
			i++
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth <= 0 {
				return i
			}
		}
	}
	return len(list)
}

func (s *sheet) index(r *rule) {
	subject := r.chain[0]
	key := "*"
	switch {
	case subject.id != "":
		key = "#" + subject.id
	case len(subject.classes) > 0:
		key = "." + subject.classes[0]
	case subject.tag != "":
		key = subject.tag
	}
	if !r.stateful {
		s.rules[key] = append(s.rules[key], r)
	}
	if len(s.shows[key]) < 100 && r.showing() {
		for _, name := range subject.names() {
			s.shows[name] = append(s.shows[name], r)
		}
	}
}

// showing reports whether a rule can make something appear.
func (r *rule) showing() bool {
	for name, d := range r.set {
		if shown(name, d.value) {
			return true
		}
	}
	return false
}

// shown reports whether a property with this value lets an element be seen that another value of it hid.
func shown(name, value string) bool {
	switch name {
	case "display":
		return value != "none"
	case "visibility":
		return value == "visible"
	case "opacity":
		n, _, ok := number(value)
		return ok && n > .05
	case "height", "max-height", "width", "max-width":
		n, _, ok := number(value)
		return !ok || n > 1
	}
	return false
}

// specificity ranks ids before classes before tags.
func (r *rule) specificity() (w int) {
	for _, c := range r.chain {
		if c.id != "" {
			w += 1 << 16
		}
		w += (len(c.classes) + len(c.attrs)) << 8
		if c.tag != "" {
			w++
		}
	}
	return w
}

// matches reports whether r holds for n, as far as chain[i:] goes.
func (s *sheet) matches(r *rule, i int, n *html.Node) bool {
	if s.steps--; s.steps < 0 || !r.chain[i].matches(n) {
		return false
	}
	if i+1 == len(r.chain) {
		return true
	}
	switch r.combinators[i] {
	case '>':
		return n.Parent != nil && s.matches(r, i+1, n.Parent)
	case '+', '~':
		for p := n.PrevSibling; p != nil; p = p.PrevSibling {
			if p.Type != html.ElementNode {
				continue
			}
			if s.matches(r, i+1, p) {
				return true
			}
			if r.combinators[i] == '+' {
				return false
			}
		}
		return false
	}
	for p := n.Parent; p != nil; p = p.Parent {
		if s.matches(r, i+1, p) {
			return true
		}
	}
	return false
}

// about returns the rules that hold for n.
func (s *sheet) about(n *html.Node) (found []*rule) {
	if len(s.rules) == 0 {
		return nil
	}
	look := func(key string) {
		for _, r := range s.rules[key] {
			if s.steps < 0 {
				return
			}
			if s.matches(r, 0, n) {
				found = append(found, r)
			}
		}
	}
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "id":
			look("#" + n.Attr[i].Val)
		case "class":
			for class := range strings.FieldsSeq(n.Attr[i].Val) {
				look("." + class)
			}
		}
	}
	look(n.Data)
	look("*")
	return found
}

// toggled reports whether the rule that hid an element by a property has a counterpart that shows such elements in
// another state: with one more class, inside another parent, under the pointer. What is hidden so appears when the
// reader asks for it.
func (s *sheet) toggled(hid *rule, property string) bool {
	names := hid.chain[0].names()
	for _, name := range names {
		for _, r := range s.shows[name] {
			if r == hid || r.conditional || !shown(property, r.set[property].value) || r.set[property].value == "" {
				continue
			}
			other := r.chain[0].names()
			if !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(other, n) }) &&
				(len(other) > len(names) || len(r.chain) > len(hid.chain) || r.stateful) {
				return true
			}
		}
	}
	return false
}
