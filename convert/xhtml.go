package convert

import (
	"bytes"
	"context"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/page"
)

// rawElements are the elements whose content the parser of HTML takes as text up to their end tag.
var rawElements = chars.Set("script style title textarea iframe noframes noembed noscript xmp")

// asHTML returns XHTML as HTML: its parser knows no elements that close themselves and no sections of characters. A
// page that is XHTML by its media type is changed throughout, one that only begins as XHTML where HTML would take the
// rest of the page for the content of a script.
func asHTML(ctx context.Context, text []byte, contentType string) []byte {
	return fromXHTML(ctx, text, isXHTML(contentType))
}

// isXHTML reports whether a page is XHTML by its media type.
func isXHTML(contentType string) bool { return page.MediaType(contentType) == "application/xhtml+xml" }

// fromXHTML is asHTML for a page that is stated to be XHTML, or not. When ctx ends it returns the beginning, which no
// parser takes then.
func fromXHTML(ctx context.Context, text []byte, stated bool) []byte {
	return unclosed(dom.NewTokenizer(ctx, text), text, stated)
}

// unclosed is fromXHTML of a text that z reads.
func unclosed(z *html.Tokenizer, text []byte, stated bool) []byte {
	head := bytes.ToLower(text[:min(len(text), 1<<10)])
	if !stated && !bytes.Contains(head, []byte("<?xml")) && !bytes.Contains(head, []byte("//dtd xhtml")) &&
		!bytes.Contains(head, []byte("www.w3.org/1999/xhtml")) || !bytes.Contains(text, []byte("/>")) &&
		!bytes.Contains(text, []byte("<![CDATA[")) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/16)
	z.AllowCDATA(stated)
	for {
		kind := z.Next()
		raw := z.Raw()
		switch kind {
		case html.ErrorToken:
			return append(out, raw...)
		case html.TextToken:
			if inner, ok := bytes.CutPrefix(raw, []byte("<![CDATA[")); ok {
				out = append(out, html.EscapeString(string(bytes.TrimSuffix(inner, []byte("]]>"))))...)
				continue
			}
		case html.SelfClosingTagToken:
			raw = bytes.Clone(raw) // TagName lower-cases in place
			tag, _ := z.TagName()
			name := string(tag)
			if dom.VoidElements[name] || !stated && !rawElements[name] {
				break
			}
			z.NextIsNotRawText()
			out = append(out, bytes.TrimSuffix(raw, []byte("/>"))...)
			out = append(out, "></"+name+">"...)
			continue
		}
		out = append(out, raw...)
	}
}
