package css

import "strings"

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
