package css

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// A declaration's place in the cascade is one number, its key, so that declarations are compared by one comparison.
// From its highest bits to its lowest it ranks importance, what an animation has set, the tree that the rule is of, the
// style attribute, the layer, specificity, nearness to the root of @scope, and order of appearance (CSS Cascading Level
// 6, cascade sorting order).
const (
	maxLayers    = 1<<10 - 1
	orderBits    = 16
	nearBits     = 6
	weightBits   = 24
	weightShift  = orderBits + nearBits
	layerShift   = weightShift + weightBits
	inlineSet    = 1 << (layerShift + 10)
	treeShift    = layerShift + 11
	animatedSet  = 1 << (treeShift + 2)
	importantSet = animatedSet << 1
)

// key returns the rank in the cascade of a declaration of the rule r; the greatest wins. For important declarations,
// layers and trees count the other way round: the earlier layer wins, and the inner tree. r.near must be that of the
// element that is asked about.
func (r *rule) key(important bool) uint64 {
	rank := maxLayers // what is in no layer comes last
	if r.layer != nil {
		rank = r.layer.rank
	}
	if important { // the order of layers is turned round
		rank = maxLayers - rank
	}
	from := r.from
	if important { // likewise that of trees
		from = fromOuter - from
	}
	key := uint64(from)<<treeShift | uint64(rank)<<layerShift | uint64(r.weight)<<weightShift | r.near<<orderBits |
		uint64(r.order)
	if important {
		key |= importantSet
	}
	return key
}

// inlineKey returns the rank in the cascade of a declaration of a style attribute: above all rules of its importance
// and of the element's own tree, in whatever layer and of whatever specificity.
func inlineKey(important bool) uint64 {
	if important {
		return importantSet | fromSame<<treeShift | inlineSet
	}
	return fromSame<<treeShift | inlineSet
}

// candidate is the declaration of a property that wins the cascade so far. by is its rule, nil for other declarations.
type candidate struct {
	name, value, shorthand string
	key                    uint64
	by                     *rule
}

// candidates are the winners of one element, one for each property.
type candidates []candidate

// put takes a declaration if it wins in the cascade over those before it. One of the same key wins: it is the later of
// two in one rule or one style attribute.
func (c *candidates) put(d *declaration, key uint64, by *rule) {
	for i := range *c {
		if one := &(*c)[i]; one.name == d.name {
			if key >= one.key {
				one.value, one.shorthand, one.key, one.by = d.value, d.shorthand, key, by
			}
			return
		}
	}
	*c = append(*c, candidate{d.name, d.value, d.shorthand, key, by})
}

// StylesOf returns the declarations that hold for n: of the page's own style sheets, its style attribute, the
// attributes of colours that HTML had before CSS, and that a slot has no box. Windows has one entry for each of the
// kinds of windows, but only if some rule about n holds in some of them alone; to compute four cascades for every
// element would cost four times as much. All is nil where nothing is declared for n.
func (s *Sheet) StylesOf(n *html.Node) (e Styles) {
	rules, inline := s.about(n), ""
	var hints candidates // their key is 0: every rule wins over old attributes
	hint := func(name, value string) {
		expand(name, strings.ToLower(value), func(name, value string) {
			hints.put(&declaration{name: name, value: value}, 0, nil)
		})
	}
	if n.Data == "slot" {
		hint("display", "contents")
	}
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "style":
			inline = a.Val
		case "bgcolor":
			hint("background-color", legacyColour(a.Val))
		case "background":
			hint("background-image", "url(x)")
		case "color":
			if dom.Is(n, atom.Font) {
				hint("color", legacyColour(a.Val))
			}
		case "text":
			if dom.Is(n, atom.Body) {
				hint("color", legacyColour(a.Val))
			}
		}
	}
	if len(rules) == 0 && inline == "" && len(hints) == 0 {
		return e
	}
	alike := true
	for _, r := range rules {
		alike = alike && r.in == everywhere
	}
	if alike {
		e.Values = s.cascade(n, rules, inline, everywhere, hints)
		return e
	}
	s.steps -= len(kinds) * len(rules)
	e.Windows = make([]Values, len(kinds))
	for i := range kinds {
		e.Windows[i] = s.cascade(n, rules, inline, 1<<i, hints)
		if laptop == 1<<i {
			e.Values = e.Windows[i]
		}
	}
	return e
}

