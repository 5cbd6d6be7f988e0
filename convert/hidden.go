package convert

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// firewall takes out of a page what its reader does not see: what attributes, inline styles and the page's own style sheets
// hide, characters that leave nothing on the screen, comments and fallbacks, links into scripts. Such text may carry orders to
// a language model. None of it goes in silence: every piece is counted by kind and shown in the receipts.
type firewall struct {
	ctx      context.Context
	sheet    *sheet
	receipts receipts
	total    int             // bytes of text below the body
	controls map[string]bool // ids of what a control of the page opens: panels of tabs, folded sections
	gone     []*html.Node    // elements to take out, when all have been looked at: styles speak of neighbours
	kept     bool            // styles hide the page itself, until a script has run
}

func newFirewall(ctx context.Context, root *html.Node) *firewall {
	return &firewall{ctx: ctx, sheet: readSheet(root), controls: map[string]bool{}}
}

// warnings tells of what was removed, and of what was not.
func (w *firewall) warnings() (list []string) {
	if n := w.receipts.hidden; n > 0 {
		list = append(list, WarnHidden+"="+strconv.Itoa(n))
	}
	if n := w.receipts.notes; n > 0 {
		list = append(list, WarnNote+"="+strconv.Itoa(n))
	}
	if w.kept {
		list = append(list, WarnShown)
	}
	if w.sheet.cut || w.sheet.steps < 0 {
		list = append(list, WarnStyles)
	}
	return list
}

// look is what an element inherits of how it is painted.
type look struct {
	size       float64 // of the font, in pixels
	color      string  // as colour gives it; "" unknown
	background string  // likewise, of what lies behind
	visibility string
	hidden     string           // the kind of hiding when text with this look is not seen, else ""
	piece      *strings.Builder // where such text goes
}

// clean removes below body what a reader of the page does not see, and what is not text at all: scripts, inputs, comments,
// invisible characters.
func (w *firewall) clean(body *html.Node) {
	for d := range body.Descendants() {
		check(w.ctx)
		if d.Type == html.TextNode {
			w.total += len(d.Data)
			continue
		}
		w.control(d)
	}
	placeStreamed(body)
	l := look{size: 16}
	if !w.sheet.unknown {
		l.color, l.background = "000000", "ffffff"
	}
	if l = w.paint(body, l, w.style(body)); l.unseen() != "" {
		l, w.kept = look{size: 16}, true // the page itself waits for a script
	}
	w.walk(body, l)
	for _, n := range w.gone {
		remove(n)
	}
}

// control notes what d opens, when it is a control: the panel of a tab, the section under a button.
func (w *firewall) control(d *html.Node) {
	if len(d.Attr) < 2 {
		return
	}
	toggle := attr(d, "data-toggle") + attr(d, "data-bs-toggle")
	switch {
	case attr(d, "role") == "tab", hasAttr(d, "aria-expanded"), toggle == "tab", toggle == "pill", toggle == "collapse":
	default:
		return
	}
	for _, id := range []string{attr(d, "aria-controls"), strings.TrimPrefix(attr(d, "href"), "#"), strings.TrimPrefix(attr(d, "data-target"), "#"), strings.TrimPrefix(attr(d, "data-bs-target"), "#")} {
		if id != "" {
			w.controls[id] = true
		}
	}
}

func (w *firewall) walk(n *html.Node, l look) {
	check(w.ctx)
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type == html.CommentNode || c.Type == html.DoctypeNode:
			w.receipts.add("comment", c.Data)
			n.RemoveChild(c)
		case c.Type == html.TextNode:
			w.text(c, l)
		case c.Type != html.ElementNode:
		case neverText[c.DataAtom] || c.Namespace == "svg":
			if is(c, atom.Button) && label(c) {
				rename(c, atom.Span)
				w.walk(c, l)
				break
			}
			if kind := fallbacks[c.DataAtom]; kind != "" {
				w.receipts.addNode(kind, c)
			}
			w.gone = append(w.gone, c)
		default:
			w.element(c, l)
		}
		c = next
	}
}

// text removes the characters of a text that nobody sees, or all of it when its look hides it.
func (w *firewall) text(n *html.Node, l look) {
	if l.hidden != "" {
		l.piece.WriteString(n.Data)
		n.Parent.RemoveChild(n)
		return
	}
	clean, smuggled := visible(n.Data)
	if smuggled {
		w.receipts.addSmuggled(n.Data)
	}
	n.Data = clean
}

func (w *firewall) element(n *html.Node, outer look) {
	style := w.style(n)
	if kind := w.hides(n, style); kind != "" {
		w.receipts.addNode(kind, n)
		w.gone = append(w.gone, n)
		return
	}
	l := w.paint(n, outer, style)
	if kind := l.unseen(); kind != outer.hidden {
		l.hidden, l.piece = kind, nil
		if kind != "" {
			l.piece = &strings.Builder{}
		}
	}
	switch n.DataAtom {
	case atom.A:
		w.scriptLink(n)
	case atom.Img:
		w.image(n, l)
	}
	w.walk(n, l)
	if l.piece != nil && l.piece != outer.piece {
		w.receipts.add(l.hidden, l.piece.String())
	}
}

