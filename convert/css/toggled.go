package css

import (
	"slices"

	"golang.org/x/net/html"
)

// Toggled reports whether the rule that set a property of an element, and so hid it, has a counterpart that shows such
// elements in another state: with one more class, inside another parent, under the pointer. Such an element appears
// when the reader asks for it. It is false where no rule set the property.
func (s *Sheet) Toggled(n *html.Node, e Styles, property string) bool {
	hid := e.Values.setBy(property)
	if hid == nil {
		return false
	}
	names := hid.chain[0].names()
	for _, name := range names {
		for _, r := range s.shows[name] {
			if r == hid || r.in != everywhere || !r.shows(property) {
				continue
			}
			other := r.chain[0].names()
			if !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(other, n) }) &&
				(len(other) > len(names) || len(r.chain) > len(hid.chain) || r.stateful) && !s.holds(r, n) {
				return true
			}
		}
	}
	return false
}

// shows reports whether r sets a property to a value that lets elements be seen. [Sheet.Toggled] asks it of the rules
// in Sheet.shows, which show something, for the property by which another rule hid an element.
func (r *rule) shows(property string) bool {
	for i := range r.set {
		if r.set[i].name == property && shown(property, r.set[i].value) {
			return true
		}
	}
	return false
}

// showing reports whether a rule can make something appear. Only such rules are asked by [Sheet.Toggled].
func (r *rule) showing() bool {
	for i := range r.set {
		if shown(r.set[i].name, r.set[i].value) {
			return true
		}
	}
	return false
}

// shown reports whether a property with this value lets an element be seen that another value of it hid. It is how a
// menu or a tab that scripts open is told from text that nobody ever sees. A height of one pixel shows nothing: it is
// what visually hidden text has.
func shown(name, value string) bool {
	switch name {
	case "display":
		return value != "none"
	case "visibility":
		return value == "visible"
	case "opacity":
		n, ok := Fraction(value)
		return ok && n > Faintest
	case "height", "max-height", "width", "max-width":
		l, ok := ParseLength(value, 16)
		return !ok || l.Px > 1 || l.Share > 0
	case "grid-template-rows":
		return value != "0fr"
	}
	return false
}
