package dom

import (
	"strings"

	"golang.org/x/net/html"
)

// Attributes by which normalising tells later steps what an element is. No attribute of a page has a name with a space.
const (
	// CalloutAttr marks a blockquote that is a callout. It holds NOTE, TIP, IMPORTANT, WARNING or CAUTION, which GitHub
	// knows.
	CalloutAttr = "callout kind"
	// EmbedAttr marks an image that stands for a video or a post in a frame, and is written as a link to its page.
	EmbedAttr = "embedded page"
	// SaidAttr marks the line that says who is quoted.
	SaidAttr = "quoted from"
	// DepthAttr holds the depth of a comment in its thread, from 0.
	DepthAttr = "thread depth"
	// LangAttr holds the language of a normalised pre, which has one text node and no other attribute.
	LangAttr = "data-lang"
)

// Own reports whether n is an element that normalising made, and not the page.
func Own(n *html.Node) bool { return n.Type == html.ElementNode && strings.Contains(n.Data, " ") }
