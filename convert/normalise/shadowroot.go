package normalise

import (
	"slices"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/hidden"
)

// UnwrapShadowRoots moves the content of declarative shadow roots, which a rendered page carries, to where a reader
// sees it: into the host. The children of the host replace what the slots hold. Children without a slot are not shown;
// w takes them out. It follows the HTML standard in what fills a slot, by names. Package css must have read the style
// sheets before, as they belong to these roots.
func UnwrapShadowRoots(body *html.Node, w *hidden.Cleaner) {
	roots := dom.FindAll(body, dom.ShadowRoot)
	for _, t := range slices.Backward(roots) { // the innermost first: what slots it leaves belong to the roots round it
		host := t.Parent
		dom.Remove(t)
		var light []*html.Node
		for c := host.FirstChild; c != nil; c = host.FirstChild {
			dom.Remove(c)
			light = append(light, c)
		}
		dom.MoveChildren(t, host)
		assigned := map[string][]*html.Node{}
		for _, c := range light {
			name := ""
			if c.Type == html.ElementNode {
				name = dom.Attr(c, "slot")
			}
			assigned[name] = append(assigned[name], c)
		}
		for _, slot := range dom.FindAll(host, func(n *html.Node) bool { return n.Data == "slot" }) {
			name := dom.Attr(slot, "name")
			if slot.Parent == nil || !dom.Attached(slot, host) {
				continue // it was in another, filled slot
			}
			if fill := assigned[name]; filled(fill) {
				for c := slot.FirstChild; c != nil; c = slot.FirstChild {
					dom.Remove(c)
				}
				for _, c := range fill {
					slot.AppendChild(c)
				}
				delete(assigned, name)
			}
		}
		for _, c := range light {
			if c.Parent == nil {
				w.Unshown(c)
			}
		}
	}
}

// filled reports whether nodes hold more than white space. A slot of a shadow root with only white space shows its own
// content.
func filled(nodes []*html.Node) bool {
	return slices.ContainsFunc(nodes, func(n *html.Node) bool {
		return n.Type == html.ElementNode || n.Type == html.TextNode && !chars.Blank(n.Data)
	})
}
