package css

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/dom"
)

// TestFilterPassesWhatMatches compares every element of a page with every rule, also after elements have moved: what
// matches must pass the filter of the names around it, and much of what does not match must not.
func TestFilterPassesWhatMatches(t *testing.T) {
	const page = `<style>
		.a .b{display:none} .a>.b{display:none} .a + .c .b{display:none} .a ~ .b{display:none} #i .b{display:none}
		.a .c > .b{display:none} body .b{display:none} .x .b{display:none} .É .b{display:none} .k .b{display:none}
		.c:has(.b) .b{display:none} :is(.a, .c) .b{display:none}</style>
		<div class="a"><p class="b">1</p><div class="c"><p class="b">2</p></div></div><div class="c" id="i"><p class="b">3</p>
		<div class="A"><p class="b">4</p></div></div><div class="é"><p class="b">5</p></div><div class="` + "\u212a" + `">
		<p class="b">6</p></div><p class="b">7</p>`
	for _, mode := range []string{"<!doctype html>", ""} { // standards mode and quirks mode
		root, err := html.Parse(strings.NewReader(mode + page))
		if err != nil {
			t.Fatal(err)
		}
		s := Read(root)
		passed, kept := 0, 0
		compare := func() {
			for n := range root.Descendants() {
				if n.Type != html.ElementNode {
					continue
				}
				s.nearOf = nil
				for _, r := range s.rules[".b"] {
					switch is, may := s.matches(r.selector, 0, n, nil), s.near(n, r.outer); {
					case is && !may:
						t.Errorf("%q: the filter keeps %q from an element that it matches", mode, r.chain[0].names())
					case is:
						passed++
					case !may:
						kept++
					}
				}
			}
		}
		compare()
		last := dom.Find(root, func(n *html.Node) bool { return dom.Attr(n, "id") == "i" })
		for c := dom.Find(root, func(n *html.Node) bool { return dom.Attr(n, "class") == "a" }); c.FirstChild != nil; {
			moved := c.FirstChild
			c.RemoveChild(moved)
			last.AppendChild(moved)
		}
		compare()
		if passed < 20 || kept < 50 {
			t.Errorf("%q: %d comparisons match, %d are kept from being made", mode, passed, kept)
		}
	}
}
