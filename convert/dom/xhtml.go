package dom

import (
	"bytes"
	"context"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
)

// rawElements are the elements whose content the parser of HTML takes as text up to their end tag.
var rawElements = chars.Set("script style title textarea iframe noframes noembed noscript xmp")

// FromXHTML returns XHTML as HTML: its parser knows no elements that close themselves and no sections of characters. A
// page that is stated to be XHTML is changed throughout, one that only begins as XHTML where HTML would take the rest
// of the page for the content of a script. When ctx ends it returns the beginning, which no parser takes then.
func FromXHTML(ctx context.Context, text []byte, stated bool) []byte {
	return CloseElements(NewTokenizer(ctx, text), text, stated)
}

// CloseElements is [FromXHTML] of a text that z reads.
func CloseElements(z *html.Tokenizer, text []byte, stated bool) []byte {
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
			if VoidElements[name] || !stated && !rawElements[name] {
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
