package convert

import (
	"context"
	"errors"
	"maps"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/judge"
	"github.com/readthru/readthru/convert/mdwrite"
)

// Trim is a page trimmed for a model that converts it (rules E10, E12). A model reads HTML as well as markdown, and
// markdown alone is what comes back.
type Trim struct {
	HTML string // the main content in a few kinds of elements, with absolute links and without hidden text
	Rest string // markdown of what did not fit into HTML
}

// ErrNoTree is the error of [Document.Trimmed] for a page that has no main content in HTML elements. Callers then do
// without a model.
var ErrNoTree = errors.New("the page has no HTML elements with main content")

// keptElements are the elements that a Trim keeps (rule E10, and others that hold text). Of other elements it keeps the
// content.
var keptElements = chars.Set("h1 h2 h3 h4 h5 h6 p ul ol li table caption thead tbody tfoot tr th td blockquote pre " +
	"code a img dl dt dd details summary figcaption sub sup em strong b i del kbd samp br hr")

// keptAttributes are the attributes that a Trim keeps, by element.
var keptAttributes = map[atom.Atom][]string{
	atom.A: {"href"}, atom.Img: {"src", "alt"}, atom.Td: {"colspan", "rowspan"}, atom.Th: {"colspan", "rowspan"},
	atom.Ol: {"start"},
}

// Trimmed returns the main content, or the part that o chooses, as HTML of at most limit characters. If the content is
// longer, the HTML ends between blocks and Rest holds the rest as markdown. The error is ErrNoTree, one that
// [Document.Convert] would return for o, or that of ctx. The further parts of a large page are in Rest.
func (d *Document) Trimmed(ctx context.Context, o Options, limit int) (t *Trim, err error) {
	if d.body == nil || d.form != "" {
		return nil, ErrNoTree
	}
	var failed error
	err = guard.Run(func() {
		var roots []*html.Node
		if o.Selector != "" || o.Drop != "" {
			if d, roots, failed = d.narrowed(ctx, o); failed != nil {
				return
			}
		}
		var dropped map[*html.Node]bool
		switch {
		case roots != nil:
		case o.WholePage:
			roots = []*html.Node{d.body}
		default:
			c := judge.Choose(ctx, d.page())
			roots, dropped = []*html.Node{c.Root}, c.Dropped
		}
		w := trimmer{ctx: ctx, dropped: dropped, limit: limit, written: maps.Clone(dropped)}
		if w.written == nil {
			w.written = map[*html.Node]bool{}
		}
		all := true
		for _, root := range roots {
			all = all && w.split(root)
		}
		t = &Trim{HTML: strings.TrimSpace(w.out.String())}
		// What did not fit is written as markdown, by the same renderer as a whole page.
		if !all {
			r := mdwrite.New(ctx, o.Links, o.Images, len(d.content), d.body)
			t.Rest = strings.TrimSpace(r.Render(roots, w.written))
		}
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, err
	case failed != nil:
		return nil, failed
	case t.HTML == "":
		return nil, ErrNoTree
	}
	if d.rest != nil {
		res := &Result{Markdown: t.Rest}
		if err := d.convertRest(ctx, o, res, true); err != nil {
			return nil, err
		}
		t.Rest = res.Markdown
	}
	return t, nil
}

// trimmer writes blocks of trimmed HTML as long as they fit. It writes the page's elements without changing them.
type trimmer struct {
	ctx     context.Context
	dropped map[*html.Node]bool
	limit   int // characters
	used    int
	out     strings.Builder
	written map[*html.Node]bool // what is dropped, or written already
}

// split writes n whole if it fits, or else as many of its blocks as fit, in order. It reports whether it wrote all of
// n. Paragraphs, code, tables, items and the like are not divided; of lists and quotations, items and blocks are. Once
// something did not fit, nothing more is written, so that the order stays.
func (t *trimmer) split(n *html.Node) bool {
	guard.Check(t.ctx)
	if t.dropped[n] || n.Type == html.CommentNode {
		return true
	}
	var b strings.Builder
	if room := t.limit - t.used; t.write(&b, n, 4*room) {
		if size := utf8.RuneCountInString(b.String()); size <= room {
			t.out.WriteString(b.String())
			t.used += size
			t.written[n] = true
			return true
		}
	}
	if n.Type != html.ElementNode || dom.Is(n, atom.P, atom.Pre, atom.Table, atom.Li, atom.Dl, atom.Figure,
		atom.Details) ||
		dom.IsHeading(n) || !dom.IsBlock(n) {
		return false
	}
	open, end := "", ""
	if dom.Is(n, atom.Ul, atom.Ol, atom.Blockquote) {
		open, end = "<"+n.Data+">\n", "</"+n.Data+">\n"
		if t.used += len(open) + len(end); t.used >= t.limit {
			return false
		}
	}
	t.out.WriteString(open)
	defer func() { t.out.WriteString(end) }()
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !t.split(c) {
			return false
		}
	}
	return true
}

// write writes n and its descendants, and stops when they take over most bytes. It reports whether it wrote all.
// Elements of this program's own, such as formulas and notes, are written as they stand in markdown.
func (t *trimmer) write(b *strings.Builder, n *html.Node, most int) bool {
	guard.Check(t.ctx)
	switch {
	case b.Len() > most:
		return false
	case t.dropped[n], n.Type == html.CommentNode:
		return true
	case n.Type == html.TextNode:
		b.WriteString(html.EscapeString(chars.Spaced(n.Data)))
		return true
	case dom.Is(n, atom.Pre):
		b.WriteString("<pre><code")
		if lang := dom.Attr(n, dom.LangAttr); lang != "" {
			b.WriteString(` class="language-` + html.EscapeString(lang) + `"`)
		}
		b.WriteString(">" + html.EscapeString(dom.Text(n)) + "</code></pre>\n")
		return b.Len() <= most
	case n.Data == dom.MathElement:
		mark := "$"
		if dom.HasAttr(n, "display") {
			mark = "$$"
		}
		b.WriteString(mark + html.EscapeString(dom.Text(n)) + mark)
		return true
	case n.Data == dom.NoteRefElement:
		b.WriteString("[^" + html.EscapeString(dom.Attr(n, "id")) + "]")
		return true
	}
	open, end := "", ""
	switch {
	case keptElements[n.Data]:
		open, end = "<"+n.Data+t.attributes(n)+">", "</"+n.Data+">"
		if dom.Is(n, atom.Br, atom.Hr, atom.Img) {
			end = ""
		}
	case n.Data == dom.NoteElement:
		open, end = "<p>[^"+html.EscapeString(dom.Attr(n, "id"))+"]: ", "</p>"
	case dom.IsBlock(n):
		open = "\n"
	}
	if dom.IsBlock(n) || dom.Is(n, atom.Tr, atom.Li, atom.Br) {
		end += "\n"
	}
	b.WriteString(open)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !t.write(b, c, most) {
			return false
		}
	}
	b.WriteString(end)
	return b.Len() <= most
}

// attributes returns the attributes of an element that a [Trim] keeps, as they stand in its tag.
func (t *trimmer) attributes(n *html.Node) string {
	var b strings.Builder
	for _, key := range keptAttributes[n.DataAtom] {
		if v := dom.Attr(n, key); v != "" {
			b.WriteString(" " + key + `="` + html.EscapeString(v) + `"`)
		}
	}
	return b.String()
}
