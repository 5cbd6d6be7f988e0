package rules

import (
	"context"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// chooseRoot returns the element with the content of a page. It measures what pruning left: text outside links in an
// element, compared with all that is left. name is the rule that chose the element.
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

// linkPass adds to dropped the blocks below root that are only lists of links, such as links to other pages of the
// site, and sections that lead away from an article. It does nothing if over half of the root is links: such a page is
// itself a list.
func linkPass(ctx context.Context, root *html.Node, left *remainder, dropped map[*html.Node]bool, kind PageType) {
	whole := left.of(root)
	if whole.links*2 > whole.text {
		return
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		guard.Check(ctx)
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type != html.ElementNode || dropped[c] {
				continue
			}
			if kind != Forum && Elsewhere(c) {
				dropSection(c, root, left, dropped)
				continue
			}
			if dom.Is(c, atom.Ul, atom.Ol, atom.Div, atom.Section, atom.Table, atom.Dl) && linkBlock(c, left.of(c), whole.text) {
				dropped[c] = true
				continue
			}
			walk(c)
		}
	}
	walk(root)
}

func linkBlock(n *html.Node, m measure, total int32) bool {
	if m.links*4 <= m.text*3 || m.text*5 >= total {
		return false
	}
	links, length := 0, 0
	for d := range n.Descendants() {
		switch {
		case dom.Is(d, atom.H1, atom.Pre, atom.Img):
			return false
		case dom.Is(d, atom.A):
			links++
			length += len(chars.OneLine(dom.Text(d)))
		}
	}
	return links >= 3 && length < 40*links
}

// dropSection drops a heading and its section: its siblings up to the next heading of the same level or above, or the
// whole box if the heading comes first in it. It drops nothing that holds over a third of the root's text.
func dropSection(h, root *html.Node, left *remainder, dropped map[*html.Node]bool) {
	first := h
	for first.Parent != root && first.Parent != nil && leads(first) && left.of(first.Parent).text*3 < left.of(root).text {
		first = first.Parent
	}
	if first != h && left.of(first).text > left.of(h).text {
		dropped[first] = true
		return
	}
	section, size := []*html.Node{h}, left.of(h).text
	for s := h.NextSibling; s != nil; s = s.NextSibling {
		if dom.IsHeading(s) && s.Data <= h.Data {
			break
		}
		if s.Type == html.ElementNode {
			section, size = append(section, s), size+left.of(s).text
		}
	}
	if size*3 < left.of(root).text {
		for _, s := range section {
			dropped[s] = true
		}
	}
}

// leads reports whether no text precedes n in its parent.
func leads(n *html.Node) bool {
	for p := n.PrevSibling; p != nil; p = p.PrevSibling {
		if !chars.Blank(dom.OneLine(p)) || p.Type == html.TextNode && !chars.Blank(p.Data) {
			return false
		}
	}
	return true
}
