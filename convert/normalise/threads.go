package normalise

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// Comments that answer one another often stand side by side, and only an indent says which answers which: an attribute
// or a class with a number, a margin, or an empty image or cell of some width. They are written as nested lists. Until
// then they stay side by side, so that the choice of content sees each of them alike.

var (
	// depthKeys are attributes whose number is a depth.
	depthKeys = strings.Fields("indent data-indent data-depth depth data-level aria-level data-nesting data-nest-level")
	// depthClasses are the beginnings of classes that end with a depth.
	depthClasses = strings.Fields("depth level indent comment-depth comment-level comment-indent nest")
	// commentParts are names of comments, and of what each has.
	commentParts = dom.Names(`comment reply response answer post message author username user-name poster timestamp
		time-stamp date age`)
)

// reply is an element that may be a comment, with what says how deep it is. Only the relation of depths counts: one may
// be a number of levels, another a number of pixels.
type reply struct {
	node  *html.Node
	depth float64
	own   bool // the indent is its own, and not that of what it begins with
}

// markThreads marks comments whose depth an indent gives. Each carries its level as dom.DepthAttr afterwards, from 0,
// by which the renderer nests them. An indent counts for its element and for those that begin with it, up to ten;
// markThread decides which of them are the comments.
func markThreads(ctx context.Context, body *html.Node) {
	type place struct {
		parent *html.Node
		kind   string // of the indent
	}
	found := map[place][]reply{}
	var places []place
	for d := range body.Descendants() {
		guard.Check(ctx)
		kind, depth := indent(d)
		if kind == "" {
			continue
		}
		// It may stand at the beginning of its comment, at any level.
		const highest = 10
		for n, level := d, 0; n != body && level < highest; n, level = n.Parent, level+1 {
			p := place{n.Parent, kind}
			if found[p] == nil {
				places = append(places, p)
			}
			found[p] = append(found[p], reply{n, depth, level == 0})
			if !dom.OpensParent(n) {
				break
			}
		}
	}
	for _, p := range places {
		guard.Check(ctx)
		markThread(p.parent, found[p])
	}
}

// markThread marks the children of parent if they are comments. Where comments themselves have an indent, those without
// that look like the others have the depth 0. Two thirds of them must look like comments, and one must be deeper than
// the first. Tables and lists of comments become boxes, so that the renderer can nest them.
func markThread(parent *html.Node, indented []reply) {
	if !dom.Attached(indented[0].node, parent) || dom.HasAttr(indented[0].node, dom.DepthAttr) {
		return
	}
	depths, own := map[*html.Node]float64{}, true
	for _, c := range indented {
		own = own && c.own
		if _, known := depths[c.node]; !known {
			depths[c.node] = c.depth
		}
	}
	var all []reply
	nested, said := false, 0
	for c := range parent.ChildNodes() {
		depth, known := depths[c]
		if !known && (!own || c.Type != html.ElementNode || dom.Shape(c) != dom.Shape(indented[0].node) || !dom.HasText(c)) {
			continue
		}
		all = append(all, reply{node: c, depth: depth})
		nested = nested || depth > all[0].depth
		if saysComment(c) {
			said++
		}
	}
	if len(all) < 2 || !nested || said*3 < len(all)*2 {
		return
	}
	switch {
	case dom.Is(all[0].node, atom.Tr):
		for n := parent; n != nil; n = n.Parent {
			if dom.Is(n, atom.Table) {
				unwrapTable(n)
				break
			}
		}
	case dom.Is(parent, atom.Ul, atom.Ol):
		dom.Rename(parent, atom.Div)
	}
	var open []float64 // depths of the comments that the next may answer
	for _, c := range all {
		for len(open) > 0 && open[len(open)-1] >= c.depth {
			open = open[:len(open)-1]
		}
		dom.SetAttr(c.node, dom.DepthAttr, strconv.Itoa(len(open)))
		open = append(open, c.depth)
		if dom.Is(c.node, atom.Li) || !dom.IsBlock(c.node) {
			dom.Rename(c.node, atom.Div)
		}
	}
}

// saysComment reports whether n has a name or parts that a comment of a thread has. It looks at 60 nodes: the author
// and the time stand at the beginning.
func saysComment(n *html.Node) bool {
	const most = 60
	steps := 0
	for d := range n.Descendants() {
		if steps++; steps > most {
			break
		}
		if d.Type == html.ElementNode && (dom.Is(d, atom.Time) || dom.Named(d, commentParts)) {
			return true
		}
	}
	return dom.Named(n, commentParts)
}

// indent returns what kind of indent n, which may be a comment of a thread, is or has, and its size; an empty kind
// without one. The kind keeps indents of different origin apart: "style", "class", "image", "cell", or the name of an
// attribute. An image must be flat and a cell empty to be one.
func indent(n *html.Node) (kind string, size float64) {
	if n.Type != html.ElementNode || len(n.Attr) == 0 || dom.IsHeading(n) {
		return "", 0
	}
	for _, a := range n.Attr {
		if slices.Contains(depthKeys, a.Key) {
			if depth, err := strconv.Atoi(strings.TrimSpace(a.Val)); err == nil && depth >= 0 {
				return a.Key, float64(depth)
			}
		}
	}
	width := dom.Attr(n, "width")
	style := dom.Attr(n, "style")
	switch {
	case width != "" && dom.Is(n, atom.Img):
		if height, ok := chars.Number(dom.Attr(n, "height")); !ok || height > 2 {
			return "", 0
		}
		if w, ok := chars.Number(width); ok {
			return "image", w
		}
	case width != "" && dom.Is(n, atom.Td) && n.FirstChild == nil:
		if w, ok := chars.Number(width); ok {
			return "cell", w
		}
	}
	for _, property := range []string{"margin-left:", "padding-left:"} {
		if _, value, ok := strings.Cut(style, property); ok {
			if w, ok := chars.Number(value); ok {
				return "style", w
			}
		}
	}
	for class, rest := dom.CutWord(dom.Attr(n, "class")); class != ""; class, rest = dom.CutWord(rest) {
		name := strings.TrimRight(class, "0123456789")
		if depth := class[len(name):]; depth != "" && len(depth) < 3 &&
			slices.Contains(depthClasses, strings.TrimRight(name, "-_")) {
			w, _ := chars.Number(depth)
			return "class", w
		}
	}
	return "", 0
}