// scriptLink takes the address from a link that runs a script or holds data; its text stays.
func (w *firewall) scriptLink(n *html.Node) {
	href := strings.ToLower(strings.Map(func(r rune) rune {
		if r <= ' ' || invisible(r) {
			return -1
		}
		return r
	}, attr(n, "href")[:min(len(attr(n, "href")), 200)]))
	for _, scheme := range []string{"javascript:", "vbscript:", "data:"} {
		if code, ok := strings.CutPrefix(href, scheme); ok {
			if !noScript[strings.TrimRight(code, ";")] {
				w.receipts.add("script-link", attr(n, "href"))
			}
			dropAttr(n, "href")
		}
	}
}

// noScript are scripts that do nothing: the link is a button.
var noScript = map[string]bool{"": true, "void(0)": true, "void0": true, "//": true, "returnfalse": true, "void": true}

// image takes out an image that is not seen, and the words about the site that some hide in its alternative text.
func (w *firewall) image(n *html.Node, l look) {
	alt := attr(n, "alt")
	if l.hidden == "visibility" {
		w.receipts.add(l.hidden, alt)
		setAttr(n, "alt", "")
		setAttr(n, "width", "0")
		return
	}
	if agentNote(alt) {
		w.receipts.add("alt", alt)
		setAttr(n, "alt", "")
	}
}

// neverText holds the elements whose content is not the page's text.
var neverText = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Iframe: true, atom.Svg: true, atom.Button: true, atom.Input: true,
	atom.Select: true, atom.Datalist: true, atom.Textarea: true, atom.Object: true, atom.Embed: true, atom.Canvas: true, atom.Dialog: true, atom.Link: true, atom.Meta: true,
	atom.Base: true, atom.Title: true, atom.Noembed: true, atom.Noframes: true, atom.Audio: true, atom.Video: true, atom.Map: true, atom.Progress: true, atom.Meter: true,
}

// fallbacks are those of neverText that hold text for readers of other pages than this one: it is shown in the receipts.
var fallbacks = map[atom.Atom]string{
	atom.Template: "template", atom.Textarea: "textarea", atom.Select: "select", atom.Object: "object", atom.Canvas: "canvas", atom.Dialog: "dialog", atom.Svg: "svg", atom.Noframes: "noframes",
	atom.Noembed: "noembed", atom.Audio: "audio", atom.Video: "video", atom.Datalist: "datalist",
}

// label reports whether a button is the text of a heading that folds what follows it.
func label(n *html.Node) bool {
	return within(n, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Summary, atom.Dt)
}

// hides returns the kind of hiding by which n and all in it is kept from readers, or "". A visibility that is to change is taken
// out of style.
func (w *firewall) hides(n *html.Node, style styles) string {
	switch v := attr(n, "hidden"); {
	case hasAttr(n, "hidden") && v != "until-found" && v != "false" && style.sure["display"] == "":
		return w.unlessShown("hidden", n)
	case strings.EqualFold(attr(n, "aria-hidden"), "true") && !is(n, atom.Span, atom.Math, atom.Img, atom.A):
		return w.unlessShown("aria-hidden", n)
	case style.sure == nil:
		return ""
	}
	if v := style.sure["visibility"]; (v == "hidden" || v == "collapse") && w.appears(n, style, "visibility", style.maybe["visibility"] == "visible") {
		delete(style.sure, "visibility")
	}
	kind, property := hiddenByStyle(style.sure)
	if kind == "" {
		return ""
	}
	seen := false // by some readers
	if style.maybe != nil {
		again, _ := hiddenByStyle(style.maybe)
		seen = again == ""
	}
	if seen || property != "" && w.appears(n, style, property, false) {
		return ""
	}
	return kind
}

// unlessShown returns kind, or "" for what a control opens and for the page itself.
func (w *firewall) unlessShown(kind string, n *html.Node) string {
	if w.opened(n) || w.isPage(n) {
		return ""
	}
	return kind
}

// appears reports whether n, hidden by a property, is there to be seen: for some readers, in another state, when the reader
// comes to it or opens it, or because it is the page itself.
func (w *firewall) appears(n *html.Node, style styles, property string, seen bool) bool {
	if seen || style.by[property] != nil && w.sheet.toggled(style.by[property], property) {
		return true
	}
	return (property == "opacity" || property == "visibility") && (entrance(n) || style.sure["animation-name"] != "" || style.sure["animation"] != "") || w.unlessShown(property, n) == ""
}

// opened reports whether the reader can open n: a control of the page names it, or it is the folded part under a visible head.
// It must be text, not a menu or a form.
func (w *firewall) opened(n *html.Node) bool {
	if is(n, atom.Nav, atom.Form, atom.Dialog, atom.Ul) {
		return false
	}
	switch attr(n, "role") {
	case "dialog", "menu", "listbox", "navigation", "search", "alertdialog":
		return false
	}
	if id := attr(n, "id"); id == "" || !w.controls[id] {
		return foldName(n) && underHead(n) && prose(n)
	}
	return attr(n, "role") == "tabpanel" || prose(n)
}

