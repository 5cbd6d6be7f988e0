package judge

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// Marks of the elements around a block. A mark holds for all that an element contains, so that "in the navigation" is
// known of each block. Each is a feature; their order is that of the model.
const (
	inMain = 1 << iota
	inArticle
	inNav
	inHeader
	inFooter
	inAside
	inList
	inCell
	inForm
	inFigure
	inQuote
	inDetails
	inSection
	inLink
)

// compare counts, for every box, its siblings of the same shape. Boxes without words do not count. It is called when
// all boxes have their words.
func (t *outline) compare() {
	type key struct {
		parent int32
		shape  uint32
	}
	alike := map[key]int32{}
	for i := range t.boxes {
		if b := &t.boxes[i]; b.words > 0 {
			alike[key{b.parent, b.shape}]++
		}
	}
	for i := range t.boxes {
		if b := &t.boxes[i]; b.words > 0 {
			b.alike = alike[key{b.parent, b.shape}]
		}
	}
}

// markOf returns, to compare siblings, the mark that an element sets for what it contains: by its role first, then by
// what element it is; 0 for most.
func markOf(n *html.Node) uint32 {
	switch dom.Attr(n, "role") {
	case "main":
		return inMain
	case "navigation":
		return inNav
	case "article":
		return inArticle
	case "contentinfo":
		return inFooter
	case "banner":
		return inHeader
	case "complementary":
		return inAside
	}
	switch n.DataAtom {
	case atom.Main:
		return inMain
	case atom.Article:
		return inArticle
	case atom.Nav:
		return inNav
	case atom.Header:
		return inHeader
	case atom.Footer:
		return inFooter
	case atom.Aside:
		return inAside
	case atom.Ul, atom.Ol, atom.Dl:
		return inList
	case atom.Td, atom.Th:
		return inCell
	case atom.Form, atom.Label, atom.Fieldset:
		return inForm
	case atom.Figure, atom.Figcaption:
		return inFigure
	case atom.Blockquote:
		return inQuote
	case atom.Details, atom.Summary:
		return inDetails
	case atom.Section:
		return inSection
	case atom.A:
		return inLink
	}
	return 0
}
