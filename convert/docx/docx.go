// Package docx reads text documents of Microsoft Word and others (ECMA-376) as HTML, which a converter of HTML then
// takes like any page.
//
// The meaning of a paragraph follows from the name of its style, which is English in documents of all languages, and
// from outline levels and numbering. Every file is treated as hostile: unpacked bytes, nesting and output are bounded,
// and a damaged file is read as far as possible. When its context ends, [Read] panics with a value for [guard.Run].
package docx

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"readthru/convert/chars"
	"readthru/convert/guard"
	"readthru/convert/xmlread"
)

// Type is the media type of a DOCX.
const Type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

const (
	maxDepth  = 200     // of elements in one another
	maxTarget = 4 << 10 // bytes of a link's address; longer ones are no links
)

// Is reports whether a zip archive is a DOCX, by the names of its parts near its start and its end.
func Is(content []byte) bool {
	name := []byte("word/document")
	return bytes.Contains(content[:min(len(content), 64<<10)], name) ||
		bytes.Contains(content[max(0, len(content)-64<<10):], name)
}

// Document is the text of a DOCX as HTML, and its properties. An unknown property is empty.
type Document struct {
	Title, Author, Subject string
	Date                   string // of creation, as written in the file
	Lang                   string
	Body                   string // HTML: blocks, then a list of the notes
	Damaged                bool   // part of the file could not be read
	Cut                    bool   // part of the file lies beyond the limits
}

// Read reads a DOCX (ECMA-376 part 1, §17): headings by style and outline level, lists by numbering, tables,
// emphasis, links, footnotes and the descriptions of pictures. Deleted text and comments are left out. One part may
// unpack to maxPart bytes, all together to half as much again. Read fails if content is not a zip archive.
func Read(ctx context.Context, content []byte, maxPart int) (*Document, error) {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, fmt.Errorf("open the archive: %w", err)
	}
	w := &reader{
		ctx: ctx, files: map[string]*zip.File{}, maxPart: maxPart, left: maxPart * 3 / 2, links: map[string]string{},
		styles: map[string]style{}, noteNumber: map[string]int{},
	}
	for _, f := range z.File {
		w.files[strings.ToLower(strings.TrimPrefix(path.Clean(f.Name), "/"))] = f
	}
	name := w.main()
	w.readLinks(name)
	w.readStyles()
	w.readNumbering()
	w.readProperties()
	w.notes("footnotes", "footnote")
	w.notes("endnotes", "endnote")
	var b strings.Builder
	b.WriteString(w.body("word/" + name))
	if len(w.noteOrder) > 0 {
		b.WriteString(`<section role="doc-endnotes"><ol>`)
		for i, id := range w.noteOrder {
			fmt.Fprintf(&b, `<li id="fn%d">%s</li>`, i+1, w.noteText[id])
		}
		b.WriteString("</ol></section>")
	}
	w.doc.Body, w.doc.Damaged, w.doc.Cut = b.String(), w.damaged, w.cut
	return &w.doc, nil
}

// reader reads the parts of a text document.
type reader struct {
	ctx     context.Context
	files   map[string]*zip.File
	maxPart int // bytes that one part may unpack to
	left    int // bytes that may still be unpacked
	links   map[string]string
	styles  map[string]style
	lists   map[string]map[int]bool // number's id → level → is it numbered

	doc Document

	noteText   map[string]string
	noteOrder  []string
	noteNumber map[string]int // from 1, of those in noteOrder
	written    int            // bytes of text and addresses so far
	cut        bool
	damaged    bool
}

// style is what a paragraph's style says of its meaning.
type style struct {
	heading int    // 1 to 6, 0 for text
	list    string // id of its numbering
	quote   bool
	code    bool
	based   string
}

// part returns a decoder of one part, nil if there is none.
func (w *reader) part(name string) *xml.Decoder {
	f := w.files[name]
	if f == nil {
		return nil
	}
	in, err := f.Open()
	if err != nil {
		w.damaged = true
		return nil
	}
	defer in.Close()
	limit := min(w.maxPart, w.left)
	data, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err != nil {
		w.damaged = true
	}
	if len(data) > limit {
		data, w.cut = data[:limit], true
	}
	w.left -= len(data)
	return xmlread.NewDecoder(bytes.NewReader(data))
}

// each calls do for every start tag of a part, outside of other elements' business: for what has no order.
func (w *reader) each(name string, do func(dec *xml.Decoder, t xml.StartElement)) {
	dec := w.part(name)
	if dec == nil {
		return
	}
	for {
		guard.Check(w.ctx)
		token, err := dec.RawToken()
		if err != nil {
			return
		}
		if t, ok := token.(xml.StartElement); ok {
			do(dec, t)
		}
	}
}

// main returns the name of the part that holds the text, which some programs number.
func (w *reader) main() string {
	const usual, other = "document.xml", "document2.xml"
	if w.files["word/"+usual] == nil && w.files["word/"+other] != nil {
		return other
	}
	return usual
}

