package formula

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// fromMathML writes presentation MathML, or what MathJax makes of it for the eye (elements mjx-…), as TeX. It is ""
// for a formula of more than 20,000 nodes.
func fromMathML(n *html.Node) string {
	w := &texWriter{budget: 20000}
	tex := w.row(n)
	if w.budget < 0 {
		return ""
	}
	return chars.OneLine(tex)
}

// texWriter turns a tree of MathML into TeX. It is made for one formula.
type texWriter struct {
	budget int // nodes that may still be read
	depth  int
}

// parts returns the children of n that mean something, seen through elements that only lay out. Phantoms, spaces and
// annotations mean nothing.
func (w *texWriter) parts(n *html.Node) []*html.Node {
	var parts []*html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		switch mathName(c) {
		case "box", "row", "frac", "dbox", "dtable", "itable", "table", "texatom", "sqrt", "root-box":
			parts = append(parts, w.parts(c)...)
		case "line", "nstrut", "dstrut", "surd", "mphantom", "annotation", "annotation-xml", "mprescripts", "rbox", "mspace",
			"spacer", "assistive-mml":
		default:
			parts = append(parts, c)
		}
	}
	return parts
}

// mathName returns the name of a MathML element; MathJax's elements have the prefix mjx-. It is in lower case.
func mathName(n *html.Node) string {
	name := strings.ToLower(n.Data)
	if inner, ok := strings.CutPrefix(name, "mjx-"); ok {
		return inner
	}
	return name
}

// row writes the children of n one after another. Parentheses that pair within it grow with what they hold. A prime
// joins what is before it, and a single brace before a table makes it one of cases.
func (w *texWriter) row(n *html.Node) string {
	parts := w.parts(n)
	if len(parts) == 3 && mathName(parts[1]) == "mtable" { // a matrix between its fences
		if env := matrices[w.character(parts[0])+w.character(parts[2])]; env != "" {
			return w.table(parts[1], env)
		}
	}
	partner := w.pairs(parts)
	words := make([]string, 0, len(parts))
	for i, p := range parts {
		tex := w.write(p)
		switch {
		case tex == "":
			continue
		case tex == `\prime` && len(words) > 0: // of what stands before it
			words[len(words)-1] += "'"
			continue
		case partner[i] < 0 && i+2 == len(parts) && mathName(parts[i+1]) == "mtable" && w.character(p) == "{":
			words = append(words, w.table(parts[i+1], "cases"))
			return strings.Join(words, " ")
		case partner[i] > i:
			tex = `\left` + texFence(w.character(p))
		case partner[i] < i && partner[i] >= 0:
			tex = `\right` + texFence(w.character(p))
		}
		words = append(words, tex)
	}
	return strings.Join(words, " ")
}

// matrices are the environments of tables by the fences round them.
var matrices = map[string]string{
	"()": "pmatrix", "[]": "bmatrix", "||": "vmatrix", "{}": "Bmatrix", "∣∣": "vmatrix",
	"‖‖": "Vmatrix", "{": "cases",
}

// pairs returns for each part the index of the fence that it pairs with, or -1. Parentheses, brackets and braces are
// such.
func (w *texWriter) pairs(parts []*html.Node) []int {
	partner := make([]int, len(parts))
	var open []int
	for i, p := range parts {
		partner[i] = -1
		if mathName(p) != "mo" {
			continue
		}
		switch c := w.character(p); c {
		case "(", "[", "{":
			open = append(open, i)
		case ")", "]", "}":
			if len(open) > 0 {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				partner[i], partner[last] = last, i
			}
		}
	}
	return partner
}

