package dom

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// shadowHosts are the elements of HTML that can have a shadow root, as can those with a hyphen in their name.
var shadowHosts = map[string]bool{
	"article": true, "aside": true, "blockquote": true, "body": true, "div": true, "footer": true, "h1": true, "h2": true,
	"h3": true, "h4": true, "h5": true, "h6": true, "header": true, "main": true, "nav": true, "p": true, "section": true,
	"span": true,
}

// ShadowRoot reports whether n is a template that browsers make the shadow root of its parent: the first of those that
// say so.
func ShadowRoot(n *html.Node) bool {
	if !rootTemplate(n) || n.Parent == nil || n.Parent.Namespace != "" ||
		!shadowHosts[n.Parent.Data] && !strings.Contains(n.Parent.Data, "-") {
		return false
	}
	for p := n.PrevSibling; p != nil; p = p.PrevSibling {
		if rootTemplate(p) {
			return false
		}
	}
	return true
}

// rootTemplate reports whether n is a template that asks to be made a shadow root.
func rootTemplate(n *html.Node) bool {
	mode := Attr(n, "shadowrootmode")
	return Is(n, atom.Template) && (strings.EqualFold(mode, "open") || strings.EqualFold(mode, "closed"))
}
