package hidden

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
)

// darkAlone reports whether a color-scheme has dark colours for every reader.
func darkAlone(scheme string) bool {
	words := strings.Fields(scheme)
	return slices.Contains(words, "dark") && !slices.Contains(words, "light")
}

// darkByMeta reports whether the head of a page says that its colours are dark ones.
func darkByMeta(root *html.Node) bool {
	meta := dom.Find(root, func(n *html.Node) bool {
		return dom.Is(n, atom.Meta) && strings.EqualFold(dom.Attr(n, "name"), "color-scheme")
	})
	return meta != nil && darkAlone(strings.ToLower(dom.Attr(meta, "content")))
}

// onCanvas gives the root of a page the colours that its scheme has, unless a style sheet elsewhere may set them.
func (l *look) onCanvas() {
	if !l.background.known {
		return
	}
	l.color, l.background = black, white
	if l.dark {
		canvas, known := css.ParseColour(css.DarkCanvas)
		l.color, l.background = white, ink{canvas, known}
	}
}

// recoloured reports whether a filter changes colours, so that they are not known. Text in it is not judged by its own.
func recoloured(filter string) bool {
	return strings.Contains(filter, "invert(") || strings.Contains(filter, "brightness(")
}

// ink is a colour, if it is known. The zero value is not known.
type ink struct {
	css.Colour
	known bool
}

// white and black are the colours of pages that do not say.
var white, black = ink{css.Colour{R: 1, G: 1, B: 1, A: 1}, true}, ink{css.Colour{A: 1}, true}

// inked is the function of that name in the scheme of colours of the look.
func (l *look) inked(value string, inherited, current ink) ink {
	if l.dark {
		value = css.InDark(value)
	}
	return inked(value, inherited, current)
}

// inked returns the colour that a style gives text, or what was inherited. Current is what currentcolor stands for. A
// colour that is not understood is not known.
func inked(value string, inherited, current ink) ink {
	switch value {
	case "", "inherit":
		return inherited
	case "currentcolor":
		return current
	}
	c, ok := css.ParseColour(value)
	return ink{c, ok}
}

// outlines reports whether a shadow or an outline of letters can be seen where the letters cannot. A shadow of the
// background's colour shows nothing.
func (w *Cleaner) outlines(style css.Values, l look) bool {
	if v := style.Get("-webkit-text-stroke"); v != "" && v != "0" && v != "0px" && v != "none" && v != "inherit" {
		return true
	}
	for _, c := range coloursIn(style.Get("text-shadow")) {
		if !c.known || !l.lost(c) {
			return true
		}
	}
	return false
}

// coloursIn returns the colours that a value names, an unknown one where it names none. An unknown one keeps the text
// from being judged.
func coloursIn(value string) (all []ink) {
	for part := range css.Parts(value) {
		if c, ok := css.ParseColour(part); ok {
			all = append(all, ink{c, true})
		}
	}
	if all == nil {
		all = []ink{{}}
	}
	return all
}

// backdrop sets, in the look, what lies behind n's text, and the colour of letters that are cut out of a background. A
// background of an unknown style sheet makes the colour behind unknown for elements with names. A transparent one lets
// through what is behind it.
func (w *Cleaner) backdrop(n *html.Node, l *look, style css.Values) {
	own, has := ink{}, false // of n's box
	switch image := style.Get("background-image"); {
	case strings.Contains(image, "("):
		own, has = gradient(image), true
	case style.Get("background-color") == "currentcolor":
		own, has = l.color, true
	case style.Get("background-color") != "" && style.Get("background-color") != "inherit":
		own, has = l.inked(style.Get("background-color"), ink{}, l.color), true
	case w.sheet.Unknown && (dom.HasAttr(n, "class") || dom.HasAttr(n, "id")):
		l.background = ink{} // a style sheet elsewhere may say
		return
	case dom.Is(n, atom.Mark):
		own, has = ink{css.Colour{R: 1, G: 1, A: 1}, true}, true
	}
	if !has {
		return
	}
	if own.known && own.A == 0 {
		return
	}
	painted := own
	if own.known && own.A < 1 {
		if painted.Colour = own.Over(l.background.Colour); !l.background.known {
			painted = ink{}
		}
	}
	if style.Get("background-clip") == "text" {
		if letters := l.letters(); !letters.known || letters.A < .05 {
			l.fill = painted
			l.outlined = l.outlined || !painted.known
		}
		return
	}
	if !l.wideless {
		l.background = painted
	}
}

// gradient returns the colour of a gradient that has only one. Another is not known: part of it may show the text.
func gradient(image string) ink {
	if strings.Contains(image, "url(") || !strings.Contains(image, "gradient(") {
		return ink{}
	}
	all := coloursIn(image)
	for _, c := range all {
		if !c.known || c.A != all[0].A || c.A > 0 && !css.Alike(c.Colour, all[0].Colour) {
			return ink{}
		}
	}
	return all[0]
}

// letters returns the colour of letters. -webkit-text-fill-color goes before color.
func (l *look) letters() ink {
	if l.fill.known {
		return l.fill
	}
	return l.color
}

// lost reports whether a known colour cannot be told from what lies behind. A transparent colour always is.
func (l *look) lost(c ink) bool {
	return c.A <= css.Faintest || l.background.known && css.Alike(c.Over(l.background.Colour), l.background.Colour)
}