// foldNames are parts of the class names of what folds and unfolds: the same as details, made by scripts.
var foldNames = []string{"accordion", "collaps", "faq", "expand", "disclosure", "callout-content", "spoiler"}

func foldName(n *html.Node) bool {
	class := strings.ToLower(attr(n, "class"))
	if n.Parent != nil {
		class += " " + strings.ToLower(attr(n.Parent, "class"))
	}
	for _, name := range foldNames {
		if strings.Contains(class, name) {
			return true
		}
	}
	return false
}

// underHead reports whether a text precedes n, by which a reader knows what is folded there.
func underHead(n *html.Node) bool {
	for p := n.PrevSibling; p != nil; p = p.PrevSibling {
		if p.Type == html.ElementNode {
			return !blank(textOf(p))
		}
	}
	return false
}

// prose reports whether n is text more than links, and asks for nothing.
func prose(n *html.Node) bool {
	text, links := 0, 0
	for d := range n.Descendants() {
		switch {
		case is(d, atom.Nav, atom.Form, atom.Input):
			return false
		case d.Type == html.TextNode && !blank(d.Data):
			text += len(d.Data)
			if within(d, atom.A) {
				links += len(d.Data)
			}
		}
	}
	return links*2 < text
}

// isPage reports whether n is the page itself, waiting for a script to show it: it holds over 60 % of all text, and next to
// nothing is said outside it but navigation.
func (w *firewall) isPage(n *html.Node) bool {
	held := 0
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !neverText[d.Parent.DataAtom] {
			if held += len(d.Data); held*5 > w.total*3 {
				break
			}
		}
	}
	if held*5 <= w.total*3 {
		return false
	}
	said := 0
	var walk func(c *html.Node)
	walk = func(c *html.Node) {
		for d := c.FirstChild; d != nil && said < saidOutside; d = d.NextSibling {
			switch {
			case d.Type == html.TextNode:
				said += words(d.Data)
			case d == n || neverText[d.DataAtom] || is(d, atom.Nav, atom.Header, atom.Footer, atom.A, atom.Aside):
			default:
				walk(d)
			}
		}
	}
	top := n
	for top.Parent != nil && !is(top, atom.Body) {
		top = top.Parent
	}
	walk(top)
	w.kept = w.kept || said < saidOutside
	return said < saidOutside
}

// saidOutside is how many words beside a hidden element make it a hidden part of a page, and not the page.
const saidOutside = 25

// entrances are names by which scripts find what they let appear while the reader scrolls.
var entrances = set("wow elementor-invisible aos-init animate animated reveal fade-in fadein lazyload lazy js-reveal")

// entrance reports whether n waits for its entrance: a script shows it when the reader comes to it.
func entrance(n *html.Node) bool {
	for i := range n.Attr {
		switch key := n.Attr[i].Key; {
		case key == "data-aos" || strings.HasPrefix(key, "data-anim") || strings.HasPrefix(key, "data-wow") || key == "data-w-id" || key == "data-framer-appear-id":
			return true
		case key == "class":
			for class := range strings.FieldsSeq(strings.ToLower(n.Attr[i].Val)) {
				if entrances[class] {
					return true
				}
			}
		}
	}
	return false
}

// streamedPart finds where the parts of a page go that React sent after the page: a hidden element each, which a script puts in
// the place of a template.
var streamedPart = regexp.MustCompile(`\$RC\("(B:[0-9a-zA-Z_:-]{1,40})","(S:[0-9a-zA-Z_:-]{1,40})"\)`)

// placeStreamed puts such parts where the script would.
func placeStreamed(body *html.Node) {
	places := map[string]string{} // id of a part to id of its template
	for d := range body.Descendants() {
		if is(d, atom.Script) && d.FirstChild != nil && strings.Contains(d.FirstChild.Data, "$RC(") {
			for _, m := range streamedPart.FindAllStringSubmatch(d.FirstChild.Data, 1000) {
				places[m[2]] = m[1]
			}
		}
	}
	if len(places) == 0 {
		return
	}
	templates := map[string]*html.Node{}
	for _, n := range findAll(body, func(n *html.Node) bool { return is(n, atom.Template) && attr(n, "id") != "" }) {
		templates[attr(n, "id")] = n
	}
	for _, part := range findAll(body, func(n *html.Node) bool { return is(n, atom.Div) && hasAttr(n, "hidden") && places[attr(n, "id")] != "" }) {
		template := templates[places[attr(part, "id")]]
		if template == nil || template.Parent == nil || attached(template, part) {
			dropAttr(part, "hidden")
			continue
		}
		// What stood there until the part came ends with a comment.
		for s := template.NextSibling; s != nil && (s.Type != html.CommentNode || s.Data != "/$"); s = template.NextSibling {
			template.Parent.RemoveChild(s)
		}
		for c := part.FirstChild; c != nil; c = part.FirstChild {
			part.RemoveChild(c)
			template.Parent.InsertBefore(c, template)
		}
		remove(part)
		remove(template)
	}
}
