package hidden

import (
	"math"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/convert/chars"
	"readthru/convert/css"
	"readthru/convert/dom"
)

// ByStyle reports whether a style attribute hides its element.
func ByStyle(style string) bool {
	set := css.Declarations(style)
	kind, _ := hiddenByStyle(set)
	return kind != "" || set["visibility"] == "hidden" || set["color"] == "transparent"
}

// hiddenByStyle returns the kind of hiding by which an element and all in it is not seen, whatever styles they have, or
// "". The property is the one that a script would change to show it; empty for kinds that nobody hides text with that
// is to appear.
func hiddenByStyle(style map[string]string) (kind, property string) {
	if len(style) == 0 {
		return "", ""
	}
	if style["display"] == "none" {
		return "display", "display"
	}
	if style["content-visibility"] == "hidden" {
		return "display", ""
	}
	// A moved element that is transparent waits for its entrance: it is content.
	moved := style["transform"] != "" || style["transition"] != "" || style["will-change"] != "" ||
		style["animation"] != "" || style["animation-name"] != ""
	if n, _, ok := css.Number(style["opacity"]); ok && n <= .05 && !moved {
		return "opacity", "opacity"
	}
	if arg, ok := strings.CutPrefix(style["filter"], "opacity("); ok {
		if n, _, ok := css.Number(arg); ok && n <= .05 {
			return "opacity", ""
		}
	}
	if offScreen(style) {
		return "off-screen", ""
	}
	if clipped(style) {
		return "clipped", ""
	}
	if property := collapsed(style); property != "" {
		return "size", property
	}
	return "", ""
}

// paint returns the look of n's own text: what it inherits and what its style says.
func (w *Cleaner) paint(n *html.Node, l look, s css.Styles) look {
	style := s.Sure
	if v := style["visibility"]; v != "" && v != "inherit" {
		l.visibility = v
	}
	if size, ok := fontSize(style, l.size); ok {
		l.size = size
	}
	if style["color"] != "" {
		l.color = inherited(style["color"], l.color)
	} else if dom.Is(n, atom.A) && dom.HasAttr(n, "href") {
		l.color = ""
	}
	if v := style["-webkit-text-fill-color"]; v != "" {
		l.color = inherited(v, l.color)
	}
	if clip := style["background-clip"] + style["-webkit-background-clip"]; strings.Contains(clip, "text") ||
		style["text-shadow"] != "" && style["text-shadow"] != "none" {
		l.color = ""
	}
	switch background := style["background-color"]; {
	case strings.Contains(style["background-image"], "("):
		l.background = ""
	case background != "" && style["background"] == "":
		l.background = css.Backdrop(background, l.background)
	case style["background"] != "":
		l.background = css.Backdrop(style["background"], l.background)
	case w.sheet.Unknown && len(n.Attr) > 0 && (dom.HasAttr(n, "class") || dom.HasAttr(n, "id")):
		l.background = "" // a style sheet elsewhere may say
	case dom.Is(n, atom.Mark):
		l.background = "ffff00"
	}
	return l
}

// unseen returns the kind of hiding of text with this look, or "".
func (l look) unseen() string {
	switch {
	case l.visibility == "hidden" || l.visibility == "collapse":
		return "visibility"
	case l.size < smallestFont:
		return "size"
	case l.color == "transparent", l.color != "" && css.Alike(l.color, l.background):
		return "colour"
	}
	return ""
}

// smallestFont is the size, in pixels, under which text cannot be read. Pages of flowing boxes set 0 and give their
// children a size of their own.
const smallestFont = 3

// fontSize returns the font size that a style sets, in pixels, where parent is that of the element's parent.
func fontSize(style map[string]string, parent float64) (float64, bool) {
	size := style["font-size"]
	if font := style["font"]; size == "" && font != "" {
		for part := range strings.FieldsSeq(font) {
			part, _, _ = strings.Cut(part, "/") // size/line-height
			if _, unit, ok := css.Number(part); ok && unit != "" {
				size = part
			}
		}
	}
	switch size {
	case "":
		return 0, false
	case "inherit", "unset":
		return parent, true
	case "smaller":
		return parent * .83, true
	case "larger":
		return parent * 1.2, true
	}
	n, unit, ok := css.Number(size)
	if !ok {
		return 16, true // medium, calc(…) and the like
	}
	switch unit {
	case "px", "":
		return n, true
	case "pt":
		return n * 4 / 3, true
	case "em":
		return n * parent, true
	case "%":
		return n * parent / 100, true
	case "rem":
		return n * 16, true
	case "vw", "vh":
		return n * 8, true
	}
	return 16, true
}

