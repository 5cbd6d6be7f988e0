package convert

import (
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
// from its tokens. It ends early when ctx ends.
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
				b.WriteString(chars.SpacesForNewlines(c.Data))
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

// fallbackText returns the text of a page that could not be converted. It uses the tokenizer alone, needs no tree,
// takes time linear in the input and cannot fail (rule B18). Blocks become paragraphs; other structure is lost.
func fallbackText(ctx context.Context, content []byte) string {
	var b strings.Builder
	hidden.WriteText(&b, dom.NewTokenizer(ctx, content))
	return paragraphs(b.String())
}

// paragraphs makes, as the fallback for a page's elements, a paragraph of markdown of each line of a page's text that
// has some, and escapes what would be markup.
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
