package hidden

import (
	"bytes"
	"cmp"
	stdhtml "html"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/internal/markdown"
)

// tags cuts the comments and hidden elements of a markdown text. It reads the text's own style sheets as those of a
// page are read, and judges each tag by the same rules.
func (s *sweep) tags() {
	var list []markdown.HTMLTag
	for t := range markdown.Tags(s.md) {
		if len(list) == maxTags {
			s.allTags()
			return
		}
		list = append(list, t)
	}
	if len(list) == 0 {
		return
	}
	w := tagWalker{sweep: s, tags: list, closing: pairs(list)}
	w.sheet = *New(w.styles())
	w.walk()
}

// allTags cuts every tag of a text that has too many to be paired.
func (s *sweep) allTags() {
	s.r.note("markup", "more than a million tags")
	for t := range markdown.Tags(s.md) {
		s.cuts = append(s.cuts, cut{start: t.Start, end: t.End})
	}
}

// pairs returns, for each open tag of a markdown text, where the tag that closes it stands in the list, or -1. A tag of
// endsWithBlock is closed within its block only. Tags are paired by name, as they stand: markdown may have them in any
// order.
func pairs(list []markdown.HTMLTag) []int32 {
	closing := make([]int32, len(list))
	open := map[string][]int32{}
	for i := range list {
		t := &list[i]
		closing[i] = -1
		switch t.Kind {
		case markdown.OpenTag:
			open[t.Name] = append(open[t.Name], int32(i))
		case markdown.CloseTag:
			if stack := open[t.Name]; len(stack) > 0 {
				opener := stack[len(stack)-1]
				open[t.Name] = stack[:len(stack)-1]
				if !endsWithBlock[t.Name] || list[opener].BlockEnd == t.BlockEnd {
					closing[opener] = int32(i)
				}
			}
		}
	}
	return closing
}

// endsWithBlock are the elements that the next block ends, whether they are closed or not. Markdown begins blocks of
// its own at blank lines.
var endsWithBlock = map[string]bool{
	"p": true, "li": true, "td": true, "th": true, "tr": true, "dt": true, "dd": true, "option": true,
}

// endTagless are the elements without content.
var endTagless = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true,
	"link": true, "meta": true, "source": true, "track": true, "wbr": true,
}

// tagWalker goes through the tags of a markdown text. sheet is a Cleaner for the rules alone: it reports nothing.
type tagWalker struct {
	*sweep
	tags    []markdown.HTMLTag
	closing []int32
	sheet   Cleaner
	open    []openElement
	muted   int // the last tag of a muted element
}

// openElement is an element that is open. closing is where in the list its closing tag stands.
type openElement struct {
	closing int32
	node    *html.Node
	look    look
}

// styles returns a tree with the style sheets of the text. It is a document of style elements alone.
func (w *tagWalker) styles() *html.Node {
	root := &html.Node{Type: html.DocumentNode}
	for i := range w.tags {
		if t := &w.tags[i]; t.Name == "style" && w.closing[i] >= 0 {
			n := node(t)
			n.AppendChild(&html.Node{Type: html.TextNode, Data: string(w.md[t.End:w.tags[w.closing[i]].Start])})
			root.AppendChild(n)
		}
	}
	return root
}

// node returns the element that a tag begins. Its parent is set by the caller.
func node(t *markdown.HTMLTag) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: t.Name, DataAtom: atom.Lookup([]byte(t.Name))}
	for _, a := range t.Attributes {
		n.Attr = append(n.Attr, html.Attribute{Key: a.Name, Val: stdhtml.UnescapeString(a.Value)})
	}
	return n
}

// walk looks at the tags of a text in their order, each within the elements that are open around it.
func (w *tagWalker) walk() {
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	all := openElement{int32(len(w.tags)), body, w.sheet.plain()}
	for i := 0; i < len(w.tags); i++ {
		for len(w.open) > 0 && w.open[len(w.open)-1].closing <= int32(i) {
			w.open = w.open[:len(w.open)-1]
		}
		switch t := &w.tags[i]; t.Kind {
		case markdown.Comment:
			if text := commentText(w.md[t.Start:t.End]); !chars.Blank(text) {
				w.cut(t.Start, t.End, "comment", text)
			}
		case markdown.Broken:
			w.cut(t.Start, t.Start+1, "markup", "a tag without an end")
		case markdown.OpenTag:
			outer := all
			if len(w.open) > 0 {
				outer = w.open[len(w.open)-1]
			}
			i = w.element(i, outer)
		}
	}
}

// commentText returns what stands in a comment, among tags. A comment may be closed in several ways, of which each is
// undone.
func commentText(comment []byte) string {
	text := strings.TrimPrefix(strings.TrimPrefix(string(comment), "<!--"), "<")
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(text, ">"), "--"), "-")
}

// element looks at the element that the tag i begins, and returns the last tag that it has dealt with. An element that
// goes takes its content along; of one that stays the attributes are looked at, and it is open for what follows.
func (w *tagWalker) element(i int, outer openElement) int {
	t := &w.tags[i]
	n := node(t)
	n.Parent = outer.node
	style := w.sheet.sheet.StylesOf(n)
	kind := ""
	if style.Windows == nil { // no script runs in a text, and nothing appears later
		kind, _ = hiddenByStyle(style.Values, fontSize(style.Values, outer.look.size))
	}
	kind = cmp.Or(kind, w.sheet.hides(n, style, outer.look))
	l := w.sheet.paint(n, outer.look, style)
	kind = cmp.Or(kind, l.unseen())
	never := kind == "" && w.neverShown(t, n)
	if kind != "" || never {
		end, last := w.extent(i, never)
		if end > 0 {
			w.cut(t.Start, end, cmp.Or(kind, t.Name), w.plain(t.End, i+1, last))
			return last
		}
	}
	if t.Name == "img" && pixel(n) && !chars.Blank(dom.Attr(n, "alt")) {
		w.cut(t.Start, t.End, "alt", dom.Attr(n, "alt"))
		return i
	}
	w.attributes(t)
	if close := w.closing[i]; close >= 0 {
		if mutedElements[t.Name] && int(close) > w.muted {
			w.muted = int(close)
			w.mute(i, w.muted)
		}
		w.open = append(w.open, openElement{close, n, l})
	}
	return i
}

