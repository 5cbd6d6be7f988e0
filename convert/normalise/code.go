package normalise

import (
	"cmp"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// normaliseCode rewrites a pre, or another element that shows code, into a pre with its language and its exact text. It
// takes the place of n, or of the table or quotation around it if that holds nothing else. The language is what the
// page states; where it states none, what the code itself shows.
func normaliseCode(n *html.Node) {
	code := codeText(n)
	lines := 1 + strings.Count(code, "\n")
	pre := dom.NewElement(atom.Pre, dom.NewText(code))
	lang := codeLanguage(n)
	if lang != "" {
		dropLanguageLabel(n, lang)
	} else {
		lang = cmp.Or(signature(n), writtenLanguage(code))
	}
	pre.Attr = []html.Attribute{{Key: dom.LangAttr, Val: lang}}
	if id := dom.Attr(n, "id"); id != "" {
		pre.Attr = append(pre.Attr, html.Attribute{Key: "id", Val: id})
	}
	// A table of line numbers beside the code, and a quote that holds nothing else, are part of the code block.
	place := n
	for p := n.Parent; dom.Is(p, atom.Table, atom.Tbody, atom.Tr, atom.Td, atom.Blockquote, atom.Div,
		atom.Figure); p = p.Parent {
		if !onlyCode(p, n, lines) {
			break
		}
		if dom.Is(p, atom.Table, atom.Blockquote) {
			place = p
		}
	}
	dom.Replace(place, pre)
}

// onlyCode reports whether p holds nothing but the code n, beside line numbers. More numbers than lines are data. Text
// other than digits, or a picture, says that p is more than a box around the code.
func onlyCode(p, n *html.Node, lines int) bool {
	budget := 2000 // nodes; many blocks of code in one box must not look at each other
	numbers := 0
	var only func(c *html.Node) bool
	only = func(c *html.Node) bool {
		if c == n {
			return true
		}
		if budget--; budget < 0 {
			return false
		}
		if c.Type == html.TextNode {
			numbers += chars.Words(c.Data)
			return digitsOnly(c.Data)
		}
		for d := c.FirstChild; d != nil; d = d.NextSibling {
			if !only(d) {
				return false
			}
		}
		return !dom.Is(c, atom.Img)
	}
	return only(p) && numbers <= lines
}

// digitsOnly reports whether s consists of digits and white space, as line numbers do; so does an empty text.
func digitsOnly(s string) bool {
	for _, r := range s {
		if !unicode.IsDigit(r) && !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}

// codeBlock reports whether n shows code without being a pre: an editor, a listing of one element per line, a table of
// such lines, or a code element that is set as a block. Body asks it of every element, so that it looks at names first.
func codeBlock(n *html.Node) bool {
	switch {
	case signature(n) != "":
		return true
	case dom.Is(n, atom.Div) && dom.HasClass(n, "fragment"): // Doxygen
		return dom.Find(n, func(d *html.Node) bool { return dom.Is(d, atom.Div) && dom.HasClass(d, "line") }) != nil
	case dom.Is(n, atom.Div) && dom.HasClass(n, editorClasses...):
		return dom.Find(n, editorText) != nil
	case dom.Is(n, atom.Table):
		return dom.Find(n, func(d *html.Node) bool { return dom.Is(d, atom.Td) && dom.HasClass(d, "blob-num") }) != nil
	case dom.Is(n, atom.Code):
		return (dom.HasClass(n, "block", "code-block", "codeblock") || linesAlone(n)) && !dom.Is(n.Parent, atom.Pre) &&
			!dom.Contains(n, atom.Pre)
	}
	return false
}

// linesAlone reports whether a code element has several lines and its block holds nothing else. br or white space that
// is kept part its lines; up to 20 bytes of other text are a label.
func linesAlone(n *html.Node) bool {
	style := strings.ReplaceAll(dom.Attr(n, "style"), " ", "")
	if !dom.Contains(n, atom.Br) && !strings.Contains(style, "white-space:pre") {
		return false
	}
	return dom.Is(n.Parent, atom.Div, atom.Figure, atom.P, atom.Td) && dom.OpensParent(n) &&
		len(dom.Text(n.Parent)) < len(dom.Text(n))+20
}

// editorClasses name the boxes of code editors, and editorTextClasses what in them holds the lines.
var (
	editorClasses = []string{
		"codemirror", "cm-editor", "monaco-editor", "ace_editor", "syntaxhighlighter",
		"crayon-syntax", "enlighter-default", "enlighter-code",
	}
	editorTextClasses = []string{
		"codemirror-code", "cm-content", "view-lines", "ace_text-layer", "code", "crayon-code",
		"enlighter",
	}
)

// editorText reports whether n holds the lines of a code editor.
func editorText(n *html.Node) bool {
	return dom.Is(n, atom.Div, atom.Td, atom.Ol) && dom.HasClass(n, editorTextClasses...)
}

// codeRoot returns what of a block of code holds the code itself: all of it, or the one element beside which there are
// but a few words, like a language's name and a button. Words that stand in no box of their own are part of the code,
// and then all of n is.
func codeRoot(n *html.Node) *html.Node {
	inner := dom.Find(n, func(d *html.Node) bool { return dom.Is(d, atom.Code) || editorText(d) })
	if inner == nil {
		return n
	}
	outside := 0
	for d := range n.Descendants() {
		if d.Type != html.TextNode || chars.Blank(d.Data) || dom.Is(d.Parent, atom.Button, atom.Script, atom.Style) {
			continue
		}
		boxed := false
		for p := d.Parent; p != n; p = p.Parent {
			if p == inner {
				boxed = true
				outside -= chars.Words(d.Data)
				break
			}
			boxed = boxed || dom.Is(p, atom.Div, atom.Header, atom.Figcaption, atom.P, atom.Td)
		}
		if !boxed {
			return n
		}
		if outside += chars.Words(d.Data); outside > 5 && !dom.Is(n, atom.Div) {
			return n
		}
	}
	return inner
}

// gutterClasses name the elements beside or in code that show line numbers. They are left out if they hold digits
// alone.
var gutterClasses = []string{
	"lineno", "linenos", "linenumbers", "line-number", "line-numbers", "linenumber", "ln", "gutter", "linenodiv",
	"blob-num", "rouge-gutter", "hljs-ln-numbers", "code-line-number",
	"lnt", "listing_lines", "react-syntax-highlighter-line-number", "codemirror-linenumber", "cm-gutters",
	"codemirror-gutter-wrapper", "crayon-nums", "ace_gutter", "margin", "line_number", "linenum", "codeline-number",
	"enlighter-gutter", "react-line-number", "ec-gutter", "line-no",
}

// notCode name the elements inside code that are controls, tooltips and titles, and are left out of its text.
var notCode = strings.Fields(`copy copybutton copy-button copybtn clipboard clipboard-button code-copy copy-code toolbar
	zeroclipboard-container sr-only visually-hidden hover-info tooltip popover twoslash-popup-container
	twoslash-hover-info ttc code-header codeblock-header code__header code-block-header code-title gatsby-code-title
	copy-code-button code-block-copy btn-copy`)

// lineClasses name the elements that are one line of code each. They end a line although they are no blocks in HTML.
var lineClasses = []string{
	"line", "code-line", "view-line", "token-line", "codemirror-line", "blob-code", "hljs-ln-code",
	"cm-line", "ace_line", "crayon-line", "ec-line", "codeline", "gatsby-highlight-code-line",
}

// codeText returns the text of a code block as a reader sees it: br and blocks end lines, once; line numbers and
// buttons are gone; tabs stay. Invisible characters are removed and no-break spaces are spaces, since code is copied
// and run. What is not part of the code is told by names (notCode, gutterClasses) and by what cannot be selected.
func codeText(n *html.Node) string {
	var b strings.Builder
	// A line's end may be written twice in the page: by the end of a block and by a newline or a br behind it. It must
	// come out once.
	pending := false // a line has ended, but its newline may still come as text
	inline := false  // or as a br, behind an element that is not set as a block
	var walk func(n *html.Node)
	write := func(s string) {
		if s == "" {
			return
		}
		if pending && s[0] != '\n' {
			b.WriteByte('\n')
		}
		pending = false
		b.WriteString(s)
	}
	atLineStart := func() bool { return b.Len() == 0 || strings.HasSuffix(b.String(), "\n") }
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.TextNode {
				clean, _ := chars.Visible(c.Data)
				clean = strings.ReplaceAll(strings.ReplaceAll(clean, "\r\n", "\n"), "\r", "\n")
				write(strings.ReplaceAll(clean, "\u00a0", " "))
				continue
			}
			if c.Type != html.ElementNode || dom.HasClass(c, notCode...) ||
				dom.Is(c, atom.Button, atom.Script, atom.Style, atom.Svg, atom.Template, atom.Select, atom.Textarea) ||
				(dom.HasClass(c, gutterClasses...) || unselectable(c)) && digitsOnly(dom.Text(c)) {
				continue
			}
			switch {
			case dom.Is(c, atom.Br):
				if pending && !inline {
					b.WriteByte('\n')
				}
				pending = false
				b.WriteByte('\n')
			case dom.Is(c, atom.Div, atom.P, atom.Li, atom.Tr, atom.Pre) || dom.HasClass(c, lineClasses...):
				if pending || !atLineStart() && dom.Is(c, atom.Div, atom.P, atom.Li, atom.Tr, atom.Pre) {
					b.WriteByte('\n')
				}
				pending = false
				before := b.Len()
				walk(c)
				if b.Len() == before {
					b.WriteByte('\n')
				}
				pending, inline = !atLineStart(), dom.Is(c, atom.Span, atom.Code)
			default:
				walk(c)
			}
		}
	}
	walk(codeRoot(n))
	return trimCode(b.String())
}

// unselectable reports whether n's text, in a block of code, is kept out of what a reader copies. Line numbers and
// prompts are kept out so.
func unselectable(n *html.Node) bool {
	return dom.HasClass(n, "select-none", "unselectable") || strings.Contains(dom.Attr(n, "style"), "user-select:none") ||
		strings.Contains(dom.Attr(n, "style"), "user-select: none")
}

// trimCode drops blank lines at both ends of code, and white space at the end of the last line; the indentation of the
// first line stays.
func trimCode(s string) string {
	s = strings.TrimRight(s, " \t\n\f")
	for {
		line, rest, ok := strings.Cut(s, "\n")
		if !ok || !chars.Blank(line) {
			return s
		}
		s = rest
	}
}

// inCode reports whether n lies in an element that is a code block already. listings are the code blocks that have been
// rewritten and were no pre: the elements in them need no visit.
func inCode(n *html.Node, listings map[*html.Node]bool) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if dom.Is(p, atom.Pre) || listings[p] {
			return true
		}
	}
	return false
}
