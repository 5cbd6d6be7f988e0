package links

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// permalinks name the classes of links that point at their own heading. Generators of documentation give them.
var permalinks = []string{
	"headerlink", "hash-link", "heading-anchor", "anchor-link", "permalink", "doc-anchor", "anchor", "header-anchor",
	"heading-link", "headinglink", "sl-anchor-link", "viewcode-link", "anchorjs-link",
	"direct-link", "self-link", "srclink", "src", "headline-anchor", "toc-backref-link", "octicon-link", "deep-link",
	"copy-link",
}

// Permalink reports whether a link only points at the heading beside it and is not text of the page. It goes by the
// sign that it shows, by its class, or by its title.
func Permalink(n *html.Node) bool {
	marked := dom.HasClass(n, permalinks...)
	if !marked && !strings.Contains(dom.Attr(n, "href"), "#") {
		return false
	}
	text := chars.OneLine(dom.Text(n))
	switch text {
	case "¶", "§", "#", "🔗", "¶¶", "∞", "⚓", "⚓︎", "◆", "Anchor", "Permalink", "Link to this heading", "Copy link":
		return marked || text == "#" && strings.HasPrefix(dom.Attr(n, "href"), "#") ||
			dom.Within(n, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Dt, atom.Summary, atom.Caption)
	}
	if text == "" && strings.EqualFold(dom.Attr(n, "title"), "permalink") || strings.HasPrefix(text, "Section titled ") {
		return true
	}
	return marked && (text == "" || len(text) <= 8 && !dom.Within(n, atom.P, atom.Li, atom.Td) && !wholeHeading(n)) &&
		!dom.Contains(n, atom.Img)
}

// EditsSection reports whether n holds only the links by which readers of a wiki edit the section of a heading, as in
// "[edit]". Skins that drop the class keep the brackets. n is the element around those links.
func EditsSection(n *html.Node) bool {
	const most = 80 // bytes of its text, in any language
	if dom.HasClass(n, "mw-editsection", "mw-editsection-like", "editsection") {
		return len(chars.OneLine(dom.Text(n))) <= most
	}
	if first := dom.FirstText(n); first == nil || !strings.HasPrefix(strings.TrimSpace(first.Data), "[") {
		return false
	}
	links := dom.FindAll(n, func(d *html.Node) bool { return dom.Is(d, atom.A) })
	for _, a := range links {
		href := dom.Attr(a, "href")
		if !strings.Contains(href, "action=edit") || !strings.Contains(href, "section=") {
			return false
		}
	}
	text := chars.OneLine(dom.Text(n))
	return len(links) > 0 && len(text) <= most && strings.HasSuffix(text, "]")
}

// SelfLink reports whether the text of a heading is one link to that heading, or back to its entry in the contents, as
// docutils makes them. It then says no more than the heading.
func SelfLink(n *html.Node) bool {
	id, ok := strings.CutPrefix(dom.Attr(n, "href"), "#")
	if !ok || id == "" {
		return false
	}
	h := headingAround(n)
	if h == nil || dom.Attr(n, "id") != id && dom.Attr(h, "id") != id &&
		(h.Parent == nil || dom.Attr(h.Parent, "id") != id) && dom.Attr(n, "role") != "doc-backlink" &&
		!dom.HasClass(n, "toc-backref") {
		return false
	}
	return wholeHeading(n)
}

// wholeHeading reports whether the text of a heading is that of a link. It compares them on one line, without the signs
// of permalinks.
func wholeHeading(n *html.Node) bool {
	h := headingAround(n)
	bare := func(n *html.Node) string { return strings.Trim(chars.OneLine(dom.Text(n)), "¶§#🔗∞⚓◆ ") }
	return h != nil && bare(n) == bare(h)
}

// headingAround returns the heading that a permalink or another link lies in, or nil.
func headingAround(n *html.Node) *html.Node {
	h := n.Parent
	for h != nil && !dom.IsHeading(h) {
		h = h.Parent
	}
	return h
}

// LiftHeading moves a link around a heading into the heading, because a markdown link cannot hold blocks. What else
// stands in the link is no longer part of it.
func LiftHeading(n *html.Node) {
	h := dom.Find(n, dom.IsHeading)
	if h == nil || n.Parent == nil {
		return
	}
	href := dom.Attr(n, "href")
	if href == "" || dom.Contains(h, atom.A) {
		dom.Rename(n, atom.Div)
		return
	}
	link := dom.NewElement(atom.A)
	link.Attr = []html.Attribute{{Key: "href", Val: href}}
	dom.MoveChildren(h, link)
	h.AppendChild(link)
	dom.Rename(n, atom.Div)
	n.Attr = nil
}
