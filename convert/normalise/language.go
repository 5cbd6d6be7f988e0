package normalise

import (
	"encoding/json"
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"

	"github.com/readthru/readthru/internal/lazy"
)

// codeLanguage returns the language that a page states for a code block, or "". It looks at n, at what holds the code
// inside it, at up to three ancestors, not counting the parts of a table, and at the label beside the code. The nearest
// statement counts.
func codeLanguage(n *html.Node) string {
	if l := statedLanguage(n, true); l != "" {
		return l
	}
	root := codeRoot(n)
	if inner := dom.Find(n, func(d *html.Node) bool { return dom.Is(d, atom.Code) || editorText(d) }); inner != nil {
		if l := statedLanguage(inner, true); l != "" {
			return l
		}
	}
	p, levels := n.Parent, 0
	for levels < 3 && p != nil && !dom.Is(p, atom.Body, atom.Main, atom.Article) {
		if l := statedLanguage(p, false); l != "" {
			return l
		}
		if !dom.Is(p, atom.Td, atom.Tr, atom.Tbody, atom.Table) && !codeBox(p) {
			levels++
		}
		p = p.Parent
	}
	if root != n {
		return labelLanguage(n, root)
	}
	return ""
}

// codeBox reports whether an element says that it shows one block of code, whose language may be stated around it. Such
// boxes do not count as ancestors: themes nest several of them around one block.
func codeBox(n *html.Node) bool {
	return dom.HasClass(n, "code-block", "codeblock", "code-snippet", "code-block-background", "code-wrapper",
		"code-container", "expressive-code", "highlight")
}

// labelLanguage returns the language that the words beside the code name: "Python", "bash". It looks at the texts
// before root within n, and takes the first that is a known language alone.
func labelLanguage(n, root *html.Node) string {
	for d := range n.Descendants() {
		if d.Type != html.TextNode || chars.Blank(d.Data) {
			continue
		}
		for p := d.Parent; p != n; p = p.Parent {
			if p == root {
				return ""
			}
		}
		if l := language(d.Data); KnownLanguages[l] {
			return l
		}
	}
	return ""
}

// dropLanguageLabel removes the line before a code block that says only which language it is in, as the fence does. It
// stands before the block or before a box around it, up to three levels up.
func dropLanguageLabel(n *html.Node, lang string) {
	for range 3 {
		for p := n.PrevSibling; p != nil; p = p.PrevSibling {
			switch {
			case p.Type == html.TextNode && chars.Blank(p.Data), p.Type == html.CommentNode:
				continue
			case dom.Is(p, atom.Div, atom.Span, atom.P, atom.Header, atom.Figcaption) && saysLanguage(p, lang):
				dom.Remove(p)
			}
			return
		}
		if n = n.Parent; !dom.Is(n, atom.Div, atom.Figure) {
			return
		}
	}
}

// saysLanguage reports whether the text of n is the name of a language, beside buttons. lang is in the form of
// language.
func saysLanguage(n *html.Node, lang string) bool {
	var said strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !dom.Within(d, atom.Button, atom.Script, atom.Style) {
			said.WriteString(strings.TrimSpace(d.Data))
			if said.Len() > len(lang) {
				return false
			}
		}
	}
	return language(said.String()) == lang
}

// langPrefixes are the ways in which generators write a language into a class; those of labelPrefixes, only a known
// language. The site's own styles have names such as highlight-box, so that these need more care.
var (
	langPrefixes = []string{
		"language-", "lang-", "highlight-source-", "mw-highlight-lang-", "gatsby-code-",
		"highlight-text-",
	}
	labelPrefixes = []string{
		"highlight-", "code-", "syntax-", "sh_", "language_", "lang_", "hljs-", "src-", "cm-s-",
		"prism-",
	}
)

// langKeys are the attributes that hold nothing but a language.
var langKeys = []string{
	"data-lang", "data-language", "data-code-language", "data-enlighter-language",
	"data-programming-language", "data-syntax", "data-code-lang",
}

