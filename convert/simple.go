package convert

import (
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"readthru/convert/chars"
	"readthru/convert/dom"
)

// simple is one compound selector of CSS: a tag, an id, classes and attributes that must all match, and compounds that
// must not.
type simple struct {
	tag     string // "" for any
	id      string
	classes []string
	attrs   []attrTest
	not     []simple
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

func (c simple) matches(n *html.Node) bool {
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
func (c simple) names() (names []string) {
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
		c, after, stateful, ok := parseSimple(rest)
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

// parseSimple reads one compound from the start of s and returns what follows it. Stateful says that it holds in some
// state of the element only.
func parseSimple(s string) (c simple, rest string, stateful, ok bool) {
	begun := s
	if s, ok = strings.CutPrefix(s, "*"); !ok {
		c.tag, s = cssName(s)
		c.tag = strings.ToLower(c.tag)
	}
	for s != "" {
		kind := s[0]
		switch kind {
		case '#', '.':
			var name string
			if name, s = cssName(s[1:]); name == "" {
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
			name, after := cssName(s[1:])
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
				other, left, _, ok := parseSimple(argument)
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

// cssName reads a name from the start of s, its escapes undone.
func cssName(s string) (name, rest string) {
	end := 0
	for end < len(s) && (s[end] >= 0x80 || s[end] == '-' || s[end] == '_' || chars.Letter(s[end]) || s[end] >= '0' &&
		s[end] <= '9' || s[end] == '\\' && end+1 < len(s)) {
		if s[end] == '\\' {
			end++
		}
		end++
	}
	return unescapeCSS(s[:end]), s[end:]
}

// unescapeCSS undoes the escapes of CSS: a backslash with up to six hex digits and one space, or with any other
// character.
func unescapeCSS(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		r, digits := rune(0), 0
		for digits < 6 && i+1+digits < len(s) {
			d := strings.IndexByte("0123456789abcdef", s[i+1+digits]|0x20)
			if d < 0 {
				break
			}
			r = r<<4 | rune(d)
			digits++
		}
		if digits == 0 {
			i++
			b.WriteByte(s[i])
			continue
		}
		b.WriteRune(r)
		if i += digits; i+1 < len(s) && s[i+1] == ' ' {
			i++
		}
	}
	return b.String()
}

// eachDeclaration yields the declarations of a block of CSS: property and value in lower case, escapes undone.
func eachDeclaration(block string) iter.Seq2[string, declared] {
	return func(yield func(string, declared) bool) {
		for block != "" {
			end := cssIndex(block, ";")
			one := block
			if end >= 0 {
				one, block = block[:end], block[end+1:]
			} else {
				block = ""
			}
			name, value, ok := strings.Cut(one, ":")
			if !ok {
				continue
			}
			d := declared{value: strings.ToLower(strings.TrimSpace(unescapeCSS(value)))}
			if bare, important := strings.CutSuffix(d.value, "important"); important {
				if bare, important = strings.CutSuffix(strings.TrimSpace(bare), "!"); important {
					d.value, d.weight = strings.TrimSpace(bare), importantSet
				}
			}
			if !yield(strings.ToLower(strings.TrimSpace(unescapeCSS(name))), d) {
				return
			}
		}
	}
}

// declarations reads an inline style: property to value, both lower-case; of two values for one property the last
// counts.
func declarations(style string) map[string]string {
	set, weights := map[string]string{}, map[string]int{}
	for name, d := range eachDeclaration(withoutComments(style)) {
		if d.weight >= weights[name] {
			set[name], weights[name] = d.value, d.weight
		}
	}
	return set
}
