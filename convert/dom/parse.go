package dom

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/guard"
)

const (
	// MaxOpen is how many elements may be open at once before flatten drops further tags. html.Parse refuses 512, and
	// tables open elements that have no tag of their own.
	MaxOpen = 250

	// maxFormatting is how many formatting elements (b, font …) may be open at once: the parser opens each of them
	// again in every following block, so that n of them before m paragraphs make n×m elements.
	maxFormatting = 40
)

// untilDone is a reader that ends with the context's error, so that html.Parse, which takes no context, ends too. It
// hands out small pieces: one piece is what a hostile page can make the parser do after the deadline.
type untilDone struct {
	ctx context.Context
	r   *bytes.Reader
}

// Read reads a small piece of what is to be parsed, or returns the error of the context.
func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p[:min(len(p), 4<<10)])
}

// NewTokenizer returns a tokenizer of text that ends when ctx ends.
func NewTokenizer(ctx context.Context, text []byte) *html.Tokenizer {
	return html.NewTokenizer(untilDone{ctx, bytes.NewReader(text)})
}

// Parse parses HTML. It flattens elements that nest too deep for the parser, and then sets deep. The error is that of
// ctx, or of a page that cannot be parsed even when it is flat.
func Parse(ctx context.Context, text []byte) (root *html.Node, deep bool, err error) {
	if manyFormatting(text) {
		text, deep = flatten(ctx, text), true
	}
	root, err = html.Parse(untilDone{ctx, bytes.NewReader(text)})
	if err != nil && ctx.Err() == nil && !deep {
		deep = true
		root, err = html.Parse(untilDone{ctx, bytes.NewReader(flatten(ctx, text))})
	}
	return root, deep, err
}

// formatting holds the elements that HTML's parser reopens in every block until they are closed.
var formatting = map[string]bool{
	"a": true, "b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "nobr": true, "s": true,
	"small":  true,
	"strike": true, "strong": true, "tt": true, "u": true,
}

// manyFormatting reports whether text, before it is parsed, leaves more formatting elements open than a page written
// with care ever does. It only counts tags, without a tokenizer: a page that is suspected wrongly is flattened, which
// changes nothing in it.
func manyFormatting(text []byte) bool {
	open := 0
	for {
		i := bytes.IndexByte(text, '<')
		if i < 0 || i+1 >= len(text) {
			return false
		}
		text = text[i+1:]
		closing := text[0] == '/'
		name := text
		if closing {
			name = text[1:]
		}
		end := 0
		for end < len(name) && end < 8 && (name[end]|0x20 >= 'a' && name[end]|0x20 <= 'z') {
			end++
		}
		var lower [8]byte
		for i, c := range name[:end] {
			lower[i] = c | 0x20
		}
		if !formatting[string(lower[:end])] {
			continue
		}
		if closing {
			open = max(0, open-1)
		} else if open++; open > 4*maxFormatting {
			return true
		}
	}
}

// VoidElements are the names of the elements without an end tag.
var VoidElements = map[string]bool{
	"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true, "input": true,
	"link": true, "meta": true,
	"param": true, "source": true, "track": true, "wbr": true,
}

// flatten drops, before a page is parsed, the tags that would nest deeper than maxOpen, and the end tags that belong to
// them. All text stays.
func flatten(ctx context.Context, text []byte) []byte {
	out := make([]byte, 0, len(text))
	var open []string           // names of the elements that are open
	dropped := map[string]int{} // how many dropped start tags of a name still wait for their end tag
	depth := 0                  // how many of the open ones are formatting elements
	z := NewTokenizer(ctx, text)
	for {
		kind := z.Next()
		raw := z.Raw()
		switch kind {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				guard.Check(ctx)
			}
			return append(out, raw...)
		case html.StartTagToken:
			raw = bytes.Clone(raw) // TagName lower-cases in place
			tag, _ := z.TagName()
			name := string(tag)
			if VoidElements[name] {
				break
			}
			if len(open) >= MaxOpen || formatting[name] && depth >= maxFormatting {
				dropped[name]++
				continue
			}
			open = append(open, name)
			if formatting[name] {
				depth++
			}
		case html.EndTagToken:
			raw = bytes.Clone(raw)
			tag, _ := z.TagName()
			name := string(tag)
			if dropped[name] > 0 {
				dropped[name]--
				continue
			}
			for i, o := range slices.Backward(open) {
				if o != name {
					continue
				}
				for _, closed := range open[i:] {
					if formatting[closed] {
						depth--
					}
				}
				open = open[:i]
				break
			}
		}
		out = append(out, raw...)
	}
}
