package hidden

import (
	"strings"

	"github.com/readthru/readthru/convert/css"
)

// ByStyle reports whether a style attribute hides its element. It is for places where no style sheet is read: signs of
// a paywall, and the text of a page that is not parsed.
func ByStyle(style string) bool {
	set := css.Declarations(style)
	kind, _ := hiddenByStyle(set, 16)
	return kind != "" || set.Get("visibility") == "hidden" || set.Get("color") == "transparent"
}

// hiddenByStyle returns the kind of hiding by which an element's box and all in it is not seen, whatever styles they
// have, or "". The property is the one that a script would change to show it; empty for kinds that pages do not use for
// text that appears later. The font of the element has em pixels. Each kind is a word of the report. It judges the
// element's own values alone; what it inherits is judged by [look.unseen].
func hiddenByStyle(style css.Values, em float64) (kind, property string) {
	if len(style) == 0 {
		return "", ""
	}
	switch display := style.Get("display"); {
	case display == "none":
		return "display", "display"
	case display == "contents": // it has no box
		return "", ""
	case strings.HasPrefix(display, "table-column"), strings.HasPrefix(style.Get("content"), "url("),
		style.Get("content-visibility") == "hidden" && display != "inline":
		return "display", ""
	}
	// A moved element that is transparent waits for its entrance: it is content.
	moved := style.Get("transform") != "" || style.Get("transition") != "" || style.Get("will-change") != ""
	if n, ok := css.Fraction(style.Get("opacity")); ok && n <= css.Faintest {
		if moved {
			return "opacity", "entrance"
		}
		return "opacity", "opacity"
	}
	switch {
	case filtered(style.Get("filter"), em), masked(style):
		return "opacity", ""
	case offScreen(style, em):
		return "off-screen", ""
	case clipped(style, em):
		return "clipped", ""
	}
	if property := collapsed(style, em); property != "" {
		return "size", property
	}
	return "", ""
}

// filtered reports whether a style's filter leaves nothing of an element that can be read. Of brightness, contrast and
// the like text mostly stays readable.
func filtered(filter string, em float64) bool {
	for f := range css.Words(filter) {
		name, argument, _ := strings.Cut(strings.TrimSuffix(f, ")"), "(")
		switch name {
		case "opacity":
			if n, ok := css.Fraction(argument); ok && n <= css.Faintest {
				return true
			}
		case "blur":
			if l, ok := css.ParseLength(argument, em); ok && l.Px >= blurred {
				return true
			}
		}
	}
	return false
}

// blurred is the radius in pixels from which on blurred text is a grey bar. It is the usual size of text.
const blurred = 16

// masked reports whether a style's mask lets nothing of an element through. That is a mask of no size, of one
// transparent colour, or of black where its luminance counts.
func masked(style css.Values) bool {
	mask := style.Get("mask-image")
	if size := style.Get("mask-size"); mask != "" && mask != "none" && size != "" {
		for part := range css.Words(size) {
			if l, ok := css.ParseLength(part, 16); ok && l.Px <= 0 && l.Share <= 0 {
				return true
			}
		}
	}
	c := ink{}
	if strings.Contains(mask, "gradient(") {
		c = gradient(mask)
	}
	return c.known && c.A <= css.Faintest
}