// statedLanguage returns the language that one element states. own says that n is the code itself, so that the bare
// name of a language among its classes counts. It looks at attributes first, then at the classes that Prism,
// highlight.js, Pygments, Rouge, MediaWiki, SyntaxHighlighter and others write.
func statedLanguage(n *html.Node, own bool) string {
	for _, key := range langKeys {
		if l := language(dom.Attr(n, key)); l != "" {
			return l
		}
	}
	for _, key := range [...]string{"language", "lang", "syntax"} { // lang is a human language elsewhere
		if l := language(dom.Attr(n, key)); KnownLanguages[l] {
			return l
		}
	}
	class := strings.ToLower(dom.Attr(n, "class") + " " + dom.Attr(n, "data-syntaxhighlighter-params"))
	if chars.Blank(class) {
		return ""
	}
	previous := ""
	for word := range strings.FieldsSeq(class) {
		for _, prefix := range langPrefixes {
			if l, ok := strings.CutPrefix(word, prefix); ok {
				if l = language(l); l != "" && (own || prefix != "lang-" || KnownLanguages[l]) {
					return l
				}
			}
		}
		for _, prefix := range labelPrefixes {
			if l, ok := strings.CutPrefix(word, prefix); ok && (KnownLanguages[l] || prefix == "highlight-" && docutilsBox(n)) {
				if l = language(l); l != "" {
					return l
				}
			}
		}
		name := strings.TrimSuffix(word, ";")
		if brush, ok := strings.CutPrefix(word, "brush:"); ok {
			if l := language(brush); l != "" {
				return l
			}
		}
		if previous == "brush:" || previous == "sourcecode" {
			if l := language(name); l != "" && (previous == "brush:" || KnownLanguages[l]) {
				return l
			}
		}
		if (own || previous == "highlight" || previous == "hljs" || previous == "syntaxhighlighter") && KnownLanguages[name] {
			return name
		}
		previous = word
	}
	return ""
}

// docutilsBox reports whether n is the box that Sphinx puts round highlighted code; it may name any language of
// Pygments. Elsewhere "highlight-" may stand before anything.
func docutilsBox(n *html.Node) bool {
	return dom.Is(n, atom.Div) && (dom.HasClass(n, "notranslate") || n.FirstChild != nil &&
		dom.Is(n.FirstChild, atom.Div) &&
		dom.HasClass(n.FirstChild, "highlight"))
}

