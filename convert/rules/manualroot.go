package rules

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/dom"
)

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
