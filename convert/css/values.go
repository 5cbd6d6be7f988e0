package css

// Styles are the declarations that hold for one element, by property. Names and values are in lower case, shorthands
// are written out, and custom properties are put in. [Sheet.StylesOf] makes them for package hidden, which asks of each
// element whether some window shows its text.
type Styles struct {
	Values  Values   // in the window of a laptop; nil when there is none
	Windows []Values // in each kind of window; nil when all are alike
}

// Values are the declarations of an element, by property: so few that to compare their names costs less than a map.
// Names are unique, except that dropped ones are empty.
type Values []Value

// Value is what holds for a property.
type Value struct {
	Name, Value string
	by          *rule // that set it; nil for the style attribute
}

// Get returns the value of a property, or "" if it is not declared.
func (v Values) Get(name string) string {
	for i := range v {
		if v[i].Name == name {
			return v[i].Value
		}
	}
	return ""
}

// Drop takes out the value of a property. Package hidden drops a value that it does not count, such as that of an
// element which fades in. The rule that set it is forgotten, too.
func (v Values) Drop(name string) {
	for i := range v {
		if v[i].Name == name {
			v[i] = Value{}
		}
	}
}

// setBy returns the rule that set a property, or nil where the style attribute, an animation or an old attribute did,
// or nothing.
func (v Values) setBy(name string) *rule {
	for i := range v {
		if v[i].Name == name {
			return v[i].by
		}
	}
	return nil
}
