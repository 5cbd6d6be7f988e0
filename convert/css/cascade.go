package css

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/convert/dom"
)

// Styles are the declarations that hold for one element, by property. Names and values are in lower case.
type Styles struct {
	Sure  map[string]string // for every reader; nil when there is none
	Maybe map[string]string // with what holds for some windows only; nil when nothing does
	by    map[string]*rule  // which rule set a property of sure; none for the style attribute
}

// StylesOf returns the declarations that hold for n: of the page's own style sheets, its style attribute, and the
// attributes of colours that HTML had before CSS.
func (s *Sheet) StylesOf(n *html.Node) (e Styles) {
	rules, inline := s.about(n), ""
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "style":
			inline = a.Val
		case "bgcolor":
			e.put("background-color", strings.ToLower(a.Val))
		case "color":
			if dom.Is(n, atom.Font) {
				e.put("color", strings.ToLower(a.Val))
			}
		case "text":
			if dom.Is(n, atom.Body) {
				e.put("color", strings.ToLower(a.Val))
			}
		}
	}
	if rules == nil {
		if inline != "" {
			for name, value := range Declarations(inline) {
				e.put(name, value)
			}
		}
		return e
	}
	weights, some := map[string]int{}, map[string]int{}
	e.by = map[string]*rule{}
	conditional := slices.ContainsFunc(rules, func(r *rule) bool { return r.conditional })
	if conditional {
		e.Maybe = map[string]string{}
	}
	for _, r := range rules {
		for name, d := range r.set {
			d.weight += r.weight
			if conditional && d.weight >= some[name] {
				e.Maybe[name], some[name] = d.value, d.weight
			}
			if !r.conditional && d.weight >= weights[name] {
				weights[name], e.by[name] = d.weight, r
				e.put(name, d.value)
			}
		}
	}
	for name, d := range eachDeclaration(withoutComments(inline)) {
		d.weight += inlineSet
		if conditional && d.weight >= some[name] {
			e.Maybe[name], some[name] = d.value, d.weight
		}
		if d.weight >= weights[name] {
			weights[name] = d.weight
			delete(e.by, name)
			e.put(name, d.value)
		}
	}
	return e
}

func (s *Styles) put(name, value string) {
	if s.Sure == nil {
		s.Sure = map[string]string{}
	}
	s.Sure[name] = value
}

// about returns the rules that hold for n.
func (s *Sheet) about(n *html.Node) (found []*rule) {
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

// matches reports whether r holds for n, as far as chain[i:] goes.
func (s *Sheet) matches(r *rule, i int, n *html.Node) bool {
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

// Toggled reports whether the rule that set a property of an element, and so hid it, has a counterpart that shows such
// elements in another state: with one more class, inside another parent, under the pointer. Such an element appears
// when the reader asks for it. It is false where no rule set the property.
func (s *Sheet) Toggled(e Styles, property string) bool {
	hid := e.by[property]
	if hid == nil {
		return false
	}
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
