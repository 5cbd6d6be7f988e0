package dom

import (
	"strings"

	"golang.org/x/net/html"
)

// Shape returns equal values for elements that the author of a page would style alike.
func Shape(n *html.Node) uint32 {
	h := uint32(n.DataAtom) * 2654435761
	class := Attr(n, "class")
	first, _, _ := strings.Cut(strings.TrimSpace(class), " ")
	for i := range len(first) {
		if c := first[i]; c < '0' || c > '9' {
			h = (h ^ uint32(c)) * 16777619
		}
	}
	return h
}
