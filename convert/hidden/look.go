package hidden

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
)

// look is how text in an element is shown: what it inherits, and what the elements round it do to it. It is handed down
// the page by value; each element changes its own copy.
type look struct {
	size       float64 // of the font, in pixels
	sized      bool    // the size is a length that depends on no font
	scale      float64 // by zoom and transforms
	opacity    float64 // of the elements round it, together
	line       float64 // the height of a line in pixels; negative for normal
	spacing    float64 // between letters, in pixels
	indent     css.Length
	oneLine    bool   // lines do not wrap
	cut        bool   // it lies in a box that cuts off what is too large for it
	masked     bool   // each letter is shown as a dot
	visibility string // "" for visible
	color      ink
	fill       ink // what glyphs are filled with, if not the colour
	outlined   bool
	background ink      // what lies behind
	dark       bool     // colours are those of a dark scheme
	covered    bool     // a box round it paints over what lies below the page's plane
	flat       bool     // its rows have no height but what its children insist on
	columns    []string // of its grid
	flexible   bool     // its children stand in a row, as wide as they say
	roomless   bool     // a box round it has no room for it
	wideless   bool     // its box has no width, which what is too wide for it leaves
	held       bool     // and something in that box places what is placed

	hidden string           // the kind of hiding when text with this look is not seen, else ""
	piece  *strings.Builder // where such text goes

	shown  *look  // of a page that waits for a script, when that has run; nil for the same
	waits  string // the kind of hiding of text that only shown lets be seen
	inside string // the kind of hiding of the page itself, if it lies in that
}

// judge decides whether text with the look is seen. It is called once an element's styles are in the look. A new way of
// hiding begins a new piece; the same goes on with the piece around it, so that a report has a hidden paragraph in one
// piece.
func (l *look) judge() {
	kind := l.unseen()
	l.waits = ""
	if kind != "" && l.shown != nil && l.shown.unseen() == "" {
		l.waits, kind = kind, ""
	}
	if kind == l.hidden {
		return
	}
	l.hidden, l.piece = kind, nil
	if kind != "" {
		l.piece = &strings.Builder{}
	}
}

// plain is the look of a page without styles. Colours are unknown when a style sheet elsewhere may set them. A page
// without a style says black on white.
func (w *Cleaner) plain() look {
	l := look{size: 16, scale: 1, opacity: 1, line: -1}
	if !w.sheet.Unknown {
		l.color, l.background = black, white
	}
	return l
}

// paint returns the look of n's own text: what it inherits and what its style says, also once a script has shown the
// page. outer is the look of what is around n.
func (w *Cleaner) paint(n *html.Node, outer look, s css.Styles) look {
	l := w.painted(n, outer, s)
	if l.shown != nil {
		shown := w.painted(n, *l.shown, s)
		l.shown = &shown
	}
	return l
}

// painted returns the look of n's own text, where l is that of what is around it. Inherited properties stay unless n's
// styles set them; sizes, grids and backgrounds are n's own.
func (w *Cleaner) painted(n *html.Node, l look, s css.Styles) look {
	style := s.Values
	narrowed := w.fixedNarrow(n, l)
	l.wideless = narrowed || l.wideless && !widens(style)
	l.flat, l.columns, l.flexible = false, nil, false
	if position := style.Get("position"); position == "fixed" || position == "absolute" && !l.held {
		l.roomless = false
	}
	l.held = l.held || placed(style)
	if scheme := style.Get("color-scheme"); scheme != "" && scheme != "inherit" {
		l.dark = darkAlone(scheme)
		if dom.Is(n, atom.Html) {
			l.onCanvas()
		}
	}
	switch display := style.Get("display"); {
	case strings.HasSuffix(display, "grid"):
		l.flat = noTrack(style.Get("grid-template-rows")) && !w.sheet.Toggled(n, s, "grid-template-rows")
		if columns := style.Get("grid-template-columns"); columns != "" && !strings.Contains(columns, "repeat") {
			l.columns = slices.Collect(css.Words(columns))
		}
	case strings.HasSuffix(display, "flex"):
		l.flexible = !strings.HasPrefix(style.Get("flex-direction"), "column")
	}
	if style == nil {
		w.plainly(n, &l)
		return l
	}
	switch v := style.Get("visibility"); v {
	case "", "inherit":
	default:
		l.visibility = v
	}
	l.size = fontSize(style, l.size)
	if size := style.Get("font-size"); size != "" && size != "inherit" {
		_, unit, number := css.Number(size)
		l.sized = number && units[unit] || l.sized && number || css.Math(size)
	}
	if l.size > 0 && !l.sized {
		l.size = max(l.size, smallestRelative)
	}
	l.scale *= zoom(style)
	l.spaced(style)
	if style.Get("display") != "contents" { // which has no box
		if n, ok := css.Fraction(style.Get("opacity")); ok {
			l.opacity *= min(1, max(0, n))
		}
		l.cut = l.cut || cutsOff(style)
	}
	if v := style.Get("-webkit-text-security"); v != "" && v != "inherit" {
		l.masked = v != "none"
	}
	if dom.Is(n, atom.A) && dom.HasAttr(n, "href") && style.Get("color") == "" {
		l.color = ink{} // a link
	}
	l.color = l.inked(style.Get("color"), l.color, l.color)
	l.fill = l.inked(style.Get("-webkit-text-fill-color"), l.fill, ink{})
	if !dom.Is(n, atom.Html, atom.Body) && recoloured(style.Get("filter")) {
		l.color, l.fill, l.background = ink{}, ink{}, ink{}
	}
	switch v := style.Get("text-shadow") + style.Get("-webkit-text-stroke"); {
	case v == "", v == "inherit":
	case style.Get("text-shadow") == "none" && style.Get("-webkit-text-stroke") == "":
		l.outlined = false
	default:
		l.outlined = w.outlines(style, l)
	}
	w.backdrop(n, &l, style)
	l.stacked(n, style)
	return l
}

