package rules

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// elsewhereHeadings are the headings of lists of other pages below an article.
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

// Elsewhere reports whether n is a heading that leads away from an article.
func Elsewhere(n *html.Node) bool {
	if !dom.Is(n, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6) {
		return false
	}
	text := chars.Fold(dom.OneLine(n))
	return len(text) < 40 && elsewhereHeadings[text]
}

// elsewhereBeginnings begin headings that lead away from news, if links follow.
var elsewhereBeginnings = []string{
	"related ", "more from ", "more on ", "more about ", "more stories ", "most read ", "most popular ", "latest ",
	"read more ", "recommended ", "trending ", "popular ", "recent ", "mehr zu", "lesen sie ", "lire aussi",
	"sur le même ", "lea también", "leia também", "leggi anche",
}

// LeadsElsewhere reports whether a heading of a news page leads away from it if most of what it heads is links.
func LeadsElsewhere(heading *html.Node) bool {
	text := strings.ToLower(dom.OneLine(heading))
	return len(text) < 60 && slices.ContainsFunc(elsewhereBeginnings, func(beginning string) bool {
		return strings.HasPrefix(text, beginning)
	})
}

// OffersNewsletter reports whether a heading asks its reader to take a newsletter, and is not about one.
func OffersNewsletter(heading string) bool {
	heading = strings.ToLower(heading)
	if !strings.Contains(heading, "newsletter") || len(heading) > 100 {
		return false
	}
	for _, asks := range []string{"sign up", "subscribe", "join ", "get ", "our ", "your ", "free ", "abonn", "anmeld"} {
		if strings.Contains(heading, asks) {
			return true
		}
	}
	return len(heading) <= len("newsletters:")
}
