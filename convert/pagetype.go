package convert

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/page"
)

// pageType is what a page is for. It changes rules and never loses text.
type pageType string

const (
	article       pageType = "article"
	documentation pageType = "documentation"
	forum         pageType = "forum"
	product       pageType = "product"
	listing       pageType = "listing"
	service       pageType = "service"
)

// generators are marks of documentation generators: the content of meta generator, in lower case, begins with one.
var generators = []string{
	"sphinx", "mkdocs", "docusaurus", "rustdoc", "mdbook", "doxygen", "docutils", "asciidoctor", "docbook", "gitbook", "starlight", "vitepress", "javadoc", "antora", "hugo docsy", "gtk-doc", "texinfo",
	"makeinfo", "jekyll just-the-docs", "pdoc", "pod::", "ford ", "ghp", "honkit", "docsify", "nikola docs", "quarto docs",
}

// documentationClasses stand on body or root of documentation whose generator does not name itself.
var documentationClasses = []string{"rst-content", "theme-doc-markdown", "md-content", "rustdoc", "refentry", "sphinxsidebar", "navheader", "DocPageMain", "markdown-section", "docs-wrapper", "memdoc", "documentwrapper", "module-content"}

// forumMarks are words of hosts, paths and the body's names that say forum.
var forumMarks = set("forum forums thread threads topic topics discussion discussions discourse phpbb vbulletin xenforo question questions answer answers showthread viewtopic t community reddit")

// typeOf decides the type of a page from its address, metadata and elements.
func typeOf(ctx context.Context, u *url.URL, meta page.Meta, generator string, body *html.Node, all map[*html.Node]measure) pageType {
	generator = strings.ToLower(generator)
	for _, g := range generators {
		if strings.HasPrefix(generator, g) {
			return documentation
		}
	}
	if u != nil && page.Classify(u) == page.Documentation {
		return documentation
	}
	articles, posts, isProduct := 0, 0, strings.HasPrefix(meta["og:type"], "product")
	docs := false
	for d := range body.Descendants() {
		check(ctx)
		if d.Type != html.ElementNode || len(d.Attr) == 0 {
			if is(d, atom.Article) {
				articles++
			}
			continue
		}
		docs = docs || hasClass(d, documentationClasses...)
		if is(d, atom.Article) {
			articles++
		}
		if attr(d, "itemprop") == "comment" {
			posts++
		}
		if t := attr(d, "itemtype"); strings.HasSuffix(t, "schema.org/Product") {
			isProduct = true
		} else if strings.HasSuffix(t, "schema.org/DiscussionForumPosting") || strings.HasSuffix(t, "schema.org/QAPage") || strings.HasSuffix(t, "schema.org/Question") {
			posts += 2
		}
	}
	if docs {
		return documentation
	}
	if posts > 1 || forumNames(u, body) {
		return forum
	}
	m := all[body]
	switch {
	case isProduct:
		return product
	case articles == 1 || meta["og:type"] == "article":
		return article
	case m.links*2 > m.text:
		return listing
	}
	return service
}

func forumNames(u *url.URL, body *html.Node) bool {
	names := attr(body, "class") + " " + attr(body, "id")
	if u != nil {
		names += " " + u.Hostname() + " " + u.Path
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(names), func(r rune) bool { return strings.ContainsRune(" /.-_", r) }) {
		if forumMarks[word] {
			return true
		}
	}
	return false
}
