package rules

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/links"
	"github.com/readthru/readthru/internal/lazy"
)

// generators are how the names of programs begin that make documentation. A name with "doc" in its first word needs no
// entry. They are in lower case.
var generators = []string{
	"sphinx", "doxygen", "mdbook", "gitbook", "starlight", "vitepress", "antora", "hugo docsy", "texi",
	"makeinfo", "latex2html", "hevea", "tex4ht", "jekyll just-the-docs", "pod::", "ford ", "ghp", "honkit",
	"nikola docs", "quarto docs", "yard", "jazzy", "pkgdown", "haddock", "dokka", "epydoc", "groff", "manpage",
	"man2html", "crystal docs",
}

// manualTool reports whether the program of this name makes documentation. Programs name themselves in meta elements,
// in comments and in footers.
func manualTool(name string) bool {
	name = strings.ToLower(name)
	if first, _, _ := strings.Cut(name, " "); strings.Contains(first, "doc") {
		return true
	}
	return slices.ContainsFunc(generators, func(g string) bool { return strings.HasPrefix(name, g) })
}

// ManualSigns reports whether a page, before it is normalised, looks as documentation does: a program that makes
// documentation signed it, its head names the place of the page in a book, or it has code and headings with permalinks,
// as pages of all documentation generators have and few others. Permalinks are gone once the page is normalised.
func ManualSigns(root *html.Node) bool {
	handles, blocks := 0, 0
	for d := range root.Descendants() {
		switch {
		case d.Type == html.TextNode, d.Type == html.CommentNode:
			if creditsTool(d) {
				return true
			}
		case dom.Is(d, atom.Link):
			if bookRelations[strings.ToLower(dom.Attr(d, "rel"))] {
				return true
			}
		case dom.Is(d, atom.Pre):
			blocks++
		case dom.Is(d, atom.A) && dom.Within(d, atom.H2, atom.H3, atom.H4) && links.Permalink(d):
			handles++
		}
		if handles >= 3 && blocks > 0 {
			return true
		}
	}
	return false
}

// bookRelations are relations of HTML 4 between a page and parts of its book. Sites have contents and glossary as well.
var bookRelations = chars.Set("toc chapter section subsection appendix")

// toolCredit matches the beginning of a line in which a program signs the page. A space is put behind the line before
// it is matched.
var toolCredit = lazy.Pattern(`(?i)^(generated|created|(site )?built) (by|on|using|with) ` +
	`|^documentation generated|^produced by `)

// creditWords are the words with which such a line begins. They spare most texts the expression.
var creditWords = strings.Fields("generated created site built documentation produced")

// creditsTool reports whether n begins a short line, or is a comment, in which a program that makes documentation signs
// the page.
func creditsTool(n *html.Node) bool {
	line := strings.TrimSpace(n.Data)
	if len(line) < 8 || len(line) > 200 {
		return false
	}
	first, _, _ := strings.Cut(line, " ") // every text of a page comes here
	if !slices.ContainsFunc(creditWords, func(word string) bool { return strings.EqualFold(first, word) }) ||
		!toolCredit().MatchString(line+" ") {
		return false
	}
	if n.Type == html.TextNode {
		if !dom.Is(n.Parent, atom.Body) {
			line = dom.OneLine(n.Parent)
		}
		if n.NextSibling != nil {
			line += " " + dom.OneLine(n.NextSibling)
		}
	}
	if len(line) > 300 {
		return false
	}
	for _, word := range strings.FieldsFunc(line, chars.NotWord) {
		if !strings.EqualFold(word, "document") && manualTool(word) {
			return true
		}
	}
	return false
}

// manualLabels are the first labels of host names of documentation. They are in lower case.
var manualLabels = chars.Set("docs doc developer developers man manual manuals wiki")

// manualHost reports whether a host name begins as those of documentation do: docs.example.com.
func manualHost(host string) bool {
	label, rest, _ := strings.Cut(host, ".")
	return manualLabels[strings.ToLower(label)] && strings.Contains(rest, ".")
}
