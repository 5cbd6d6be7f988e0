// Package formula finds the formulas of a page and replaces each by its TeX source.
//
// Pages carry formulas in many forms, often in several at once: TeX in an attribute, a script, an annotation, an
// image's alternative text or address, or between delimiters in the text, MathML, and what KaTeX, MathJax and others
// draw for the eye. [Normalise] takes the source where there is one, writes TeX from MathML (mathml.go) where there is
// none, and removes the twins for the eye and for screen readers.
package formula

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// Rules are the tables of this package, which count in the version of the rules.
var Rules = []any{mathBoxes, texAttributes, texQueries, matrices, accents, bigOperators, functions, texSymbols}

// mathBoxes name the elements that renderers of formulas put round what they made. They hold one formula and its twins.
// The whole box is replaced by the source.
var mathBoxes = []string{
	"katex", "katex-mathml", "katex-display", "mwe-math-element", "mathjax", "mathjax_display", "mathjax_chtml",
	"mathjax_svg", "mjx-chtml", "mathjax_svg_display", "mathjax_mathml", "math-inline", "math-block",
	"math-display", "hurmet-tex", "temml", "ltx_math_unparsed", "tex-math", "mjx-assistive-mml",
}

// texAttributes are those in which pages keep the TeX of a formula beside what shows it. Names that say nothing of
// formulas count only with a class that does.
var texAttributes = []string{
	"data-math", "data-tex", "data-latex", "data-entry", "data-formula", "data-equation",
	"data-expr", "data-original-formula",
}

// texQueries are the parameters by which services that draw formulas are handed their TeX. Pages show the picture that
// such a service draws.
var texQueries = []string{"tex", "latex", "math", "formula", "eq", "chl", "from"}

// Normalise replaces formulas by their TeX source, wherever a page carries it, and removes their twins for the eye. It
// returns the sources that say something else than the formula shows, which are not used. It must come before package
// hidden, since twins and sources are hidden from readers of one kind or another.
func Normalise(body *html.Node) (refused []string) {
	unpack(body)
	written := false // TeX between delimiters, which a script would set
	for _, n := range findMath(body, &written) {
		if !dom.Attached(n, body) {
			continue
		}
		tex, display := texOf(n, &refused)
		if tex == "" {
			continue // its text is kept as it is
		}
		place := n
		for p := n.Parent; p != nil; p = p.Parent {
			box := dom.HasClass(p, mathBoxes...) || p.Data == "mjx-container" || p.Data == "mjx-assistive-mml"
			if !box && (!dom.Is(p, atom.Span) || !onlyMath(p, place)) {
				break
			}
			display = display || dom.HasClass(p, "katex-display", "MathJax_Display", "MathJax_SVG_Display", "math-block",
				"math-display") || dom.Attr(p, "display") == "true"
			place = p
		}
		if dom.Is(n, atom.Script) {
			removePreviews(n)
		}
		formula := &html.Node{Type: html.ElementNode, Data: dom.MathElement}
		if display || aloneInParagraph(place) && dom.Is(n, atom.Img) {
			dom.SetAttr(formula, "display", "block")
		}
		formula.AppendChild(dom.NewText(tex))
		dom.Replace(place, formula)
	}
	if written {
		writtenMath(body)
	}
	return refused
}

// unpack puts the MathML that MathJax keeps in an attribute in the place of what it drew of it, if no script and no
// MathML beside has the same formula. It must show what is drawn.
func unpack(body *html.Node) {
	for _, n := range dom.FindAll(body, func(n *html.Node) bool { return dom.HasAttr(n, "data-mathml") }) {
		p := n
		for dom.HasClass(p.Parent, mathBoxes...) {
			p = p.Parent
		}
		for p = p.NextSibling; p != nil && p.Type == html.TextNode && chars.Blank(p.Data); p = p.NextSibling {
		}
		packed := dom.Attr(n, "data-mathml")
		if dom.Is(p, atom.Script) || dom.Find(n, func(d *html.Node) bool { return d.Data == "math" }) != nil ||
			len(packed) > 10<<10 {
			continue
		}
		nodes, err := html.ParseFragment(strings.NewReader(packed), dom.NewElement(atom.Span))
		if err == nil && len(nodes) == 1 && nodes[0].Data == "math" && shows(n, fromMathML(nodes[0])) {
			dom.Empty(n)
			n.AppendChild(nodes[0])
		}
	}
}

