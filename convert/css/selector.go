package css

import (
	"slices"
	"strings"

	"github.com/readthru/readthru/convert/chars"
)

// selector is one selector: compounds with combinators between them. It is parsed once, of a style sheet or of a
// recipe, and nothing changes it afterwards.
type selector struct {
	chain       []compound // the subject first, then outwards
	combinators []byte     // combinators[i] stands between chain[i+1] and chain[i]: ' ', '>', '+' or '~'
	weight      int        // specificity: ids, classes and tags in 8 bits each
	stateful    bool       // it holds in some state only: hover, target
}

// compound is one compound selector: what must all hold of an element. Of ids there is one: with two different ones,
// never is set.
type compound struct {
	tag     string // "" for any
	id      string
	classes []string
	attrs   []attrTest
	pseudos []pseudo
	never   bool // it matches no element of a page at rest
	anchor  bool // it is the element that has :has

	host    bool        // it is the host of a shadow root: it has :host or :host-context
	slotted []*selector // it is a slot: of what fills it one must hold
	part    string      // it is the host of an element with this part
}

// attrTest asks for an attribute, and for its value where operator is not 0. key is in lower case, as the HTML parser
// writes names of attributes.
type attrTest struct {
	key, value string
	operator   byte // '=', '~', '|', '^', '$' or '*' as in [a^=b]
	fold       bool // compare without case
}

// pseudo is a pseudo-class with its argument. Names are in lower case, and old ones such as :matches are written as the
// current ones.
type pseudo struct {
	name string
	list []*selector // of is, not, has, and nth-child(… of …)
	a, b int         // of nth-child
	word string      // of lang and dir
}

// The limits of a selector.
const (
	maxSelector = 2 << 10 // bytes of a list of selectors in a rule, and of a selector in it
	maxArgument = 8       // lists inside one another
)

// parser reads the selectors of one page, or of one recipe. quirks says that classes and ids are compared without case,
// depth how many lists are open within one another.
type parser struct {
	quirks bool
	depth  int
}

// selectors reads a list of selectors. Parents are those of the rule that this rule is nested in. It is nil when
// browsers refuse the list; a forgiving list leaves out the selectors that they refuse. So :is() without a valid
// selector in it is an empty list that matches nothing, which is not nil.
func (p *parser) selectors(list string, parents []*selector, forgiving bool) (all []*selector) {
	if p.depth++; p.depth > maxArgument {
		return nil
	}
	defer func() { p.depth-- }()
	for one := range split(list, ",") {
		s := p.selector(one, parents)
		if s == nil && !forgiving {
			return nil
		}
		if s != nil {
			all = append(all, s)
		}
	}
	if all == nil && forgiving {
		return []*selector{}
	}
	return all
}

// SelectorEnd returns the offset at which the first selector of a list ends. Package convert divides the selectors of a
// recipe by it (convert/pick.go).
func SelectorEnd(list string) int { return until(list, 0, ",") }

// parentReference returns the pseudo-class that & in a nested rule stands for: :is() of the outer rule's selectors (CSS
// Nesting Level 1), with their specificity.
func parentReference(parents []*selector) pseudo { return pseudo{name: "is", list: parents} }

