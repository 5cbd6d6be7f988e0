package mdwrite

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// codeNewline stands for a newline inside a code block until the end of rendering: it is no white space that may be
// tidied. Foreign text holds none, [chars.Visible] has taken control characters out.
const codeNewline = '\x01'

// renderer writes a normalised tree as markdown, in time linear in its output. html-to-markdown collapses the white
// space; its renderers and its escaping take quadratic time on hostile pages, so elements and text are written here. It
// is made for one page and used once; several goroutines must not use it at once. The counts of what is open (link,
// bold, cells and the like) tell an element what it stands in.
type renderer struct {
	ctx    context.Context
	links  string // inline (or empty), reference, text or none
	images string // keep (or empty), alt or none
	budget int    // bytes that indenting may still write

	dropped map[*html.Node]bool // of the page: what is not rendered
	nesting int                 // how many lists and quotes of the page are open
	begun   bool                // something was written that rules may follow
	copied  bool                // what is written is a copy, see copy.go

	bold, italic, strike, link, cells, headings int // depth of such elements round the current one

	apart *html.Node   // the list last marked apart from the list before it
	spare []*html.Node // of copies that were written

	notes  map[string]*html.Node // footnotes of the page, by label
	wanted []string              // labels of those that what is rendered refers to
	state  map[string]noteState  // of those met

	references []string       // addresses of links by reference
	numbers    map[string]int // their numbers

	// tooDeep says that elements nested too deep and were flattened, SpansCut that a cell had too large a span.
	TooDeep, SpansCut bool
}

// New returns a renderer that writes links inline (or ""), by reference, as their text, or with none of it, and images
// as keep (or ""), alt or none say. source is the size of the page in bytes, which bounds what is written; the
// footnotes that are referred to stand below pages. ctx is checked at every element.
func New(ctx context.Context, links, images string, source int, pages ...*html.Node) *renderer {
	return &renderer{
		ctx: ctx, links: links, images: images, budget: guard.OutputLimit(source) * 2, notes: notesBelow(pages...),
	}
}

// outputs holds buffers for the markdown of a page, which is copied when it is whole. It spares large pages the growth
// of a buffer.
var outputs = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Render returns the markdown of roots without the elements in dropped, with a newline at its end. It does not change
// the tree. It panics, by guard.Stop, when ctx ends or when the output grows out of proportion; guard.Run returns the
// error.
func (r *renderer) Render(roots []*html.Node, dropped map[*html.Node]bool) string {
	if len(r.notes) > 0 {
		for _, root := range roots {
			r.meetNotes(root, dropped)
		}
	}
	elsewhere := r.notesElsewhere()
	r.dropped = dropped
	buf := outputs.Get().(*bytes.Buffer)
	buf.Reset()
	defer outputs.Put(buf)
	for _, root := range roots {
		buf.WriteString("\n\n")
		r.pieces(buf, dom.Around(root))
		buf.WriteString("\n\n")
	}
	r.dropped = nil // at the page's end nothing of a footnote is
	for _, n := range elsewhere {
		r.pieces(buf, dom.Around(n))
	}
	out := tidy(buf.Bytes())
	for i, c := range out {
		if c == codeNewline {
			out[i] = '\n'
		}
	}
	for i, address := range r.references {
		if i == 0 {
			out = append(out, '\n')
		}
		out = append(out, "\n["+strconv.Itoa(i+1)+"]: "+address...)
	}
	if len(out) == 0 {
		return ""
	}
	return string(append(out, '\n'))
}

// write writes one element. Blocks write blank lines around themselves, which tidy makes one.
func (r *renderer) write(out *bytes.Buffer, n *html.Node) {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.heading(out, n)
	case atom.Pre:
		writeCodeBlock(out, dom.Text(n), dom.Attr(n, dom.LangAttr))
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		r.inlineCode(out, n)
	case atom.Strong, atom.B:
		r.delimited(out, n, "**", &r.bold)
	case atom.Em, atom.I, atom.Var, atom.Dfn:
		r.delimited(out, n, "*", &r.italic)
	case atom.Del, atom.S, atom.Strike:
		r.delimited(out, n, "~~", &r.strike)
	case atom.Sub, atom.Sup:
		r.raised(out, n)
	case atom.A:
		r.anchor(out, n)
	case atom.Img:
		r.image(out, n)
	case atom.Br:
		out.WriteString("  \n")
	case atom.Hr:
		out.WriteString("\n\n---\n\n")
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		r.list(out, n)
	case atom.Blockquote:
		r.quote(out, n)
	case atom.Table:
		r.table(out, n)
	case atom.Dl:
		r.definitions(out, n)
	case atom.Summary, atom.Dt:
		r.boldBlock(out, n)
	case atom.Q:
		out.WriteByte('"')
		r.children(out, n)
		out.WriteByte('"')
	default:
		switch {
		case n.Data == dom.MathElement:
			r.math(out, n)
		case n.Data == dom.RawElement:
			out.WriteString(dom.Text(n))
		case n.Data == dom.NoteElement:
			r.note(out, n)
		case n.Data == dom.NoteRefElement:
			r.noteRef(out, n)
		case dom.IsBlock(n):
			r.block(out, n)
		default:
			r.children(out, n)
		}
	}
}

// block writes an element as a block of its own.
func (r *renderer) block(out *bytes.Buffer, n *html.Node) {
	out.WriteString("\n\n")
	r.children(out, n)
	out.WriteString("\n\n")
}

