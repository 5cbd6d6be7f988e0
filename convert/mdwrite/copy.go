package mdwrite

import (
	"bytes"
	"iter"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/collapse"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// A page is rendered a piece at a time: white space is collapsed and text is escaped in a copy, since the page stays as
// it is, and a copy of a large page would take as much memory as the page. A piece is a block without blocks of its own
// that matter, a heading or a listing, or what stands between two blocks. White space does not reach from one piece
// into another.

// pieces writes the children of n, which is an element of the page or a wrapper, by copies, a piece at a time. Of a
// wrapper the children are elements of the page, too.
func (r *renderer) pieces(out *bytes.Buffer, n *html.Node) {
	run := dom.NewElement(atom.Div) // what stands between two blocks
	r.gather(out, run, n)
	r.piece(out, run)
}

// gather copies the children of n into run, and writes it where a block begins. out is where pieces are written. What
// is inline is gathered in run until a block comes.
func (r *renderer) gather(out *bytes.Buffer, run, n *html.Node) {
	var thread []*html.Node // comments side by side
	for c := range r.kept(n) {
		guard.Check(r.ctx)
		switch {
		case dom.HasAttr(c, dom.DepthAttr):
			r.piece(out, run)
			thread = append(thread, c)
			continue
		case thread != nil && !dom.HasText(dom.Around(c)) && !dom.Contains(c, atom.Img): // space between them
			continue
		}
		r.thread(out, thread)
		thread = nil
		switch {
		case custom(c): // may hold the whole page
			run.AppendChild(&html.Node{Type: html.ElementNode, Data: c.Data})
			r.gather(out, run, c)
			run.AppendChild(&html.Node{Type: html.ElementNode, Data: c.Data})
			continue
		case !dom.IsBlock(c):
			if run.FirstChild != nil || c.Type != html.TextNode || strings.Trim(c.Data, " \t\r\n") != "" {
				r.copyKept(run, c)
			}
			continue
		}
		r.piece(out, run)
		switch c.DataAtom { // 0 is a footnote
		case atom.Ul, atom.Ol, atom.Menu, atom.Dir, atom.Blockquote, atom.Dd:
			r.nest(out, c)
		case 0, atom.Dt, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Hr, atom.Pre, atom.Summary:
			r.copyKept(run, c)
			r.piece(out, run)
		default:
			r.write(out, c)
		}
	}
	r.thread(out, thread)
}

// custom reports whether n is a custom element, which is not copied as a whole: HTML does not define it, scripts do.
func custom(n *html.Node) bool {
	return n.Type == html.ElementNode && n.DataAtom == 0 && !dom.Own(n)
}

// piece writes the content of holder, a copy, and empties it. It does nothing for an empty one.
func (r *renderer) piece(out *bytes.Buffer, holder *html.Node) {
	if holder.FirstChild == nil {
		return
	}
	r.prepare(holder)
	r.asCopy(func() { r.children(out, holder) })
	r.recycle(holder)
}

// recycle takes the nodes below n, which is a copy that was written, for the next ones. A large page has millions of
// nodes, and a piece few.
func (r *renderer) recycle(n *html.Node) {
	for c := n.FirstChild; c != nil; c = n.FirstChild {
		r.recycle(c)
		n.RemoveChild(c)
		if c == r.apart {
			r.apart = nil // no list follows it
		}
		r.spare = append(r.spare, c)
	}
}

// twin returns a node like n for a copy, without parent, siblings and children. Attributes are shared with n and must
// not be changed.
func (r *renderer) twin(n *html.Node) *html.Node {
	last := len(r.spare) - 1
	if last < 0 {
		return &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Attr: n.Attr}
	}
	twin := r.spare[last]
	r.spare = r.spare[:last]
	*twin = html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Attr: n.Attr}
	return twin
}

// prepare makes a copy ready for writing. White space is collapsed as browsers do, text is escaped, and rules at the
// top of the page are dropped.
func (r *renderer) prepare(holder *html.Node) {
	if !r.begun {
		r.begun = dropRuleAtTop(holder)
	}
	collapse.Collapse(holder, &collapse.DomFuncs{IsBlockNode: dom.IsBlock, IsPreformattedNode: preformatted})
	escapeTree(r.ctx, holder)
}

