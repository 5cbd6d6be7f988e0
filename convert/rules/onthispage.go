package rules

import (
	"context"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// placesLabels are the labels, folded, of boxes that list the headings of the page that they stand on. "Contents" is
// not among them: authors write such lists themselves.
var placesLabels = func() map[string]bool {
	m := map[string]bool{}
	for label := range strings.SplitSeq(`On this page,In this page,On this page contents,In this article,In this section,
		In this guide,In this document,In this topic,In this post,Jump to section,Auf dieser Seite,In diesem Artikel,
		Sur cette page,Dans cet article,En esta página,En este artículo,Nesta página,Neste artigo,In questa pagina,
		In questo articolo,Op deze pagina,In dit artikel,Na tej stronie,På den här sidan,På denne siden,
		На этой странице,В этой статье,
		本页内容,本文内容,このページの内容,この記事の内容,
		이 페이지의 내용,이 문서의 내용`, ",") {
		m[chars.Fold(label)] = true
	}
	return m
}()

// DropPlaces adds to dropped the boxes below root that only list the places on the page: such a label, and links to
// these places behind it. The headings themselves say the same. A box that is all of the text stays. Readers of
// markdown have the headings at hand. It panics, by guard.Check, when ctx ends.
func DropPlaces(ctx context.Context, root *html.Node, dropped map[*html.Node]bool) {
	const longest = 100 // bytes of a label
	var room [longest]byte
	for d := range root.Descendants() {
		guard.Check(ctx)
		if d.Type != html.TextNode || len(d.Data) > longest ||
			!placesLabels[string(chars.AppendFold(room[:0], d.Data))] {
			continue
		}
		label := d
		for label.Parent != root && aloneIn(label) {
			label = label.Parent
		}
		text, links := dom.OneLine(label), 0
		next := label.NextSibling
		for ; next != nil && leadsToPlaces(next); next = next.NextSibling {
			if shows(next) {
				text += dom.OneLine(next)
				links++
			}
		}
		if links == 0 || chars.Fold(text) == chars.Fold(dom.OneLine(root)) {
			continue
		}
		for n := label; n != next; n = n.NextSibling {
			dropped[n] = true
		}
	}
}

// aloneIn reports whether n, a label such as "On this page", has all of the text of its parent. The box around it is
// then the label.
func aloneIn(n *html.Node) bool {
	for s := n.Parent.FirstChild; s != nil; s = s.NextSibling {
		if s != n && shows(s) {
			return false
		}
	}
	return true
}

// shows reports whether n, beside a label such as "On this page", is a text or has one.
func shows(n *html.Node) bool {
	return n.Type == html.TextNode && !chars.Blank(n.Data) || dom.HasText(n)
}

// leadsToPlaces reports whether all text of n is that of links to places on the page. Blank text does not count.
func leadsToPlaces(n *html.Node) bool {
	if dom.Is(n, atom.A) {
		return strings.HasPrefix(dom.Attr(n, "href"), "#")
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !leadsToPlaces(c) {
			return false
		}
	}
	return n.Type != html.TextNode || chars.Blank(n.Data)
}
