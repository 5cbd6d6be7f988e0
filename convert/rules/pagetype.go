package rules

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/page"
)

// PageType is the purpose of a page. It selects rules and never loses text. It is told in results, and is a feature of
// the model.
type PageType string

// The purposes that rules know. A page that is none of the others is an article.
const (
	Article       PageType = "article"
	Documentation PageType = "documentation"
	Forum         PageType = "forum"
	Product       PageType = "product"
	Listing       PageType = "listing"
	Service       PageType = "service"
)

// documentationClasses are classes of the body or root of documentation whose generator does not name itself.
var documentationClasses = []string{
	"rst-content", "theme-doc-markdown", "md-content", "rustdoc", "refentry",
	"sphinxsidebar", "navheader", "DocPageMain", "markdown-section", "docs-wrapper", "memdoc", "documentwrapper",
	"module-content",
}

// ForumMarks are words in hosts, paths and names of the body that mean a forum. Package judge asks it for the names of
// boxes.
var ForumMarks = chars.Set("forum forums thread threads topic topics discussion discussions discourse phpbb " +
	"vbulletin xenforo question questions answer answers showthread viewtopic viewforum community reddit boards")

// TypeOf decides the type of a page from its address, metadata and elements. manual is what [ManualSigns] said of it
// before it was normalised. body is normalised. u may be nil.
func TypeOf(ctx context.Context, u *url.URL, h *head.Head, body *html.Node, manual bool) PageType {
	t := typeOf(ctx, u, h, body)
	if manual && (t == Service || t == Listing || t == Article && h.Meta["og:type"] != "article") {
		return Documentation
	}
	return t
}

// typeOf decides the type of a page from its address, metadata and elements. Documentation comes first, then forums,
// products, articles; lists have more links than text.
func typeOf(ctx context.Context, u *url.URL, h *head.Head, body *html.Node) PageType {
	ogType := h.Meta["og:type"]
	if manualTool(h.Generator) {
		return Documentation
	}
	if u != nil && (page.Classify(u) == page.Documentation || manualHost(u.Hostname())) {
		return Documentation
	}
	articles, posts, isProduct := 0, 0, h.Sells || strings.HasPrefix(ogType, "product")
	docs, asked := false, false
	said := int32(0) // text of comments that answer one another
	for d := range body.Descendants() {
		guard.Check(ctx)
		if d.Type != html.ElementNode || len(d.Attr) == 0 {
			if dom.Is(d, atom.Article) {
				articles++
			}
			continue
		}
		docs = docs || dom.HasClass(d, documentationClasses...)
		if dom.Is(d, atom.Article) {
			articles++
		}
		if dom.Attr(d, "itemprop") == "comment" {
			posts++
		}
		if dom.HasAttr(d, dom.DepthAttr) {
			said += measureOf(ctx, d, nil).text
		}
		_, thing, _ := strings.Cut(dom.Attr(d, "itemtype"), "schema.org/")
		switch thing {
		case "Product":
			isProduct = true
		case "FAQPage": // the site asks itself
			asked = true
		case "DiscussionForumPosting", "QAPage":
			posts += 2
		case "Question":
			if !asked {
				posts += 2
			}
		}
	}
	if docs {
		return Documentation
	}
	if !h.Sells && (posts > 1 || forumNames(u, body)) {
		return Forum
	}
	m := measureOf(ctx, body, nil)
	switch {
	case isProduct:
		return Product
	case said*2 > m.text && articles == 0 && ogType != "article":
		return Forum
	case articles == 1 || ogType == "article":
		return Article
	case m.links*2 > m.text:
		return Listing
	}
	return Service
}

// discourseTopic is the path of a topic, /t/SLUG/NUMBER.
var discourseTopic = lazy.Pattern(`/t/[^/]+/\d+(/\d+)?/?$`)

// forumNames reports whether the address or the names of the body mean a forum. In an address only the words of the
// host and short segments of the path count: a segment for an article is a sentence and may hold any word.
func forumNames(u *url.URL, body *html.Node) bool {
	words := strings.FieldsFunc(dom.Attr(body, "class")+" "+dom.Attr(body, "id"),
		func(r rune) bool { return strings.ContainsRune(" -_", r) })
	if u != nil {
		if discourseTopic().MatchString(u.Path) {
			return true
		}
		words = append(words, strings.FieldsFunc(u.Hostname(), func(r rune) bool { return r == '.' || r == '-' })...)
		for step := range strings.SplitSeq(u.Path, "/") {
			if step, _, _ = strings.Cut(step, "."); strings.Count(step, "-") < 2 {
				words = append(words, strings.FieldsFunc(step, func(r rune) bool { return r == '-' || r == '_' })...)
			}
		}
	}
	return slices.ContainsFunc(words, func(word string) bool { return ForumMarks[strings.ToLower(word)] })
}
