package markdown_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/readthru/readthru/internal/markdown"
)

// reading is what two readers of a text are compared by.
type reading struct {
	Code     []int    // the numbers of the lines of code that hold more than markers
	Headings []string // level and number of the line
	Links    []string // addresses of inline links, images and autolinks, as written
}

// markers is what a line may have besides its content. Lines of nothing else are not compared.
const markers = " \t\r\n>-+*.)0123456789"

// byGoldmark reads a text with goldmark.
func byGoldmark(md []byte) (r reading, definitions bool) {
	context := parser.NewContext()
	doc := goldmark.DefaultParser().Parse(text.NewReader(md), parser.WithContext(context))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for i := range n.Lines().Len() {
				at := n.Lines().At(i).Start
				line, _ := markdown.LineAt(md, bytes.LastIndexByte(md[:at], '\n')+1)
				if len(bytes.Trim(line, markers)) > 0 {
					r.Code = append(r.Code, lineNumber(md, at))
				}
			}
		case *ast.Heading:
			if n.Lines().Len() == 1 {
				r.heading(md, n)
			}
		case *ast.Link:
			r.Links = append(r.Links, string(n.Destination))
		case *ast.Image:
			r.Links = append(r.Links, string(n.Destination))
		case *ast.AutoLink:
			r.Links = append(r.Links, string(n.Label(md)))
		}
		return ast.WalkContinue, nil
	})
	slices.Sort(r.Links)
	return r, len(context.References()) > 0
}

// heading adds a heading that begins its line and, if it is a setext heading, has two marks under it.
func (r *reading) heading(md []byte, n *ast.Heading) {
	s := n.Lines().At(0)
	at := bytes.LastIndexByte(md[:s.Start], '\n') + 1
	before := string(md[at:s.Start])
	if mark := strings.Trim(before, " \t"); mark != "" && mark != strings.Repeat("#", n.Level) {
		return
	}
	if indent := before[:len(before)-len(strings.TrimLeft(before, " \t"))]; len(strings.ReplaceAll(indent, "\t",
		"    ")) > 3 {
		return
	}
	if !strings.Contains(before, "#") { // setext
		_, under, _ := bytes.Cut(md[s.Start:], []byte("\n"))
		under, _, _ = bytes.Cut(under, []byte("\n"))
		if len(bytes.TrimSpace(under)) < 2 {
			return
		}
	}
	r.Headings = append(r.Headings, fmt.Sprint(n.Level, " in line ", lineNumber(md, at)))
}

func lineNumber(md []byte, at int) int { return 1 + bytes.Count(md[:at], []byte("\n")) }

// byUs reads a text with package markdown.
func byUs(md []byte) (r reading, html bool) {
	number := 0
	for line, kind := range markdown.Lines(string(md)) {
		number++
		if (kind == markdown.FenceText || kind == markdown.Indented) && strings.Trim(line, markers) != "" {
			r.Code = append(r.Code, number)
		}
		html = html || kind == markdown.HTML
	}
	for b := range markdown.Blocks(md) {
		if title, _ := markdown.OwnID(b.Title(md)); b.Kind == markdown.Heading && len(title) > 0 {
			r.Headings = append(r.Headings, fmt.Sprint(b.Level, " in line ", lineNumber(md, b.Start)))
		}
	}
	for l := range markdown.Links(md) {
		switch l.Kind {
		case markdown.InlineLink, markdown.InlineImage, markdown.Autolink:
			r.Links = append(r.Links, string(md[l.Start:l.End]))
		}
	}
	slices.Sort(r.Links)
	return r, html
}

// compare holds a text's reading against goldmark's.
func compare(t *testing.T, md []byte) {
	t.Helper()
	want, definitions := byGoldmark(md)
	got, html := byUs(md)
	if definitions || html || bytes.Contains(md, []byte("]:")) {
		// Whether brackets are a link depends on definitions; in HTML blocks we read links and CommonMark does not.
		want.Links, got.Links = nil, nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("of %q (-goldmark +us):\n%s", md, diff)
	}
}