// findMath returns the elements that carry formulas. written becomes true when the text holds TeX between delimiters.
// They are in the order of the page; some lie in others.
func findMath(body *html.Node, written *bool) []*html.Node {
	var found []*html.Node
	for d := range body.Descendants() {
		switch d.Type {
		case html.TextNode:
			*written = *written || strings.Contains(d.Data, `\(`) || strings.Contains(d.Data, `\[`) ||
				strings.Contains(d.Data, `$$`)
		case html.ElementNode:
			if d.Data == "math" || d.Data == "mjx-math" || dom.Is(d, atom.Script) && strings.HasPrefix(dom.Attr(d, "type"),
				"math/") || dom.Is(d, atom.Img) && imageTeX(d) != "" || len(d.Attr) > 0 && attributeTeX(d) != "" {
				found = append(found, d)
			}
		}
	}
	return found
}

// onlyMath reports whether p is a mere wrapper of the formula n: it shows nothing else, beside what is hidden from
// screen readers. It is replaced with the formula.
func onlyMath(p, n *html.Node) bool {
	for c := p.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c == n, c.Type == html.TextNode && chars.Blank(c.Data), c.Type == html.CommentNode,
			dom.Attr(c, "aria-hidden") == "true",
			dom.Is(c, atom.Script), c.Namespace == "svg",
			dom.Is(c, atom.Img) && dom.HasClass(c, "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display"):
		default:
			return false
		}
	}
	return true
}

// aloneInParagraph reports whether a formula is all of its block, so that it is set by itself.
func aloneInParagraph(n *html.Node) bool {
	return dom.Is(n.Parent, atom.P, atom.Div, atom.Center, atom.Figure) && onlyMath(n.Parent, n)
}

// removePreviews removes the formulas that MathJax shows before a script that holds the source. The script is the
// source of them.
func removePreviews(n *html.Node) {
	for p := n.PrevSibling; p != nil; {
		before := p.PrevSibling
		if dom.HasClass(p, "MathJax", "MathJax_Preview", "MathJax_Display", "MathJax_SVG", "MathJax_SVG_Display",
			"MathJax_CHTML", "MathJax_MathML", "mjx-chtml") {
			dom.Remove(p)
		} else if p.Type != html.TextNode || !chars.Blank(p.Data) {
			break
		}
		p = before
	}
}

// texOf returns the TeX of an element that carries a formula, and whether it is set as a block. It adds a source that
// it does not use to refused. tex is "" where nothing is known of it.
func texOf(n *html.Node, refused *[]string) (tex string, display bool) {
	switch {
	case dom.Is(n, atom.Script):
		if !strings.HasPrefix(dom.Attr(n, "type"), "math/tex") {
			return "", false
		}
		return cleanTeX(dom.Text(n)), strings.Contains(dom.Attr(n, "type"), "mode=display")
	case dom.Is(n, atom.Img):
		tex = imageTeX(n)
		return tex, strings.HasPrefix(tex, `\begin{`) || strings.Contains(dom.Attr(n, "class"), "display")
	case n.Data == "mjx-math":
		if n.Parent.Data == "mjx-container" && dom.Find(n.Parent,
			func(d *html.Node) bool { return d.Data == "math" }) != nil {
			return "", false // the same for screen readers, which says more
		}
		return cleanTeX(fromMathML(n)), dom.Attr(n, "display") == "true"
	case n.Data == "math":
		display = dom.Attr(n, "display") == "block" || dom.Attr(n, "mode") == "display"
		if a := dom.Find(n, func(d *html.Node) bool {
			return d.Data == "annotation" && strings.Contains(strings.ToLower(dom.Attr(d, "encoding")), "tex")
		}); a != nil {
			tex = dom.Text(a)
		} else {
			tex = dom.Attr(n, "alttext")
		}
		if tex != "" && !shows(n, tex) {
			*refused = append(*refused, tex)
			tex = ""
		}
		if tex == "" {
			tex = fromMathML(n)
		}
		return cleanTeX(tex), display
	}
	if inner := dom.Find(n, func(d *html.Node) bool { return d.Data == "math" }); inner != nil {
		display = dom.Attr(inner, "display") == "block"
	}
	return cleanTeX(attributeTeX(n)), display || dom.Is(n, atom.Div)
}

// attributeTeX returns the TeX in an attribute of an element that says it shows a formula, or "". Attributes longer
// than 10 KiB are none.
func attributeTeX(n *html.Node) string {
	for _, key := range texAttributes {
		if v := dom.Attr(n, key); v != "" && len(v) < 10<<10 {
			if class := strings.ToLower(dom.Attr(n, "class") + n.Data); strings.Contains(class, "math") ||
				strings.Contains(class,
					"tex") || strings.Contains(class, "equation") || strings.Contains(class, "formula") {
				return v
			}
			return ""
		}
	}
	return ""
}