// plainly sets the look of an element without a style of its own. Browsers give a marked text a yellow background, and
// links a colour that the page does not state.
func (w *Cleaner) plainly(n *html.Node, l *look) {
	switch {
	case n.DataAtom == atom.A && dom.HasAttr(n, "href"):
		l.color = ink{}
	case n.DataAtom == atom.Mark:
		l.background = ink{css.Colour{R: 1, G: 1, A: 1}, true}
		return
	}
	if w.sheet.Unknown && l.background.known && (dom.HasAttr(n, "class") || dom.HasAttr(n, "id")) {
		l.background = ink{} // a style sheet elsewhere may say
	}
}

// spaced sets how lines and letters stand. A line height without a unit is a multiple of the font's size.
func (l *look) spaced(style css.Values) {
	if v := style.Get("line-height"); v == "normal" {
		l.line = -1
	} else if h, ok := css.ParseLength(v, l.size); ok {
		if l.line = h.Px + h.Share*l.size; h.Bare {
			l.line = h.Px * l.size
		}
	}
	if v := style.Get("letter-spacing"); v == "normal" {
		l.spacing = 0
	} else if s, ok := css.ParseLength(v, l.size); ok {
		l.spacing = s.Px + s.Share*l.size
	}
	if indent, ok := css.ParseLength(style.Get("text-indent"), l.size); ok {
		l.indent = indent
	}
	switch style.Get("white-space") {
	case "":
	case "nowrap", "pre":
		l.oneLine = true
	default:
		l.oneLine = false
	}
}

// smallestRelative is the size, in pixels, under which Chromium and Safari draw no text whose size depends on that of
// the text round it alone, up to the page's own.
const smallestRelative = 6

// units are those of lengths that depend on no font.
var units = map[string]bool{"px": true, "pt": true, "pc": true, "in": true, "cm": true, "mm": true, "q": true}

// smallestFont is the size, in pixels, under which text cannot be read. Pages of flowing boxes set 0 and give their
// children a size of their own. Sizes are multiplied with the scale of transforms first.
const smallestFont = 3

// unseen returns the kind of hiding of text with this look, or "". These are the ways of hiding by what text inherits:
// visibility, size, spacing, opacity, indent and colour.
func (l *look) unseen() string {
	switch {
	case l.visibility == "hidden" || l.visibility == "collapse":
		return "visibility"
	case l.roomless, l.size*l.scale < smallestFont, l.cut && l.line >= 0 && l.line <= 1, l.masked,
		l.spacing < 0 && l.spacing <= -.75*l.size:
		return "size"
	case l.opacity <= css.Faintest:
		return "opacity"
	case l.indent.Px <= -900 || l.indent.Px >= 9000 || l.indent.Share <= -1.5,
		l.indent.Share >= .99 && l.oneLine && l.cut, l.indent.Window && l.indent.Px > 1300, l.spacing > 300:
		return "off-screen"
	case l.outlined:
		return ""
	}
	if c := l.letters(); c.known && l.lost(c) {
		return "colour"
	}
	return ""
}

// fontSize returns, for a look, the font size that a style sets, in pixels, where parent is that of the element's
// parent. Keywords count as 16: none of them hides text.
func fontSize(style css.Values, parent float64) float64 {
	if n, ok := css.Fraction(style.Get("font-size-adjust")); ok && n == 0 {
		return 0
	}
	switch size := style.Get("font-size"); size {
	case "", "inherit":
		return parent
	case "smaller":
		return parent * .83
	case "larger":
		return parent * 1.2
	default:
		if l, ok := css.ParseLength(size, parent); ok {
			return l.Px + l.Share*parent
		}
	}
	return 16 // medium and the like
}

// zoom returns, for a look, by how much a style scales its element. Only what makes it smaller counts of transforms.
func zoom(style css.Values) float64 {
	scale := 1.0
	if n, ok := css.Fraction(style.Get("zoom")); ok && n > 0 {
		scale = n
	}
	if m, ok := transformed(style, 16); ok && style.Get("display") != "contents" {
		scale *= min(1, m.smallest())
	}
	return scale
}