func (w *reader) readLinks(name string) {
	w.each("word/_rels/"+name+".rels", func(_ *xml.Decoder, t xml.StartElement) {
		if t.Name.Local == "Relationship" && strings.HasSuffix(xmlread.Attr(t, "Type"), "/hyperlink") &&
			len(w.links) < 20000 {
			if target := xmlread.Attr(t, "Target"); len(target) <= maxTarget {
				w.links[xmlread.Attr(t, "Id")] = target
			}
		}
	})
}

func (w *reader) readStyles() {
	var id string
	var s style
	keep := func() {
		if id != "" && len(w.styles) < 20000 {
			w.styles[id] = s
		}
	}
	w.each("word/styles.xml", func(_ *xml.Decoder, t xml.StartElement) {
		value := xmlread.Attr(t, "val")
		switch t.Name.Local {
		case "style":
			keep()
			id, s = xmlread.Attr(t, "styleId"), style{}
		case "name":
			s.named(value)
		case "basedOn":
			s.based = value
		case "outlineLvl":
			if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 9 && s.heading == 0 {
				s.heading = min(n+1, 6)
			}
		case "numId":
			s.list = value
		}
	})
	keep()
}

// named takes the meaning of a style from its English name, which documents in all languages keep.
func (s *style) named(name string) {
	name = strings.ToLower(name)
	switch {
	case name == "title":
		s.heading = 1
	case strings.HasPrefix(name, "heading "):
		if n, err := strconv.Atoi(name[len("heading "):]); err == nil && n > 0 {
			s.heading = min(n, 6)
		}
	case strings.Contains(name, "quote") || name == "block text":
		s.quote = true
	case strings.Contains(name, "source code") || strings.Contains(name, "html preformatted") || name == "code" ||
		strings.Contains(name, "code block") || name == "plain text":
		s.code = true
	}
}

// style returns the meaning of a style, with what it takes from those it is based on.
func (w *reader) style(id string) style {
	s := w.styles[id]
	for range 10 {
		if s.based == "" {
			break
		}
		below := w.styles[s.based]
		if s.heading == 0 {
			s.heading = below.heading
		}
		if s.list == "" {
			s.list = below.list
		}
		s.quote, s.code = s.quote || below.quote, s.code || below.code
		s.based = below.based
	}
	return s
}

func (w *reader) readNumbering() {
	abstract := map[string]map[int]bool{}
	w.lists = map[string]map[int]bool{}
	var open map[int]bool
	number := ""
	level := 0
	w.each("word/numbering.xml", func(_ *xml.Decoder, t xml.StartElement) {
		switch t.Name.Local {
		case "abstractNum":
			open = map[int]bool{}
			if len(abstract) < 5000 {
				abstract[xmlread.Attr(t, "abstractNumId")] = open
			}
		case "lvl":
			level, _ = strconv.Atoi(xmlread.Attr(t, "ilvl"))
		case "numFmt":
			if v := xmlread.Attr(t, "val"); open != nil && level >= 0 && level < 10 {
				open[level] = v != "bullet" && v != "none"
			}
		case "num":
			number = xmlread.Attr(t, "numId")
		case "abstractNumId":
			if number != "" && len(w.lists) < 20000 {
				w.lists[number] = abstract[xmlread.Attr(t, "val")]
			}
		}
	})
}

func (w *reader) readProperties() {
	w.each("docprops/core.xml", func(dec *xml.Decoder, t xml.StartElement) {
		var field *string
		switch t.Name.Local {
		case "title":
			field = &w.doc.Title
		case "creator":
			field = &w.doc.Author
		case "created":
			field = &w.doc.Date
		case "subject":
			field = &w.doc.Subject
		case "language":
			field = &w.doc.Lang
		default:
			return
		}
		if token, err := dec.RawToken(); err == nil {
			if text, ok := token.(xml.CharData); ok && *field == "" {
				*field = chars.Clip(string(text))
			}
		}
	})
}

// notes reads footnotes or endnotes, whose first two are lines that part them from the text.
func (w *reader) notes(part, kind string) {
	if w.noteText == nil {
		w.noteText = map[string]string{}
	}
	w.each("word/"+part+".xml", func(dec *xml.Decoder, t xml.StartElement) {
		if t.Name.Local != kind {
			return
		}
		id, special := kind+xmlread.Attr(t, "id"), xmlread.Attr(t, "type")
		text := w.story(dec, kind)
		if (special == "" || special == "normal") && len(w.noteText) < 20000 {
			w.noteText[id] = text
		}
	})
}

func (w *reader) body(name string) string {
	dec := w.part(name)
	if dec == nil {
		w.damaged = true
		return ""
	}
	for {
		token, err := dec.RawToken()
		if err != nil {
			w.damaged = true
			return ""
		}
		if t, ok := token.(xml.StartElement); ok && t.Name.Local == "body" {
			return w.story(dec, "body")
		}
	}
}
