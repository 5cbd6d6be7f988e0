package css

import (
	"slices"
	"strings"
)

// at reads the at-rule of a style sheet that begins with the @ at i, and returns the offset behind it. What a condition
// excludes is passed over unread, blocks of unknown at-rules, too: they hold no rules about elements. c is what stands
// around it; the block inside gets a copy with the at-rule's own condition.
func (s *Sheet) at(css string, i int, c context) int {
	end := until(css, i, "{;}")
	if end >= len(css) || css[end] == '}' {
		end = min(end, len(css))
		s.statement(css[i:end], c)
		return end
	}
	if css[end] == ';' {
		s.statement(css[i:end], c)
		return end + 1
	}
	s.begun = true
	name, prelude := cutName(css[i+1 : end])
	prelude = strings.TrimSpace(withoutComments(prelude))
	name = strings.ToLower(name)
	inner := c
	inner.depth++
	switch name {
	case "media":
		inner.in &= media(prelude)
	case "supports":
		if !supports(prelude) {
			inner.in = 0
		}
	case "layer":
		inner.layer = s.named(c.layer, prelude)
	case "container":
		in, style := container(prelude)
		inner.in &= in
		inner.style, inner.container, s.asked = style, style == "", true
	case "scope":
		if inner.scope = s.extent(prelude); inner.scope == nil {
			inner.in = 0
		}
	case "keyframes", "-webkit-keyframes":
		return s.keyframes(strings.Trim(prelude, `"'`), css, end+1)
	case "property":
		return s.property(prelude, css, end+1)
	default: // fonts, pages and the like: no rules about elements
		inner.in = 0
	}
	if inner.in == 0 || c.depth >= maxBlocks {
		s.cut = s.cut || c.depth >= maxBlocks
		return until(css, end+1, "}") + 1
	}
	return s.block(css, end+1, inner)
}

// statement reads an at-rule that ends with a semicolon, such as @import and the @layer that only states the order of
// layers. Others, such as @charset and @namespace, change nothing here.
func (s *Sheet) statement(text string, c context) {
	name, prelude := cutName(text[1:])
	switch prelude = strings.TrimSpace(withoutComments(prelude)); strings.ToLower(name) {
	case "layer":
		for one := range split(prelude, ",") {
			s.named(c.layer, one)
		}
	case "import":
		if c.depth == 0 && !s.begun { // elsewhere browsers pass over it
			s.imported(prelude, c)
		}
	}
}

// imported reads the style sheet of an @import, if its data: address holds it; else Unknown says that rules are
// missing. Behind the address may stand a layer, a condition of support and media queries, in this order.
func (s *Sheet) imported(prelude string, c context) {
	address, rest := prelude, ""
	if name, _, ok := strings.Cut(prelude, "("); ok && strings.EqualFold(name, "url") {
		end := until(prelude, 4, ")")
		if unquotedURL(prelude, 3) {
			end = urlEnd(prelude, 4) - 1
		}
		address, rest = prelude[4:max(4, min(end, len(prelude)))], prelude[min(end+1, len(prelude)):]
	} else if prelude != "" {
		end := stringEnd(prelude, 0)
		address, rest = prelude[:end], prelude[end:]
	}
	css, ok := dataSheet(strings.Trim(strings.TrimSpace(address), `"'`))
	if !ok {
		s.Unknown = true
		return
	}
	for next, after := cutName(strings.TrimSpace(rest)); next == "layer" || next == "supports"; {
		inside := ""
		if strings.HasPrefix(after, "(") {
			end := until(after, 1, ")")
			inside, after = after[1:end], after[min(end+1, len(after)):]
		}
		if next == "layer" {
			c.layer = s.named(c.layer, inside)
		} else if !supports("(" + inside + ")") {
			return
		}
		rest = after
		next, after = cutName(strings.TrimSpace(rest))
	}
	if c.in &= media(rest); c.in != 0 && s.count < maxRules {
		s.block(css, 0, c)
		s.begun = false
	}
}

