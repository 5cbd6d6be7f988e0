package css

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"readthru/convert/dom"
)

// compound is one compound selector of CSS: a tag, an id, classes and attributes that must all match, and compounds
// that must not.
type compound struct {
	tag     string // "" for any
	id      string
	classes []string
	attrs   []attrTest
	not     []compound
}

// attrTest asks for an attribute, and for its value where operator is not 0.
type attrTest struct {
	key, value string
	operator   byte // '=', '~', '|', '^', '$' or '*' as in [a^=b]
}

func (t attrTest) matches(n *html.Node) bool {
	if !dom.HasAttr(n, t.key) {
		return false
	}
	v := dom.Attr(n, t.key)
	switch t.operator {
	case '=':
		return v == t.value
	case '~':
		for word := range strings.FieldsSeq(v) {
			if word == t.value {
				return true
			}
		}
		return false
	case '|':
		return v == t.value || strings.HasPrefix(v, t.value+"-")
	case '^':
		return t.value != "" && strings.HasPrefix(v, t.value)
	case '$':
		return t.value != "" && strings.HasSuffix(v, t.value)
	case '*':
		return t.value != "" && strings.Contains(v, t.value)
	}
	return true
}

func (c compound) matches(n *html.Node) bool {
	if n.Type != html.ElementNode || c.tag != "" && n.Data != c.tag || c.id != "" && dom.Attr(n, "id") != c.id {
		return false
	}
	for _, class := range c.classes {
		if !dom.HasClass(n, class) {
			return false
		}
	}
	for _, t := range c.attrs {
		if !t.matches(n) {
			return false
		}
	}
	for _, other := range c.not {
		if other.matches(n) {
			return false
		}
	}
	return true
}

// names lists what an element must have to match.
func (c compound) names() (names []string) {
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

// parseRule reads one selector of a style sheet. It is false for one that is not about elements, or not known here.
func parseRule(selector string) (*rule, bool) {
	if selector == "" || len(selector) > maxSelector {
		return nil, false
	}
	r := &rule{}
	rest, combinator := selector, byte(0)
	for {
		c, after, stateful, ok := parseCompound(rest)
		if !ok {
			return nil, false
		}
		r.stateful = r.stateful || stateful
		r.chain = append(r.chain, c)
		if combinator != 0 {
			r.combinators = append(r.combinators, combinator)
		}
		rest = strings.TrimLeft(after, " \t\r\n\f")
		if rest == "" {
			slices.Reverse(r.chain)
			slices.Reverse(r.combinators)
			return r, true
		}
		combinator = ' '
		if strings.IndexByte(">+~", rest[0]) >= 0 {
			combinator, rest = rest[0], strings.TrimLeft(rest[1:], " \t\r\n\f")
		} else if len(rest) == len(after) {
			return nil, false
		}
	}
}

// parseCompound reads one compound from the start of s and returns what follows it. Stateful says that it holds in some
// state of the element only.
func parseCompound(s string) (c compound, rest string, stateful, ok bool) {
	begun := s
	if s, ok = strings.CutPrefix(s, "*"); !ok {
		c.tag, s = cutName(s)
		c.tag = strings.ToLower(c.tag)
	}
	for s != "" {
		kind := s[0]
		switch kind {
		case '#', '.':
			var name string
			if name, s = cutName(s[1:]); name == "" {
				return c, s, false, false
			}
			if kind == '#' {
				c.id = name
			} else {
				c.classes = append(c.classes, name)
			}
		case '[':
			inside, after, found := strings.Cut(s[1:], "]")
			if !found {
				return c, s, false, false
			}
			c.attrs = append(c.attrs, parseAttrTest(inside))
			s = after
		case ':':
			name, after := cutName(s[1:])
			s = after
			argument := ""
			if strings.HasPrefix(s, "(") {
				end := strings.IndexByte(s, ')')
				if end < 0 {
					return c, s, false, false
				}
				argument, s = s[1:end], s[end+1:]
			}
			switch strings.ToLower(name) {
			case "not":
				other, left, _, ok := parseCompound(argument)
				if !ok || strings.TrimSpace(left) != "" {
					stateful = true
					continue
				}
				c.not = append(c.not, other)
			case "root":
				c.tag = "html"
			case "hover", "focus", "active", "target", "checked", "focus-within", "focus-visible", "disabled", "enabled",
				"visited", "link", "open", "invalid", "valid":
				stateful = true
			default:
				return c, s, false, false // ::before, :nth-child and the like
			}
		default:
			return c, s, stateful, len(s) < len(begun)
		}
	}
	return c, "", stateful, len(s) < len(begun)
}

func parseAttrTest(inside string) attrTest {
	key, value, hasValue := strings.Cut(inside, "=")
	t := attrTest{key: strings.ToLower(strings.TrimSpace(key))}
	if !hasValue {
		return t
	}
	t.operator = '='
	if end := len(t.key) - 1; end > 0 && strings.IndexByte("~|^$*", t.key[end]) >= 0 {
		t.operator, t.key = t.key[end], strings.TrimSpace(t.key[:end])
	}
	t.value = strings.Trim(strings.TrimSpace(value), `"'`)
	return t
}
