package hidden

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
)

// The limits of looking for boxes that cover others. They bound what is otherwise the square of the page.
const (
	maxNeighbours = 20   // elements beside one
	maxCovers     = 1000 // elements of a page for which they are looked at, or boxes that cover some
	maxCovered    = 1 << 16
)

// under reports whether a style puts n below the page's plane, where an opaque box beside it covers it. It looks at the
// elements beside n, as many as maxNeighbours.
func (w *Cleaner) under(n *html.Node, style css.Values) bool {
	if position := style.Get("position"); !below(style) || position != "absolute" && position != "fixed" ||
		n.Parent == nil || w.covers >= maxCovers {
		return false
	}
	w.covers++
	count := 0
	for c := n.Parent.FirstChild; c != nil && count < maxNeighbours; c = c.NextSibling {
		if c.Type == html.ElementNode && c != n {
			if count++; opaque(w.sheet.StylesOf(c).Values) {
				return true
			}
		}
	}
	return false
}

// covers reports whether n is an opaque box as large as the box that it is placed in. It must be placed by all four
// edges, or by two and its size.
func covers(n *html.Node, style css.Values) bool {
	if style.Get("position") != "absolute" || !opaque(style) || below(style) || dom.Is(n.Parent, atom.Body) {
		return false
	}
	at := func(side string) bool {
		l, ok := css.ParseLength(style.Get(side), 16)
		return ok && l.Px <= 0 && l.Share <= 0
	}
	all := func(size string) bool {
		l, ok := css.ParseLength(style.Get(size), 16)
		return ok && l.Share >= .99
	}
	return at("top") && at("left") && (at("bottom") || all("height")) && (at("right") || all("width"))
}

// cover removes the text before n in the box that n is placed in. What may lie above n stays, as does a box that is
// most of the page: a script takes the cover away. It is called when all in the box has been looked at, up to n.
func (w *Cleaner) cover(n *html.Node) {
	if w.covers++; w.covers > maxCovers {
		return
	}
	box := n.Parent
	for !placed(w.sheet.StylesOf(box).Values) {
		if box = box.Parent; box == nil || box.Type != html.ElementNode || dom.Is(box, atom.Body) {
			return
		}
	}
	if w.isPage(box) {
		return
	}
	var below []*html.Node
	var walk func(e *html.Node) bool
	walk = func(e *html.Node) bool { // false once n has been reached
		for c := e.FirstChild; c != nil; c = c.NextSibling {
			if w.covered++; c == n || w.covered > maxCovered {
				return false
			}
			if c.Type == html.TextNode && !chars.Blank(c.Data) {
				below = append(below, c)
			}
			if c.Type == html.ElementNode && !neverText[c.DataAtom] {
				z, ok := css.ParseLength(depth(w.sheet.StylesOf(c).Values), 16)
				if !(ok && z.Px > 0) && !walk(c) {
					return false
				}
			}
		}
		return true
	}
	walk(box)
	for _, text := range below {
		w.reported.add("covered", text.Data, text.Parent)
		dom.Remove(text)
	}
}

// placed reports whether what lies in an element is placed by its edges: elements in it with position: absolute, such
// as those that cover it, refer to it.
func placed(style css.Values) bool {
	position := style.Get("position")
	return position != "" && position != "static" && position != "inherit" || style.Get("transform") != "" &&
		style.Get("transform") != "none"
}

// stacked notes whether n covers what lies below the page's plane. An opaque box with no stacking context of its own
// hides children with a negative z-index: they are painted below its background (CSS 2.2, appendix E).
func (l *look) stacked(n *html.Node, style css.Values) {
	if stacks(style) {
		l.covered = false
		return
	}
	if n.Parent != nil && n.Parent.Type == html.ElementNode && n.Data != "body" && opaque(style) {
		l.covered = true
	}
}

// opaque reports whether a style paints over, and so covers, what lies behind its element. A picture as background does
// not count: it may have holes.
func opaque(style css.Values) bool {
	c := inked(style.Get("background-color"), ink{}, ink{css.Colour{A: 1}, true})
	if image := style.Get("background-image"); strings.Contains(image, "gradient(") && !strings.Contains(image, "url(") {
		for _, c = range coloursIn(image) {
			if !c.known || c.A < .95 {
				break
			}
		}
	}
	return c.known && c.A >= .95 && style.Get("display") != "inline" && style.Get("background-clip") != "text"
}

// stacks reports whether an element keeps what lies below its plane above its own background, which does not cover it.
// That is a stacking context: positions with an order, transparency, transforms, filters and the like make one.
func stacks(style css.Values) bool {
	if len(style) == 0 {
		return false
	}
	position := style.Get("position")
	if position == "fixed" || position == "sticky" || position != "" && position != "static" && depth(style) != "" {
		return true
	}
	if n, ok := css.Fraction(style.Get("opacity")); ok && n < 1 {
		return true
	}
	for _, name := range [...]string{"transform", "translate", "scale", "rotate", "filter", "clip-path", "mask-image"} {
		if v := style.Get(name); v != "" && v != "none" {
			return true
		}
	}
	return style.Get("isolation") == "isolate" || style.Get("contain") != "" && style.Get("contain") != "none" ||
		style.Get("mix-blend-mode") != "" && style.Get("mix-blend-mode") != "normal"
}

// depth returns the z-index of a style, which says what covers what; "" for none.
func depth(style css.Values) string {
	if z := style.Get("z-index"); z != "auto" && z != "inherit" {
		return z
	}
	return ""
}

// below reports whether a style puts its element below the page's plane, where others may cover it.
func below(style css.Values) bool {
	z, ok := css.ParseLength(depth(style), 16)
	position := style.Get("position")
	return ok && z.Px < 0 && position != "" && position != "static"
}
