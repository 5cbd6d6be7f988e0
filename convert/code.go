package convert

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// langAttr is where normalised code blocks keep their language. A normalised pre holds one text node and no other attribute.
const langAttr = "data-lang"

// normaliseCode rewrites a pre, or another element that shows code, into a pre with its language and its exact text.
func normaliseCode(n *html.Node) {
	pre := elementNode(atom.Pre, textNode(codeText(n)))
	pre.Attr = []html.Attribute{{Key: langAttr, Val: codeLanguage(n)}}
	if id := attr(n, "id"); id != "" {
		pre.Attr = append(pre.Attr, html.Attribute{Key: "id", Val: id})
	}
	// A table of line numbers beside the code, and a quote that holds nothing else, are part of the code block.
	place := n
	for p := n.Parent; p != nil && (is(p, atom.Table, atom.Tbody, atom.Tr, atom.Td, atom.Blockquote) || is(p, atom.Div, atom.Figure)); p = p.Parent {
		if !onlyCode(p, n) {
			break
		}
		if is(p, atom.Table, atom.Blockquote) {
			place = p
		}
	}
	replace(place, pre)
}

// onlyCode reports whether p holds nothing but the code n, beside line numbers.
func onlyCode(p, n *html.Node) bool {
	budget := 2000 // nodes; many blocks of code in one box must not look at each other
	var only func(c *html.Node) bool
	only = func(c *html.Node) bool {
		if c == n {
			return true
		}
		if budget--; budget < 0 {
			return false
		}
		if c.Type == html.TextNode {
			return digitsOnly(c.Data)
		}
		for d := c.FirstChild; d != nil; d = d.NextSibling {
			if !only(d) {
				return false
			}
		}
		return !is(c, atom.Img)
	}
	return only(p)
}

func digitsOnly(s string) bool {
	for _, r := range s {
		if !unicode.IsDigit(r) && !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}

// codeBlock reports whether n shows code without being a pre: a listing of one element per line, or a table of such lines.
func codeBlock(n *html.Node) bool {
	switch {
	case is(n, atom.Div) && hasClass(n, "fragment"): // Doxygen
		return find(n, func(d *html.Node) bool { return is(d, atom.Div) && hasClass(d, "line") }) != nil
	case is(n, atom.Table):
		return find(n, func(d *html.Node) bool { return is(d, atom.Td) && hasClass(d, "blob-num") }) != nil
	}
	return false
}

// gutterClasses name the elements that show line numbers.
var gutterClasses = []string{
	"lineno", "linenos", "linenumbers", "line-number", "line-numbers", "linenumber", "ln", "gutter", "linenodiv", "blob-num", "rouge-gutter", "hljs-ln-numbers", "code-line-number",
	"lnt", "listing_lines", "react-syntax-highlighter-line-number", "codemirror-linenumber",
}

// notCode name the elements inside code that are controls.
var notCode = []string{"copy", "copybutton", "copy-button", "copybtn", "clipboard", "clipboard-button", "code-copy", "copy-code", "toolbar", "zeroclipboard-container", "sr-only", "visually-hidden"}

// lineClasses name the elements that are one line of code each.
var lineClasses = []string{"line", "code-line", "view-line", "token-line", "codemirror-line", "blob-code", "hljs-ln-code"}

// codeText returns the text of a code block as a reader sees it: br and blocks end lines, once; line numbers and buttons are
// gone; tabs stay.
func codeText(n *html.Node) string {
	var b strings.Builder
	pending := false // a line has ended, but its newline may still come as text
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
				clean, _ := visible(c.Data)
				clean = strings.ReplaceAll(strings.ReplaceAll(clean, "\r\n", "\n"), "\r", "\n")
				write(strings.ReplaceAll(clean, "\u00a0", " "))
				continue
			}
			if c.Type != html.ElementNode || is(c, atom.Button, atom.Script, atom.Style, atom.Svg, atom.Template, atom.Select, atom.Textarea) || hasClass(c, notCode...) ||
				hasClass(c, gutterClasses...) && digitsOnly(textOf(c)) {
				continue
			}
			switch {
			case is(c, atom.Br):
				if pending {
					b.WriteByte('\n')
					pending = false
				}
				b.WriteByte('\n')
			case is(c, atom.Div, atom.P, atom.Li, atom.Tr) || hasClass(c, lineClasses...):
				if pending || !atLineStart() && is(c, atom.Div, atom.P, atom.Li, atom.Tr) {
					b.WriteByte('\n')
				}
				pending = false
				before := b.Len()
				walk(c)
				if b.Len() == before {
					b.WriteByte('\n')
				}
				pending = !atLineStart()
			default:
				walk(c)
			}
		}
	}
	walk(n)
	return trimCode(b.String())
}

