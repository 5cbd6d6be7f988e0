// Package hidden removes from a page what its reader does not see: text that attributes, inline styles or the page's
// own style sheets hide, invisible characters, comments, fallback content, and links that run scripts.
//
// Such text may carry instructions to a language model. The [Report] counts every removed piece by kind and shows the
// first of each kind. Not everything that styles hide is removed: text stays when a control of the page opens it, when
// it appears as the reader scrolls, or when it is the page itself, waiting for a script (waiting.go).
//
// Call [New] before the page is changed, and [Cleaner.Clean] after the rules that need hidden elements, such as
// footnotes that a click shows.
package hidden

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// Rules are the tables of this package, which count in the version of the rules.
var Rules = []any{
	neverText, fallbacks, foldNames, entrances, unsafeSchemes, mutedElements, endsWithBlock, endTagless, blockNames,
	ownNames, names, besideText,
}

// Cleaner removes hidden text from one page. It is made for one page, by [New], [NewPart] or [NewFinal], and must not
// be used by several goroutines at once.
type Cleaner struct {
	sheet      *css.Sheet
	reported   reporter
	total      int                     // bytes of text below the body, without scripts and the like
	apart      map[*html.Node]bool     // what Apart returns
	boxed      map[*html.Node]bool     // what Boxed returns
	controls   map[string]bool         // ids of what a control of the page opens: panels of tabs, folded sections
	roomless   *html.Node              // the last box without room, out of which something is placed elsewhere
	gone       []*html.Node            // elements to remove after the walk, because selectors refer to neighbours
	items      map[*html.Node]gridItem // of each grid, the item that was counted last
	covers     int                     // elements for which a box that covers others was looked for
	covered    int                     // nodes looked at below such boxes
	kept       bool                    // styles hide the page itself, until a script has run
	beside     bool                    // and show some text beside it
	page       *html.Node              // the last element that was found to be the page itself
	waiting    []waiting               // texts that are only seen when a script has run
	pageHidden string                  // how page is hidden
	part       bool                    // the page is a later part of a larger one
	final      bool                    // no script will change the page
	scripts    bool                    // the page has scripts, which may hide and show
}

// New returns a Cleaner for the page below root. It reads the style sheets and changes nothing. Call it while shadow
// roots still are templates and elements have their classes.
func New(root *html.Node) *Cleaner {
	return &Cleaner{
		sheet: css.Read(root), apart: map[*html.Node]bool{}, boxed: map[*html.Node]bool{}, controls: map[string]bool{},
	}
}

// NewPart returns a Cleaner for a later part of a page. The report of its first part says whether styles hide the page
// itself: a later part may hold nothing else than what is hidden. first must be that of the first part, after its
// [Cleaner.Clean].
func NewPart(root *html.Node, first Report) *Cleaner {
	w := New(root)
	w.part, w.kept, w.beside = true, first.PageShown, first.Beside
	return w
}

// NewFinal returns a Cleaner for a page that was composed of a document: no script will show what is hidden in it.
// Documents in archives, and drawings, become such pages.
func NewFinal(root *html.Node) *Cleaner {
	w := New(root)
	w.final = true
	return w
}

// Clean removes below body what a reader of the page does not see, and what is not text at all: scripts, inputs,
// comments, invisible characters. It first measures the page and notes what its controls open, then walks over it with
// the look that each element gives its text, removes what is hidden after the walk, and at last decides about text that
// only a script shows. It panics, by guard.Check, when ctx ends.
func (w *Cleaner) Clean(ctx context.Context, body *html.Node) {
	for d := range body.Descendants() {
		guard.Check(ctx)
		if d.Type == html.TextNode {
			if !neverText[d.Parent.DataAtom] {
				w.total += len(d.Data)
			}
			continue
		}
		w.scripts = w.scripts || runs(d)
		w.control(d)
	}
	if head := body.PrevSibling; head != nil {
		for d := range head.Descendants() {
			w.scripts = w.scripts || runs(d)
		}
	}
	placeStreamed(body)
	l := w.plain()
	if root := body.Parent; root != nil && root.Type == html.ElementNode {
		if l.dark = darkByMeta(root); l.dark {
			l.onCanvas()
		}
		l = w.outermost(root, l)
	}
	l = w.outermost(body, l)
	if l.unseen() != "" && w.mayWait() {
		shown := w.plain()
		l.shown, w.kept = &shown, true // the page itself waits for a script
	}
	l.judge()
	w.walk(ctx, body, l)
	if l.piece != nil {
		w.reported.add(l.hidden, l.piece.String(), body)
	}
	for _, n := range w.gone {
		dom.Remove(n)
	}
	w.settle(body)
	w.reported.Hidden += unsaid(w.reported.telling, body)
}