// selector reads one selector. Nested in another rule it is relative to that rule's elements, unless it names them. It
// is nil when browsers refuse it. The chain is built from left to right and then turned round, since matching begins at
// the subject.
func (p *parser) selector(s string, parents []*selector) *selector {
	if s = strings.TrimSpace(s); s == "" || len(s) > maxSelector {
		return nil
	}
	r := &selector{}
	var room [4]compound // most have no more: what is kept has its own length
	chain := room[:0]
	var combinators []byte
	if strings.IndexByte(">+~", s[0]) >= 0 {
		if parents == nil {
			return nil
		}
		chain = append(chain, compound{pseudos: []pseudo{parentReference(parents)}})
		combinators = append(combinators, s[0])
		s = strings.TrimLeft(s[1:], " \t\r\n\f")
	} else if parents != nil && !strings.Contains(s, "&") {
		chain = append(chain, compound{pseudos: []pseudo{parentReference(parents)}})
		combinators = append(combinators, ' ')
	}
	for {
		c, after, ok := p.compound(s, parents, r)
		if !ok {
			return nil
		}
		chain = append(chain, c)
		s = strings.TrimLeft(after, " \t\r\n\f")
		if s == "" {
			break
		}
		combinator := byte(' ')
		if strings.IndexByte(">+~", s[0]) >= 0 {
			combinator, s = s[0], strings.TrimLeft(s[1:], " \t\r\n\f")
		} else if len(s) == len(after) {
			return nil
		}
		combinators = append(combinators, combinator)
	}
	for i := range chain {
		r.weight = added(r.weight, chain[i].weight())
	}
	slices.Reverse(chain)
	slices.Reverse(combinators)
	r.chain, r.combinators = slices.Clone(chain), combinators
	return r
}

// added adds two specificities of selectors; each part ends at 255. A carry from many tags into classes would let a
// long selector win over one with a class.
func added(a, b int) (sum int) {
	for _, shift := range []int{0, 8, 16} {
		sum |= min(255, a>>shift&255+b>>shift&255) << shift
	}
	return sum
}

// weight returns the specificity of a compound: ids before classes, attributes and pseudo-classes before tags, 8 bits
// for each. :where counts nothing; :is, :not and :has count as the heaviest of their list does (Selectors Level 4,
// specificity).
func (c *compound) weight() (w int) {
	if c.id != "" {
		w += 1 << 16
	}
	w += min(255, len(c.classes)+len(c.attrs)) << 8
	if c.tag != "" {
		w++
	}
	for i := range c.pseudos {
		heaviest := 0
		for _, s := range c.pseudos[i].list {
			heaviest = max(heaviest, s.weight)
		}
		switch c.pseudos[i].name {
		case "where":
		case "is", "not", "has":
			w = added(w, heaviest)
		default:
			w = added(w, 1<<8+heaviest)
		}
	}
	return w
}

// compound reads one compound from the start of s and returns what follows it. of is the selector that it is part of: a
// state such as :hover makes all of it stateful. Namespaces are read and forgotten. ok is false where browsers refuse
// the selector.
func (p *parser) compound(s string, parents []*selector, of *selector) (c compound, rest string, ok bool) {
	begun := len(s)
	if s != "" && s[0] == '&' {
		c.pseudos, s = append(c.pseudos, p.parent(parents)), s[1:]
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "*|"), "|")
	if after, any := strings.CutPrefix(s, "*"); any {
		s = after
	} else {
		c.tag, s = cutName(s)
		c.tag = strings.ToLower(c.tag)
	}
	if after, namespaced := strings.CutPrefix(s, "|"); namespaced { // svg|a
		c.tag, s = cutName(strings.TrimPrefix(after, "*"))
		c.tag = strings.ToLower(c.tag)
	}
	for s != "" {
		switch kind := s[0]; kind {
		case '#', '.':
			var name string
			if name, s = cutName(s[1:]); name == "" {
				return c, s, false
			}
			switch {
			case kind == '.':
				c.classes = append(c.classes, p.cased(name))
			case c.id != "" && c.id != p.cased(name):
				c.never = true
			default:
				c.id = p.cased(name)
			}
		case '[':
			end := until(s, 1, "]")
			t, ok := parseAttrTest(s[1:end])
			if !ok {
				return c, s, false
			}
			c.attrs, s = append(c.attrs, t), s[min(end+1, len(s)):]
		case '&':
			c.pseudos, s = append(c.pseudos, p.parent(parents)), s[1:]
		case ':':
			if s, ok = p.pseudo(&c, s, parents, of); !ok {
				return c, s, false
			}
		default:
			return c, s, len(s) < begun
		}
	}
	return c, "", begun > 0
}

