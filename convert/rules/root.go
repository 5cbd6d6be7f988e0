package rules

import (
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
