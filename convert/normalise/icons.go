package normalise

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
)

// dropIcons removes the icons at both ends of a heading.
func dropIcons(h *html.Node) {
	var texts []*html.Node
	for d := range h.Descendants() {
		if d.Type == html.TextNode {
			texts = append(texts, d)
		}
	}
	private := func(r rune) bool { return unicode.Is(unicode.Co, r) }
	for _, n := range texts {
		if rest := strings.TrimLeftFunc(n.Data, chars.Icon); strings.ContainsFunc(n.Data[:len(n.Data)-len(rest)], private) {
			n.Data = rest
		}
		if !chars.Blank(n.Data) {
			break
		}
	}
	for _, n := range slices.Backward(texts) {
		if rest := strings.TrimRightFunc(n.Data, chars.Icon); strings.ContainsFunc(n.Data[len(rest):], private) {
			n.Data = rest
		}
		if !chars.Blank(n.Data) {
			break
		}
	}
}
