package hidden

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// keepLabel rewrites a button whose text a reader needs: that of a heading, and that of a question whose answer the
// button folds. It reports whether it did; other buttons are controls. It renames the button to span or div, so that
// its text is treated as any other.
func keepLabel(n *html.Node) bool {
	switch {
	case dom.Within(n, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Summary, atom.Dt):
		if !dom.OpensParent(n) {
			return false // it copies the link of the heading before it
		}
		dom.Rename(n, atom.Span)
		return true
	case dom.Within(n, atom.Nav, atom.Header, atom.Footer, atom.Menu):
		return false
	case dom.Find(n, dom.IsHeading) != nil,
		(dom.HasAttr(n, "aria-expanded") || dom.HasAttr(n, "aria-controls")) && beforeProse(n):
		dom.Rename(n, atom.Div)
		return true
	}
	return false
}

// beforeProse reports whether the next element after n, or after a box with no text but that of n, begins with prose.
// It looks at three boxes around n.
func beforeProse(n *html.Node) bool {
	title := dom.OneLine(n)
	for range 3 {
		for next := n.NextSibling; next != nil; next = next.NextSibling {
			if next.Type == html.ElementNode {
				return startsProse(next)
			}
		}
		if n = n.Parent; n == nil || dom.Is(n, atom.Body) || dom.OneLine(n) != title {
			return false
		}
	}
	return false
}

// startsProse reports whether n begins with a sentence that is no link. It looks at the first few nodes only. Eight
// words are prose.
func startsProse(n *html.Node) bool {
	const words, nodes = 8, 60
	said, seen := 0, 0
	for d := range n.Descendants() {
		if seen++; seen > nodes {
			break
		}
		if d.Type == html.TextNode && !dom.Within(d, atom.A, atom.Button, atom.Script, atom.Style, atom.Svg) {
			if said += chars.Words(d.Data); said >= words {
				return true
			}
		}
	}
	return false
}
