package judge

import (
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/normalise"
	"github.com/readthru/readthru/convert/rules"
)

// dropped returns the largest nodes that hold nothing to keep. Elements are dropped whole where nothing in them is
// kept, and texts and inline elements one by one elsewhere. A cell of a table keeps its place, and only what is in it
// goes. Pictures stay where they belong to what is kept; the renderer leaves out what is returned.
func (t *outline) dropped(keep []bool) map[*html.Node]bool {
	dropped := map[*html.Node]bool{}
	before := keptBefore(keep)
	around := keep // what pictures may belong to
	if t.price >= 0 {
		around = slices.Clone(keep)
		around[t.price] = false
	}
	top, aroundBefore := t.titleFirst(around), keptBefore(around)
	shown := t.shownBoxes(aroundBefore, top)
	gone := make([]bool, len(t.boxes)) // dropped, or inside what is
	for i := range t.boxes {
		x := &t.boxes[i]
		if x.parent >= 0 && gone[x.parent] {
			gone[i] = true
			continue
		}
		if x.parent < 0 || shown[i] || before[x.end] > before[x.begin] || between(x, keep) {
			continue
		}
		gone[i] = true
		if dom.Is(x.node, atom.Td, atom.Th) {
			for c := x.node.FirstChild; c != nil; c = c.NextSibling {
				dropped[c] = true
			}
			continue
		}
		dropped[x.node] = true
	}
	for _, p := range t.pictures {
		if !gone[p.box] && !t.illustrates(p, aroundBefore, top) {
			dropped[p.node] = true
		}
	}
	for i := range t.blocks {
		b := &t.blocks[i]
		if keep[i] || gone[b.box] {
			continue
		}
		for n := b.first; n != nil; n = n.NextSibling {
			dropped[n] = true
			if n == b.last {
				break
			}
		}
	}
	return dropped
}

// between reports whether x, which was dropped, is a rule between two blocks that are kept. Such a rule holds no block,
// and would go with the boxes that hold nothing.
func between(x *box, keep []bool) bool {
	return dom.Is(x.node, atom.Hr) && x.begin > 0 && int(x.begin) < len(keep) && keep[x.begin-1] && keep[x.begin]
}

// keptBefore returns, where something was dropped, the number of kept blocks before each block, and last the number of
// all. By two of them, the number of kept blocks in a box is known at once.
func keptBefore(keep []bool) []int32 {
	before := make([]int32, len(keep)+1)
	for i, k := range keep {
		before[i+1] = before[i]
		if k {
			before[i+1]++
		}
	}
	return before
}

// shownBoxes returns, lest they be dropped, which boxes hold pictures that belong to kept blocks, even if no text in
// the box is kept. before is that of [outline.illustrates].
func (t *outline) shownBoxes(before []int32, top bool) []bool {
	shown := make([]bool, len(t.boxes))
	for _, p := range t.pictures {
		if !t.illustrates(p, before, top) {
			continue
		}
		for x := p.box; x >= 0 && !shown[x]; x = t.boxes[x].parent {
			shown[x] = true
		}
	}
	return shown
}

// illustrates reports whether a picture is not dropped: it belongs to the kept text around it: kept blocks are close,
// and at most a caption stands between. top says that the first kept block is a title. before is what keptBefore
// returns; the price of a product does not count as kept for it, since pictures of other products stand beside theirs.
// In an article a picture with text on one side only, which links elsewhere, belongs to a teaser.
func (t *outline) illustrates(p illustration, before []int32, top bool) bool {
	const (
		near    = 3  // blocks
		caption = 60 // words
	)
	if t.boxes[p.box].marks&(inMain|inArticle|inFigure) == 0 && top && before[p.at] == 0 {
		return false // a logo or a banner
	}
	x := p.box
	inner := x // the largest box around the picture in which nothing is kept
	for x >= 0 && before[t.boxes[x].end] == before[t.boxes[x].begin] {
		inner, x = x, t.boxes[x].parent
	}
	if x < 0 {
		return false
	}
	if x == p.box {
		return true
	}
	f, around := &t.boxes[inner], &t.boxes[x]
	if f.dropped && !dom.Is(f.node, atom.Figure) || f.words > caption || f.linked*2 > f.words {
		return false
	}
	ahead := before[max(around.begin, f.begin-near)] < before[f.begin]
	after := before[min(around.end, f.end+near)] > before[f.end]
	if t.kind == rules.Article && ahead != after && !dom.Is(f.node, atom.Figure) && linksElsewhere(p.node) {
		return false // to another article, or to its author
	}
	return ahead || after
}

// titleFirst reports whether the first block that is kept, not dropped, is a first-level heading. A picture before it
// is a banner of the site.
func (t *outline) titleFirst(keep []bool) bool {
	i := slices.Index(keep, true)
	return i >= 0 && t.blocks[i].tag == atom.H1
}

// linksElsewhere reports whether a picture, which is dropped then, is a link to a page rather than to itself in full
// size. A thumbnail links to its own picture.
func linksElsewhere(img *html.Node) bool {
	for n := img.Parent; n != nil && !dom.Is(n, atom.Body); n = n.Parent {
		if dom.Is(n, atom.A) {
			return !normalise.IsPicture(dom.Attr(n, "href"))
		}
	}
	return false
}
