package mdwrite

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// list writes a list. It is tight, without blank lines between its items, unless an item holds several blocks. Numbers
// are those of start, value and reversed, as browsers count.
func (r *renderer) list(out *bytes.Buffer, n *html.Node) {
	var text bytes.Buffer // of all items
	var items []listedItem
	number, step := 1, 1
	if dom.HasAttr(n, "reversed") {
		number, step = r.countItems(n), -1
	}
	if start, err := strconv.Atoi(dom.Attr(n, "start")); err == nil && start >= 0 && start < 1e6 {
		number = start
	}
	loose := false
	for c := range r.kept(n) {
		guard.Check(r.ctx)
		var item []byte
		switch {
		case dom.Is(c, atom.Li):
			item = r.item(c)
		case c.Type == html.TextNode && chars.Blank(c.Data):
			continue
		default: // not allowed in a list, and yet there
			item = r.item(dom.Around(c))
			if r.isList(c) && len(items) > 0 { // a list inside a list belongs to the item before it
				text.WriteByte('\n')
				text.Write(item)
				items[len(items)-1].end = text.Len()
				continue
			}
		}
		if len(item) == 0 {
			continue
		}
		if value, err := strconv.Atoi(dom.Attr(c, "value")); err == nil && value >= 0 && value < 1e6 {
			number = value
		}
		text.Write(item)
		items = append(items, listedItem{number, text.Len()})
		number = max(number+step, 0)
		loose = loose || bytes.Contains(item, []byte("\n\n"))
	}
	bullet, point := "- ", ". "
	if r.followsList(n) { // else both would be one list
		bullet, point = "* ", ") "
	}
	out.WriteString("\n\n")
	begin := 0
	for i, item := range items {
		if i > 0 {
			out.WriteByte('\n')
			if loose {
				out.WriteByte('\n')
			}
		}
		mark := bullet
		if dom.Is(n, atom.Ol) {
			mark = strconv.Itoa(item.number) + point
		}
		out.WriteString(mark)
		r.indented(out, text.Bytes()[begin:item.end], len(mark))
		begin = item.end
	}
	out.WriteString("\n\n")
}

// countItems returns the number of the items of a list, from which a reversed one counts down.
func (r *renderer) countItems(n *html.Node) (items int) {
	for c := range r.kept(n) {
		if dom.Is(c, atom.Li) {
			items++
		}
	}
	return items
}

// listedItem is an item's number, and where its text ends in that of all items. All items are kept in one buffer until
// it is known whether the list is tight.
type listedItem struct{ number, end int }

// item returns the content of a list item. Lists below its first paragraph stay close to it. One that begins with a
// link of the text "x" is no ticked box.
func (r *renderer) item(n *html.Node) []byte {
	content := r.inner(n)
	if bytes.HasPrefix(content, []byte("[x](")) || bytes.HasPrefix(content, []byte("[X](")) {
		content = slices.Insert(content, 2, ' ') // a link, and no box that is ticked
	}
	blocks, lists := 0, 0
	inline := false
	for c := range r.kept(n) {
		switch {
		case r.isList(c):
			lists++
			inline = false
		case dom.IsBlock(c):
			blocks++
			inline = false
		case !inline && (c.Type != html.TextNode || !chars.Blank(c.Data)):
			blocks++
			inline = true
		}
	}
	if lists > 0 && blocks <= 1 && bytes.Count(content, []byte("\n\n")) <= lists {
		content = bytes.ReplaceAll(content, []byte("\n\n"), []byte("\n"))
	}
	return content
}

// isList reports whether c, in the list that is written, is a list in it. Lists that nest deeper than guard.MaxNesting
// are plain blocks.
func (r *renderer) isList(c *html.Node) bool {
	return dom.Is(c, atom.Ul, atom.Ol) && (r.copied || r.nesting < guard.MaxNesting)
}

// followsList reports whether a list of the same kind ends right before n and is not itself set apart from the list
// before it. Markdown would join two such lists; another mark keeps them apart.
func (r *renderer) followsList(n *html.Node) bool {
	p := r.before(n)
	if p == nil || !dom.Is(p, n.DataAtom) || r.apart == p {
		return false
	}
	r.apart = n
	return true
}

// indented writes the content of a list's item with all lines but the first indented by width, lines of code included.
// What it writes counts against the budget: nested lists indent every line again.
func (r *renderer) indented(out *bytes.Buffer, content []byte, width int) {
	indent := strings.Repeat(" ", width)
	r.spend(len(content))
	for i, c := range content {
		out.WriteByte(c)
		if (c == '\n' || c == codeNewline) && i+1 < len(content) && content[i+1] != '\n' && content[i+1] != codeNewline {
			r.spend(width)
			out.WriteString(indent)
		}
	}
}
