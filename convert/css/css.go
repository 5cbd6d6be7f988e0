// Package css reads the style sheets of a page as far as they can hide text from its reader.
//
// [Read] collects the rules of a page's style elements that set one of a few dozen properties. [Sheet.StylesOf] answers
// what holds for one element after the cascade: rules by their specificity, then the style attribute, and the
// attributes that set colours before there was CSS. Style sheets that the page only links to are not at hand
// ([Sheet.Unknown]).
//
// In doubt text counts as visible. A selector or a condition that the package does not know makes no rule, a rule for
// some windows only is kept apart, and rules beyond the limits are left out; then [Sheet.Cut] reports true.
package css

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/convert/dom"
)

// The limits of reading style sheets. Rules beyond them are not known, so that text is kept rather than lost.
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

// Sheet holds the rules of a page's own style elements that can hide text or show it again. Style sheets that the page
// only links to are not at hand.
type Sheet struct {
	rules   map[string][]*rule // by what the subject must have: "#id", ".class", "tag", or "*"
	shows   map[string][]*rule // rules that show something, by every name of their subject
	count   int
	steps   int  // comparisons left
	cut     bool // there are more rules than are read
	Unknown bool // not every rule about colours is known
}

// rule is one selector with those of its declarations that matter here.
type rule struct {
	chain       []compound          // the subject first, then outwards
	combinators []byte              // combinators[i] stands between chain[i+1] and chain[i]: ' ', '>', '+' or '~'
	set         map[string]declared // shared with the other selectors of a list
	weight      int                 // its specificity, on top of that of each declaration
	conditional bool                // holds for some windows or readers only
	stateful    bool                // holds in some state only: hover, target, checked
}

// Rules are the tables of this package, which count in the version of the rules.
var Rules = []any{namedColours, properties}

// properties are the properties that can keep text from a reader's eyes, and those that say it is to appear.
var properties = map[string]bool{
	"display": true, "visibility": true, "opacity": true, "font": true, "font-size": true, "color": true,
	"background": true, "background-color": true, "background-image": true, "background-clip": true,
	"-webkit-background-clip": true, "-webkit-text-fill-color": true, "text-shadow": true, "position": true,
	"left": true, "right": true, "top": true, "bottom": true, "inset": true, "text-indent": true, "margin": true,
	"margin-left": true, "margin-top": true, "transform": true, "translate": true, "scale": true, "clip": true,
	"clip-path": true, "overflow": true, "overflow-x": true, "overflow-y": true, "width": true, "height": true,
	"max-width": true, "max-height": true, "padding": true, "padding-top": true, "padding-bottom": true,
	"min-height": true, "content-visibility": true, "filter": true, "animation": true, "animation-name": true,
	"transition": true, "will-change": true,
}

// Cut reports whether rules were left out because the page has too many, or because they took too many comparisons.
func (s *Sheet) Cut() bool { return s.cut || s.steps < 0 }

// Read reads the style elements below root.
func Read(root *html.Node) *Sheet {
	s := &Sheet{rules: map[string][]*rule{}, shows: map[string][]*rule{}, steps: maxSteps}
	for n := range root.Descendants() {
		switch {
		case dom.Is(n, atom.Style) && n.Namespace == "":
			if always, never := media(dom.Attr(n, "media")); !never {
				s.read(withoutComments(dom.Text(n)), !always, 0)
			}
		case dom.Is(n, atom.Link) && strings.Contains(strings.ToLower(dom.Attr(n, "rel")), "stylesheet"):
			s.Unknown = true
		}
	}
	return s
}

// read takes the rules of CSS text without comments.
func (s *Sheet) read(css string, conditional bool, depth int) {
	for {
		css = strings.TrimLeft(css, " \t\r\n\f};")
		css = strings.TrimPrefix(strings.TrimPrefix(css, "<!--"), "-->")
		if css == "" || s.count >= maxRules {
			s.cut = s.cut || css != ""
			return
		}
		end := indexUnquoted(css, "{;")
		if end < 0 {
			return
		}
		prelude := strings.TrimSpace(css[:end])
		if css[end] == ';' {
			s.Unknown = s.Unknown || strings.HasPrefix(strings.ToLower(prelude), "@import")
			css = css[end+1:]
			continue
		}
		block, rest := cutBlock(css[end+1:])
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
	n, unit, ok := Number(strings.TrimSpace(value))
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

// add takes one rule, if its declarations can hide or show text.
func (s *Sheet) add(selectors, block string, conditional bool) {
	if i := indexUnquoted(block, "{"); i >= 0 { // rules nested in this one are passed over
		block = block[:strings.LastIndexByte(block[:i], ';')+1]
	}
	var set map[string]declared
	for name, d := range eachDeclaration(block) {
		if properties[name] {
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
		end := SelectorEnd(selectors)
		one := strings.TrimSpace(selectors[:end])
		selectors = strings.TrimPrefix(selectors[end:], ",")
		s.count++
		r, ok := parseRule(one)
		if !ok {
			s.Unknown = s.Unknown || set["color"].value != "" || set["background"].value != "" ||
				set["background-color"].value != ""
			continue
		}
		r.conditional, r.set, r.weight = conditional, set, r.specificity()
		s.index(r)
	}
}

// SelectorEnd returns the offset at which the first selector of a list ends.
func SelectorEnd(list string) int {
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

func (s *Sheet) index(r *rule) {
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
		n, _, ok := Number(value)
		return ok && n > .05
	case "height", "max-height", "width", "max-width":
		n, _, ok := Number(value)
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