// inherited returns a colour as colour does, or the parent's for the words that say so.
func inherited(value, parent string) string {
	switch value {
	case "inherit", "currentcolor", "unset":
		return parent
	}
	return css.Colour(value)
}

// offScreen reports an element moved out of every window.
func offScreen(style map[string]string) bool {
	switch style["position"] {
	case "absolute", "fixed", "relative":
		if far(style["left"]) || far(style["top"]) || far(style["right"]) || far(style["bottom"]) ||
			far(chars.FirstWord(style["inset"])) {
			return true
		}
	}
	if far(style["text-indent"]) || far(style["margin-left"]) || far(style["margin-top"]) {
		return true
	}
	for part := range strings.FieldsSeq(style["margin"]) {
		if far(part) {
			return true
		}
	}
	for part := range strings.FieldsSeq(style["translate"]) {
		if far(part) {
			return true
		}
	}
	transform := style["transform"]
	for {
		i := strings.Index(transform, "translate")
		if i < 0 {
			break
		}
		args, rest, _ := strings.Cut(transform[i+len("translate"):], ")")
		for part := range strings.FieldsFuncSeq(args, func(r rune) bool { return strings.ContainsRune("xyz3d(, ", r) }) {
			if far(part) {
				return true
			}
		}
		transform = rest
	}
	for _, scaled := range []string{strings.TrimPrefix(style["transform"], "scale("), style["scale"]} {
		if n, _, ok := css.Number(scaled); ok && scaled != style["transform"] && math.Abs(n) <= .05 {
			return true
		}
	}
	return false
}

// far reports a length that leads out of every window.
func far(value string) bool {
	if value == "" {
		return false
	}
	value = strings.TrimLeft(strings.TrimPrefix(value, "calc("), " (")
	n, unit, ok := css.Number(value)
	if !ok {
		return false
	}
	switch strings.TrimRight(unit, " )") {
	case "em", "rem", "vw", "vh", "%":
		return n <= -90 && unit != "%" || n <= -150 || n >= 900
	}
	return n <= -900 || n >= 9000
}

// clipped reports an element of which nothing is left to see.
func clipped(style map[string]string) bool {
	shape, args, _ := strings.Cut(strings.TrimSuffix(style["clip-path"], ")"), "(")
	switch n, unit, ok := css.Number(chars.FirstWord(args)); {
	case shape == "inset" && ok && unit == "%" && n >= 50, (shape == "circle" || shape == "ellipse") && ok && n == 0:
		return true
	case shape == "polygon" && args != "" && onePoint(args):
		return true
	}
	if rect, ok := strings.CutPrefix(style["clip"], "rect("); ok {
		for part := range strings.FieldsFuncSeq(rect, func(r rune) bool { return r == ',' || r == ' ' || r == ')' }) {
			if n, _, ok := css.Number(part); !ok || n > 1 {
				return false
			}
		}
		return true
	}
	return false
}

// onePoint reports whether all points of a polygon are one.
func onePoint(args string) bool {
	first, rest, _ := strings.Cut(args, ",")
	for point := range strings.SplitSeq(rest, ",") {
		if chars.OneLine(point) != chars.OneLine(first) {
			return false
		}
	}
	return true
}

// collapsed returns the property by which a box that cuts off what is too large for it has no room for text, or "".
func collapsed(style map[string]string) string {
	overflow := style["overflow"] + style["overflow-x"] + style["overflow-y"]
	if !strings.Contains(overflow, "hidden") && !strings.Contains(overflow, "clip") {
		return ""
	}
	for _, name := range []string{"padding", "padding-top", "padding-bottom", "min-height"} {
		if n, _, ok := css.Number(chars.FirstWord(style[name])); style[name] != "" && (!ok || n != 0) {
			return "" // room by other means
		}
	}
	for _, name := range []string{"height", "max-height", "width", "max-width"} {
		if n, _, ok := css.Number(style[name]); ok && n <= 1 && n >= 0 {
			return name
		}
	}
	return ""
}
