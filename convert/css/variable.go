package css

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/dom"
)

// The limits of custom properties: a value that refers to others, which refer to others, may grow with each. Beyond
// them the property is as if it were not set, and [Sheet.Cut] is true.
const (
	maxSubstituted   = 2 << 10 // bytes of a value with all it refers to
	maxReferences    = 16      // custom properties that refer to one another
	maxSubstitutions = 1 << 14 // of a page
)

// refers reports whether a value is known only together with custom properties or attributes. It is asked of every
// declaration that matters, and so looks only at names before parentheses.
func refers(value string) bool {
	for i := 0; ; {
		open := strings.IndexByte(value[i:], '(')
		if open < 0 {
			return false
		}
		i += open + 1
		for _, name := range references {
			if at := i - 1 - len(name); at >= 0 && strings.EqualFold(value[at:i-1], name) &&
				(at == 0 || !nameByte(value[at-1])) {
				return true
			}
		}
	}
}

// references are the functions that stand for other values.
var references = [...]string{"var", "attr", "if", "env"}

// variables are the custom properties that are set on one element; parent leads to those of the elements around it.
// Elements that set none share those of their parent. own has them as they are written, known with all they refer to
// put in.
type variables struct {
	parent *variables
	own    map[string]string
	open   map[string]bool   // those that are being looked up
	known  map[string]string // with all they refer to; "" for none
	of     *html.Node
}

// registered is what @property says of a custom property. One without it has no initial value, and is inherited.
type registered struct {
	initial  string
	inherits bool
}

// variablesOf returns the custom properties of n, which may be those of an element round it. It is nil when there are
// none. The cascade decides between several declarations of one name, in the window of a laptop: custom properties are
// not told apart by window. They are kept for the life of the sheet.
func (s *Sheet) variablesOf(n *html.Node) *variables {
	if n == nil || n.Type != html.ElementNode {
		return nil
	}
	if found, known := s.variables[n]; known {
		return found
	}
	if s.variables == nil {
		s.variables = map[*html.Node]*variables{}
	}
	outer := s.variablesOf(n.Parent)
	weights, own := map[string]uint64{}, map[string]string{}
	set := func(d *declaration, key uint64) {
		if key >= weights[d.name] {
			weights[d.name], own[d.name] = key, d.value
		}
	}
	for _, r := range s.about(n) {
		if r.in&laptop == 0 {
			continue
		}
		for i := range r.custom {
			set(&r.custom[i], r.key(r.custom[i].important))
		}
	}
	if style := dom.Attr(n, "style"); strings.Contains(style, "--") {
		eachDeclaration(style, func(d declaration) {
			if strings.HasPrefix(d.name, "--") {
				set(&d, inlineKey(d.important))
			}
		})
	}
	found := outer
	if len(own) > 0 {
		found = &variables{parent: outer, own: own, of: n, open: map[string]bool{}, known: map[string]string{}}
	}
	s.variables[n] = found
	return found
}

// custom returns the value of a custom property for n, "" for none. It is " " for one that is empty, which is a value,
// and "" for one that refers to itself (CSS Custom Properties Level 1, dependency cycles). depth counts the references
// that led here.
func (s *Sheet) custom(n *html.Node, name string, depth int) string {
	at := s.variablesOf(n)
	for r, is := s.properties[name]; at != nil; at = at.parent {
		if is && !r.inherits && at.of != n {
			break
		}
		value, has := at.own[name]
		if !has || strings.EqualFold(value, "inherit") || strings.EqualFold(value, "unset") {
			continue
		}
		if strings.EqualFold(value, "initial") {
			break
		}
		if value == "" {
			return " " // a value of its own
		}
		if known, is := at.known[name]; is {
			return known
		}
		if at.open[name] { // it refers to itself
			return ""
		}
		at.open[name] = true
		full, ok := s.substitute(at.of, value, depth+1)
		delete(at.open, name)
		if !ok {
			full = ""
		}
		at.known[name] = full
		return full
	}
	return s.properties[name].initial
}

