// Package omml reads the formulas of Office documents (ECMA-376 part 1, §22.1) as MathML, of which a converter of HTML
// then writes TeX like that of any page.
package omml

import (
	"context"
	"encoding/xml"
	"html"
	"strings"
	"unicode"

	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/xmlread"
)

// The limits of one formula. They bound memory and recursion.
const (
	maxNodes = 20_000 // of a formula
	maxDepth = 100    // of its elements in one another
)

// ommlNode is an element of a formula in a file of Office (OMML). Names are those of §22.1 without their prefix. The
// zero value is an element that is not there.
type ommlNode struct {
	name, value string // value of its attribute val
	text        string
	children    []*ommlNode
}

// Read reads a formula, whose begin tag was the last token of dec, up to its end, and returns it as MathML: an element
// math, with display="block" if display is set. ok is false if the formula is too large; the text that it has so far is
// returned then, in an element mtext. When ctx ends, Read panics with a value for [guard.Run].
func Read(ctx context.Context, dec *xml.Decoder, display bool) (mathML string, ok bool) {
	root, ok := read(ctx, dec)
	w := &ommlWriter{}
	w.out.WriteString("<math")
	if display {
		w.out.WriteString(` display="block"`)
	}
	w.out.WriteString(">")
	if ok {
		w.all(root.children)
	} else {
		w.token("mtext", "", plain(root))
	}
	w.out.WriteString("</math>")
	return w.out.String(), ok
}

// read returns the tree of a formula of Office. ok is false if part of it was left out. Deleted text and properties of
// looks are passed over.
func read(ctx context.Context, dec *xml.Decoder) (root *ommlNode, ok bool) {
	root, ok = &ommlNode{}, true
	open := []*ommlNode{root}
	nodes, depth := 0, 1 // depth counts what is left out, too
	for depth > 0 {
		guard.Check(ctx)
		token, err := dec.RawToken()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			if nodes++; nodes > maxNodes || depth > maxDepth || depth != len(open)+1 {
				ok = ok && nodes <= maxNodes && depth <= maxDepth
				continue
			}
			switch t.Name.Local {
			case "del", "moveFrom", "delText", "instrText", "ctrlPr": // removed text, and looks
				continue
			}
			n := &ommlNode{name: t.Name.Local, value: xmlread.Attr(t, "val")}
			top := open[len(open)-1]
			top.children = append(top.children, n)
			open = append(open, n)
		case xml.EndElement:
			if depth == len(open) {
				open = open[:len(open)-1]
			}
			depth--
		case xml.CharData:
			if top := open[len(open)-1]; top.name == "t" && depth == len(open) {
				top.text += string(t)
			}
		}
	}
	return root, ok
}

// plain returns the text of a formula of Office. It is what remains of one that is too large.
func plain(n *ommlNode) string {
	var b strings.Builder
	var walk func(n *ommlNode)
	walk = func(n *ommlNode) {
		b.WriteString(n.text)
		for _, c := range n.children {
			walk(c)
		}
	}
	walk(n)
	return b.String()
}

// child returns the first child of a name, an empty node if there is none. So callers can go on without a check.
func (n *ommlNode) child(name string) *ommlNode {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	return &ommlNode{}
}

// property returns the value that the properties of n (fPr of f) state for a name. stated is false if they are silent.
func (n *ommlNode) property(name string) (value string, stated bool) {
	for _, p := range n.child(n.name + "Pr").children {
		if p.name == name {
			return p.value, true
		}
	}
	return "", false
}

// or returns the value of a property, or other if it is not stated. other is the default that ECMA-376 gives the
// property.
func (n *ommlNode) or(name, other string) string {
	if value, stated := n.property(name); stated {
		return value
	}
	return other
}

// on reports whether a property is stated and not switched off. A property without a value is on.
func (n *ommlNode) on(name string) bool {
	value, stated := n.property(name)
	return stated && value != "0" && value != "off" && value != "false"
}

