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
	r := &reader{
		ctx: ctx, files: files, styles: map[string]style{}, numbered: map[string]bool{}, blank: map[string]bool{},
		layers: map[string]bool{}, layouts: map[string][2]float64{},
	}
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
	hidden             bool   // of text, tables, rows, columns and slides
	letters
	fill, fillColor string // what stands behind its text: "solid", with a color, or anything else; "" if it does not say
	mapped          bool   // of cells: a condition may say otherwise
	format          string // of cells: the name of the form in which they show values
}

// readStyles reads the styles of a part, and which lists are numbered. It also takes the size of slides, the layers
// that are not shown and the formats that show nothing. Styles of the content go before those of the document.
func (r *reader) readStyles(part string) {
	const maxStyles = 20_000
	var name, layout, format string
	var s style
	list := ""
	// A style is kept when the next one begins, as its properties are elements within it.
	keep := func() {
		if name != "" && len(r.styles) < maxStyles {
			r.styles[name] = s
		}
		name, format, s = "", "", style{}
	}
	r.files.Each(part, func(dec *xml.Decoder, t xml.StartElement) {
		switch t.Name.Local {
		case "style":
			keep()
			name = xmlread.Attr(t, "name")
			s = named(name)
			s.parent, s.format = xmlread.Attr(t, "parent-style-name"), xmlread.Attr(t, "data-style-name")
		case "default-style":
			keep()
		case "text-properties":
			s.bold = s.bold || xmlread.Attr(t, "font-weight") == "bold"
			s.italic = s.italic || xmlread.Attr(t, "font-style") == "italic"
			s.strike = s.strike || strikes(xmlread.Attr(t, "text-line-through-style"))
			s.hidden = s.hidden || xmlread.Attr(t, "display") == "none"
			s.letters = lettersOf(t)
			s.background(t)
			font := strings.ToLower(xmlread.Attr(t, "font-name"))
			s.code = s.code || strings.Contains(font, "mono") || strings.Contains(font, "courier") ||
				strings.Contains(font, "consolas")
			switch position := xmlread.Attr(t, "text-position"); {
			case strings.HasPrefix(position, "super"):
				s.raised = "sup"
			case strings.HasPrefix(position, "sub"):
				s.raised = "sub"
			}
		case "paragraph-properties", "table-cell-properties", "graphic-properties":
			s.background(t)
		case "table-properties":
			s.hidden = s.hidden || xmlread.Attr(t, "display") == "false"
		case "table-row-properties":
			s.hidden = s.hidden || flat(xmlread.Attr(t, "row-height"))
		case "table-column-properties":
			s.hidden = s.hidden || flat(xmlread.Attr(t, "column-width"))
		case "drawing-page-properties":
			s.hidden = s.hidden || xmlread.Attr(t, "visibility") == "hidden"
		case "map":
			s.mapped = true
		case "page-layout":
			layout = xmlread.Attr(t, "name")
		case "page-layout-properties":
			if len(r.layouts) < maxStyles {
				r.layouts[layout] = [2]float64{length(xmlread.Attr(t, "page-width")), length(xmlread.Attr(t, "page-height"))}
			}
		case "master-page": // of slides; their notes and handouts have layouts of their own
			size := r.layouts[xmlread.Attr(t, "page-layout-name")]
			r.width, r.height = max(r.width, size[0]), max(r.height, size[1])
		case "layer":
			if unshown(xmlread.Attr(t, "display")) && len(r.layers) < maxStyles {
				r.layers[xmlread.Attr(t, "name")] = true
			}
		case "number-style", "text-style", "percentage-style", "currency-style", "date-style", "time-style",
			"boolean-style":
			keep()
			if len(r.blank) < maxStyles {
				format = xmlread.Attr(t, "name")
				r.blank[format] = true
			}
		case "list-style":
			keep()
			list = xmlread.Attr(t, "name")
		case "list-level-style-number":
			if xmlread.Attr(t, "level") == "1" && len(r.numbered) < maxStyles {
				r.numbered[list] = true
			}
		default:
			if t.Name.Space == "number" && format != "" {
				r.blank[format] = r.blank[format] && t.Name.Local == "text" && empty(dec)
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
		s.hidden, s.mapped, s.format = s.hidden || p.hidden, s.mapped || p.mapped, cmp.Or(s.format, p.format)
		s.fill, s.fillColor, s.letters = cmp.Or(s.fill, p.fill), cmp.Or(s.fillColor, p.fillColor), s.over(p.letters)
	}
	return s
}