// runs reports whether n is a script that a browser runs, and not data.
func runs(n *html.Node) bool {
	if !dom.Is(n, atom.Script) {
		return false
	}
	kind := dom.Attr(n, "type")
	return kind == "" || kind == "module" || strings.Contains(kind, "javascript")
}

// walk looks at the children of n, whose text has the look l. Elements that go are gathered in w.gone, since selectors
// of later ones refer to their neighbours; comments and texts go at once.
func (w *Cleaner) walk(ctx context.Context, n *html.Node, l look) {
	guard.Check(ctx)
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type == html.CommentNode || c.Type == html.DoctypeNode:
			w.reported.add("comment", c.Data, n)
			n.RemoveChild(c)
		case c.Type == html.TextNode:
			w.text(c, l)
		case c.Type != html.ElementNode:
		case neverText[c.DataAtom] && !w.showsDialog(c) || c.Namespace == "svg":
			if dom.Is(c, atom.Button) && keepLabel(c) {
				w.element(ctx, c, l) // the button may be hidden itself
				break
			}
			if kind := fallbacks[c.DataAtom]; kind != "" {
				w.reported.addNode(kind, c)
			}
			w.gone = append(w.gone, c)
		case glyph(c):
			w.gone = append(w.gone, c)
		case unshown(c):
			w.reported.addNode("display", c)
			w.gone = append(w.gone, c)
		default:
			w.element(ctx, c, l)
		}
		c = next
	}
}

// text removes the characters of a text that nobody sees, or all of it when its look hides it. Text of the page itself
// that waits for a script is noted for settle.
func (w *Cleaner) text(n *html.Node, l look) {
	if l.hidden != "" {
		l.piece.WriteString(n.Data)
		n.Parent.RemoveChild(n)
		return
	}
	if kind := cmp.Or(l.inside, l.waits); kind != "" && !chars.Blank(n.Data) {
		w.waiting = append(w.waiting, waiting{n, kind})
	}
	clean, smuggled := chars.Visible(n.Data)
	if smuggled {
		w.reported.addSmuggled(n.Data)
	}
	n.Data = clean
}

// element looks at one element: it goes with all in it, or what is in it is looked at with the look that its styles
// give. outer is the look of what is around it.
func (w *Cleaner) element(ctx context.Context, n *html.Node, outer look) {
	style := w.sheet.StylesOf(n)
	if kind := w.hides(n, style, outer); kind != "" {
		w.reported.addNode(kind, n)
		w.gone = append(w.gone, n)
		return
	}
	w.setApart(n, style.Values)
	l := w.paint(n, outer, style)
	if w.page == n {
		w.await(n, &l, outer, style)
	}
	if w.roomless == n {
		l.roomless, l.held = true, false
	}
	l.judge()
	switch n.DataAtom {
	case atom.A:
		w.scriptLink(n)
	case atom.Img:
		w.image(n, l)
	case atom.Dialog:
		dom.Rename(n, atom.Div)
	}
	w.walk(ctx, n, l)
	if l.piece != nil && l.piece != outer.piece {
		w.reported.add(l.hidden, l.piece.String(), n)
	}
	if covers(n, style.Values) {
		w.cover(n)
	}
}

// scriptLink takes the address from a link that runs a script or holds data; its text stays. White space and invisible
// characters in the scheme do not keep browsers from running it, and so are passed over.
func (w *Cleaner) scriptLink(n *html.Node) {
	href := strings.ToLower(strings.Map(func(r rune) rune {
		if r <= ' ' || chars.Invisible(r) {
			return -1
		}
		return r
	}, dom.Attr(n, "href")[:min(len(dom.Attr(n, "href")), 200)]))
	for _, scheme := range unsafeSchemes {
		if code, ok := strings.CutPrefix(href, scheme+":"); ok {
			if !noScript[strings.TrimRight(code, ";")] {
				w.reported.add("script-link", dom.Attr(n, "href"), n)
			}
			dom.DropAttr(n, "href")
		}
	}
}

