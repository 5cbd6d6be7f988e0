package convert

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// normaliseMath replaces formulas by their TeX source, wherever a page carries it, and removes their twins for the eye.
func normaliseMath(body *html.Node) {
	for _, n := range findAll(body, func(n *html.Node) bool {
		return n.Data == "math" || is(n, atom.Script) && strings.HasPrefix(attr(n, "type"), "math/tex")
	}) {
		if n.Parent == nil {
			continue
		}
		tex, display := texOf(n)
		if tex == "" {
			continue // its text is kept as it is
		}
		place := n
		for p := n.Parent; p != nil; p = p.Parent {
			if hasClass(p, "katex", "katex-mathml", "mwe-math-element", "mjx-container", "MathJax", "MathJax_Display", "katex-display") || p.Data == "mjx-container" || p.Data == "mjx-assistive-mml" ||
				is(p, atom.Span) && onlyChild(place) && attr(p, "style") != "" {
				display = display || hasClass(p, "katex-display", "MathJax_Display") || attr(p, "display") == "true"
				place = p
				continue
			}
			break
		}
		if is(n, atom.Script) {
			display = display || strings.Contains(attr(n, "type"), "mode=display")
			for p := n.PrevSibling; p != nil; {
				before := p.PrevSibling
				if hasClass(p, "MathJax", "MathJax_Preview", "MathJax_Display", "MathJax_SVG", "MathJax_CHTML") {
					remove(p)
				} else if p.Type != html.TextNode || !blank(p.Data) {
					break
				}
				p = before
			}
		}
		formula := &html.Node{Type: html.ElementNode, Data: mathElement}
		if display {
			setAttr(formula, "display", "block")
		}
		formula.AppendChild(textNode(tex))
		replace(place, formula)
	}
}

func onlyChild(n *html.Node) bool { return n.PrevSibling == nil && n.NextSibling == nil }

// texOf returns the TeX source that a math or script element carries, and whether it is set as a block.
func texOf(n *html.Node) (tex string, display bool) {
	if is(n, atom.Script) {
		return cleanTeX(textOf(n)), false
	}
	annotation := find(n, func(d *html.Node) bool { return d.Data == "annotation" && strings.Contains(attr(d, "encoding"), "tex") })
	if annotation != nil {
		tex = textOf(annotation)
	} else {
		tex = attr(n, "alttext")
	}
	return cleanTeX(tex), attr(n, "display") == "block"
}

// cleanTeX trims a formula and takes off the wrapper that Wikipedia puts round each.
func cleanTeX(tex string) string {
	tex, _ = visible(squash(tex))
	if inner, ok := strings.CutPrefix(tex, `{\displaystyle `); ok && strings.HasSuffix(inner, "}") {
		tex = strings.TrimSpace(strings.TrimSuffix(inner, "}"))
	}
	return strings.Trim(tex, "$")
}
