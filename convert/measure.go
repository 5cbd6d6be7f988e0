package convert

import (
	"context"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// measure tells how much text an element holds: bytes without white space, those inside links, and those inside code blocks.
type measure struct{ text, links, code int }

func (m *measure) add(o measure) { m.text += o.text; m.links += o.links; m.code += o.code }

// own is the text that is not links.
func (m measure) own() int { return m.text - m.links }

// measureAll measures every element from n down, without those in dropped.
func measureAll(ctx context.Context, n *html.Node, dropped map[*html.Node]bool) map[*html.Node]measure {
	elements := 0
	for d := range n.Descendants() {
		if d.Type == html.ElementNode {
			elements++
		}
	}
	all := make(map[*html.Node]measure, elements+1) // growing it would take most of the time
	var walk func(n *html.Node, link, code bool) measure
	walk = func(n *html.Node, link, code bool) (m measure) {
		check(ctx)
		if n.Type == html.TextNode {
			for i := range len(n.Data) {
				if n.Data[i] > ' ' {
					m.text++
				}
			}
			if link {
				m.links = m.text
			}
			if code {
				m.code = m.text
			}
			return m
		}
		if dropped[n] {
			return m
		}
		link, code = link || n.DataAtom == atom.A, code || n.DataAtom == atom.Pre
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			m.add(walk(c, link, code))
		}
		if n.Type == html.ElementNode {
			all[n] = m
		}
		return m
	}
	walk(n, false, false)
	return all
}
