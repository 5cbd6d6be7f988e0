package rules

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// chooseRoot returns the element with the content of a page. It measures what pruning left: text outside links in an
// element, compared with all that is left. name is the rule that chose the element. Candidates are tried in order, and
// an article within one that holds three quarters of it is taken instead. Without any the body is the root.
func chooseRoot(body *html.Node, left *remainder) (root *html.Node, name string) {
	total := left.of(body).own()
	largest := func(match func(*html.Node) bool) *html.Node {
		var best *html.Node
		for d := range left.below(body) {
			if match(d) && (best == nil || left.of(d).own() > left.of(best).own()) {
				best = d
			}
		}
		return best
	}
	for _, candidate := range []struct {
		name  string
		share int32 // percent of what is left
		match func(*html.Node) bool
	}{
		{"article-body", 60, func(n *html.Node) bool { return dom.Attr(n, "itemprop") == "articleBody" }},
		{"main", 40, func(n *html.Node) bool { return dom.Is(n, atom.Main) || dom.Attr(n, "role") == "main" }},
		{"article", 55, func(n *html.Node) bool { return dom.Is(n, atom.Article) }},
	} {
		best := largest(candidate.match)
		if best == nil || left.of(best).own()*100 < total*candidate.share || left.of(best).text == 0 {
			continue
		}
		if !dom.Is(best, atom.Article) {
			inner := (*html.Node)(nil)
			for d := range left.below(best) {
				if dom.Is(d, atom.Article) && left.of(d).own()*4 >= left.of(best).own()*3 {
					inner = d
					break
				}
			}
			if inner != nil {
				return inner, candidate.name + ">article"
			}
		}
		return best, candidate.name
	}
	return body, "body"
}

// mostAroundTitle is how many letters a box may have beside the title and the content for the title's sake. A line with
// the version or the authors has so many.
const mostAroundTitle = 30

// withTitle returns the box around root that holds the title of the page, if root has none and the box has hardly any
// other text; otherwise it returns root. A generator may set the title outside of the box that it calls content.
func withTitle(root, body *html.Node, left *remainder) *html.Node {
	for box := root; ; box = box.Parent {
		h := dom.Find(box, func(d *html.Node) bool { return dom.Is(d, atom.H1) && left.of(d).text > 0 })
		switch {
		case h != nil && left.of(box).text-left.of(root).text <= left.of(h).text+mostAroundTitle:
			return box
		case h != nil, box == body:
			return root
		}
	}
}

// manualRoots are the classes of the boxes in which documentation generators put content. A box counts only if it holds
// most of what is left of the page.
var manualRoots = strings.Fields(`contents context refentry chapter appendix preface theme-doc-markdown md-
	content__inner markdown-body markdown-section sl-markdown-content vp-doc theme-
	default-content td-content rst-content nextra-content mw-parser-output ltx_document
	documentation-content doc-content docs-content docmaincontent docsmarkdown
	content__default devsite-article-body refpage`)

// manualRoot returns the box of a documentation generator below root if it holds nearly all text of root outside links;
// otherwise it returns root. name is the rule that chose root; the result's name says that a box was taken. Nearly all
// is 85 in a hundred.
func manualRoot(root *html.Node, name string, left *remainder) (*html.Node, string) {
	whole := left.of(root).own()
	for d := range left.below(root) {
		if left.of(d).own()*20 < whole*17 || whole == 0 {
			continue
		}
		if dom.HasClass(d, manualRoots...) {
			return d, name + ">box"
		}
	}
	return root, name
}