// trimCode drops blank lines at both ends and white space at the end of the last line; indentation stays.
func trimCode(s string) string {
	s = strings.TrimRight(s, " \t\n\f")
	for {
		line, rest, ok := strings.Cut(s, "\n")
		if !ok || !blank(line) {
			return s
		}
		s = rest
	}
}

// codeLanguage returns the language that a page states for a code block, or "". It looks at n, the code element inside it and
// up to three ancestors, and never guesses from the text.
func codeLanguage(n *html.Node) string {
	if l := stated(n, true); l != "" {
		return l
	}
	if code := find(n, func(d *html.Node) bool { return is(d, atom.Code) }); code != nil {
		if l := stated(code, true); l != "" {
			return l
		}
	}
	p := n.Parent
	for range 3 {
		if p == nil || is(p, atom.Body, atom.Main, atom.Article) {
			break
		}
		if l := stated(p, false); l != "" {
			return l
		}
		p = p.Parent
	}
	return ""
}

// langPrefixes are the ways in which generators write a language into a class.
var langPrefixes = []string{"language-", "lang-", "highlight-source-", "mw-highlight-lang-", "gatsby-code-", "highlight-text-"}

// stated returns the language that one element states. own says that n is the code itself, so that the bare name of a language
// among its classes counts.
func stated(n *html.Node, own bool) string {
	for _, key := range []string{"data-lang", "data-language"} {
		if l := language(attr(n, key)); l != "" {
			return l
		}
	}
	class := strings.ToLower(attr(n, "class"))
	if class == "" {
		return ""
	}
	previous := ""
	for word := range strings.FieldsSeq(class) {
		for _, prefix := range langPrefixes {
			if l, ok := strings.CutPrefix(word, prefix); ok {
				if l = language(l); l != "" {
					return l
				}
			}
		}
		name := strings.TrimSuffix(word, ";")
		if l, ok := strings.CutPrefix(word, "highlight-"); ok {
			name = l
			if knownLanguages[name] {
				return name
			}
		}
		if brush, ok := strings.CutPrefix(word, "brush:"); ok {
			if l := language(brush); l != "" {
				return l
			}
		}
		if previous == "brush:" || previous == "sourcecode" {
			if l := language(name); l != "" && (previous == "brush:" || knownLanguages[l]) {
				return l
			}
		}
		if (own || previous == "highlight" || previous == "hljs") && knownLanguages[name] {
			return name
		}
		previous = word
	}
	return ""
}

// language returns a stated language in the form it has after a fence, or "" for those that mean none.
func language(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if end := strings.IndexAny(s, ",;{ :"); end >= 0 {
		s = s[:end] // mdBook writes rust,editable
	}
	switch s {
	case "default", "text", "none", "plain", "plaintext", "txt", "auto", "notranslate", "nohighlight", "raw", "output", "code", "source", "undefined", "null", "wrapper", "unknown":
		return ""
	}
	if len(s) > 24 {
		return ""
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("+#._-", r) {
			return ""
		}
	}
	return s
}

// knownLanguages are names that mean a language also when they stand alone among an element's classes.
var knownLanguages = set("actionscript ada apache asm awk bash basic batch bibtex c clojure cmake cobol coffeescript console cpp crystal csharp csh css csv cuda cython d dart delphi diff docker " +
	"dockerfile elixir elm erlang fish fortran fsharp glsl go golang gradle graphql groovy haml handlebars haskell hcl html http ini ipython ipython3 java javascript jinja jinja2 js json json5 jsonc jsx julia kotlin latex less lisp " +
	"llvm lua makefile markdown matlab mermaid nasm nginx nim nix objc objectivec objective-c ocaml pascal perl php powershell prolog properties protobuf py pycon python python2 python3 qml r racket rb rest rst ruby rust " +
	"sass scala scheme scss sh shell shell-session smalltalk solidity sparql sql svelte swift tcl terraform tex toml ts tsx typescript vb vbnet verilog vhdl vim vue wasm xml xquery yaml yml zig zsh pycon3 c++ c#")

// set makes a set of the words of s.
func set(s string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(s) {
		m[word] = true
	}
	return m
}
