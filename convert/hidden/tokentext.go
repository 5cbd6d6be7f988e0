package hidden

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// WriteText writes the text of the tokens that z finds outside scripts, styles and the like, with a newline at the
// edges of blocks. It makes no tree, and so needs no more memory than the text: it is for pages whose conversion fails,
// for signs of bot walls, and for texts in feeds. Only hidden attributes and inline styles hide; what is hidden so goes
// with all in it.
func WriteText(b *strings.Builder, z *html.Tokenizer) {
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
				b.WriteString(chars.SpacesForNewlines(string(z.Text())))
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
				unseen = unseen || string(key) == "hidden" || string(key) == "style" && ByStyle(string(value))
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
// HTML allows their end tags to be left out.
var impliedEnd = map[string]bool{
	"p": true, "li": true, "td": true, "th": true, "tr": true, "dt": true, "dd": true,
	"option": true,
}

// rawText holds the elements whose content is neither text of the page nor tags. Tokens in them are text up to their
// end tag.
var rawText = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Iframe: true, atom.Textarea: true, atom.Title: true,
	atom.Noembed: true, atom.Noframes: true,
}