// language returns a stated language in the form it has after a fence, or "" for those that mean none. It keeps names
// that are not known: a page may state a language of its own. What has characters that no name has, or more than 24
// bytes, is none.
func language(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if end := strings.IndexAny(s, ",;{ :"); end >= 0 {
		s = s[:end] // mdBook writes rust,editable
	}
	switch s {
	case "default", "text", "none", "plain", "plaintext", "txt", "auto", "notranslate", "nohighlight", "raw", "output",
		"code", "source", "undefined", "null", "wrapper", "unknown":
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

// KnownLanguages are names that mean a language also when they stand alone among an element's classes. Package formats
// tells source code by it, too.
var KnownLanguages = chars.Set(`actionscript ada apache asm awk bash basic batch bibtex c clojure cmake cobol
	coffeescript
	console cpp crystal csharp csh css csv cuda cython d dart delphi diff docker dockerfile elixir elm erlang fish
	fortran fsharp glsl go golang gradle graphql groovy haml handlebars haskell hcl html http ini ipython ipython3 java
	javascript jinja jinja2 js json json5 jsonc jsx julia kotlin latex less lisp llvm lua makefile markdown matlab
	mermaid nasm nginx nim nix objc objectivec objective-c ocaml pascal perl php powershell prolog properties protobuf py
	pycon python python2 python3 qml r racket rb rest rst ruby rust sass scala scheme scss sh shell shell-session
	smalltalk solidity sparql sql svelte swift tcl terraform tex toml ts tsx typescript vb vbnet verilog vhdl vim vue
	wasm xml xquery yaml yml zig zsh pycon3 c++ c# lean lean4 coq agda idris purescript reason rescript sml apl ballerina
	chapel d2 dot graphviz plantuml bicep jsonnet rego promql cypher prisma proto thrift avro patch dotenv apacheconf
	caddyfile systemd vimscript viml elisp emacs-lisp common-lisp edn abap autohotkey applescript arduino haxe wgsl hlsl
	mdx astro liquid twig ejs erb pug stylus wat asm6502 x86asm armasm gas mips qsharp raku sed jq mysql postgresql
	postgres plsql pgsql tsql mongodb redis kql splunk gherkin cucumber robotframework bazel starlark meson ninja
	systemverilog tcsh ksh bat cmd ps1 pwsh textproto asciidoc adoc org typst bib svg objective-cpp objcpp vala gleam roc
	odin cairo circom noir huff vyper yul wolfram mathematica maple sas stata spss octave scilab modelica ada2012 fennel
	janet hy clojurescript cljs coffee livescript postcss hbs mustache smarty jsp asp aspx aspnet razor cshtml vb6 vba
	foxpro rpg plaintex mermaidjs gnuplot nushell elvish xonsh shellscript nodejs jsonl ndjson geojson graphqls openapi
	ql codeql datalog souffle`)

// writtenLanguage returns the language that a text of code can only be in, or "": it names its interpreter, begins as
// no other language does, or is JSON as a whole. It is asked where the page states no language. A guess would be worse
// than none: a fence with a wrong language misleads whoever reads it, so that only what is certain counts.
func writtenLanguage(code string) string {
	first, rest, _ := strings.Cut(code, "\n")
	first = strings.TrimSpace(first)
	switch {
	case strings.HasPrefix(first, "#!/"):
		return interpreter(first[2:])
	case strings.HasPrefix(first, "<?php"):
		return "php"
	case strings.HasPrefix(strings.ToLower(first), "<!doctype html"):
		return "html"
	case strings.HasPrefix(first, "<?xml "):
		return "xml"
	case strings.HasPrefix(first, "diff --git "), strings.HasPrefix(first, "--- ") && strings.HasPrefix(rest, "+++ ") &&
		strings.Contains(rest, "\n@@ "):
		return "diff"
	case goFile().MatchString(code):
		return "go"
	case (first[:min(1, len(first))] == "{" || first == "[") && strings.Contains(code, `":`) && json.Valid([]byte(code)):
		return "json"
	}
	return ""
}

// goFile matches the beginning of a file of Go: the name of its package, and what it imports or declares. Comments and
// empty lines may come before and between.
var goFile = lazy.Pattern(`\A(//.*\n|\n)*package \w+\n(//.*\n|\s)*(import|func|type|var|const)\b`)

// interpreters are those of scripts, by the names of their programs without versions.
var interpreters = map[string]string{
	"sh": "sh", "dash": "sh", "bash": "bash", "zsh": "zsh", "ksh": "ksh", "fish": "fish", "python": "python",
	"perl": "perl", "ruby": "ruby", "node": "javascript", "php": "php", "lua": "lua", "awk": "awk", "gawk": "awk",
	"Rscript": "r", "tclsh": "tcl", "pwsh": "powershell",
}

// interpreter returns the language of what a line of a script says to run it with. line is that behind "#!", such as
// "/usr/bin/env python3"; it must not be blank. It returns "" for a program that is not known.
func interpreter(line string) string {
	words := strings.Fields(line)
	program := path.Base(words[0])
	if program == "env" && len(words) > 1 {
		if program = words[1]; program == "-S" && len(words) > 2 {
			program = words[2]
		}
	}
	return interpreters[strings.TrimRight(program, "0123456789.")]
}

// signature returns the language of the declaration of a type or a method that Javadoc and Dokka show without a pre, ""
// if n is none. Haddock's are lines of links, and stay that: as code they cost its pages structure .06.
func signature(n *html.Node) string {
	if !dom.Is(n, atom.Div) {
		return ""
	}
	switch class := dom.Attr(n, "class"); {
	case class == "member-signature", class == "type-signature":
		return "java"
	case strings.HasPrefix(class, "symbol ") && dom.HasClass(n, "monospace"):
		return "kotlin"
	}
	return ""
}
