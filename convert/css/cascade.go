package css

import (
	"math"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

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

// put takes a declaration if it wins over those before it. One of the same key wins: it is the later of two in one rule
// or one style attribute.
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

// legacyColour reads a colour of an attribute, whose digits need no #. The attributes are bgcolor, text and color. What
// the HTML standard's rules for legacy colours make of other values is not known here.
func legacyColour(value string) string {
	value = strings.TrimSpace(value)
	if len(value) == 6 || len(value) == 3 {
		if _, ok := hexColour(strings.ToLower(value)); ok {
			return "#" + value
		}
	}
	return value
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

// reverted returns the declaration to which "revert-layer" rolls c back: the best of the layers below that of c,
// "revert" where there is none. Important declarations are not looked at. It takes one step; the caller repeats it
// while the result reverts again.
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

// computed returns the value of a declaration with all it refers to. It is false when the property is as if it were not
// set. anchor is the value of position-anchor. "revert" and "unset" count as if nothing were set. "inherit" is left to
// package hidden, which knows the parent's styles.
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

// initials are the values that properties have where nothing sets them, as far as that is not what an absent value
// means here.
var initials = map[string]string{
	"display": "inline", "visibility": "visible", "color": "canvastext", "font-size": "medium", "line-height": "normal",
	"letter-spacing": "normal", "text-indent": "0", "font-size-adjust": "none", "text-shadow": "none",
	"-webkit-text-fill-color": "currentcolor", "opacity": "1",
}

// animate puts what animations leave into place: those that have ended, and those that nobody waits for. A page that
// fades in its text sets opacity to 0 and animates it to 1; readers see the end. What an animation sets wins over all
// but important declarations (CSS Cascading Level 5, §6.1).
func (s *Sheet) animate(n *html.Node, best *candidates) {
	names, tree, a := "", (*html.Node)(nil), animation{fill: "none", count: "1", direction: "normal", state: "running"}
	for i := range *best {
		switch c := &(*best)[i]; c.name {
		case "animation-name":
			names, tree = c.value, s.treeOf(n, c.by)
		case "animation-fill-mode":
			a.fill = c.value
		case "animation-iteration-count":
			a.count = c.value
		case "animation-direction":
			a.direction = c.value
		case "animation-duration":
			a.duration = c.value
		case "animation-delay":
			a.delay = c.value
		case "animation-play-state":
			a.state = c.value
		}
	}
	if names == "" || names == "none" {
		return
	}
	for name := range split(names, ",") {
		f := s.frames[inTree{tree, strings.Trim(name, `"'`)}]
		if f == nil {
			continue
		}
		for name, value := range a.leaves(f) {
			best.put(&declaration{name: name, value: value}, animatedSet, nil)
		}
	}
}

// treeOf returns the tree in which names of a declaration for n mean something: that of its rule, or of n's own style.
// Names of @keyframes and of anchors are looked up in it.
func (s *Sheet) treeOf(n *html.Node, by *rule) *html.Node {
	if by != nil {
		return by.tree
	}
	return s.trees[n]
}

// animation is how the frames of an animation are shown. They are the values of the properties of the same names, as
// they are written, with the initial ones where none is set.
type animation struct{ fill, count, direction, duration, delay, state string }

// longest is for how many seconds a reader waits for the end of an animation. It ends a trick: text that is there after
// an hour is on no screen.
const longest = 60

// leaves returns what is seen of an animation by somebody who waits a while. It is nil where the element is at last as
// its rules have it, and what all frames set where the animation never ends, ends in the middle of a turn, takes too
// long, or waits for a script.
func (a *animation) leaves(f *frames) map[string]string {
	count, _, known := Number(a.count)
	duration, delay := seconds(a.duration), seconds(a.delay)
	switch {
	case a.count == "infinite", !known, count != math.Trunc(count), strings.Contains(a.count, ","),
		duration*count+delay > longest, a.state == "paused" && duration > 0:
		return f.same
	case a.fill != "forwards" && a.fill != "both":
		return nil
	}
	// At the end of an odd number of turns the last frame is seen, of none the first.
	last := true
	switch even := math.Mod(count, 2) == 0; a.direction {
	case "normal":
		last = count > 0
	case "reverse":
		last = count == 0
	case "alternate":
		last = !even
	case "alternate-reverse":
		last = even
	}
	if last {
		return f.last
	}
	return f.first
}

// seconds reads a time of an animation, of several the first. What does not begin with a number is 0.
func seconds(value string) float64 {
	first, _, _ := strings.Cut(value, ",")
	n, unit, _ := Number(strings.TrimSpace(first))
	if unit == "ms" {
		return n / 1000
	}
	return n
}

// Animated reports whether one of these animations is defined in a style sheet that is not at hand. Its keyframes may
// set anything: package hidden then does not take the element for hidden for good.
func (s *Sheet) Animated(names string) bool {
	for name := range split(names, ",") {
		if name = strings.Trim(name, `"'`); name != "" && name != "none" && !s.animations[name] {
			return true
		}
	}
	return false
}

// about returns the rules that hold for n in some window. They are looked up under n's id, each of its classes, its tag
// and "*", and each of them is then compared in full. When the comparisons of the page are spent it returns what it
// has.
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

// holds reports whether the rule r applies to n. The questions that cost least come first: whether the rule has spent
// its share, whether the names around n allow it, and only then the selector, the scope, and the style query of a
// container.
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