// parent returns what & stands for: the elements of the outer rule, or the root of the scope. parents is nil where no
// rule is around.
func (p *parser) parent(parents []*selector) pseudo {
	if parents == nil {
		return pseudo{name: "scope"}
	}
	return parentReference(parents)
}

// cased returns a class or an id of a selector as it is compared: without case in pages of the old kind. The names in
// the page are put through the same when they are compared.
func (p *parser) cased(name string) string {
	if p.quirks {
		return strings.ToLower(name)
	}
	return name
}

// atRest are the pseudo-classes that hold for no element until somebody acts. Rules with them do not apply; they show
// that hidden text appears when a reader acts ([Sheet.Toggled]).
var atRest = chars.Set(`hover focus active target focus-within focus-visible target-within target-current visited
	user-invalid user-valid out-of-range indeterminate autofill -webkit-autofill fullscreen -webkit-full-screen modal
	popover-open picture-in-picture playing seeking buffering stalled current past future active-view-transition
	interest-source interest-target state -webkit-drag`)

// simple are the pseudo-classes without an argument that browsers know, so that selectors with them are not refused.
// What match does not know of a page at rest holds for no element.
var simple = chars.Set(`root scope empty first-child last-child only-child first-of-type last-of-type only-of-type link
	any-link -webkit-any-link checked disabled enabled required optional read-only read-write default placeholder-shown
	valid invalid in-range defined open paused muted volume-locked local-link blank`)

// pseudo reads a pseudo-class or a pseudo-element from the start of s. It adds it to the compound c of the selector of,
// and returns what follows it. Pseudo-elements match no element, except ::slotted and ::part, which reach elements of
// other trees. ok is false for what browsers do not know: one such name makes them drop the whole rule.
func (p *parser) pseudo(c *compound, s string, parents []*selector, of *selector) (rest string, ok bool) {
	element := strings.HasPrefix(s, "::")
	name, s := cutName(strings.TrimLeft(s, ":"))
	name = strings.ToLower(name)
	argument, called := "", strings.HasPrefix(s, "(")
	if called {
		end := until(s, 1, ")")
		argument, s = strings.TrimSpace(s[1:end]), s[min(end+1, len(s)):]
	}
	switch {
	case name == "":
		return s, false
	case element && name == "slotted":
		if c.slotted = p.selectors(argument, nil, false); c.slotted == nil {
			return s, false
		}
		c.pseudos = append(c.pseudos, pseudo{name: "is", list: c.slotted}) // for its weight
		return s, true
	case element && name == "part":
		c.part = argument
		return s, argument != ""
	case element || name == "before" || name == "after" || name == "first-line" || name == "first-letter":
		c.never = true
		return s, true
	case atRest[name]:
		c.never, of.stateful = true, true
		return s, true
	case name == "checked", name == "open":
		of.stateful = true
	}
	// Pseudo-elements and states are done with; what is left is a pseudo-class that match can answer.
	one := pseudo{name: name}
	switch {
	case name == "matches" || name == "-webkit-any":
		one.name = "is"
		fallthrough
	case name == "is" || name == "where":
		one.list = p.selectors(argument, orNone(parents, argument), true)
		if one.list == nil {
			return s, false
		}
	case name == "not":
		if one.list = p.selectors(argument, orNone(parents, argument), false); one.list == nil {
			return s, false
		}
	case name == "has":
		if one.list = p.relative(argument, parents); one.list == nil {
			return s, false
		}
	case nths[name]:
		formula, list, isOf := strings.Cut(strings.ToLower(argument), " of ")
		if one.a, one.b, ok = parseNth(formula); !ok {
			return s, false
		}
		if isOf {
			if one.list = p.selectors(argument[len(argument)-len(list):], nil, false); one.list == nil {
				return s, false
			}
		}
	case name == "lang" || name == "dir":
		one.word = strings.ToLower(strings.Trim(argument, `"'`))
	case name == "host" || name == "host-context":
		c.host = true
		if called {
			if one.list = p.selectors(argument, nil, false); one.list == nil {
				return s, false
			}
		} else if name == "host-context" {
			return s, false
		}
	case !simple[name] || called:
		return s, false
	}
	c.pseudos = append(c.pseudos, one)
	return s, true
}

