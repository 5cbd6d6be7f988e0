package rules

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// controls are the texts, folded, of links of documentation that do something with the page.
var controls = chars.Set(`collapse collapseall expand expandall hide hideall show showall hidesource showsource toggle
	togglesource copy print`)

// sourceLinks are the texts, folded, of links of documentation that lead to the code or the text which a part of the
// page was made of.
var sourceLinks = chars.Set("source src viewsource viewcode sourcecode edit editthispage editongithub improvethisdoc")

// control reports whether a link of documentation does something with the page, leads to what it was made of, or is the
// picture of an arrow to the next page.
func control(a *html.Node) bool {
	text := dom.OneLine(a)
	if text == "" {
		return directions[linkName(a)]
	}
	if len(text) > 24 {
		return false
	}
	href := dom.Attr(a, "href")
	switch text = chars.Fold(text); {
	case controls[text]:
		return href == "" || strings.HasPrefix(href, "#")
	case sourceLinks[text]:
		return strings.Contains(href, "src") || strings.Contains(href, "source") || strings.Contains(href, "#L") ||
			toRepository(href)
	}
	return false
}

func toRepository(href string) bool {
	return strings.Contains(href, "/edit/") || strings.Contains(href, "/blob/") || strings.Contains(href, "/tree/")
}

// sourceLine reports whether n only says which file of a repository the page was made of: "Source: R/map.R".
func sourceLine(n *html.Node) bool {
	if !dom.Is(n, atom.Small, atom.P, atom.Div, atom.Span) || n.FirstChild == nil ||
		chars.Fold(n.FirstChild.Data) != "source" {
		return false
	}
	a := n.FirstChild.NextSibling
	return dom.Is(a, atom.A) && a.NextSibling == nil && toRepository(dom.Attr(a, "href"))
}

// implementation reports whether a block of code of documentation is the code of the method above it, which generators
// for Ruby show on demand. It begins with a comment that names its file and line.
func implementation(pre *html.Node) bool {
	line, _, _ := strings.Cut(strings.TrimSpace(dom.Text(pre)), "\n")
	return len(line) < 300 && strings.HasPrefix(line, "# File ") && strings.Contains(line, ", line ")
}

// foldedContents reports whether n is a list of the places on the page that can be folded up.
func foldedContents(n *html.Node) bool {
	return dom.Is(n, atom.Details) && (!dom.HasAttr(n, "open") || dom.Named(n, tocNames)) && leadsWithin(n) &&
		!dom.Contains(n, atom.Dl, atom.P, atom.Pre, atom.Table)
}

// credit reports whether n is the line in which a program signed the page.
func credit(n *html.Node) bool {
	first := dom.FirstText(n)
	return first != nil && dom.Is(n, atom.P, atom.Div, atom.Span, atom.I, atom.Small) && creditsTool(first)
}

// sideColumn reports whether n is a column of links before the column that has the text. A list of links below the
// title of the page is none.
func (p *pruner) sideColumn(n *html.Node) bool {
	m := p.all[n]
	if !dom.Is(n, atom.Div, atom.Ul, atom.Td) || m.links*4 < m.text*3 || dom.Contains(n, atom.H1, atom.Pre) ||
		belowTitle(n) {
		return false
	}
	links := 0
	for d := range n.Descendants() {
		if dom.Is(d, atom.A) {
			links++
		}
	}
	if links < 4 {
		return false
	}
	for s := n.NextSibling; s != nil; s = s.NextSibling {
		if own := p.all[s].own(); own*10 > p.own*7 && own > 2*FewWords {
			return true
		}
	}
	return false
}

// leadsWithin reports whether the items of a list below n begin with links to places on the page.
func leadsWithin(n *html.Node) bool {
	items, within := 0, 0
	for d := range n.Descendants() {
		if dom.Is(d, atom.Li) {
			items++
			if a := dom.Find(d, func(d *html.Node) bool { return dom.Is(d, atom.A) }); a != nil &&
				strings.HasPrefix(dom.Attr(a, "href"), "#") {
				within++
			}
		}
	}
	return items > 0 && within*10 >= items*9
}