// noScript are scripts that do nothing: the link is a button. They are not reported.
var noScript = map[string]bool{"": true, "void(0)": true, "void0": true, "//": true, "returnfalse": true, "void": true}

// image takes out an image that is not seen, and the words about the site that some hide in its alternative text.
// agentNote finds such words: they address agents, not readers who cannot see the image.
func (w *Cleaner) image(n *html.Node, l look) {
	alt := dom.Attr(n, "alt")
	if l.hidden == "visibility" {
		w.reported.add(l.hidden, alt, n)
		dom.SetAttr(n, "alt", "")
		dom.SetAttr(n, "width", "0")
		return
	}
	if agentNote(alt) {
		w.reported.add("alt", alt, n)
		dom.SetAttr(n, "alt", "")
	}
}

// neverText holds the elements whose content is not the page's text. Buttons and dialogs among them have exceptions:
// keepLabel, showsDialog.
var neverText = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Iframe: true, atom.Svg: true,
	atom.Button: true, atom.Input: true,
	atom.Select: true, atom.Datalist: true, atom.Textarea: true, atom.Object: true, atom.Embed: true, atom.Canvas: true,
	atom.Dialog: true, atom.Link: true, atom.Meta: true,
	atom.Base: true, atom.Title: true, atom.Noembed: true, atom.Noframes: true, atom.Audio: true, atom.Video: true,
	atom.Map: true, atom.Progress: true, atom.Meter: true,
}

// fallbacks are those of neverText that hold text for readers of other pages than this one: it is shown in the
// report.
var fallbacks = map[atom.Atom]string{
	atom.Template: "template", atom.Textarea: "textarea", atom.Select: "select", atom.Object: "object",
	atom.Canvas: "canvas", atom.Dialog: "dialog", atom.Svg: "svg", atom.Noframes: "noframes",
	atom.Noembed: "noembed", atom.Audio: "audio", atom.Video: "video", atom.Datalist: "datalist",
}

// glyph reports whether n is the name of a picture that a font shows in its place: "close", "arrow_drop_down" (Material
// Icons and Symbols). Without the font it would read as a word.
func glyph(n *html.Node) bool {
	name := n.FirstChild
	if name == nil || name.NextSibling != nil || name.Type != html.TextNode || len(name.Data) > 80 {
		return false
	}
	for token, rest := dom.CutWord(dom.Attr(n, "class")); token != ""; token, rest = dom.CutWord(rest) {
		if strings.HasPrefix(token, "material-icons") || strings.HasPrefix(token, "material-symbols") {
			return strings.Trim(strings.TrimSpace(name.Data), "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
		}
	}
	return false
}

// openDialog reports whether n is a dialog that the page shows.
func openDialog(n *html.Node) bool { return dom.Is(n, atom.Dialog) && dom.HasAttr(n, "open") }

// showsDialog reports whether n is a dialog that is seen: it is open, or a style displays it all the same.
func (w *Cleaner) showsDialog(n *html.Node) bool {
	if !dom.Is(n, atom.Dialog) || openDialog(n) {
		return openDialog(n)
	}
	display := w.sheet.StylesOf(n).Values.Get("display")
	return display != "" && display != "none" && display != "inherit"
}

// foundAnyway reports whether a style shows what is hidden until it is found.
func foundAnyway(n *html.Node, style css.Values) bool {
	v := style.Get("content-visibility")
	return strings.EqualFold(dom.Attr(n, "hidden"), "until-found") && (v == "visible" || v == "auto")
}

// unshown reports whether browsers show nothing of n, whatever its style: the sources of a formula, and what stands in
// for ruby text elsewhere. Parentheses round ruby text stay, because they keep it apart.
func unshown(n *html.Node) bool {
	switch {
	case dom.Is(n, atom.Rp):
		text := chars.OneLine(dom.Text(n))
		return len([]rune(text)) > 2 || strings.ContainsFunc(text, func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r)
		})
	case n.Data == "fencedframe", n.Data == "geolocation": // they show something else than what is in them
		return true
	case n.Namespace == "math":
		return n.Data == "annotation" || n.Data == "annotation-xml" || n.Data == "mphantom"
	}
	return false
}