// orNone returns parents, the outer rule's selectors, for an argument of a pseudo-class that names them by &, else nil:
// a selector in an argument is not relative.
func orNone(parents []*selector, argument string) []*selector {
	if strings.Contains(argument, "&") {
		return parents
	}
	return nil
}

// relative reads the argument of :has. Each selector of it is relative to the element that has it, which becomes the
// outermost compound of the chain, as an anchor, with the leading combinator before it.
func (p *parser) relative(list string, parents []*selector) (all []*selector) {
	for one := range split(list, ",") {
		leading := byte(' ')
		if one != "" && strings.IndexByte(">+~", one[0]) >= 0 {
			leading, one = one[0], one[1:]
		}
		if p.depth++; p.depth > maxArgument {
			return nil
		}
		s := p.selector(one, orNone(parents, one))
		p.depth--
		if s == nil {
			return nil
		}
		s.chain, s.combinators = append(s.chain, compound{anchor: true}), append(s.combinators, leading)
		all = append(all, s)
	}
	return all
}

// parseAttrTest reads the inside of the brackets of an attribute selector, such as `data-a*="b" i`. A flag "i" asks to
// compare without case; "s" changes nothing. ok is false for a test without a name.
func parseAttrTest(inside string) (t attrTest, ok bool) {
	key, value, hasValue := strings.Cut(inside, "=")
	t = attrTest{key: strings.ToLower(strings.TrimSpace(key))}
	if hasValue {
		t.operator = '='
		if end := len(t.key) - 1; end > 0 && strings.IndexByte("~|^$*", t.key[end]) >= 0 {
			t.operator, t.key = t.key[end], strings.TrimSpace(t.key[:end])
		}
		value = strings.TrimSpace(value)
		if value != "" && (value[0] == '"' || value[0] == '\'') {
			end := stringEnd(value, 0)
			flag := strings.ToLower(strings.TrimSpace(value[end:]))
			value, t.fold = strings.TrimSuffix(value[1:end], value[:1]), flag == "i"
		} else if bare, flag, two := strings.Cut(value, " "); two {
			value, t.fold = bare, strings.EqualFold(strings.TrimSpace(flag), "i")
		}
		t.value = unescape(value)
	}
	if _, name, namespaced := strings.Cut(t.key, "|"); namespaced {
		t.key = name
	}
	t.key = unescape(t.key)
	return t, t.key != ""
}

// universal reports whether c asks for nothing that tells kinds of elements apart. Pseudo-classes such as :first-child
// do not tell kinds apart, except :is with such names in it.
func (c *compound) universal() bool {
	if c.parts()+len(c.attrs) > 0 {
		return false
	}
	for i := range c.pseudos {
		p := &c.pseudos[i]
		if p.name == "is" && !slices.ContainsFunc(p.list, func(s *selector) bool { return s.chain[0].universal() }) {
			return false
		}
	}
	return true
}

// parts counts the names that c asks for: tag, id and classes.
func (c *compound) parts() (count int) {
	if count = len(c.classes); c.id != "" {
		count++
	}
	if c.tag != "" {
		count++
	}
	return count
}

// names lists what an element must have to match c: its id, classes, attributes and tag, each with a sign of its kind.
// [Sheet.Toggled] compares two rules by these: one that names all of another and more is about a state of the same
// elements.
func (c *compound) names() (names []string) {
	if c.id != "" {
		names = append(names, "#"+c.id)
	}
	for _, class := range c.classes {
		names = append(names, "."+class)
	}
	for _, t := range c.attrs {
		names = append(names, "["+t.key+string(t.operator)+t.value)
	}
	if c.tag != "" {
		names = append(names, c.tag)
	}
	return names
}
