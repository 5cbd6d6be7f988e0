package rules

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// elsewhereHeadings are the headings of lists of other pages below an article. They are in the form of [chars.Fold].
var elsewhereHeadings = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.SplitSeq(`Related Articles,Related Stories,Related Posts,Related Content,
		Related Topics,Related News,Related Links,
		Related,More Stories,More News,More from this author,More on this,More on this topic,More to read,
		More like this,You may also like,You might also like,You may like,Read next,Read more,Up next,
		What to read next,Recommended,Recommended for you,Recommended stories,Recommended reading,Trending,
		Trending News,Trending now,Most read,Most popular,Popular Posts,Popular Stories,Latest news,Latest stories,
		Latest posts,Recent posts,Tags,Filed under,Share this,Share this article,Share this story,Share,Follow us,
		Newsletter,Sign up for our newsletter,Subscribe,Comments,Leave a comment,Leave a reply,Post a comment,
		About the author,Editors' picks,Around the web,From the web,Sponsored,Promoted stories,
		More stories like this,Customers also bought,Related products,Similar products,Recently viewed,
		Customers who viewed this item also viewed`,
		",") {
		m[chars.Fold(name)] = true
	}
	return m
}()

// Elsewhere reports whether n is a heading that leads away from an article. A heading of the first level never does.
func Elsewhere(n *html.Node) bool {
	if !dom.Is(n, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6) {
		return false
	}
	text := chars.Fold(dom.OneLine(n))
	return len(text) < 40 && elsewhereHeadings[text]
}
