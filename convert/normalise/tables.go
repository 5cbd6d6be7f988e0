package normalise

import (
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// normaliseTable leaves a table of data unchanged, splits a table at headings between its rows, and turns a layout
// table into plain blocks. Tables in the cells of a table of data become lines of these cells, because a table of
// markdown has no others in it. A foot that stands before the rows, as HTML 4 wanted it, goes behind them.
func normaliseTable(n *html.Node) {
	if foot := dom.Find(n, func(d *html.Node) bool { return dom.Is(d, atom.Tfoot) && d.Parent == n }); foot != nil {
		dom.Remove(foot)
		n.AppendChild(foot)
	}
	switch {
	case layout(n):
		unwrapTable(n)
	case headedRows(n):
		splitTable(n)
	default:
		for _, inner := range dom.FindAll(n, func(d *html.Node) bool { return dom.Is(d, atom.Table) }) {
			flattenTable(inner)
		}
	}
}

// longestInner is the most bytes of text in a table that is part of a cell of data. A longer one is content of its own,
// and the outer table only arranges it.
const longestInner = 200

// arranges reports whether a table that holds tables only arranges them: it has no head, or they are more than a part
// of a cell. A table of fewer than three rows with tables in it always does.
func arranges(n *html.Node) bool {
	rows := dom.Rows(n)
	if len(rows) < 3 {
		return true
	}
	heads := 0
	for c := rows[0].FirstChild; c != nil; c = c.NextSibling {
		switch {
		case dom.Is(c, atom.Th) && dom.HasText(c) && !dom.Contains(c, atom.Table):
			heads++
		case dom.Is(c, atom.Td):
			return true
		}
	}
	return heads < 2 || dom.Find(n, func(d *html.Node) bool {
		return dom.Is(d, atom.Table) && (len(dom.OneLine(d)) > longestInner || dom.Contains(d, atom.Table))
	}) != nil
}

// flattenTable makes a line of each row of a table in a cell. Its cells stand with commas between them, and paragraphs
// of a cell with spaces.
func flattenTable(n *html.Node) {
	for _, row := range dom.Rows(n) {
		var cells []*html.Node
		for c := row.FirstChild; c != nil; c = c.NextSibling {
			if dom.Is(c, atom.Td, atom.Th) && dom.HasText(c) {
				cells = append(cells, c)
			}
		}
		for i, c := range cells {
			if i > 0 {
				row.InsertBefore(dom.NewText(", "), c)
			}
			dom.Rename(c, atom.Span)
			for _, p := range dom.FindAll(c, func(d *html.Node) bool { return dom.Is(d, atom.P) }) {
				if dom.Rename(p, atom.Span); p.NextSibling != nil {
					p.AppendChild(dom.NewText(" "))
				}
			}
		}
		if dom.Is(row.Parent, atom.Thead, atom.Tbody, atom.Tfoot) {
			dom.Rename(row.Parent, atom.Div)
		}
		dom.Rename(row, atom.Div)
	}
	dom.Rename(n, atom.Div)
}

// layout reports whether a table only arranges its content: it says so, it has one column or one row, or a cell holds
// something that a cell of data never holds. Old pages are made of such tables. A row of its own for each heading is no
// sign of it: those tables are split.
func layout(n *html.Node) bool {
	if role := dom.Attr(n, "role"); role == "presentation" || role == "none" {
		return true
	}
	rows, columns := 0, 0
	for _, row := range dom.Rows(n) {
		cells := 0
		for c := row.FirstChild; c != nil; c = c.NextSibling {
			if dom.Is(c, atom.Td, atom.Th) {
				cells++
			}
		}
		if cells > 0 {
			rows++
		}
		columns = max(columns, cells)
	}
	if columns <= 1 || dom.Contains(n, atom.Table) && arranges(n) {
		return true
	}
	if rows == 1 {
		return !dom.Contains(n, atom.Th)
	}
	alone := map[*html.Node]bool{} // headings that are all of their row
	for _, row := range dom.Rows(n) {
		alone[rowHeading(row)] = true
	}
	return dom.Find(n, func(d *html.Node) bool {
		return dom.Is(d, atom.Article, atom.Section, atom.Form) || dom.Is(d, atom.H1, atom.H2) && !alone[d]
	}) != nil
}

// rowHeading returns the heading of a row of a table that has no other text, or nil. The heading may stand in any of
// its cells.
func rowHeading(row *html.Node) *html.Node {
	var found *html.Node
	for c := row.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || !dom.HasText(c) {
			continue
		}
		h := dom.Find(c, dom.IsHeading)
		if found != nil || h == nil || len(dom.OneLine(h)) != len(dom.OneLine(c)) {
			return nil
		}
		found = h
	}
	return found
}

// headedRows reports whether a table without a header of its own has rows that are headings. A header row says that the
// table is one, whatever follows.
func headedRows(n *html.Node) bool {
	if dom.Find(n, func(d *html.Node) bool { return dom.Is(d, atom.Thead, atom.Th) && dom.HasText(d) }) != nil {
		return false
	}
	return slices.ContainsFunc(dom.Rows(n), func(row *html.Node) bool { return rowHeading(row) != nil })
}

// splitTable turns a table into a box with its headings and the tables between them. A heading in a cell of markdown
// would be none. The caption stands first, as a paragraph.
func splitTable(n *html.Node) {
	rows := dom.Rows(n)
	dom.Rename(n, atom.Div)
	caption := dom.Find(n, func(d *html.Node) bool { return dom.Is(d, atom.Caption) })
	dom.Empty(n)
	if caption != nil {
		dom.Rename(caption, atom.P)
		n.AppendChild(caption)
	}
	var table *html.Node
	for _, row := range rows {
		if h := rowHeading(row); h != nil {
			dom.Remove(h)
			n.AppendChild(h)
			table = nil
			continue
		}
		if table == nil {
			table = dom.NewElement(atom.Table)
			n.AppendChild(table)
		}
		dom.Remove(row)
		table.AppendChild(row)
	}
}

// unwrapTable turns the cells of a table into blocks; those of one row without blocks in it become one line. markThread
// does so with tables of comments, too.
func unwrapTable(n *html.Node) {
	rows := dom.Rows(n)
	for _, row := range rows {
		oneLine := len(rows) == 1 && dom.Find(row, func(d *html.Node) bool {
			return dom.IsBlock(d) && !dom.Is(d, atom.Td) || dom.Is(d, atom.Br, atom.Img)
		}) == nil
		for c := row.FirstChild; c != nil; c = c.NextSibling {
			switch {
			case !dom.Is(c, atom.Td, atom.Th):
			case oneLine:
				dom.Rename(c, atom.Span)
				row.InsertBefore(dom.NewText(" "), c)
			default:
				dom.Rename(c, atom.Div)
			}
		}
		if dom.Is(row.Parent, atom.Thead, atom.Tbody, atom.Tfoot) {
			dom.Rename(row.Parent, atom.Div)
		}
		dom.Rename(row, atom.Div)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if dom.Is(c, atom.Caption) {
			dom.Rename(c, atom.P)
		}
	}
	dom.Rename(n, atom.Div)
}
