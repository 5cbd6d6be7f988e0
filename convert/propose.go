package convert

import (
	"context"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/convert/judge"
)

// proposeSteps bounds the comparisons with selectors by which names for elements are tried. When they are spent, no
// more is proposed.
const proposeSteps = 8 * recipeSteps

// namer looks for selectors that name elements of a page. body is that of the page.
type namer struct {
	ctx    context.Context
	finder *css.Finder
	body   *html.Node
}

// Propose returns what a recipe for pages like this one could say: of the longest list of units of which most is
// content the item with its fields, else the box round the content. ok is false for a page of which nothing can be
// said: it is no HTML, or its elements have no names. Whoever uses it must look at what comes out. Package judge says
// where the content stands, and this file finds selectors for it. The error is that of ctx.
func (d *Document) Propose(ctx context.Context) (parts RecipeParts, ok bool, err error) {
	if d.body == nil || d.form != "" {
		return parts, false, nil
	}
	err = guard.Run(func() {
		places := judge.PlacesOf(ctx, d.page())
		by := &namer{ctx, css.NewFinder(proposeSteps), d.body}
		if parts, ok = by.items(places.Units); !ok {
			parts, ok = by.content(places.Boxes)
		}
	})
	if ctx.Err() != nil {
		return parts, false, ctx.Err()
	}
	return parts, ok && err == nil, nil
}

// items proposes names for the units of a list, and their fields. It is false without nodes, and if no selector matches
// about as many elements.
func (by *namer) items(nodes []*html.Node) (parts RecipeParts, ok bool) {
	if len(nodes) == 0 {
		return parts, false
	}
	if parts.Item = by.selectorOf(nodes[0], len(nodes)); parts.Item == "" {
		return parts, false
	}
	for _, f := range []struct {
		name string
		is   func(*html.Node) bool
	}{
		{fieldTitle, dom.IsHeading},
		{fieldAuthor, func(n *html.Node) bool { return head.AuthorElement(n) && !blankBelow(n) }},
		{fieldDate, func(n *html.Node) bool { return dom.Is(n, atom.Time) && !blankBelow(n) }},
		{fieldPrice, priceElement},
		{fieldBody, longText},
	} {
		if s := by.commonSelector(nodes, f.is); s != "" {
			parts.Fields = append(parts.Fields, RecipeField{f.name, s})
		}
	}
	return parts, true
}

// content proposes a name for the smallest of boxes that has a name. boxes are the inner ones first.
func (by *namer) content(boxes []*html.Node) (parts RecipeParts, ok bool) {
	for _, box := range boxes {
		if parts.Content = by.selectorOf(box, 1); parts.Content != "" {
			return parts, true
		}
	}
	return parts, false
}

// selectorOf proposes a selector by id, class, or element that matches n and about as many elements of the page as
// there are of its kind; "" if there is none. About means a quarter more at most. Every trial walks over the whole
// page, within proposeSteps.
func (by *namer) selectorOf(n *html.Node, want int) string {
	for _, s := range selectorsFor(n) {
		list, err := css.ParseSelectors(s)
		if err != nil {
			continue
		}
		count := 0
		for d := range by.body.Descendants() {
			guard.Check(by.ctx)
			if by.finder.Spent() {
				return ""
			}
			if d.Type == html.ElementNode && by.finder.Matches(list, d) {
				count++
			}
		}
		if count >= want && count <= want+want/4 {
			return s
		}
	}
	return ""
}

// selectorsFor proposes selectors of n by its id and its classes, the id first, and its element if it is rare. Names
// with digits are left out: generators number them, and the next page has others.
func selectorsFor(n *html.Node) (list []string) {
	if id := dom.Attr(n, "id"); attributeName(id) && !strings.ContainsAny(id, "0123456789") && id[0] != '-' {
		list = append(list, "#"+id)
	}
	for class, rest := dom.CutWord(dom.Attr(n, "class")); class != "" && len(list) < 20; class, rest = dom.CutWord(rest) {
		if attributeName(class) && !strings.ContainsAny(class, "0123456789") && class[0] != '-' {
			list = append(list, n.Data+"."+class)
		}
	}
	if dom.Is(n, atom.Article, atom.Main, atom.Time) || dom.IsHeading(n) {
		list = append(list, n.Data)
	}
	return list
}

// commonSelector proposes a selector of the first element below each of most nodes for which is holds. Most are two
// thirds. It is "" if no selector has so many.
func (by *namer) commonSelector(nodes []*html.Node, is func(*html.Node) bool) string {
	counts := map[string]int{}
	best := ""
	for _, node := range nodes {
		n := dom.Find(node, func(n *html.Node) bool {
			guard.Check(by.ctx)
			return is(n)
		})
		if n == nil {
			continue
		}
		for _, s := range selectorsFor(n) {
			if counts[s]++; counts[s] > counts[best] {
				best = s
			}
		}
	}
	if counts[best]*3 < len(nodes)*2 {
		return ""
	}
	return best
}

// blankBelow reports whether an element that may be proposed as a field has no text.
func blankBelow(n *html.Node) bool { return !dom.HasText(n) }

// priceElement reports whether n is hardly more than a price and has a name. It is proposed as a field of items of a
// list.
func priceElement(n *html.Node) bool {
	if dom.Attr(n, "class") == "" || dom.IsHeading(n) {
		return false
	}
	text := dom.OneLine(n)
	return len(text) < 40 && strings.ContainsAny(text, "$€£¥") && strings.ContainsAny(text, "0123456789")
}

// longText reports whether n has paragraphs or much text of its own, and a name. It is proposed as the body of items.
func longText(n *html.Node) bool {
	if dom.Attr(n, "class") == "" && dom.Attr(n, "id") == "" || dom.Is(n, atom.A) {
		return false
	}
	own := 0
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode || dom.Is(c, atom.P) || !dom.IsBlock(c) {
			own += len(dom.OneLine(dom.Around(c)))
		}
	}
	return own > 80
}
