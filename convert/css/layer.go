package css

import (
	"slices"
	"strings"
)

// layer is a cascade layer. Later ones win, and what is in none wins over all. The anonymous outermost one is
// Sheet.layers; its number is given when all sheets have been read, since a layer may be named again and again (CSS
// Cascading Level 5, §6.4).
type layer struct {
	name  string
	inner []*layer
	rank  int // from 1
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
