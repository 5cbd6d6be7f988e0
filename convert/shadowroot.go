package convert

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/convert/chars"
	"readthru/convert/dom"
	"readthru/convert/hidden"
)

// unwrapShadowRoots moves the content of declarative shadow roots, which a rendered page carries, to where a reader
// sees it: into the host. The children of the host replace the slots. Children without a slot are not shown; w takes
// them out.
func unwrapShadowRoots(body *html.Node, w *hidden.Cleaner) {
	roots := dom.FindAll(body, shadowRoot)
	for _, t := range slices.Backward(roots) { // the innermost first: what slots it leaves belong to the roots round it
		host := t.Parent
		if !firstRoot(t) {
			continue
		}
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
				continue // the place of another, filled slot
			}
			if fill := assigned[name]; filled(fill) {
				for _, c := range fill {
					slot.Parent.InsertBefore(c, slot)
				}
				dom.Remove(slot)
				delete(assigned, name)
			} else {
				dom.Unwrap(slot)
			}
		}
		for _, c := range light {
			if c.Parent == nil {
				w.Unshown(c)
			}
		}
	}
}

// shadowHosts are the elements of HTML that can have a shadow root, as can those with a hyphen in their name.
var shadowHosts = set("article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span")

// shadowRoot reports whether n is a template that browsers make the shadow root of its parent.
func shadowRoot(n *html.Node) bool {
	mode := strings.ToLower(dom.Attr(n, "shadowrootmode"))
	return dom.Is(n, atom.Template) && (mode == "open" || mode == "closed") && n.Parent.Namespace == "" &&
		(shadowHosts[n.Parent.Data] || strings.Contains(n.Parent.Data, "-"))
}

// firstRoot reports whether no shadow root of the same host precedes t.
func firstRoot(t *html.Node) bool {
	for p := t.PrevSibling; p != nil; p = p.PrevSibling {
		if shadowRoot(p) {
			return false
		}
	}
	return true
}

// filled reports whether nodes hold more than white space. A slot with only white space shows its own content.
func filled(nodes []*html.Node) bool {
	for _, n := range nodes {
		if n.Type == html.ElementNode || n.Type == html.TextNode && !chars.Blank(n.Data) {
			return true
		}
	}
	return false
}