// ommlWriter writes a formula of Office as MathML. aligned is set while such an array is written.
type ommlWriter struct {
	out     strings.Builder
	aligned bool // within an array of equations, where an ampersand aligns
}

// all writes nodes of a formula one after the other.
func (w *ommlWriter) all(list []*ommlNode) {
	for _, n := range list {
		w.write(n)
	}
}

// element writes an element round what inner writes. name may have attributes behind it.
func (w *ommlWriter) element(name string, inner func()) {
	w.out.WriteString("<" + name + ">")
	inner()
	tag, _, _ := strings.Cut(name, " ")
	w.out.WriteString("</" + tag + ">")
}

// row writes the children of n as one argument.
func (w *ommlWriter) row(n *ommlNode) { w.element("mrow", func() { w.all(n.children) }) }

// arguments writes an element whose arguments are parts of the formula.
func (w *ommlWriter) arguments(name string, parts ...*ommlNode) {
	w.element(name, func() {
		for _, p := range parts {
			w.row(p)
		}
	})
}

// token writes a token element of MathML with its text. attributes begin with a space, or are empty.
func (w *ommlWriter) token(name, attributes, text string) {
	w.out.WriteString("<" + name + attributes + ">" + html.EscapeString(text) + "</" + name + ">")
}

// write writes a node; an element that is not known here is what it holds (box, borderBox, r of other kinds). e is the
// argument that most elements have: their base.
func (w *ommlWriter) write(n *ommlNode) {
	e := n.child("e")
	switch n.name {
	case "r":
		w.run(n)
	case "f":
		if n.or("type", "bar") == "noBar" {
			w.arguments(`mfrac linethickness="0"`, n.child("num"), n.child("den"))
		} else {
			w.arguments("mfrac", n.child("num"), n.child("den"))
		}
	case "sSup":
		w.arguments("msup", e, n.child("sup"))
	case "sSub":
		w.arguments("msub", e, n.child("sub"))
	case "sSubSup":
		w.arguments("msubsup", e, n.child("sub"), n.child("sup"))
	// MathML has no scripts before a base in the few elements that are understood later: an empty base has them.
	case "sPre":
		w.arguments("msubsup", &ommlNode{}, n.child("sub"), n.child("sup"))
		w.row(e)
	case "nary":
		w.operator(n)
		w.row(e)
	case "rad":
		if deg := n.child("deg"); len(deg.children) > 0 && !n.on("degHide") {
			w.arguments("mroot", e, deg)
		} else {
			w.arguments("msqrt", e)
		}
	case "d":
		w.element("mrow", func() { w.delimited(n) })
	case "func":
		w.row(n.child("fName"))
		w.row(e)
	case "limLow":
		w.arguments("munder", e, n.child("lim"))
	case "limUpp":
		w.arguments("mover", e, n.child("lim"))
	case "acc":
		w.marked("mover", e, n.or("chr", "\u0302"))
	case "bar":
		if n.or("pos", "bot") == "top" {
			w.marked("mover", e, "‾")
		} else {
			w.marked("munder", e, "_")
		}
	case "groupChr":
		if n.or("pos", "bot") == "top" {
			w.marked("mover", e, n.or("chr", "⏟"))
		} else {
			w.marked("munder", e, n.or("chr", "⏟"))
		}
	case "m":
		w.element("mtable", func() { w.matrix(n) })
	case "eqArr":
		w.element(`mtable displaystyle="true"`, func() { w.equations(n) })
	// A phantom of Office shows what it holds, unless it says that it does not.
	case "phant":
		if n.or("show", "1") != "0" {
			w.all(n.children)
		}
	case "t":
		w.token("mtext", "", n.text)
	default:
		w.all(n.children)
	}
}

// operator writes an operator with its limits: of a sum, a product, an integral. Limits that the formula hides are left
// out.
func (w *ommlWriter) operator(n *ommlNode) {
	sign := &ommlNode{name: "r", children: []*ommlNode{{name: "t", text: n.or("chr", "∫")}}}
	base := &ommlNode{children: []*ommlNode{sign}}
	sub, sup := n.child("sub"), n.child("sup")
	low := len(sub.children) > 0 && !n.on("subHide")
	high := len(sup.children) > 0 && !n.on("supHide")
	switch {
	case low && high:
		w.arguments("msubsup", base, sub, sup)
	case low:
		w.arguments("msub", base, sub)
	case high:
		w.arguments("msup", base, sup)
	default:
		w.row(base)
	}
}