// TestReadsAsGoldmarkDoes compares the examples of CommonMark's specification, goldmark's own, and texts of our own.
func TestReadsAsGoldmarkDoes(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/yuin/goldmark").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "_test", "spec.json"))
	if err != nil {
		t.Fatal(err)
	}
	var examples []struct {
		Markdown string `json:"markdown"`
		Example  int    `json:"example"`
	}
	if err := json.Unmarshal(file, &examples); err != nil {
		t.Fatal(err)
	}
	for _, e := range examples {
		t.Run(fmt.Sprint(e.Example), func(t *testing.T) { compare(t, []byte(e.Markdown)) })
	}
	for _, md := range seeds {
		compare(t, []byte(md))
	}
}

var seeds = []string{
	"text\n\n    ```go\n\n# A\n\n[a](b)\n",
	"- a\n\n  ```\n  # x\n  ```\n\n  # y\n\n# z\n",
	"1. a\n   ~~~\n   b\n c\n~~~\n# d\n",
	"> ```\n> a\nb\n\n    ```\n    x\n- ```\n  y\n",
	"Title\n=====\n\nlong\ntitle\n---\n\na\n-\n",
	"<div>\n# no\n\n# yes\n</div>\n<!--\n\n# no\n-->\n# yes\n",
	"[a](<b c> \"t\") ![i](i.png) [![x](y)](z) `[n](o)` <http://a.test/> \\[n](o) [e]( ) [f](g(h)i)\n",
	"-\n\n  a\n- b\n\n\n      c\n",
	"10) a\n\n       b\n\ttext\n\n\tcode\n",
	"[a[]()][](b)c",
	"> a\nlazy\n    still\n> ---\n---\n",
}

// disputed matches what goldmark reads in another way than the specification or cmark, which GitHub uses: tabs within a
// line, closing tags of elements whose text is not markup, declarations in lower case, and empty items in items; and
// what goldmark has as an extension, definitions. It also matches runs of marks longer than maxFenceRun, which open no
// fence here.
var disputed = regexp.MustCompile(`(?im)[^\t\n]\t|^.*</(pre|script|style|textarea)|<![a-z]|:[ \t]|` +
	`([-+*]|\d[.)])[ \t]+([-+*]|\d{1,9}[.)])[ \t]*$|` +
	"`{81}|~{81}")

func FuzzReadsAsGoldmarkDoes(f *testing.F) {
	for _, md := range seeds {
		f.Add([]byte(md))
	}
	f.Fuzz(func(t *testing.T, md []byte) {
		for _, c := range md {
			// Line breaks other than \n, and control characters, are where goldmark itself leaves the specification.
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return
			}
		}
		if len(md) > 300 || !utf8.Valid(md) || disputed.Match(md) {
			return
		}
		compare(t, md)
	})
}

// FuzzPieces builds texts from pieces of markdown: they meet each other more often than in texts of random bytes.
func FuzzPieces(f *testing.F) {
	pieces := []string{
		"\n", "\n", "\n\n", " ", "  ", "    ", "\t", "> ", "- ", "* ", "1. ", "2) ", "# ", "## ", "```", "~~~", "````", "`",
		"``",
		"===", "---", "***", "a", "b c", "[", "]", "(", ")", "![", "](x)", "<", ">", "<div>", "</div>", "<b>", "<!--", "-->",
		"<pre>", "x</pre>", "<http://x.y>", "\"t\"", "\\", "*", "_", "!", "<a href=\"u\">", "</a>", "#", "=", "-", "+ ",
		"10. ",
	}
	f.Add([]byte{0, 5, 14, 21, 0, 12, 22})
	f.Fuzz(func(t *testing.T, choice []byte) {
		var md []byte
		for _, c := range choice[:min(len(choice), 40)] {
			md = append(md, pieces[int(c)%len(pieces)]...)
		}
		if !disputed.Match(md) {
			compare(t, md)
		}
	})
}