// imageTeX returns the TeX of an image of a formula: its alternative text where that is TeX, or what its address asks a
// service to draw. It is "" for any other image.
func imageTeX(n *html.Node) string {
	alt := strings.TrimSpace(dom.Attr(n, "alt"))
	if class := strings.ToLower(dom.Attr(n, "class")); alt != "" &&
		(looksLikeTeX(alt) || strings.Contains(class, "mwe-math") ||
			dom.HasClass(n, "latex", "tex", "ql-img-inline-formula", "ql-img-displayed-equation")) {
		return cleanTeX(alt)
	}
	src := dom.Attr(n, "src")
	if len(src) > 4<<10 || !strings.ContainsAny(src, "%\\") {
		return ""
	}
	u, err := url.Parse(src)
	if err != nil {
		return ""
	}
	candidates := []string{}
	for _, key := range texQueries {
		candidates = append(candidates, u.Query().Get(key))
	}
	if !strings.Contains(u.RawQuery, "=") || strings.Contains(u.Host+u.Path, "latex") ||
		strings.Contains(u.Host+u.Path, "tex.") {
		if query, err := url.QueryUnescape(strings.ReplaceAll(u.RawQuery, "+", "%2B")); err == nil {
			candidates = append(candidates, query)
		}
	}
	candidates = append(candidates, u.Path[strings.LastIndexByte(u.Path, '/')+1:])
	for _, tex := range candidates {
		if looksLikeTeX(tex) {
			return cleanTeX(tex)
		}
	}
	return ""
}

// looksLikeTeX reports whether a text can only be TeX: it has a command and braces, signs or digits as formulas have
// them. A path of Windows has a backslash behind a colon, and is none.
func looksLikeTeX(s string) bool {
	i := strings.IndexByte(s, '\\')
	if i < 0 || i+2 >= len(s) || !chars.Letter(s[i+1]) || !chars.Letter(s[i+2]) || strings.Contains(s, `:\`) {
		return false
	}
	return strings.ContainsAny(s, "{}^_=+<>") || s[0] == '\\'
}

// writtenMath takes formulas out of text in which a script would find them: \(…\), \[…\], $$…$$. Code and scripts
// are left alone.
func writtenMath(body *html.Node) {
	var texts []*html.Node
	for d := range body.Descendants() {
		if d.Type == html.TextNode && strings.ContainsAny(d.Data, `\$`) && !dom.Within(d, atom.Pre, atom.Code, atom.Script,
			atom.Style, atom.Textarea, atom.Noscript, atom.Kbd, atom.Samp) && d.Parent.Data != dom.MathElement {
			texts = append(texts, d)
		}
	}
	for _, text := range texts {
		s := text.Data
		for {
			before, tex, after, display, ok := cutMath(s)
			if !ok {
				break
			}
			formula := &html.Node{Type: html.ElementNode, Data: dom.MathElement}
			if display {
				dom.SetAttr(formula, "display", "block")
			}
			formula.AppendChild(dom.NewText(tex))
			text.Parent.InsertBefore(dom.NewText(before), text)
			text.Parent.InsertBefore(formula, text)
			s = after
		}
		text.Data = s
	}
}

// cutMath cuts a text round its first formula between delimiters. ok is false for a text without one. A single dollar
// is no delimiter: prices have it.
func cutMath(s string) (before, tex, after string, display, ok bool) {
	for i := 0; i+1 < len(s); i++ {
		var closing string
		switch s[i : i+2] {
		case `\(`:
			closing = `\)`
		case `\[`:
			closing = `\]`
		case `$$`:
			closing = `$$`
		default:
			continue
		}
		inner, rest, found := strings.Cut(s[i+2:], closing)
		if !found {
			return "", "", "", false, false
		}
		if tex = cleanTeX(inner); tex != "" && len(tex) < 10<<10 && !strings.Contains(inner, `\(`) {
			return s[:i], tex, rest, closing != `\)`, true
		}
		i += 1 + len(inner) + len(closing)
	}
	return "", "", "", false, false
}

// cleanTeX trims a formula and takes off the wrapper that Wikipedia puts round each. It is on one line, without dollars
// and invisible characters.
func cleanTeX(tex string) string {
	tex, _ = chars.Visible(chars.OneLine(tex))
	for _, style := range [...]string{`{\displaystyle `, `{\textstyle `} {
		if inner, ok := strings.CutPrefix(tex, style); ok && strings.HasSuffix(inner, "}") {
			tex = strings.TrimSpace(strings.TrimSuffix(inner, "}"))
		}
	}
	return strings.TrimSpace(strings.Trim(tex, "$"))
}