// delimited writes what stands between delimiters. A matrix in them stays their only neighbour, which makes it theirs.
// The defaults are parentheses, with bars between several expressions.
func (w *ommlWriter) delimited(n *ommlNode) {
	w.token("mo", "", n.or("begChr", "("))
	first := true
	for _, c := range n.children {
		if c.name != "e" {
			continue
		}
		if !first {
			w.token("mo", "", n.or("sepChr", "|"))
		}
		first = false
		w.all(c.children)
	}
	w.token("mo", "", n.or("endChr", ")"))
}

// marked writes an expression with a sign above or below it. name is mover or munder.
func (w *ommlWriter) marked(name string, e *ommlNode, sign string) {
	w.element(name, func() {
		w.row(e)
		w.token("mo", "", sign)
	})
}

// matrix writes the rows and cells of a matrix.
func (w *ommlWriter) matrix(n *ommlNode) {
	for _, mr := range n.children {
		if mr.name != "mr" {
			continue
		}
		w.element("mtr", func() {
			for _, e := range mr.children {
				if e.name == "e" {
					w.element("mtd", func() { w.all(e.children) })
				}
			}
		})
	}
}

// equations writes an array of equations, one in each row. The ampersands by which Word aligns them are left out.
func (w *ommlWriter) equations(n *ommlNode) {
	was := w.aligned
	w.aligned = true
	for _, e := range n.children {
		if e.name == "e" {
			w.element("mtr", func() { w.element("mtd", func() { w.all(e.children) }) })
		}
	}
	w.aligned = was
}

// run writes the text of a run: words if it is normal text, else letters, numbers and signs. Upright letters are one
// name, as those of a function are. Double-struck and bold letters keep their look, as it has a meaning.
func (w *ommlWriter) run(n *ommlNode) {
	var text strings.Builder
	normal, style, script := false, "", ""
	for _, c := range n.children {
		switch c.name {
		case "t":
			text.WriteString(c.text)
		case "rPr": // the one of formulas, or that of text beside it
			for _, p := range c.children {
				switch p.name {
				case "nor":
					normal = p.value != "0" && p.value != "off"
				case "sty":
					style = p.value
				case "scr":
					script = p.value
				}
			}
		}
	}
	if normal {
		w.token("mtext", "", text.String())
		return
	}
	look := ""
	switch {
	case script == "double-struck":
		look = ` mathvariant="double-struck"`
	case style == "b" || style == "bi":
		look = ` mathvariant="bold"`
	}
	rest := text.String()
	if w.aligned {
		rest = strings.ReplaceAll(rest, "&", "")
	}
	for rest != "" {
		name, size := kindOf(rest, style == "p" || style == "b")
		if name != "" {
			w.token(name, look, rest[:size])
		}
		rest = rest[size:]
	}
}

// kindOf returns the element of MathML for the beginning of a text in a formula of Office, and how many bytes are of
// it; no element for white space. upright says that letters together are one name. Combining marks belong to what is
// before them.
func kindOf(text string, upright bool) (name string, size int) {
	is := func(r rune) bool { return false }
	for i, r := range text {
		if i == 0 {
			switch {
			case unicode.IsSpace(r):
				is = unicode.IsSpace
			case unicode.IsDigit(r):
				name, is = "mn", func(r rune) bool { return unicode.IsDigit(r) || r == '.' }
			case unicode.IsLetter(r):
				name = "mi"
				if upright {
					is = unicode.IsLetter
				}
			default:
				name = "mo"
			}
			continue
		}
		if !is(r) && !unicode.Is(unicode.Mn, r) {
			return name, i
		}
	}
	return name, len(text)
}
