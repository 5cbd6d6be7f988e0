package normalise

import (
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// parenthesise puts the readings of a ruby element in parentheses, as browsers without ruby do where the page has rp
// elements for it. It does nothing to a page that has them. Otherwise a word and its reading would run together.
// Parentheses are of full width where the text is of such a script.
func parenthesise(ruby *html.Node) {
	if dom.Contains(ruby, atom.Rp) {
		return
	}
	for _, rt := range dom.FindAll(ruby, func(n *html.Node) bool { return dom.Is(n, atom.Rt) }) {
		if !dom.HasText(rt) {
			continue
		}
		left, right := " (", ")"
		for _, r := range dom.Text(ruby) {
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo) {
				left, right = "（", "）"
				break
			}
		}
		rt.InsertBefore(dom.NewText(left), rt.FirstChild)
		rt.AppendChild(dom.NewText(right))
	}
}