// named returns the layer of a name in l, as in "a.b". One without a name is new. Layers beyond the limit are one. l is
// nil for a layer at the top. The names of a path stand one in another, and each is made when it is first mentioned,
// which fixes its place in the order (CSS Cascading Level 5, §6.4).
func (s *Sheet) named(l *layer, path string) *layer {
	if l == nil {
		l = &s.layers
	}
	for name := range strings.SplitSeq(path, ".") {
		name = strings.TrimSpace(name)
		at := slices.IndexFunc(l.inner, func(one *layer) bool { return one.name == name && name != "" })
		switch {
		case at >= 0:
			l = l.inner[at]
		case s.layerCount >= maxLayers-1:
			s.cut = true
			return l
		default:
			s.layerCount++
			l.inner = append(l.inner, &layer{name: name})
			l = l.inner[len(l.inner)-1]
		}
	}
	return l
}

// number ranks l and the layers in it: those inside come before what is in l itself. last is the rank that was given
// last; the result is l's own. Ranks end at maxLayers, so that they fit into their bits of a rule's key.
func (l *layer) number(last int) int {
	for _, one := range l.inner {
		last = one.number(last)
	}
	l.rank = min(last+1, maxLayers)
	return l.rank
}

// keyframes reads the block of @keyframes, from i on, and returns the offset behind it. Kept are what the first and the
// last state set, and what all of them set alike: more is not needed to say what is seen at rest. Declarations that are
// important are left out, as browsers do (CSS Animations Level 1, §3). A name that is defined twice has the later
// frames.
func (s *Sheet) keyframes(name, css string, i int) int {
	end := until(css, i, "}")
	body := css[i:min(end, len(css))]
	f := &frames{first: map[string]string{}, last: map[string]string{}}
	count := 0 // of states: a frame may be that of several
	for i := blank(body, 0); i < len(body); i = blank(body, i) {
		open := until(body, i, "{")
		if open >= len(body) {
			break
		}
		shut := until(body, open+1, "}")
		set := map[string]string{}
		eachDeclaration(body[open+1:min(shut, len(body))], func(d declaration) {
			if d.shorthand == "" && !d.important && !strings.HasPrefix(d.name, "--") {
				set[d.name] = d.value
			}
		})
		for at := range split(strings.ToLower(withoutComments(body[i:open])), ",") {
			count++
			into := map[string]map[string]string{"from": f.first, "0%": f.first, "to": f.last, "100%": f.last}[at]
			for name, value := range set {
				if into != nil {
					into[name] = value
				}
			}
		}
		if f.same == nil {
			f.same = set
		} else {
			for name, value := range f.same {
				if set[name] != value {
					delete(f.same, name)
				}
			}
		}
		i = shut + 1
	}
	if count < 2 {
		f.same = nil // it moves to and from what the element has
	}
	if s.frames == nil {
		s.frames, s.animations = map[inTree]*frames{}, map[string]bool{}
	}
	name = strings.ToLower(name)
	s.frames[inTree{s.tree, name}], s.animations[name] = f, true
	return end + 1
}

// property reads the block of @property, from i on, and returns the offset behind it: the initial value of a custom
// property, and whether elements inherit it. Its syntax is not checked.
func (s *Sheet) property(name, css string, i int) int {
	end := until(css, i, "}")
	r := registered{inherits: true}
	for one := range split(css[i:min(end, len(css))], ";") {
		key, value, _ := strings.Cut(one, ":")
		switch value = strings.TrimSpace(value); strings.ToLower(strings.TrimSpace(key)) {
		case "initial-value":
			r.initial = value
		case "inherits":
			r.inherits = value != "false"
		}
	}
	if s.properties == nil {
		s.properties = map[string]registered{}
	}
	s.properties[name] = r
	return end + 1
}
