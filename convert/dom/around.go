package dom

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Around returns a new div whose only child is a copy of c, with the children of c. The tree of c stays as it is.
func Around(c *html.Node) *html.Node {
	twin := *c
	twin.Parent, twin.PrevSibling, twin.NextSibling = nil, nil, nil
	return &html.Node{Type: html.ElementNode, DataAtom: atom.Div, Data: "div", FirstChild: &twin, LastChild: &twin}
}
