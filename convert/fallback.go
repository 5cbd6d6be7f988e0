package convert

import (
	"bytes"
	"context"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// fallbackText returns the text of a page that could not be converted, from the tokenizer alone: it needs no tree, takes time
// linear in the input and cannot fail (rule B18). Blocks become paragraphs; nothing else of the structure is left.
func fallbackText(ctx context.Context, content []byte) string {
	var b strings.Builder
	writeText(&b, html.NewTokenizer(untilDone{ctx, bytes.NewReader(content)}))
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		line, _ = visible(line)
		if line = squash(line); line == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}
		writeEscaped(&out, line, true, false)
	}
	return out.String()
}

// writeText writes the text that z finds outside scripts, styles and the like, a newline at the edges of blocks.
func writeText(b *strings.Builder, z *html.Tokenizer) {
	skip := 0 // depth in elements whose content is no text
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.TextToken:
			if skip == 0 {
				text := string(z.Text())
				b.WriteString(strings.Map(func(r rune) rune {
					if r == '\n' || r == '\r' {
						return ' '
					}
					return r
				}, text))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			switch tag {
			case atom.Script, atom.Style, atom.Noscript, atom.Iframe, atom.Textarea, atom.Title, atom.Noembed, atom.Noframes:
				skip = 1 // raw text: no tag but its own end tag follows
			}
			if blockElement(&html.Node{Type: html.ElementNode, DataAtom: tag}) || tag == atom.Br {
				b.WriteByte('\n')
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			tag := atom.Lookup(name)
			switch tag {
			case atom.Script, atom.Style, atom.Noscript, atom.Iframe, atom.Textarea, atom.Title, atom.Noembed, atom.Noframes:
				skip = 0
			}
			if blockElement(&html.Node{Type: html.ElementNode, DataAtom: tag}) {
				b.WriteByte('\n')
			}
		}
	}
}
