package dom

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Rows returns the rows of a table, without those of tables in its cells.
func Rows(table *html.Node) []*html.Node {
	var rows []*html.Node
	for c := table.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case Is(c, atom.Tr):
			rows = append(rows, c)
		case Is(c, atom.Thead, atom.Tbody, atom.Tfoot):
			for r := c.FirstChild; r != nil; r = r.NextSibling {
				if Is(r, atom.Tr) {
					rows = append(rows, r)
				}
			}
		}
	}
	return rows
}
