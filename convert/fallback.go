package convert

import (
	"bytes"
	"context"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/convert/mdwrite"
)

// fallback returns the text of the page without structure: from its tree, which has no hidden text any more, or else
// from its tokens.
func (d *Document) fallback(ctx context.Context) string {
	if d.body == nil {
		return fallbackText(ctx, d.content)
	}
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		edge := dom.IsBlock(n) || dom.Is(n, atom.Br)
		if edge {
			b.WriteByte('\n')
		}
		for c := n.FirstChild; c != nil && ctx.Err() == nil; c = c.NextSibling {
			if c.Type == html.TextNode {
				b.WriteString(spacesForNewlines(c.Data))
			} else {
				walk(c)
			}
		}
		if edge {
			b.WriteByte('\n')
		}
	}
	walk(d.body)
	return paragraphs(b.String())
}

// spacesForNewlines returns s with spaces for its newlines.
func spacesForNewlines(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, s)
}

// fallbackText returns the text of a page that could not be converted. It uses the tokenizer alone, needs no tree,
// takes time linear in the input and cannot fail (rule B18). Blocks become paragraphs; other structure is lost.
func fallbackText(ctx context.Context, content []byte) string {
	var b strings.Builder
	writeText(&b, dom.NewTokenizer(ctx, content))
	return paragraphs(b.String())
}

// paragraphs makes a paragraph of each line that has text.
func paragraphs(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line, _ = chars.Visible(line)
		if line = chars.OneLine(line); line == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}
		mdwrite.WriteEscaped(&out, line, true, false)
	}
	return out.String()
}

// writeText writes the text that z finds outside scripts, styles and the like, with a newline at the edges of blocks.
func writeText(b *strings.Builder, z *html.Tokenizer) {
	skip := 0       // depth in elements whose content is no text
	var name []byte // of the element that hides what is in it, nil: none
	depth := 0      // of elements of that name, while in it
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		if kind == html.TextToken {
			if skip == 0 && depth == 0 {
				b.WriteString(spacesForNewlines(string(z.Text())))
			}
			continue
		}
		tag, more := z.TagName()
		switch {
		case depth > 0 && kind == html.EndTagToken && bytes.Equal(tag, name):
			depth--
		case depth > 0 && kind == html.StartTagToken && bytes.Equal(tag, name) && !impliedEnd[string(name)]:
			depth++
		case (depth == 0 || impliedEnd[string(name)] &&
			(bytes.Equal(tag, name) || string(name) == "p" &&
				dom.IsBlock(&html.Node{Type: html.ElementNode, DataAtom: atom.Lookup(tag)}))) && kind == html.StartTagToken &&
			!dom.VoidElements[string(tag)]:
			unseen := false
			depth = 0
			name = append(name[:0], tag...)
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				unseen = unseen || string(key) == "hidden" || string(key) == "style" && hidden.ByStyle(string(value))
			}
			if unseen {
				depth = 1
			}
		}
		switch name := atom.Lookup(tag); {
		case rawText[name]:
			skip = 0 // raw text: no tag but its own end tag follows
			if kind == html.StartTagToken {
				skip = 1
			}
		case dom.IsBlock(&html.Node{Type: html.ElementNode, DataAtom: name}), name == atom.Br:
			b.WriteByte('\n')
		}
	}
}

// impliedEnd holds the elements that end where the next element of the same name begins; p ends also at the next block.
var impliedEnd = map[string]bool{
	"p": true, "li": true, "td": true, "th": true, "tr": true, "dt": true, "dd": true,
	"option": true,
}

// rawText holds the elements whose content is neither text of the page nor tags.
var rawText = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Iframe: true, atom.Textarea: true, atom.Title: true,
	atom.Noembed: true, atom.Noframes: true,
}
