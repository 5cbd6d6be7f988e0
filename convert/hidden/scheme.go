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
