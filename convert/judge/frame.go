package judge

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/rules"
	"github.com/readthru/readthru/page"
)

// dropFrame drops links to other pages, inside an article and below its end, that no rule or model told from it. It
// leaves pages alone that are not mostly prose. It is called for articles and services, when all else is decided. base
// is the page's address, by which links to its own site are told.
func (t *outline) dropFrame(keep []bool, base *url.URL) {
	if !t.mostlyProse(keep) {
		return
	}
	t.dropElsewhere(keep)
	t.dropCards(keep, base)
}

// mostlyProse reports, before the frame is dropped, whether more than half of the words that are kept are prose. A page
// that is a list of links has nothing else to keep.
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

// dropElsewhere drops, of the frame of an article, the headings that lead away from it, with what they head if most of
// that is links. In news it drops lines such as "Read more: …" too, which the site puts there; elsewhere the author
// writes them. Which headings lead away, [rules.Elsewhere] knows by their words.
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
		if !headingTag(b.tag) || !rules.Elsewhere(heading) {
			continue
		}
		words, linked := int32(0), int32(0)
		end := t.sectionEnd(i)
		for j := i + 1; j < end; j++ {
			words, linked = words+t.blocks[j].words, linked+t.blocks[j].linked
		}
		if linked*2 > words {
			for j := i; j < end; j++ {
				keep[j] = false
			}
		}
	}
}

// ownText returns, to know the frame, the text of a block outside its links. A line "Read more: …" has the label
// outside, and the title of another page inside of its link.
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

// sectionEnd returns, to drop it with the frame, the end of the section of heading i: the next heading of its level or
// a higher one, or the end of the smallest box that holds more than the heading. It returns the index of the block
// behind it.
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

// mostCards is the number of cards up to which they are teasers below an article. More are an index, and the text above
// them introduces it.
const mostCards = 12

// dropCards drops, as part of the frame, the cards of other pages that follow the last line of an article: three boxes
// alike or more, each with a heading that links to a page of the site. Those below a heading stay. It goes from the
// last kept block upwards as long as blocks are in cards. The article must have more words than the cards, and end with
// a sentence.
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

// linksOf returns, to know the frame, the number of links in a block, and whether all lead to pages of the site.
// Without base no link is known to.
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