// neverShown reports whether a browser never shows the content of an element, and says so if it begins as HTML does and
// not as a component of a program does.
func (w *tagWalker) neverShown(t *markdown.HTMLTag, n *html.Node) bool {
	switch t.Name {
	case "script", "style", "template", "noscript", "textarea", "iframe":
		return true
	case "svg", "select", "datalist", "meta", "title":
		return w.written(t)
	case "dialog":
		return w.written(t) && !openDialog(n)
	case "input":
		return w.written(t) && strings.EqualFold(dom.Attr(n, "type"), "hidden")
	}
	return false
}

// written reports whether the name of a tag is written in lower case: components, as <Select>, are not HTML. t.Name is
// in lower case always.
func (w *tagWalker) written(t *markdown.HTMLTag) bool {
	return bytes.HasPrefix(w.md[t.Start+1:], []byte(t.Name))
}

// extent returns where the element ends that the tag i begins, and its last tag. The end is 0 for an element that is
// never shown and not closed in its paragraph: people name such elements in their prose. An element without a closing
// tag ends as browsers end it: with the text for most, with its paragraph for one in a line, with the next block for
// those of endsWithBlock.
func (w *tagWalker) extent(i int, never bool) (end, last int) {
	t := &w.tags[i]
	close := int(w.closing[i])
	switch {
	case endTagless[t.Name]:
		return t.End, i
	case close >= 0 && (t.Block || !never || w.tags[close].BlockEnd == t.BlockEnd):
		return w.tags[close].End, close
	case !t.Block && never:
		return 0, i
	case !t.Block || endsWithBlock[t.Name]:
		end = t.BlockEnd
	default:
		end = len(w.md)
	}
	for last = i; last+1 < len(w.tags) && w.tags[last+1].Start < end; last++ {
		if next := &w.tags[last+1]; endsWithBlock[t.Name] && (next.Name == t.Name || blockNames[next.Name]) {
			return next.Start, last
		}
	}
	return end, last
}

// blockNames are the elements that end a paragraph or an item without a closing tag, where they begin or end.
var blockNames = map[string]bool{
	"address": true, "article": true, "blockquote": true, "details": true, "div": true, "dl": true, "figure": true,
	"footer": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "header": true, "hr": true,
	"ol": true, "p": true, "pre": true, "section": true, "table": true, "tbody": true, "ul": true, "main": true,
	"aside": true, "nav": true,
}

// plain returns the text from at to the last tag, without the tags from i on. It stands in the report.
func (w *tagWalker) plain(at, i, last int) string {
	var b strings.Builder
	for ; i <= last && b.Len() < 4*maxPiece; i++ {
		if t := &w.tags[i]; t.Start > at {
			b.Write(w.md[at:t.Start])
		}
		at = max(at, w.tags[i].End)
	}
	return b.String()
}

// mutedElements hold text for browsers that do not know them. Current browsers do not show it.
var mutedElements = map[string]bool{
	"object": true, "canvas": true, "audio": true, "video": true, "noframes": true, "noembed": true,
}

// mute cuts the text between the tags i and close. The tags between them stay for the walk.
func (w *tagWalker) mute(i, close int) {
	name := w.tags[i].Name
	for ; i < close; i++ {
		start, end := w.tags[i].End, w.tags[i+1].Start
		if start < end && !chars.Blank(string(w.md[start:end])) {
			w.cut(start, end, name, string(w.md[start:end]))
		}
	}
}

// attributes cuts the attributes of an element of HTML that hold text nobody sees or the address of a script.
// Components of programs have attributes of their own, which are left.
func (w *tagWalker) attributes(t *markdown.HTMLTag) {
	if atom.Lookup([]byte(t.Name)) == 0 || !w.written(t) {
		return
	}
	for _, a := range t.Attributes {
		value := stdhtml.UnescapeString(a.Value)
		switch {
		case runsScript(value):
			w.cut(a.Start, a.End, "script-link", value)
		case strings.HasPrefix(a.Name, "on") && len(a.Name) > 2, a.Name == "srcdoc":
			w.cut(a.Start, a.End, "script-link", value)
		case unseenAttribute(t.Name, a.Name) && wordy(value):
			w.cut(a.Start, a.End, "attribute", value)
		}
	}
}

// unseenAttribute reports whether an attribute of a tag holds text that does not stand on the page. The description of
// a picture does, where the picture cannot be shown.
func unseenAttribute(element, name string) bool {
	switch name {
	case "title", "aria-label", "aria-description", "aria-placeholder", "aria-roledescription", "aria-valuetext",
		"placeholder", "content", "summary", "standby":
		return true
	case "alt":
		return element != "img" && element != "area" && element != "input"
	}
	return strings.HasPrefix(name, "data-")
}

// pixel reports, by its tag, whether an image is too small to be seen. Its text is written for nobody who looks.
func pixel(n *html.Node) bool {
	for _, name := range []string{"width", "height"} {
		size, unit, ok := css.Number(dom.Attr(n, name))
		if ok && unit != "%" && size <= 1 {
			return true
		}
	}
	return false
}
