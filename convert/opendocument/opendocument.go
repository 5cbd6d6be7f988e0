// Package opendocument reads the texts, workbooks and presentations of LibreOffice and others (OASIS OpenDocument, ISO
// 26300) as HTML, which a converter of HTML then takes like any page.
//
// Every file is treated as hostile: unpacked bytes, nesting, repeated cells and output are bounded, and a damaged file
// is read as far as possible. When its context ends, [Read] panics with a value for [guard.Run].
package opendocument

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/xmlread"
)

// TypePrefix begins the media types of OpenDocument: text, spreadsheet and presentation follow.
const TypePrefix = "application/vnd.oasis.opendocument."

// Is reports whether a zip archive states at its beginning that it is a document of a kind that [Read] reads. The part
// "mimetype" is stored first and uncompressed, for that purpose.
func Is(content []byte) bool {
	const begin = "mimetype" + TypePrefix
	head := string(content[:min(len(content), 256)])
	_, kind, ok := strings.Cut(head, begin)
	return ok && (strings.HasPrefix(kind, "text") || strings.HasPrefix(kind, "spreadsheet") ||
		strings.HasPrefix(kind, "presentation"))
}

// Read reads a document: headings, lists, tables, emphasis, links, notes and descriptions of pictures. Deleted text and
// comments are told apart. So are sheets, rows, columns and slides that are hidden, and what stands beside its slide.
// One part may unpack to maxPart bytes. Read fails if content is not a zip archive.
func Read(ctx context.Context, content []byte, maxPart int) (*archive.Document, error) {
	files, err := archive.Open(ctx, content, maxPart)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what was being done
	}
	r := &reader{ctx: ctx, files: files, styles: map[string]style{}, numbered: map[string]bool{}}
	files.Properties("meta.xml", &r.doc)
	r.readStyles("styles.xml")
	r.readStyles("content.xml")
	if dec := files.Decoder("content.xml"); dec != nil {
		r.read(dec)
	} else {
		r.doc.Damaged = true
	}
	if r.notes.Len() > 0 {
		r.out.WriteString(`<section role="doc-endnotes"><ol>` + r.notes.String() + "</ol></section>")
	}
	r.doc.Body, r.doc.Damaged, r.doc.Cut = r.out.String(), r.doc.Damaged || files.Damaged, r.doc.Cut || files.Cut
	r.doc.Encrypted = bytes.Contains(files.Part("META-INF/manifest.xml"), []byte("encryption-data"))
	return &r.doc, nil
}

// style is what a style says of the meaning of its text. The zero value is of plain text.
type style struct {
	parent             string
	bold, italic, code bool
	strike             bool
	raised             string // sup or sub
	quote, pre         bool   // of paragraphs
	hidden             bool   // of text, tables and slides
	color, size        string // of text, "" if it does not say; #rrggbb, and points or a share
	shaded             bool   // what stands behind its text is not the page
}

// readStyles reads the styles of a part, and which lists are numbered. It also takes the size of pages. Styles of the
// content go before those of the document.
func (r *reader) readStyles(part string) {
	const maxStyles = 20_000
	var name string
	var s style
	list := ""
	// A style is kept when the next one begins, as its properties are elements within it.
	keep := func() {
		if name != "" && len(r.styles) < maxStyles {
			r.styles[name] = s
		}
		name, s = "", style{}
	}
	r.files.Each(part, func(_ *xml.Decoder, t xml.StartElement) {
		switch t.Name.Local {
		case "style":
			keep()
			name = xmlread.Attr(t, "name")
			s = named(name)
			s.parent = xmlread.Attr(t, "parent-style-name")
		case "text-properties":
			s.bold = s.bold || xmlread.Attr(t, "font-weight") == "bold"
			s.italic = s.italic || xmlread.Attr(t, "font-style") == "italic"
			s.strike = s.strike || strikes(xmlread.Attr(t, "text-line-through-style"))
			s.hidden = s.hidden || xmlread.Attr(t, "display") == "none"
			s.color, s.size = color(t), size(xmlread.Attr(t, "font-size"))
			s.shaded = s.shaded || shades(xmlread.Attr(t, "background-color"))
			font := strings.ToLower(xmlread.Attr(t, "font-name"))
			s.code = s.code || strings.Contains(font, "mono") || strings.Contains(font, "courier") ||
				strings.Contains(font, "consolas")
			switch position := xmlread.Attr(t, "text-position"); {
			case strings.HasPrefix(position, "super"):
				s.raised = "sup"
			case strings.HasPrefix(position, "sub"):
				s.raised = "sub"
			}
		case "paragraph-properties":
			s.shaded = s.shaded || shades(xmlread.Attr(t, "background-color"))
		case "table-properties":
			s.hidden = s.hidden || xmlread.Attr(t, "display") == "false"
		case "drawing-page-properties":
			s.hidden = s.hidden || xmlread.Attr(t, "visibility") == "hidden"
		case "page-layout-properties":
			r.width = max(r.width, length(xmlread.Attr(t, "page-width")))
			r.height = max(r.height, length(xmlread.Attr(t, "page-height")))
		case "list-style":
			keep()
			list = xmlread.Attr(t, "name")
		case "list-level-style-number":
			if xmlread.Attr(t, "level") == "1" && len(r.numbered) < maxStyles {
				r.numbered[list] = true
			}
		}
	})
	keep()
}