// copyOf returns a copy of a block, ready for writing by asCopy. For a copy it returns the block itself. Terms are kept
// so until their definition is known.
func (r *renderer) copyOf(n *html.Node) *html.Node {
	if r.copied {
		return n
	}
	holder := dom.NewElement(atom.Div)
	r.copyKept(holder, n)
	r.prepare(holder)
	return holder.FirstChild
}

// asCopy calls write while the renderer takes elements for copies. children then writes them as they are.
func (r *renderer) asCopy(write func()) {
	was := r.copied
	r.copied = true
	write()
	r.copied = was
}

// kept yields the children of n that may be copied: those that are not dropped. It yields the children of transparent
// elements in their place. Every walk over the page goes by it, so that what is dropped is never written.
func (r *renderer) kept(n *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) { r.eachKept(n, yield) }
}

// eachKept does the work of kept. It is false when yield wants no more.
func (r *renderer) eachKept(n *html.Node, yield func(*html.Node) bool) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case r.dropped[c] || c.Type == html.CommentNode:
		case transparent(c):
			if !r.eachKept(c, yield) {
				return false
			}
		case !yield(c):
			return false
		}
	}
	return true
}

// before returns the sibling of the page before n, among those that may be copied, ignoring white space, or nil. n may
// stand in transparent elements.
func (r *renderer) before(n *html.Node) *html.Node {
	for {
		for n.PrevSibling == nil {
			if n = n.Parent; n == nil || !transparent(n) {
				return nil
			}
		}
		n = n.PrevSibling
		for transparent(n) && !r.dropped[n] && n.LastChild != nil {
			n = n.LastChild
		}
		if !r.dropped[n] && n.Type != html.CommentNode && !transparent(n) &&
			(n.Type != html.TextNode || !chars.Blank(n.Data)) {
			return n
		}
	}
}

// copyKept appends a copy of n without dropped elements to parent. Transparent elements give way to their children, and
// lists and quotations nested deeper than maxNesting become plain blocks.
func (r *renderer) copyKept(parent, n *html.Node) { r.copyNested(parent, n, r.nesting) }

// copyNested does the work of copyKept. nesting is how many lists and quotations are open around n.
func (r *renderer) copyNested(parent, n *html.Node, nesting int) {
	guard.Check(r.ctx)
	if r.dropped[n] || n.Type == html.CommentNode {
		return
	}
	if transparent(n) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			r.copyNested(parent, c, nesting)
		}
		return
	}
	twin := r.twin(n)
	if dom.Is(n, atom.Ul, atom.Ol, atom.Menu, atom.Dir, atom.Blockquote, atom.Li, atom.Dd) {
		if !dom.Is(n, atom.Li) {
			nesting++
		}
		if nesting > guard.MaxNesting {
			r.TooDeep = true
			dom.Rename(twin, atom.Div)
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.copyNested(twin, c, nesting)
	}
	parent.AppendChild(twin)
}

// transparent reports whether an element means nothing in markdown, so that its children are copied in its place. Its
// style or its meaning to machines is all that it adds.
func transparent(n *html.Node) bool {
	return dom.Is(n, atom.Span, atom.Font, atom.Big, atom.Small, atom.Ins, atom.U, atom.Mark, atom.Abbr, atom.Acronym,
		atom.Bdi, atom.Bdo, atom.Data, atom.Time, atom.Label, atom.Nobr, atom.Picture, atom.Ruby, atom.Wbr)
}

// preformatted reports whether white space below n, in a copy, counts. It must not be collapsed.
func preformatted(n *html.Node) bool {
	return dom.Is(n, atom.Pre) || n.Data == dom.MathElement || n.Data == dom.RawElement
}

// dropRuleAtTop removes from a copy the rules before all other content: they separate nothing, and the first would look
// like the start of front matter. It reports whether there is other content.
func dropRuleAtTop(doc *html.Node) (begun bool) {
	var rules []*html.Node
	for d := range doc.Descendants() {
		if dom.Is(d, atom.Hr) {
			rules = append(rules, d)
		} else if d.Type == html.TextNode && !chars.Blank(d.Data) || dom.Is(d, atom.Img) || d.Data == dom.MathElement {
			begun = true
			break
		}
	}
	for _, rule := range rules {
		dom.Remove(rule)
	}
	return begun
}
