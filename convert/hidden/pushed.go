package hidden

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
)

// cutBelow notes how much of its height a box shows, in which what lies lower is cut off, and whether what is in it may
// have been moved.
func (l *look) cutBelow(style css.Values) {
	if len(style) == 0 {
		return
	}
	overflow := style.Get("overflow-y")
	height, ok := css.ParseLength(style.Get("height"), l.size)
	switch {
	case (overflow == "hidden" || overflow == "clip") && ok && height.Px > 0 && height.Share == 0 && !height.Window:
		l.below, l.belowHeld = height.Px, placed(style)
	case l.below > 0:
		for _, name := range [...]string{"transform", "translate", "top", "bottom", "margin-top", "offset-path"} {
			if style.Get(name) != "" {
				l.below = 0
			}
		}
		l.belowHeld = l.belowHeld || placed(style)
	}
}

// behindEye reports whether a transform brings its element nearer than the eye is, which then sees nothing of it.
func (l *look) behindEye(style css.Values, em float64) bool {
	eye := l.nearest
	_, argument, own := strings.Cut(style.Get("transform"), "perspective(")
	if own {
		argument, _, _ = strings.Cut(argument, ")")
		if at, ok := css.ParseLength(argument, em); ok {
			eye = at.Px
		}
	}
	if eye <= 0 {
		return false
	}
	m, ok := transformed(style, em)
	return ok && m.move[2].Px >= eye
}

// pushedOut reports whether a style moves its element below what the box round it shows.
func (l *look) pushedOut(style css.Values, em float64) bool {
	if l.below == 0 || len(style) == 0 || style.Get("transition") != "" || style.Get("will-change") != "" ||
		style.Get("animation-name") != "" && style.Get("animation-name") != "none" {
		return false
	}
	past := func(length css.Length) bool { return length.Share == 0 && !length.Window && length.Px >= l.below }
	if margin, ok := css.ParseLength(style.Get("margin-top"), em); ok && past(margin) {
		return true
	}
	switch position := style.Get("position"); {
	case position == "fixed", position == "absolute" && !l.belowHeld:
		return false
	case position == "relative", position == "absolute":
		if top, ok := css.ParseLength(style.Get("top"), em); ok && past(top) {
			return true
		}
	}
	m, ok := transformed(style, em)
	return ok && past(m.move[1])
}

// nothingThrough reports whether a style cuts n to a shape of the page that is empty.
func (w *Cleaner) nothingThrough(n *html.Node, style css.Values) bool {
	for _, value := range [...]string{style.Get("clip-path"), style.Get("mask-image")} {
		id, ok := strings.CutPrefix(value, "url(")
		if !ok {
			continue
		}
		if id, ok = strings.CutPrefix(strings.Trim(strings.TrimSuffix(id, ")"), `"' `), "#"); ok &&
			w.emptyShapes(n)[strings.ToLower(id)] {
			return true
		}
	}
	return false
}

// emptyShapes returns the ids of the clipping paths and masks, in the page of n, that let nothing through.
func (w *Cleaner) emptyShapes(n *html.Node) map[string]bool {
	if w.shapes != nil {
		return w.shapes
	}
	w.shapes = map[string]bool{}
	for n.Parent != nil {
		n = n.Parent
	}
	for d := range n.Descendants() {
		if d.Namespace == "svg" && (d.Data == "clipPath" || d.Data == "mask") && dom.HasAttr(d, "id") &&
			dom.Find(d, func(c *html.Node) bool { return c != d && c.Type == html.ElementNode }) == nil {
			w.shapes[strings.ToLower(dom.Attr(d, "id"))] = true
		}
	}
	return w.shapes
}
