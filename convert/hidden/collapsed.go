package hidden

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/css"
)

// cutsOff reports whether a collapsed box hides what it holds: it cuts off what is too large for it. Without it a box
// of no size hides nothing.
func cutsOff(style css.Values) bool {
	for _, overflow := range [...]string{style.Get("overflow-x"), style.Get("overflow-y")} {
		if overflow != "" && overflow != "visible" && overflow != "inherit" {
			return true
		}
	}
	contain := style.Get("contain")
	return strings.Contains(contain, "paint") || strings.Contains(contain, "strict") ||
		strings.Contains(contain, "content")
}

// cutsOffIn is [cutsOff] for what is too high, or else too wide: where one side is clipped, the other need not be.
func cutsOffIn(style css.Values, high bool) bool {
	own, other := style.Get("overflow-x"), style.Get("overflow-y")
	if high {
		own, other = other, own
	}
	return other != "clip" || own != "" && own != "visible" && own != "inherit"
}

// collapsed returns the property by which a box that cuts off what is too large for it has no room for text, or "". Two
// pixels count as no room: visually hidden text has one, and no letter is seen in them.
func collapsed(style css.Values, em float64) string {
	if !cutsOff(style) {
		return ""
	}
	contain := style.Get("contain")
	sized := strings.Contains(contain, "strict") || strings.HasPrefix(contain, "size") ||
		strings.Contains(contain, " size")
	height := style.Get("height")
	if sized && (height == "" || height == "auto") && !roomBelow(style, em) && !room(style, em, "contain-intrinsic-height",
		"contain-intrinsic-block-size") && style.Get("contain-intrinsic-size") == "" {
		return "contain"
	}
	for _, name := range [...]string{"height", "max-height", "width", "max-width"} {
		value := style.Get(name)
		l, ok := css.ParseLength(value, em)
		high := strings.HasSuffix(name, "height")
		if !ok || l.Px > thinnest || l.Px < 0 || l.Share > 0 || high && strings.HasSuffix(value, "%") ||
			!cutsOffIn(style, high) {
			continue
		}
		if high && !roomBelow(style, em) || !high && !roomBeside(style, em) {
			return name
		}
	}
	return ""
}

// thinnest is the size in pixels of a box of which no text is seen.
const thinnest = 2

// roomBelow reports whether a box that is collapsed to no height shows text all the same. The padding over the text
// shows what is placed in the box.
func roomBelow(style css.Values, em float64) bool {
	return room(style, em, "min-height", "padding-bottom") || placed(style) && room(style, em, "padding-top")
}

// roomBeside reports whether a box that is collapsed to no width shows text all the same.
func roomBeside(style css.Values, em float64) bool {
	return room(style, em, "min-width", "padding-right") || placed(style) && room(style, em, "padding-left")
}

// room reports whether one of some properties makes room in a collapsed box. Lengths that are not known make room.
func room(style css.Values, em float64, names ...string) bool {
	for _, name := range names {
		if value := chars.FirstWord(style.Get(name)); value != "" {
			if l, ok := css.ParseLength(value, em); !ok && value != "auto" || l.Px > 1 || l.Share > 0 {
				return true
			}
		}
	}
	return false
}

// escaped reports whether something in the collapsed box n, which is not placed, is placed by a box round n: it is not
// cut off with the rest. The time for it counts with that for covers.
func (w *Cleaner) escaped(n *html.Node) bool {
	for c := range n.ChildNodes() {
		if w.covered++; w.covered > maxCovered {
			return false
		}
		if c.Type != html.ElementNode || neverText[c.DataAtom] {
			continue
		}
		style := w.sheet.StylesOf(c).Values
		if position := style.Get("position"); position == "absolute" || position == "fixed" {
			return true
		}
		if !placed(style) && w.escaped(c) {
			return true
		}
	}
	return false
}