// texFence returns a fence of MathML as TeX writes it: braces with a backslash.
func texFence(c string) string {
	if c == "{" || c == "}" {
		return `\` + c
	}
	return c
}

// write writes one element of MathML. What is not known is written as the row of what it holds. Deeper than 200
// elements nothing is written.
func (w *texWriter) write(n *html.Node) string {
	if w.budget--; w.budget < 0 || w.depth > 200 {
		return ""
	}
	w.depth++
	defer func() { w.depth-- }()
	switch name := mathName(n); name {
	case "mi", "mn", "mo", "ms", "mtext":
		return w.token(n, name)
	case "mfrac":
		if strings.HasPrefix(dom.Attr(n, "linethickness"), "0") { // a binomial coefficient, or other things above another
			return w.arguments(n, `\genfrac{}{}{0pt}{}`, 2)
		}
		return w.arguments(n, `\frac`, 2)
	case "msqrt":
		return `\sqrt{` + w.row(n) + "}"
	case "mroot":
		if parts := w.parts(n); len(parts) == 2 {
			return `\sqrt[` + w.write(parts[1]) + "]{" + w.write(parts[0]) + "}"
		}
		return w.row(n)
	case "msub", "msup", "msubsup":
		return w.script(n, name)
	case "munder", "mover", "munderover":
		return w.limits(n, name)
	case "mtable":
		return w.table(n, "")
	case "mfenced":
		return w.fenced(n)
	case "menclose":
		if strings.Contains(dom.Attr(n, "notation"), "top") {
			return `\overline{` + w.row(n) + "}"
		}
		return w.row(n)
	case "semantics":
		if parts := w.parts(n); len(parts) > 0 {
			return w.write(parts[0])
		}
		return ""
	case "mstyle", "mrow", "mpadded", "merror", "math", "mtd", "num", "den", "base", "over", "under", "script", "mrow-box",
		"maction":
		return w.row(n)
	}
	return w.row(n)
}

// arguments writes a command of TeX with the first count parts as its arguments. With fewer parts, they are written as
// a row.
func (w *texWriter) arguments(n *html.Node, command string, count int) string {
	parts := w.parts(n)
	if len(parts) < count {
		return w.row(n)
	}
	var b strings.Builder
	b.WriteString(command)
	for _, p := range parts[:count] {
		b.WriteString("{" + w.write(p) + "}")
	}
	return b.String()
}

// scripts returns the base of n and what stands below and above it. What is missing is "". name is n's, since MathJax
// and MathML order the parts differently.
func (w *texWriter) scripts(n *html.Node, name string) (base, low, high string) {
	parts := w.parts(n)
	if len(parts) > 1 && mathName(parts[1]) == "script" { // MathJax: superscript first
		inner := w.parts(parts[1])
		base = w.write(parts[0])
		switch {
		case name == "msubsup" && len(inner) > 1:
			return base, w.write(inner[1]), w.write(inner[0])
		case name == "msup":
			return base, "", w.write(parts[1])
		}
		return base, w.write(parts[1]), ""
	}
	written := make([]string, 3)
	for i, p := range parts[:min(len(parts), 3)] {
		written[i] = w.write(p)
	}
	switch name {
	case "msup", "mover":
		return written[0], "", written[1]
	}
	return written[0], written[1], written[2]
}

// script writes a base with its subscript and superscript. Primes become apostrophes.
func (w *texWriter) script(n *html.Node, name string) string {
	base, low, high := w.scripts(n, name)
	if base == "" {
		base = "{}"
	}
	if low != "" {
		base += "_{" + low + "}"
	}
	if strings.Trim(high, "′' ") == "" && high != "" || strings.HasPrefix(high, `\prime`) {
		return base + strings.Repeat("'", max(1, utf8.RuneCountInString(strings.ReplaceAll(high, `\prime`, "'"))))
	}
	if high != "" {
		base += "^{" + high + "}"
	}
	return base
}

// accents are the commands for signs above or below one expression. They are looked up by the sign alone.
var accents = map[string]string{
	"^": `\hat`, "ˆ": `\hat`, "˜": `\tilde`, "~": `\tilde`, "→": `\vec`, "⃗": `\vec`, "¯": `\bar`, "‾": `\overline`,
	"―": `\overline`, "˙": `\dot`, "¨": `\ddot`, "⏞": `\overbrace`, "⏟": `\underbrace`, "_": `\underline`,
	"ˇ": `\check`, "˘": `\breve`, "´": `\acute`, "`": `\grave`,
	"\u0300": `\grave`, "\u0301": `\acute`, "\u0302": `\hat`, "\u0303": `\tilde`, "\u0304": `\bar`, "\u0305": `\overline`,
	"\u0306": `\breve`, "\u0307": `\dot`, "\u0308": `\ddot`, "\u030c": `\check`, "\u0332": `\underline`,
}

// limits writes a base with what stands below and above it: an accent, limits of an operator, or one thing set over
// another.
func (w *texWriter) limits(n *html.Node, name string) string {
	parts := w.parts(n)
	var base, low, high string
	var sign *html.Node
	byName := map[string]*html.Node{}
	var collect func(m *html.Node)
	collect = func(m *html.Node) { // MathJax nests them in no fixed order
		for _, p := range w.parts(m) {
			switch mathName(p) {
			case "base", "over", "under":
				byName[mathName(p)] = p
			case "munder", "mover":
				if mathName(m) == "munderover" {
					collect(p)
				}
			}
		}
	}
	if strings.HasPrefix(n.Data, "mjx-") {
		collect(n)
	}
	if byName["base"] != nil {
		base = w.write(byName["base"])
		if p := byName["under"]; p != nil {
			low, sign = w.write(p), p
		}
		if p := byName["over"]; p != nil {
			high, sign = w.write(p), p
		}
	} else {
		base, low, high = w.scripts(n, name)
		if len(parts) > 1 {
			sign = parts[1]
		}
	}
	if low == "" || high == "" {
		if sign != nil {
			if command := accents[w.character(sign)]; command != "" {
				return command + "{" + base + "}"
			}
		}
		// TeX sets what is above or below an ordinary expression by a command of its own.
		if !takesLimits(base) {
			if high != "" {
				return `\overset{` + high + "}{" + base + "}"
			}
			return `\underset{` + low + "}{" + base + "}"
		}
	}
	if low != "" {
		base += "_{" + low + "}"
	}
	if high != "" {
		base += "^{" + high + "}"
	}
	return base
}

// takesLimits reports whether what stands in MathML below and above a base is written as its scripts. Of others TeX
// would set them beside the base.
func takesLimits(base string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(base, `\`), "{")
	return bigOperators[name] || strings.HasPrefix(base, `\underbrace`) || strings.HasPrefix(base, `\overbrace`)
}

// bigOperators are the commands, without backslash, that have limits.
var bigOperators = map[string]bool{
	"sum": true, "prod": true, "coprod": true, "int": true, "iint": true, "iiint": true, "oint": true, "bigcup": true,
	"bigcap": true, "bigoplus": true, "bigotimes": true, "bigvee": true, "bigwedge": true, "lim": true, "max": true,
	"min": true, "sup": true, "inf": true, "limsup": true, "liminf": true, "det": true, "Pr": true, "gcd": true,
	"arg": true, "operatorname": true,
}

// table writes a table in an environment: that given, or the one that its alignment suggests. Labels of equations stand
// at the end of their row.
func (w *texWriter) table(n *html.Node, env string) string {
	var rows []string
	columns := 1
	for _, tr := range w.parts(n) {
		name := mathName(tr)
		if name != "mtr" && name != "mlabeledtr" {
			continue
		}
		cells := w.parts(tr)
		label := ""
		if name == "mlabeledtr" && len(cells) > 1 {
			label, cells = w.row(cells[0]), cells[1:]
		}
		columns = max(columns, len(cells))
		var row []string
		for _, td := range cells {
			row = append(row, w.row(td))
		}
		rows = append(rows, strings.TrimSpace(strings.Join(row, " & ")+" "+label))
	}
	if len(rows) == 1 && env == "" {
		return strings.ReplaceAll(rows[0], " & ", " ")
	}
	if env == "" {
		env = "matrix"
		if align := dom.Attr(n, "columnalign"); strings.Contains(align, "right") || dom.Attr(n, "displaystyle") == "true" {
			env = "aligned"
		}
	}
	return `\begin{` + env + "} " + strings.Join(rows, ` \\ `) + ` \end{` + env + "}"
}

// fenced writes the old element mfenced: its parts between fences, with separators.
func (w *texWriter) fenced(n *html.Node) string {
	opening, closing, separator := "(", ")", ","
	if dom.HasAttr(n, "open") {
		opening = dom.Attr(n, "open")
	}
	if dom.HasAttr(n, "close") {
		closing = dom.Attr(n, "close")
	}
	if dom.HasAttr(n, "separators") {
		separator = strings.TrimSpace(dom.Attr(n, "separators"))
	}
	if parts := w.parts(n); len(parts) == 1 && mathName(parts[0]) == "mtable" && matrices[opening+closing] != "" {
		return w.table(parts[0], matrices[opening+closing])
	}
	var inner []string
	for _, p := range w.parts(n) {
		inner = append(inner, w.write(p))
	}
	side := func(c string) string {
		if c == "" {
			return "."
		}
		return texFence(c)
	}
	if len(separator) > 1 {
		separator = separator[:1]
	}
	return `\left` + side(opening) + strings.Join(inner, " "+separator+" ") + `\right` + side(closing)
}