// children writes the children of n. In a copy they are ready for writing; of the page, pieces copies them first.
func (r *renderer) children(out *bytes.Buffer, n *html.Node) {
	if !r.copied {
		r.pieces(out, n)
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			out.WriteString(c.Data)
		case html.ElementNode:
			guard.Check(r.ctx)
			r.write(out, c)
		}
	}
}

// inner returns the tidied markdown of the children of n. The caller decides what is written around it.
func (r *renderer) inner(n *html.Node) []byte {
	var buf bytes.Buffer
	r.children(&buf, n)
	return tidy(buf.Bytes())
}

// spend takes n bytes from the budget for indenting. It stops a conversion whose output would grow without limit.
func (r *renderer) spend(n int) {
	if r.budget -= n; r.budget < 0 {
		guard.Stop(guard.ErrOutput)
	}
}

// oneLine returns the markdown of the children of n on one line. Headings and terms have one line.
func (r *renderer) oneLine(n *html.Node) []byte {
	return bytes.Join(bytes.Fields(bytes.ReplaceAll(r.inner(n), []byte{codeNewline}, []byte{' '})), []byte{' '})
}

// heading writes a heading: one within another as its text, one in a cell of a table as a block. A last "#" is escaped,
// as it would be taken for a closing mark.
func (r *renderer) heading(out *bytes.Buffer, n *html.Node) {
	if r.headings > 0 { // a heading inside a heading
		out.WriteByte(' ')
		r.children(out, n)
		out.WriteByte(' ')
		return
	}
	r.bold++ // a heading is bold enough
	r.headings++
	text := r.oneLine(n)
	r.bold--
	r.headings--
	if len(text) == 0 {
		return
	}
	if r.cells > 0 { // no place for a heading
		out.WriteString("\n\n")
		out.Write(text)
		out.WriteString("\n\n")
		return
	}
	out.WriteString("\n\n" + strings.Repeat("#", int(n.Data[1]-'0')) + " ")
	out.Write(text)
	if text[len(text)-1] == '#' && (len(text) == 1 || text[len(text)-2] == ' ') {
		out.Truncate(out.Len() - 1)
		out.WriteString(`\#`)
	}
	out.WriteString("\n\n")
}

// boldBlock writes, in bold, an element that is a block of its own: the summary of what folds, a term that stands
// alone. One that holds blocks is written as these.
func (r *renderer) boldBlock(out *bytes.Buffer, n *html.Node) {
	out.WriteString("\n\n")
	if dom.Contains(n, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.P, atom.Div, atom.Ul, atom.Pre,
		atom.Table) {
		r.children(out, n)
	} else {
		r.delimited(out, n, "**", &r.bold)
	}
	out.WriteString("\n\n")
}

// quote writes a blockquote or a callout. A callout has its kind on the first line, as GitHub writes it.
func (r *renderer) quote(out *bytes.Buffer, n *html.Node) {
	content := r.inner(n)
	if len(content) == 0 {
		return
	}
	out.WriteString("\n\n")
	if kind := dom.Attr(n, dom.CalloutAttr); kind != "" {
		out.WriteString("> [!" + kind + "]\n")
	}
	r.spend(len(content))
	out.WriteString("> ")
	for i, c := range content {
		out.WriteByte(c)
		if c != '\n' && c != codeNewline {
			continue
		}
		r.spend(2)
		out.WriteByte('>')
		if i+1 < len(content) && content[i+1] != '\n' && content[i+1] != codeNewline {
			out.WriteByte(' ')
		}
	}
	out.WriteString("\n\n")
}

// tidy trims, of what was rendered, white space at the edges of text and at the ends of blocks, and leaves at most one
// blank line between blocks. Hard breaks, two spaces before a newline, stay inside a paragraph. It works in place.
// Newlines of code are not among those.
func tidy(text []byte) []byte {
	out := text[:0]
	newlines := 0
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		line := text
		if end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		bare := bytes.TrimRight(line, " \t")
		if len(bytes.TrimSpace(bare)) == 0 { // also of spaces that do not break
			newlines++
			continue
		}
		if len(out) > 0 {
			if newlines > 1 {
				out = append(bytes.TrimRight(out, " "), '\n', '\n')
			} else {
				out = append(out, '\n')
			}
		} else {
			line = bytes.TrimLeft(line, " \t")
		}
		breaks := len(line)-len(bare) >= 2
		if newlines > 1 {
			bare = trimIndent(bare)
		}
		if breaks {
			out = append(append(out, bare...), ' ', ' ')
		} else {
			out = append(out, bare...)
		}
		newlines = 1
	}
	return bytes.TrimRight(out, " ")
}

// trimIndent removes a single space, which collapsing left, from the start of a block that was rendered.
func trimIndent(line []byte) []byte {
	if len(line) > 1 && line[0] == ' ' && line[1] != ' ' {
		return line[1:]
	}
	return line
}

// nest writes a list, a quotation or a definition of the page, or a plain block below maxNesting levels. TooDeep then
// says so.
func (r *renderer) nest(out *bytes.Buffer, n *html.Node) {
	r.nesting++
	if r.nesting > guard.MaxNesting {
		r.TooDeep = true
		r.block(out, n)
	} else {
		r.write(out, n)
	}
	r.nesting--
}
