package judge

import (
	"context"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/rules"
)

// Places are where the content of a page stands. Package convert proposes a recipe for the site by them.
type Places struct {
	Units []*html.Node // of the longest list of which most units are content; empty without such a list
	Boxes []*html.Node // those that hold nearly all words of the content, the inner ones first
}

// PlacesOf returns where the content of p stands. They are empty for a page of too many blocks. Boxes hold nine tenths
// of the content's words or more. It panics, by guard.Check, when ctx ends.
func PlacesOf(ctx context.Context, p Page) (found Places) {
	c := Choose(ctx, p)
	t := newOutline(ctx, p.Body, c, contentModel().odds)
	defer t.free()
	if len(t.blocks) > maxJudged {
		return found
	}
	keep := make([]bool, len(t.blocks))
	for i := range t.blocks {
		x := &t.boxes[t.blocks[i].box]
		keep[i] = !x.dropped && !droppedIn(c, t.blocks[i].first) && x.inRoot
	}
	u := newUnits(t, keep)
	words := u.keptWords()
	u.judge()
	found.Units = u.longest()
	all := words[len(keep)]
	for i := len(t.boxes) - 1; i >= 0 && all > 0; i-- { // the inner ones first
		guard.Check(ctx)
		if x := &t.boxes[i]; (words[x.end]-words[x.begin])*10 >= all*9 {
			found.Boxes = append(found.Boxes, x.node)
		}
	}
	return found
}

// longest returns the units of the list with most words, of the lists of which most units are kept, three at least; nil
// if there is none.
func (u *units) longest() (nodes []*html.Node) {
	best := int32(-1)
	for i := range u.lists {
		l := &u.lists[i]
		if l.whole*2 > l.units && l.whole >= fewestUnits && (best < 0 || l.words > u.lists[best].words) {
			best = int32(i)
		}
	}
	if best < 0 {
		return nil
	}
	for i, l := range u.of {
		if l == best && u.whole[i] {
			nodes = append(nodes, u.boxes[i].node)
		}
	}
	return nodes
}

// droppedIn reports whether a choice drops n in its place or what is round it. c.Dropped has the topmost nodes alone.
func droppedIn(c rules.Choice, n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if c.Dropped[n] {
			return true
		}
	}
	return false
}
