package mdwrite

import (
	"bytes"
	"slices"
	"strconv"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// thread writes comments that stand side by side as nested lists, by the depth that package normalise has marked them
// with. Its lists hold wrappers of the comments ([dom.Around]), which stay where they are in the page.
func (r *renderer) thread(out *bytes.Buffer, comments []*html.Node) {
	if len(comments) == 0 {
		return
	}
	list := dom.NewElement(atom.Ul)
	var open []*html.Node // the items that the next comment may answer
	var depths []int
	for _, c := range comments {
		depth, _ := strconv.Atoi(dom.Attr(c, dom.DepthAttr))
		for len(open) > 0 && depths[len(open)-1] >= depth {
			open = open[:len(open)-1]
		}
		if len(open) >= guard.MaxNesting {
			open, r.TooDeep = open[:guard.MaxNesting-1], true
		}
		depths = append(depths[:len(open)], depth)
		box := dom.Around(c)
		box.FirstChild.Attr = slices.Clone(c.Attr) // those of the page stay
		dom.DropAttr(box.FirstChild, dom.DepthAttr)
		item := dom.NewElement(atom.Li, box)
		in := list
		if len(open) > 0 {
			parent := open[len(open)-1]
			if !dom.Is(parent.LastChild, atom.Ul) {
				parent.AppendChild(dom.NewElement(atom.Ul))
			}
			in = parent.LastChild
		}
		in.AppendChild(item)
		open = append(open, item)
	}
	r.nest(out, list)
}
