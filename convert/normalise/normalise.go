package normalise

import (
	"context"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/footnote"
	"github.com/readthru/readthru/convert/formula"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/convert/links"
)

// Rules are the tables of this package, which count in the version of the rules.
var Rules = []any{
	gutterClasses, notCode, lineClasses, langPrefixes, KnownLanguages, lazySources, trackers, spacerNames,
	callouts, labelPrefixes, langKeys, editorClasses, editorTextClasses, calloutBoxes, titledBoxes, boxPrefixes,
	kindPrefixes, calloutTitles, apartNames, gapNames, boxNames, boxesNames, depthKeys, depthClasses, commentParts,
	quoteBoxes, quoteHeads, quoteLines, quotedNames, postBoxes, partRoles,
}

// Body rewrites the elements below body into the few forms that the renderer knows. It needs the classes and inputs
// that later steps remove. Addresses are resolved against base; self is the page's own. w removes text that readers do
// not see. The order of its steps matters: what hides text is judged while elements are still what style sheets name,
// after formulas, notes, embeds and tabs have been brought out of elements that are hidden; code is rewritten before
// links and spaces in it could be changed; and spaces between elements come last. It panics, by guard.Check, when ctx
// ends.
func Body(ctx context.Context, body *html.Node, base, self *url.URL, w *hidden.Cleaner) {
	own := links.OfPage(self)
	lazyImages(body)
	w.Formulas(body)
	for _, source := range formula.Normalise(body) {
		w.Unshown(dom.NewText(source))
	}
	footnote.Normalise(body, base)
	LinkEmbeds(body, base)
	linkMedia(body, base)
	openCallouts(body)
	// Boxes of task lists become the marks of markdown, which later steps must not escape.
	for _, box := range dom.FindAll(body, checkbox) {
		mark := "[ ] "
		if dom.HasAttr(box, "checked") {
			mark = "[x] "
		}
		if after := box.NextSibling; after != nil && after.Type == html.TextNode {
			after.Data = strings.TrimLeft(after.Data, " \t\r\n")
		}
		dom.Replace(box, raw(mark))
	}
	labelTabs(body)
	w.Clean(ctx, body)
	markThreads(ctx, body)
	listings := map[*html.Node]bool{} // code blocks that are no pre
	for _, n := range dom.FindAll(body, func(n *html.Node) bool {
		guard.Check(ctx)
		return dom.Is(n, atom.Pre) ||
			codeBlock(n)
	}) {
		guard.Check(ctx)
		if !dom.Attached(n, body) || inCode(n, listings) {
			continue
		}
		listings[n] = !dom.Is(n, atom.Pre)
		normaliseCode(n)
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		guard.Check(ctx)
		for c := n.FirstChild; c != nil; {
			next := c.NextSibling
			if c.Type == html.ElementNode && !dom.Is(c, atom.Pre) {
				if normaliseElement(c, base, own) {
					walk(c)
				}
			}
			c = next
		}
	}
	walk(body)
	separate(ctx, body, w.Apart(), w.Boxed())
}

// normaliseElement rewrites one element. It reports whether its children need a visit. own is the page's own address up
// to a fragment: links to it become links to a place on the page. Permalinks of headings, and links to edit sections,
// are removed.
func normaliseElement(n *html.Node, base *url.URL, own string) bool {
	if dom.Is(n, atom.Span, atom.Div) && links.EditsSection(n) {
		dom.Remove(n)
		return false
	}
	byRole(n)
	switch n.DataAtom {
	case atom.A:
		if links.Permalink(n) {
			dom.Remove(n)
			return false
		}
		if href := links.Untracked(links.Absolute(base, dom.Attr(n, "href"))); href != "" && !links.SelfLink(n) {
			if place, ok := strings.CutPrefix(href, own); ok && own != "" && place != "" {
				href = "#" + place
			}
			dom.SetAttr(n, "href", href)
		} else {
			dom.DropAttr(n, "href")
		}
		links.LiftHeading(n)
	case atom.Img:
		normaliseImage(n, base)
	case atom.Table:
		if normaliseQuote(n); dom.Is(n, atom.Table) {
			normaliseTable(n)
		}
	case atom.Blockquote:
		normaliseQuote(n)
	case atom.Div, atom.Aside:
		if strings.Contains(dom.Attr(n, "class"), "uote") {
			normaliseQuote(n)
		}
	case atom.Ruby:
		parenthesise(n)
	case atom.Code:
		if dom.Contains(n, atom.Pre) { // <code><pre>: the pre is the block
			dom.Rename(n, atom.Div)
		}
		for _, br := range dom.FindAll(n, func(d *html.Node) bool { return dom.Is(d, atom.Br) }) {
			dom.Replace(br, dom.NewText(" "))
		}
	case atom.Font, atom.Center:
		dom.Rename(n, map[bool]atom.Atom{true: atom.Div, false: atom.Span}[n.DataAtom == atom.Center])
	}
	if kind := callout(n); kind != "" {
		normaliseCallout(n, kind)
	}
	return true
}

// raw returns an element whose text the renderer writes as it is, without escapes.
func raw(markdown string) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: dom.RawElement}
	n.AppendChild(dom.NewText(markdown))
	return n
}

// checkbox reports whether n is the box of a task: it is in a list item, and it is disabled, is marked as a task, or
// has no name, value and id. Boxes with a name, a value or an id choose filters, or goods to compare. Only these become
// marks; the others are removed with the forms that they are of.
func checkbox(n *html.Node) bool {
	if !dom.Is(n, atom.Input) || !strings.EqualFold(dom.Attr(n, "type"), "checkbox") {
		return false
	}
	item := n.Parent
	for item != nil && !dom.Is(item, atom.Li) {
		item = item.Parent
	}
	if item == nil || dom.HasAttr(n, "disabled") || dom.HasClass(n, "task-list-item-checkbox") ||
		dom.HasClass(item, "task-list-item", "task") {
		return item != nil
	}
	return !dom.HasAttr(n, "name") && !dom.HasAttr(n, "value") && !dom.HasAttr(n, "id")
}
