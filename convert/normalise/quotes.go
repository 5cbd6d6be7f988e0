package normalise

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// Forums show a quotation as a box that begins with a line about who is quoted. Few of them make the box of blockquote,
// and where the line stands differs: in a box of its own, in cite, or before the quotation. What comes out is one
// blockquote, whose first paragraph is the line.

// The names that forum programs (vBulletin, phpBB, SMF, Invision, WoltLab) give to the parts of quotations.
var (
	quoteBoxes = dom.Names("bbcode-quote")                      // boxes that are quotations
	quoteHeads = dom.Names("quote-header quote-title citation") // lines that stand before their quotation
	quoteLines = dom.Names(`bbcode-postedby bbcode-block-title attribution citation quote-header quote-title quote-author
	quote-box-title title`)  // lines in their quotation
	postBoxes = dom.Names("post-content message-text") // blockquotes that are whole posts
)

// quotedNames are attributes by which boxes of quotations name who is quoted. Scripts read them, and readers do not.
// The values are not used: the line in the quotation says it, too.
var quotedNames = []string{"data-ipsquote-username", "data-author", "data-username", "data-quote"}

// maxQuotedLine is the length in bytes of a line that says who is quoted. What is longer is text of the post.
const maxQuotedLine = 300

// normaliseQuote makes n a blockquote if it is the box of a quotation, and moves who is quoted into it. A table is one
// if it looks like those of old forum programs, a box if it says so by its name or by who is quoted. Blockquotes that
// are whole posts become plain boxes. It does nothing to other elements, and need not be asked again of what it has
// made.
func normaliseQuote(n *html.Node) {
	head := boxBefore(n)
	if head != nil && (!dom.Named(head, quoteHeads) || dom.HasAttr(head, dom.SaidAttr) || !dom.HasText(head)) {
		head = nil
	}
	switch {
	case dom.Is(n, atom.Table):
		line, cell := quotedCells(n)
		if cell == nil {
			return
		}
		if label := boxBefore(n); label != nil && dom.HasClass(label, "smallfont") {
			dom.Remove(label)
		}
		dom.Empty(n)
		dom.Rename(n, atom.Blockquote)
		for _, c := range [...]*html.Node{line, cell} {
			if c != nil {
				dom.Rename(c, atom.Div)
				dom.Remove(c)
				n.AppendChild(c)
			}
		}
	case !dom.Is(n, atom.Blockquote):
		inner := lastIn(n)
		if head == nil && !dom.Named(n, quoteBoxes) && (inner == nil || !saysWho(n, inner)) {
			return
		}
		dom.Rename(n, atom.Blockquote)
		if inner != nil {
			dom.Rename(inner, atom.Div)
		}
	case dom.Named(n, postBoxes):
		dom.Rename(n, atom.Div)
		return
	}
	if head != nil {
		dom.Remove(head)
		n.InsertBefore(head, n.FirstChild)
	}
	markLine(n)
}

// boxBefore returns the element before the quotation n if no text stands between them, or nil. A forum may put who is
// quoted there.
func boxBefore(n *html.Node) *html.Node {
	p := n.PrevSibling
	for p != nil && (p.Type == html.CommentNode || p.Type == html.TextNode && chars.Blank(p.Data)) {
		p = p.PrevSibling
	}
	if p == nil || p.Type != html.ElementNode {
		return nil
	}
	return p
}

// quotedCells returns the cell of a quotation in the table that vBulletin 3 or phpBB 2 makes of it, and the one that
// says who is quoted if that is another. The quotation is nil if the table is none: it has a label above it, a class,
// or begins with who is quoted. Both programs make a table for each quotation, one cell wide.
func quotedCells(table *html.Node) (line, cell *html.Node) {
	rows := dom.Rows(table)
	if len(rows) == 0 || len(rows) > 2 {
		return nil, nil
	}
	cell = dom.FirstElement(rows[len(rows)-1])
	if !dom.Is(cell, atom.Td) || cell != dom.LastElement(cell.Parent) {
		return nil, nil
	}
	if len(rows) == 2 {
		if line = dom.FirstElement(rows[0]); dom.HasClass(cell, "quote") && line != nil && line == dom.LastElement(rows[0]) {
			return line, cell
		}
		return nil, nil
	}
	if !dom.HasClass(cell, "alt2") {
		return nil, nil
	}
	if label := boxBefore(table); label != nil && dom.HasClass(label, "smallfont") && len(dom.OneLine(label)) < 20 {
		return nil, cell
	}
	if first := dom.FirstElement(cell); dom.Is(first, atom.Div) && dom.Contains(first, atom.Strong) &&
		dom.Is(dom.LastElement(cell), atom.Div) && dom.LastElement(cell) != first {
		return nil, cell
	}
	return nil, nil
}