// named returns the meaning of a style by its name, which is English in documents of all languages. Spaces in it are
// written as _20_.
func named(name string) (s style) {
	switch lower := strings.ToLower(name); {
	case strings.Contains(lower, "preformatted"), strings.Contains(lower, "source_20_code"), lower == "sourcecode":
		s.pre = true
	case strings.Contains(lower, "quotation"):
		s.quote = true
	case strings.HasPrefix(lower, "source_20_text"):
		s.code = true
	}
	return s
}

// units are the lengths of points, inches and the like, in centimetres.
var units = map[string]float64{"cm": 1, "mm": .1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6}

// length returns a length in centimetres, 0 if it is none. Units are two letters.
func length(v string) float64 {
	if len(v) < 3 {
		return 0
	}
	n, err := strconv.ParseFloat(v[:len(v)-2], 64)
	if err != nil {
		return 0
	}
	return n * units[v[len(v)-2:]]
}

// color returns the color of text in HTML, "" if it is not known. "auto" and colors of the window are not known.
func color(t xml.StartElement) string {
	v := xmlread.Attr(t, "color")
	if _, err := strconv.ParseUint(strings.TrimPrefix(v, "#"), 16, 32); err != nil || len(v) != 7 ||
		xmlread.Attr(t, "use-window-font-color") == "true" {
		return ""
	}
	return v
}

// size returns the size of small letters in HTML, "" of others: all can read them. Small is under eight points, or
// under half of the text around.
func size(v string) string {
	points, isPoints := strings.CutSuffix(v, "pt")
	if n, err := strconv.ParseFloat(points, 64); isPoints && err == nil && n < 8 {
		return v
	}
	share, isShare := strings.CutSuffix(v, "%")
	if n, err := strconv.ParseFloat(share, 64); isShare && err == nil && n < 50 {
		return fmt.Sprintf("%.1fpt", n/100*12) // browsers let no share become as small as a length
	}
	return ""
}

// shades reports whether a background color is another than the page's.
func shades(color string) bool {
	return color != "" && color != "transparent" && strings.ToLower(color) != "#ffffff"
}

// strikes reports whether a style of lines through text draws one.
func strikes(style string) bool { return style != "" && style != "none" }

// style returns the meaning of a style, with what it takes from those it is based on. An unknown style means what its
// name says. It looks at ten of those.
func (r *reader) style(name string) style {
	s, known := r.styles[name]
	if !known {
		s = named(name)
	}
	for range 10 {
		if s.parent == "" {
			break
		}
		p := r.styles[s.parent]
		s.bold, s.italic, s.code = s.bold || p.bold, s.italic || p.italic, s.code || p.code
		s.quote, s.pre, s.parent = s.quote || p.quote, s.pre || p.pre, p.parent
		s.hidden, s.shaded = s.hidden || p.hidden, s.shaded || p.shaded
		s.color, s.size = cmp.Or(s.color, p.color), cmp.Or(s.size, p.size)
	}
	return s
}
