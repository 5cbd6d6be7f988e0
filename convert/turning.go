package convert

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/convert/chars"
	"readthru/convert/dom"
)

// directions are the texts, folded, of links that lead to the pages around a page of a manual.
var directions = set(`next nextpage nextchapter nextsection nexttopic prev previous previouspage previouschapter
	previoussection previoustopic up top home contents toc tableofcontents index first last back forward start backtotop
	gotoindex page generalindex`)

// turnRelations are the relations that such links state.
var turnRelations = set("next prev previous up start home contents index top first last toc")

// mostBesideTurns is the number of letters and digits that may stand beside the links of a bar, such as "Goto Chapter".
const mostBesideTurns = 20

// turnsPages reports whether n is a bar of links to the pages around this one: two links or more lead into directions
// and, apart from numbered ones, hardly anything else stands there. The title of a page may stand for a link's
// direction or after it. Five numbered links count as one that leads into a direction.
func turnsPages(n *html.Node) bool {
	if !dom.Is(n, atom.Div, atom.P, atom.Table, atom.Ul, atom.Ol, atom.Dl, atom.Blockquote, atom.Span, atom.Section,
		atom.Header) {
		return false
	}
	turns, numbers, others, beside, nodes := 0, 0, 0, 0, 0
	label := "" // the text before a link
	for d := n.FirstChild; d != nil; {
		if nodes++; nodes > 2000 {
			return false
		}
		inside := d.FirstChild
		switch {
		case d.Type == html.TextNode:
			if label = fold(d.Data); !directions[label] {
				beside += len(label)
			}
		case dom.Is(d, atom.A) && dom.Attr(d, "href") != "":
			inside = nil
			switch text := fold(linkName(d)); {
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
		if inside != nil {
			d = inside
			continue
		}
		for d != n && d.NextSibling == nil {
			d = d.Parent
		}
		if d == n {
			break
		}
		d = d.NextSibling
	}
	return turns >= 2 && others <= turns
}

// linkName returns the text of a link, or the alternative text of its images, without arrows.
func linkName(a *html.Node) string {
	text := chars.OneLine(dom.Text(a))
	if strings.ContainsFunc(text, unicode.IsLetter) || strings.ContainsFunc(text, unicode.IsDigit) {
		return text
	}
	for d := range a.Descendants() {
		if dom.Is(d, atom.Img) {
			text += dom.Attr(d, "alt")
		}
	}
	return text
}