// lastIn returns the blockquote that ends a box of a forum, at most four boxes in, or nil. Who is quoted stands before
// it.
func lastIn(box *html.Node) *html.Node {
	for range 4 {
		c := box.LastChild
		for c != nil && (c.Type == html.TextNode && chars.Blank(c.Data) || c.Type == html.CommentNode) {
			c = c.PrevSibling
		}
		if dom.Is(c, atom.Blockquote) {
			return c
		}
		if !dom.Is(c, atom.Div, atom.Aside) {
			return nil
		}
		box = c
	}
	return nil
}

// saysWho reports whether what a box says before its quotation is who is quoted. That is a short text without a
// heading: the box has an attribute of quotedNames, or the text is a cite or ends with a colon.
func saysWho(box, quote *html.Node) bool {
	said := 0
	for d := range box.Descendants() {
		if d == quote {
			break
		}
		if d.Type == html.TextNode && !chars.Blank(d.Data) {
			said += len(d.Data)
		}
		if said > maxQuotedLine || dom.IsHeading(d) {
			return false
		}
	}
	for _, name := range quotedNames {
		if said > 0 && dom.HasAttr(box, name) {
			return true
		}
	}
	line := quotedLine(box)
	return dom.Is(line, atom.Cite) || line != nil && strings.HasSuffix(dom.OneLine(line), ":")
}

// quotedLine returns the first of several boxes in a quotation, or the element before its text, or nil. It looks at
// most six boxes in. It is nil where the quotation begins with plain text, or with another quotation.
func quotedLine(n *html.Node) *html.Node {
	for range 6 {
		c := n.FirstChild
		for c != nil && !dom.Is(c, atom.Blockquote) && (c.Type != html.TextNode || chars.Blank(c.Data)) && !dom.HasText(c) {
			c = c.NextSibling
		}
		if c == nil || c.Type != html.ElementNode || dom.Is(c, atom.Blockquote) { // that is a quotation of its own
			return nil
		}
		for s := c.NextSibling; s != nil; s = s.NextSibling {
			if s.Type == html.TextNode && !chars.Blank(s.Data) || s.Type == html.ElementNode && dom.HasText(s) {
				return c
			}
		}
		if !dom.Is(c, atom.Div, atom.Aside) {
			return nil
		}
		n = c
	}
	return nil
}

// markLine makes a paragraph of the line about who is quoted, without pictures and links that only show an arrow. The
// renderer and package judge know it by dom.SaidAttr. A line is marked if it is in a box with such a name, or in cite.
func markLine(quote *html.Node) {
	line := quotedLine(quote)
	if line == nil || len(dom.OneLine(line)) > maxQuotedLine {
		return
	}
	if box := dom.Is(line, atom.Div, atom.P) && (dom.Named(line, quoteLines) || dom.HasClass(line.Parent, "alt2")); !box &&
		!dom.Is(line, atom.Cite) {
		return
	}
	for _, d := range dom.FindAll(line, func(d *html.Node) bool { return dom.Is(d, atom.Img, atom.A) }) {
		if dom.Is(d, atom.Img) || chars.Fold(dom.OneLine(d)) == "" {
			dom.Remove(d)
		}
	}
	for line.PrevSibling != nil { // an icon
		dom.Remove(line.PrevSibling)
	}
	dom.Rename(line, atom.P)
	dom.SetAttr(line, dom.SaidAttr, "")
}
