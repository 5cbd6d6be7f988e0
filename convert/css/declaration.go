package css

import "strings"

// declaration is one property with its value. It is what readDeclaration makes of the text of one declaration, already
// expanded: of "margin: 0" there are four.
type declaration struct {
	name      string // in lower case; a custom property as it is written
	value     string // in lower case, unless it refers to custom properties
	shorthand string // the property that was written, when value has to be read after variables are known
	important bool
}

// eachDeclaration yields the declarations of a block without nested rules. Unknown properties and values that browsers
// refuse are left out; shorthands are written out. It is called with the block of a rule and with the style attribute
// of an element. Later declarations of a property come after earlier ones; which of them holds is for the cascade to
// say.
func eachDeclaration(block string, yield func(declaration)) {
	for i := 0; i < len(block); {
		end := until(block, i, ";")
		readDeclaration(block[i:end], yield)
		i = end + 1
	}
}

// readDeclaration reads the text of one declaration, without its semicolon, and yields what it sets: nothing where
// browsers refuse it or where its property does not matter here, several where it is a shorthand. Names of properties
// are compared without case, those of custom properties with case (CSS Custom Properties Level 1, §2). A value with
// var(), attr() or if() cannot be judged yet: it is yielded for each longhand as it is written, with the shorthand
// beside it, and is read again by Sheet.computed when its variables are known.
func readDeclaration(text string, yield func(declaration)) {
	text = text[blank(text, 0):]
	colon := 0
	for colon < len(text) && (nameByte(text[colon]) || text[colon] == '\\') {
		if text[colon] == '\\' {
			colon = min(escapeEnd(text, colon), len(text))
			continue
		}
		colon++
	}
	name := text[:colon]
	if colon = blank(text, colon); name == "" || colon >= len(text) || text[colon] != ':' {
		return
	}
	name = unescape(name)
	custom := strings.HasPrefix(name, "--")
	if !custom {
		if name = strings.ToLower(name); !properties[name] {
			if name = aliases[name]; name == "" {
				return
			}
		}
	}
	d := declaration{name: name, value: strings.TrimSpace(withoutComments(text[colon+1:]))}
	if mark := strings.LastIndexByte(d.value, '!'); mark >= 0 &&
		strings.EqualFold(strings.TrimSpace(d.value[mark+1:]), "important") {
		d.value, d.important = strings.TrimSpace(d.value[:mark]), true
	}
	if len(d.value) > maxValue {
		return
	}
	d.value = unescape(d.value)
	if custom {
		yield(d)
		return
	}
	if refers(d.value) {
		for _, long := range longhands(name) {
			d.shorthand, d.name = name, long
			yield(d)
		}
		return
	}
	d.value = strings.ToLower(d.value)
	expand(name, d.value, func(name, value string) {
		d.name, d.value = name, value
		yield(d)
	})
}

// Declarations reads a style attribute: values by property, both in lower case, shorthands written out. Of two values
// for one property the last counts. Values that refer to custom properties are left out, because a style attribute
// alone does not say what they are; [Sheet.StylesOf] reads those.
func Declarations(style string) Values {
	var best candidates
	eachDeclaration(style, func(d declaration) {
		if d.shorthand == "" {
			best.put(&d, inlineKey(d.important), nil)
		}
	})
	set := make(Values, len(best))
	for i := range best {
		set[i] = Value{Name: best[i].name, Value: best[i].value}
	}
	return set
}