// hides returns the kind of hiding by which n and all in it is kept from readers, or "". A visibility that is to change
// is taken out of style. outer is the look of what is around n. It does not judge what the text inherits, such as its
// colour: an element in n may have another. An element that some kind of window shows is not hidden.
func (w *Cleaner) hides(n *html.Node, style css.Styles, outer look) string {
	switch display := style.Values.Get("display"); {
	case dom.HasAttr(n, "hidden") && display == "" && !foundAnyway(n, style.Values):
		return w.unlessShown("hidden", n)
	case dom.HasAttr(n, "popover") && display == "" && !openDialog(n):
		return w.unlessShown("popover", n)
	case strings.EqualFold(dom.Attr(n, "aria-hidden"), "true") &&
		!dom.Is(n, atom.Span, atom.Ins, atom.Del, atom.Math, atom.Img, atom.A):
		return w.unlessShown("aria-hidden", n)
	case style.Values == nil && style.Windows == nil:
		return ""
	}
	if unseenBy(style.Values) && (seenSomewhere(style) || w.appears(n, style, "visibility", "visibility")) &&
		w.page != n { // which appears finds out
		style.Values.Drop("visibility")
	}
	if style.Values.Get("content-visibility") == "hidden" && style.Values.Get("display") == "" && !dom.IsBlock(n) {
		style.Values.Drop("content-visibility") // it is about boxes
	}
	em := fontSize(style.Values, outer.size)
	kind, property := hiddenByStyle(style.Values, em)
	if kind == "" && outer.covered && below(style.Values) || w.under(n, style.Values) {
		kind, property = "covered", ""
	}
	if kind == "" && cutsOff(style.Values) && (outer.flat && !roomBelow(style.Values, em) ||
		(outer.wideless && !widens(style.Values) || w.narrow(n, style.Values, outer)) && !roomBeside(style.Values, em)) {
		kind, property = "size", "height"
	}
	if kind == "" {
		return ""
	}
	// Text that one kind of window shows has a reader, unless something else covers it.
	seen := slices.ContainsFunc(style.Windows, func(values css.Values) bool {
		other, _ := hiddenByStyle(values, em)
		return other == "" && kind != "covered"
	})
	if seen || property != "" && w.appears(n, style, kind, property) {
		style.Values.Drop("opacity")
		return ""
	}
	if kind == "size" && !placed(style.Values) && w.escaped(n) {
		w.roomless = n
		return ""
	}
	return kind
}

// seenSomewhere reports whether an element is visible in some kinds of windows. Values are those of the laptop; the
// others may differ.
func seenSomewhere(style css.Styles) bool {
	for _, values := range style.Windows {
		if values.Get("visibility") == "visible" {
			return true
		}
	}
	return false
}

// unseenBy reports whether the visibility of a style hides its element. A child may be visible all the same, unlike
// with display.
func unseenBy(style css.Values) bool {
	v := style.Get("visibility")
	return v == "hidden" || v == "collapse"
}

// unlessShown returns kind, or "" for what a control opens and for the page itself. For the page itself it notes n in
// w.page, for element to go on.
func (w *Cleaner) unlessShown(kind string, n *html.Node) string {
	if w.opened(n) {
		return ""
	}
	if w.isPage(n) {
		w.page, w.pageHidden = n, kind
		return ""
	}
	return kind
}

// appears reports whether n, hidden by a property in a way of this kind, is there to be seen: in another state, when
// the reader comes to it or opens it, or because it is the page itself. It asks for names of animations, for rules with
// more names, and for controls.
func (w *Cleaner) appears(n *html.Node, style css.Styles, kind, property string) bool {
	switch property {
	case "entrance":
		return true
	case "opacity", "visibility":
		if entrance(n) || w.sheet.Animated(style.Values.Get("animation-name")) {
			return true
		}
	}
	return w.sheet.Toggled(n, style, property) || w.unlessShown(kind, n) == ""
}
