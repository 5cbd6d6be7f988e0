package rules

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// directions are the texts, folded, of links that lead to the pages around a page of a manual. They are English, as
// generators of manuals write them.
var directions = chars.Set(`next nextpage nextchapter nextsection nexttopic prev previous previouspage previouschapter
	previoussection previoustopic up top home contents toc tableofcontents index first last back forward start backtotop
	gotoindex page generalindex`)

// turnRelations are the relations that such links state. They are values of rel.
var turnRelations = chars.Set("next prev previous up start home contents index top first last toc")

// mostBesideTurns is the number of letters and digits that may stand beside the links of a bar, such as "Goto Chapter".
// More is text.
const mostBesideTurns = 20

// turnsPages reports whether n is a bar of links to the pages around this one: two links or more lead into directions
// and, apart from numbered ones, hardly anything else stands there. The title of a page may stand for a link's
// direction or after it. Five numbered links count as one that leads into a direction, and one to the page in another
// language as two. Code or a heading in it say that it is content.
func turnsPages(n *html.Node) bool {
	if !dom.Is(n, atom.Div, atom.P, atom.Table, atom.Ul, atom.Ol, atom.Dl, atom.Blockquote, atom.Span, atom.Section,
		atom.Header) {
		return false
	}
	turns, numbers, others, beside := 0, 0, 0, 0
	label := "" // the text before a link
	for d := range n.Descendants() {
		switch {
		case dom.Within(d, atom.A):
		case d.Type == html.TextNode:
			if label = chars.Fold(d.Data); !directions[label] {
				beside += len(label)
			}
		case dom.Is(d, atom.A) && dom.Attr(d, "href") != "":
			switch text := linkName(d); {
			case dom.HasAttr(d, "hreflang") && len(text) < 12:
				turns += 2
			case directions[text] || directions[label] || turnRelations[strings.ToLower(dom.Attr(d, "rel"))]:
				turns++
			case len(text) > 1 && strings.Trim(text, "0123456789") != "":
				others++
			default:
				if numbers++; numbers == 5 {
					turns++
				}
			}
			label = ""
		case dom.Is(d, atom.Pre, atom.Code, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6):
			return false
		}
		if beside > mostBesideTurns || others > turns+1 {
			return false
		}
	}
	return turns >= 2 && others <= turns
}

// linkName returns the text of a link, which may turn to another page, or else the alternative text of its image, as
// [chars.Fold] does. Arrows are often pictures.
func linkName(a *html.Node) string {
	text := chars.Fold(dom.Text(a))
	if img := dom.Find(a, func(d *html.Node) bool { return dom.Is(d, atom.Img) }); text == "" && img != nil {
		text = chars.Fold(dom.Attr(img, "alt"))
	}
	return text
}
