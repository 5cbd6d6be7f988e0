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

// tint is what a function of a filter does to colours.
type tint struct {
	name   string
	amount float64
}

// tintsOf returns the functions of a filter by which text may come to look like what lies behind it.
func tintsOf(filter string) (tints []tint) {
	for f := range css.Words(filter) {
		name, argument, _ := strings.Cut(strings.TrimSuffix(f, ")"), "(")
		if name != "invert" && name != "brightness" && name != "contrast" {
			continue
		}
		amount, ok := css.Fraction(argument)
		if !ok {
			amount = 1
		}
		tints = append(tints, tint{name, amount})
	}
	slices.Reverse(tints) // the last function is applied last
	return tints
}

// tinted returns how a colour looks through the outermost n of the filters round it.
func (l *look) tinted(c css.Colour, n int) css.Colour {
	for _, t := range slices.Backward(l.tints[:n]) {
		for _, part := range []*float64{&c.R, &c.G, &c.B} {
			switch t.name {
			case "invert":
				*part = *part*(1-2*min(t.amount, 1)) + min(t.amount, 1)
			case "brightness":
				*part *= t.amount
			case "contrast":
				*part = (*part-.5)*t.amount + .5
			}
			*part = min(1, max(0, *part))
		}
	}
	return c
}
