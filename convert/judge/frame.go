package judge

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/rules"
	"github.com/readthru/readthru/page"
)

// dropFrame drops what sites put round an article and no rule or model told from it: short lines above the title, and
// links to other pages below the end. It leaves pages alone that are not mostly prose.
func (t *outline) dropFrame(keep []bool, base *url.URL) {
	if !t.mostlyProse(keep) {
		return
	}
	t.dropElsewhere(keep)
	t.dropAbove(keep)
	t.dropCards(keep, base)
	t.dropBelow(keep, base)
}

// mostlyProse reports whether more than half of the words that are kept are prose.
func (t *outline) mostlyProse(keep []bool) bool {
	prose, all := int32(0), int32(0)
	for i := range t.blocks {
		if b := &t.blocks[i]; keep[i] {
			if all += b.words; b.long() {
				prose += b.words
			}
		}
	}
	return prose*2 > all
}

// dropElsewhere drops the headings that lead away from an article, with what they head if most of that is links, and
// those that offer a newsletter. In news it drops lines such as "Read more: …" too, which the site puts there;
// elsewhere the author writes them.
func (t *outline) dropElsewhere(keep []bool) {
	for i := range t.blocks {
		b := &t.blocks[i]
		if !keep[i] {
			continue
		}
		if t.news && b.linked > 0 && b.words-b.linked <= 5 && labels[chars.Fold(ownText(b))] {
			keep[i] = false
		}
		heading := t.boxes[b.box].node
		if !headingTag(b.tag) {
			continue
		}
		offer := rules.OffersNewsletter(dom.OneLine(heading))
		if !offer && !rules.Elsewhere(heading) && (!t.news || !rules.LeadsElsewhere(heading)) {
			continue
		}
		words, linked := int32(0), int32(0)
		end := t.sectionEnd(i)
		for j := i + 1; j < end; j++ {
			words, linked = words+t.blocks[j].words, linked+t.blocks[j].linked
		}
		if linked*2 > words || offer && words < 40 {
			for j := i; j < end; j++ {
				keep[j] = false
			}
		}
	}
}

// ownText returns the text of a block outside its links.
func ownText(b *block) string {
	var text strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			text.WriteString(n.Data)
		}
		for c := n.FirstChild; c != nil && !dom.Is(n, atom.A); c = c.NextSibling {
			walk(c)
		}
	}
	for n := b.first; n != nil; n = n.NextSibling {
		if walk(n); n == b.last {
			break
		}
	}
	return text.String()
}

// sectionEnd returns the end of the section of heading i: the next heading of its level or a higher one, or the end of
// the smallest box that holds more than the heading.
func (t *outline) sectionEnd(i int) int {
	level := t.blocks[i].tag.String()
	x := &t.boxes[t.blocks[i].box]
	for x.end == int32(i)+1 && x.parent >= 0 {
		x = &t.boxes[x.parent]
	}
	for j := i + 1; j < int(x.end); j++ {
		if tag := t.blocks[j].tag; headingTag(tag) && tag.String() <= level {
			return j
		}
	}
	return int(x.end)
}

// dropAbove drops the path to a page that begins its text, and links, dates and labels above its title.
func (t *outline) dropAbove(keep []bool) {
	title, path := -1, -1
	for i := range t.blocks {
		b := &t.blocks[i]
		switch {
		case !keep[i]:
			continue
		case b.tag == atom.Li && b.words > 0 && b.linked == b.words && path < 0 && toRoot(b.first):
			path = i
		case b.tag == atom.H1:
			title = i
		}
		if title >= 0 || b.long() || headingTag(b.tag) {
			break
		}
	}
	for i := range max(title, 0) {
		if b := &t.blocks[i]; b.words <= 12 && (b.linked*2 > b.words || b.words <= 5) {
			keep[i] = false
		}
	}
	if path < 0 {
		return
	}
	for list := t.blocks[path].box; list >= 0; list = t.boxes[list].parent {
		if x := &t.boxes[list]; dom.Is(x.node, atom.Ul, atom.Ol) {
			for i := x.begin; i < x.end && x.end-x.begin <= 8; i++ {
				keep[i] = false
			}
			return
		}
	}
}

