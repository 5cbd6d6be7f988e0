// Package xmlread reads XML as it is on the web: it tolerates errors, and it expands only the five entities of XML
// itself, so that no document can include a file or multiply its size.
package xmlread

import (
	"context"
	"encoding/xml"
	"io"
	"strings"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/internal/lazy"
)

// NewDecoder returns a decoder of XML that tolerates errors and knows only the entities of XML itself. Its input is
// UTF-8.
func NewDecoder(r io.Reader) *xml.Decoder {
	dec := xml.NewDecoder(r)
	dec.Strict = false
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	return dec
}

// Root returns the local name of the outermost element of an XML text, "" if there is none in its first 64 KiB. It
// tells feeds, sitemaps and drawings apart.
func Root(text string) string {
	dec := NewDecoder(strings.NewReader(text[:min(len(text), 64<<10)]))
	for {
		token, err := dec.RawToken()
		if err != nil {
			return ""
		}
		if start, ok := token.(xml.StartElement); ok {
			return start.Name.Local
		}
	}
}

// Shallow reports whether no element of an XML text nests deeper than a page's may: parsers that follow elements by
// recursion are kept from depths that would end the process. It reads as they do: what looks like a tag may stand in a
// comment or in quotes.
func Shallow(ctx context.Context, text string) bool {
	depth := 0
	dec := NewDecoder(strings.NewReader(text))
	for {
		guard.Check(ctx)
		token, err := dec.RawToken()
		if err != nil {
			return true
		}
		switch token.(type) {
		case xml.StartElement:
			if depth++; depth > dom.MaxOpen {
				return false
			}
		case xml.EndElement:
			depth = max(0, depth-1)
		}
	}
}

// Attr returns the value of an attribute in XML by its local name, "" when t has none. Namespaces do not count.
func Attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// WithoutDeclaration returns an XML text without its declaration. A text that was decoded to UTF-8 no longer has the
// encoding that the declaration names.
func WithoutDeclaration(text string) string {
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, "\ufeff \t\r\n"), "<?xml"); ok {
		if _, rest, ok = strings.Cut(rest, "?>"); ok {
			return rest
		}
	}
	return text
}

// DeclaredCharset returns content with a content type that names its encoding: contentType if it does, else one with
// the encoding in the XML declaration.
func DeclaredCharset(content []byte, contentType string) ([]byte, string) {
	if strings.Contains(strings.ToLower(contentType), "charset") {
		return content, contentType
	}
	if m := encoding().FindSubmatch(content[:min(len(content), 200)]); m != nil {
		return content, "text/xml; charset=" + string(m[1])
	}
	return content, contentType
}

// encoding matches an XML declaration that names an encoding.
var encoding = lazy.Pattern(`^(?:\xef\xbb\xbf)?\s*<\?xml\b[^>]*?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]{1,30})["']`)