// substitute puts what a value refers to into it. It is false for a value that browsers then do not know. n is the
// element whose properties count, depth the references that led here. Arguments of other functions are put together,
// too.
func (s *Sheet) substitute(n *html.Node, value string, depth int) (string, bool) {
	if !refers(value) {
		return value, true
	}
	if s.substitutions++; depth > maxReferences || s.substitutions > maxSubstitutions {
		s.cut = true
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(value); {
		open := strings.IndexByte(value[i:], '(')
		if open < 0 {
			b.WriteString(value[i:])
			break
		}
		open += i
		begun := open
		for begun > i && nameByte(value[begun-1]) {
			begun--
		}
		end := until(value, open+1, ")")
		inside := value[open+1 : min(end, len(value))]
		b.WriteString(value[i:begun])
		name := strings.ToLower(value[begun:open])
		var put string
		var ok bool
		switch name {
		case "var", "attr":
			put, ok = s.refer(n, name, inside, depth)
		case "if":
			put, ok = s.choose(n, inside, depth)
		case "env":
			put, ok = s.environment(n, inside, depth)
		default:
			put, ok = s.substitute(n, inside, depth+1)
			put = value[begun:open+1] + put + ")"
		}
		if !ok || b.Len()+len(put) > maxSubstituted {
			s.cut = s.cut || ok
			return "", false
		}
		b.WriteString(put)
		i = end + 1
	}
	return b.String(), true
}

// refer returns what var(name, fallback) or attr(name type, fallback) stands for. The fallback is read only if there is
// no value; without either ok is false, and the declaration does not hold. attr() knows a unit as type, no other.
func (s *Sheet) refer(n *html.Node, function, inside string, depth int) (string, bool) {
	comma := until(inside, 0, ",")
	name := strings.TrimSpace(inside[:comma])
	var value string
	if function == "var" {
		value = s.custom(n, name, depth+1)
	} else {
		key, kind, _ := strings.Cut(name, " ")
		value = dom.Attr(n, strings.ToLower(key))
		if kind = strings.TrimSpace(kind); units[kind] && value != "" {
			value += kind
		}
	}
	if value != "" || comma >= len(inside) {
		return value, value != ""
	}
	return s.substitute(n, strings.TrimSpace(inside[comma+1:]), depth+1)
}

// environment returns what env(name, fallback) stands for: browsers know the edges of their windows alone, which have
// no room of their own on a screen with four corners.
func (s *Sheet) environment(n *html.Node, inside string, depth int) (string, bool) {
	comma := until(inside, 0, ",")
	if name := strings.TrimSpace(inside[:comma]); strings.HasPrefix(name, "safe-area-") {
		return "0px", true
	}
	if comma >= len(inside) {
		return "", false
	}
	return s.substitute(n, strings.TrimSpace(inside[comma+1:]), depth+1)
}

// choose returns what if(condition: value; …; else: value) in a value stands for. The first branch whose condition
// holds counts. It is false where none does, and the property then is as if it were not set.
func (s *Sheet) choose(n *html.Node, inside string, depth int) (string, bool) {
	for branch := range split(inside, ";") {
		colon := until(branch, 0, ":")
		if colon >= len(branch) {
			continue
		}
		condition, value := strings.TrimSpace(branch[:colon]), strings.TrimSpace(branch[colon+1:])
		holds := strings.EqualFold(condition, "else") || conditions(condition, func(name, inside string) truth {
			switch strings.ToLower(name) {
			case "media":
				if strings.ContainsAny(inside, ":<>=") && !strings.Contains(inside, "(") {
					inside = "(" + inside + ")"
				}
				return always(media(inside)&laptop != 0)
			case "supports":
				return always(supports("(" + inside + ")"))
			case "style":
				return always(s.styled(n, inside, depth+1))
			}
			return truth{}
		}, 0).yes != 0
		if holds {
			return s.substitute(n, value, depth+1)
		}
	}
	return "", false
}
