package footnote

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// partAtBreaks puts footnotes that share a block, and that line breaks alone part, into blocks of their own. Old pages
// write their notes at the end of one paragraph, each on a line.
func (f *noteFinder) partAtBreaks() {
	begins := map[*html.Node]bool{}
	var starts []*html.Node
	for _, m := range f.marks {
		if target := f.target(m.id); target != nil && m.sure && f.order[target] > f.order[m.node] {
			if start := lineStart(target); start != nil && !begins[start] {
				begins[start] = true
				starts = append(starts, start)
			}
		}
	}
	for _, start := range starts {
		if !dom.OpensParent(start) || another(start.NextSibling, begins) {
			wrapLine(start, begins)
		}
	}
}

// another reports whether a line, among those that breaks begin, starts at n or at a later sibling. It is asked about
// the footnotes of one block.
func another(n *html.Node, begins map[*html.Node]bool) bool {
	for ; n != nil; n = n.NextSibling {
		if begins[n] {
			return true
		}
	}
	return false
}

// lineStart returns the node with which the line of text begins that target begins, or nil if it stands within a line,
// which begins with its block or behind a break. A bracket may stand before it. Anchors of footnotes stand at the
// beginning of their line.
func lineStart(target *html.Node) *html.Node {
	for n := target; n != nil && !dom.IsBlock(n); n = n.Parent {
		start := n
		p := n.PrevSibling
		for p != nil && p.Type == html.TextNode && strings.Trim(p.Data, " \t\n\u00a0[(") == "" {
			start, p = p, p.PrevSibling
		}
		switch {
		case dom.Is(p, atom.Br), p == nil && dom.IsBlock(n.Parent):
			return start
		case p != nil:
			return nil
		}
	}
	return nil
}

// wrapLine puts a line that a break begins, from start to the next of begins, into a block. The last one ends at a line
// that begins with bold text, or at another block. The block is a div, which then holds one footnote.
func wrapLine(start *html.Node, begins map[*html.Node]bool) {
	block := dom.NewElement(atom.Div)
	start.Parent.InsertBefore(block, start)
	for n := start; n != nil; {
		next := n.NextSibling
		dom.Remove(n)
		block.AppendChild(n)
		if n = next; begins[n] || dom.IsHeading(n) || dom.Is(n, atom.Hr, atom.Div, atom.Section, atom.Table) ||
			dom.Is(n, atom.B, atom.Strong) && dom.Is(block.LastChild, atom.Br) {
			return
		}
	}
}
