package rules

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// controls are the texts, folded, of links of documentation that do something with the page. Such links lead nowhere,
// or to a place on the page.
var controls = chars.Set(`collapse collapseall expand expandall hide hideall show showall hidesource showsource toggle
	togglesource copy print`)

// sourceLinks are the texts, folded, of links of documentation that lead to the code or the text which a part of the
// page was made of. The address must say so, too.
var sourceLinks = chars.Set("source src viewsource viewcode sourcecode edit editthispage editongithub improvethisdoc")

// control reports whether a link of documentation does something with the page, leads to what it was made of, or is the
// picture of an arrow to the next page. It is asked in documentation alone: elsewhere such words may be text.
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

// toRepository reports whether an address in documentation is one of a file in a repository, as forges write it.
func toRepository(href string) bool {
	return strings.Contains(href, "/edit/") || strings.Contains(href, "/blob/") || strings.Contains(href, "/tree/")
}