// cascade returns the values that hold for n in one set of windows: the winner for each property among rules, the style
// attribute inline, and hints, which are the old attributes. Winners are computed only when all are known, since a
// value may refer to an anchor that another property names.
func (s *Sheet) cascade(n *html.Node, rules []*rule, inline string, in windows, hints candidates) Values {
	best := s.best[:0]
	best = append(best, hints...)
	for _, r := range rules {
		if r.in&in == 0 {
			continue
		}
		for i := range r.set {
			best.put(&r.set[i], r.key(r.set[i].important), r)
		}
	}
	if inline != "" {
		eachDeclaration(inline, func(d declaration) {
			if !strings.HasPrefix(d.name, "--") {
				best.put(&d, inlineKey(d.important), nil)
			}
		})
	}
	s.animate(n, &best)
	s.best = best // its room is used again
	if len(best) == 0 {
		return nil
	}
	values := make(Values, 0, len(best))
	anchor := ""
	for i := range best {
		if best[i].name == "position-anchor" {
			anchor = best[i].value
		}
	}
	for i := range best {
		c := best[i]
		for tries := 0; c.value == "revert-layer" && tries < 4; tries++ {
			c = s.reverted(c, rules, in)
		}
		if computed, ok := s.computed(n, &c, anchor); ok {
			values = append(values, Value{c.name, computed, c.by})
		}
	}
	return values
}

// reverted returns what the cascade has for a declaration c whose value is "revert-layer": the best of the layers below
// that of c, "revert" where there is none. Important declarations are not looked at. It takes one step; the caller
// repeats it while the result reverts again.
func (s *Sheet) reverted(c candidate, rules []*rule, in windows) candidate {
	below := candidate{name: c.name, value: "revert"}
	floor := uint64(maxLayers) << layerShift
	if c.by != nil {
		floor = c.key &^ (1<<layerShift - 1)
	}
	for _, r := range rules {
		for i := range r.set {
			d := &r.set[i]
			if key := r.key(d.important); r.in&in != 0 && d.name == c.name && !d.important && key < floor && key >= below.key {
				below = candidate{d.name, d.value, d.shorthand, key, r}
			}
		}
	}
	return below
}

// computed returns the value of a declaration that won the cascade, with all it refers to. It is false when the
// property is as if it were not set. anchor is the value of position-anchor. "revert" and "unset" count as if nothing
// were set. "inherit" is left to package hidden, which knows the parent's styles.
func (s *Sheet) computed(n *html.Node, c *candidate, anchor string) (value string, ok bool) {
	value = s.anchored(c.value, anchor, s.treeOf(n, c.by))
	if c.shorthand != "" {
		full, ok := s.substitute(n, value, 0)
		if !ok {
			return "", false
		}
		value = ""
		expand(c.shorthand, strings.ToLower(strings.TrimSpace(full)), func(name, v string) {
			if name == c.name {
				value = v
			}
		})
	}
	switch value {
	case "", "revert", "revert-layer":
		return "", false
	case "unset":
		return "", false
	case "initial":
		value = initials[c.name]
	case "inherit":
		return value, true
	}
	return value, value != ""
}

// about returns the rules of which the cascade for n is made: those that hold for n in some window. They are looked up
// under n's id, each of its classes, its tag and "*", and each of them is then compared in full. When the comparisons
// of the page are spent it returns what it has.
func (s *Sheet) about(n *html.Node) (found []*rule) {
	if len(s.rules) == 0 {
		return nil
	}
	s.nearOf = nil
	look := func(key string) {
		for _, r := range s.rules[key] {
			if s.steps < 0 {
				return
			}
			if s.holds(r, n) {
				s.steps -= len(r.set) + 1
				found = append(found, r)
			}
		}
	}
	for i := range n.Attr {
		switch n.Attr[i].Key {
		case "id":
			look("#" + s.cased(n.Attr[i].Val))
		case "class":
			for class, rest := dom.CutWord(n.Attr[i].Val); class != ""; class, rest = dom.CutWord(rest) {
				look("." + s.cased(class))
			}
		}
	}
	if look(n.Data); n.Namespace != "" && strings.ToLower(n.Data) != n.Data {
		look(strings.ToLower(n.Data))
	}
	look("*")
	return found
}

// holds reports whether the rule r applies to n, so that the cascade counts it. The questions that cost least come
// first: whether the rule has spent its share, whether the names around n allow it, and only then the selector, the
// scope, and the style query of a container.
func (s *Sheet) holds(r *rule, n *html.Node) bool {
	if r.costs > maxRuleSteps {
		s.cut = true
		return false
	}
	if r.container && !s.containers {
		return false
	}
	if s.tree = r.tree; r.plain {
		return s.trees[n] == r.tree
	}
	if len(r.outer) > 0 && !s.near(n, r.outer) {
		s.steps--
		r.costs++
		return false
	}
	before := s.steps
	var is bool
	if r.scope == nil {
		is = s.matches(r.selector, 0, n, nil)
	} else {
		is = s.scoped(r, n)
	}
	if r.costs += before - s.steps; is && r.style != "" {
		is = s.styled(n.Parent, r.style, 0)
	}
	return is
}