// toRoot reports whether n holds a link to the root of a site.
func toRoot(n *html.Node) bool {
	if !dom.Is(n, atom.A) {
		n = dom.Find(n, func(d *html.Node) bool { return dom.Is(d, atom.A) })
	}
	return n != nil && strings.Count(strings.TrimSuffix(dom.Attr(n, "href"), "/"), "/") == 2
}

// mostCards is the number of cards up to which they are teasers below an article. More are an index, and the text above
// them introduces it.
const mostCards = 12

// dropCards drops the cards of other pages that follow the last line of an article: three boxes alike or more, each
// with a heading that links to a page of the site. Those below a heading stay.
func (t *outline) dropCards(keep []bool, base *url.URL) {
	card := make([]bool, len(t.boxes))
	for i := range t.blocks {
		b := &t.blocks[i]
		if !headingTag(b.tag) || b.linked < b.words {
			continue
		}
		if count, inside := linksOf(b, base); count == 0 || !inside {
			continue
		}
		for x := b.box; x >= 0; x = t.boxes[x].parent {
			if t.boxes[x].alike >= 3 {
				card[x] = true
				break
			}
		}
	}
	last, cards, words := len(keep)-1, map[int32]bool{}, int32(0)
	for ; last >= 0; last-- {
		if !keep[last] {
			continue
		}
		x := t.blocks[last].box
		for x >= 0 && !card[x] {
			x = t.boxes[x].parent
		}
		if x < 0 {
			break
		}
		cards[x] = true
		words += t.blocks[last].words
	}
	before := int32(0)
	for i := range last + 1 {
		if keep[i] {
			before += t.blocks[i].words
		}
	}
	if last < 0 || len(cards) < 3 || len(cards) > mostCards || before < words || !t.blocks[last].ended {
		return
	}
	for i := last + 1; i < len(keep); i++ {
		keep[i] = false
	}
}

// dropBelow drops the links to other pages that follow the last line of an article. Links below a heading stay unless
// the heading leads elsewhere, and so do links that their own line or the one before announces.
func (t *outline) dropBelow(keep []bool, base *url.URL) {
	last := len(keep) - 1
	links := 0
	for ; last >= 0; last-- {
		b := &t.blocks[last]
		if !keep[last] {
			continue
		}
		tags := tagLabels[chars.Fold(ownText(b))]
		if b.linked*3 < b.words*2 && !tags || b.linked == 0 || headingTag(b.tag) || b.first.Type == html.TextNode && !tags {
			break
		}
		count, inside := linksOf(b, base)
		if links += count; !inside {
			break
		}
	}
	if last < 0 || links < 2 || headingTag(t.blocks[last].tag) || !t.blocks[last].ended {
		return
	}
	for i := last + 1; i < len(keep); i++ {
		keep[i] = false
	}
}

// tagLabels stand before the tags of an article.
var tagLabels = chars.Set("tag tags topic topics filedunder postedin category categories keywords labels " +
	"schlagwörter themen étiquettes motsclés etiquetas temas")

// linksOf returns the number of links in a block, and whether all lead to pages of the site.
func linksOf(b *block, base *url.URL) (count int, inside bool) {
	inside = true
	each := func(n *html.Node) {
		if dom.Is(n, atom.A) && dom.HasAttr(n, "href") {
			count++
			u, err := url.Parse(dom.Attr(n, "href"))
			inside = inside && base != nil && err == nil && page.SameSite(base.ResolveReference(u).Host, base.Host)
		}
	}
	for n := b.first; n != nil; n = n.NextSibling {
		each(n)
		for d := range n.Descendants() {
			each(d)
		}
		if n == b.last {
			break
		}
	}
	return count, inside
}

// framed returns a choice of the rules without the frame of an article.
func (t *outline) framed(c rules.Choice, base *url.URL) rules.Choice {
	if t.kind != rules.Article && t.kind != rules.Service {
		return c
	}
	keep := make([]bool, len(t.blocks))
	for i := range t.blocks {
		x := &t.boxes[t.blocks[i].box]
		keep[i] = x.inRoot && !x.dropped
	}
	before := slices.Clone(keep)
	t.dropFrame(keep, base)
	c.Dropped = maps.Clone(c.Dropped)
	for i := range t.blocks {
		if before[i] && !keep[i] {
			for n := t.blocks[i].first; n != nil; n = n.NextSibling {
				c.Dropped[n] = true
				if n == t.blocks[i].last {
					break
				}
			}
		}
	}
	return c
}
