package convert

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"path"
	"strconv"
	"strings"

	"readthru/convert/guard"
)

const docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

// maxPart is how many bytes one part of a DOCX may unpack to. All together may be half as much again. A test lowers it.
var maxPart = 32 << 20

const (
	maxDocxDepth = 200     // of elements in one another
	maxTarget    = 4 << 10 // bytes of a link's address; longer ones are no links
)

// isDocx reports whether a zip file holds a text document: its parts are named near its start or in its directory at
// the end.
func isDocx(content []byte) bool {
	name := []byte("word/document")
	return bytes.Contains(content[:min(len(content), 64<<10)], name) ||
		bytes.Contains(content[max(0, len(content)-64<<10):], name)
}

// docx makes the page of a text document (ECMA-376 part 1, §17): headings by style and outline level, lists by
// numbering, tables, emphasis, links, footnotes and the descriptions of pictures, written as HTML and converted by the
// rules for it. Deleted text and comments are left out.
func (d *Document) docx(ctx context.Context, content []byte) {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		d.warnings = append(d.warnings, WarnDamaged)
		return
	}
	w := &word{
		ctx: ctx, files: map[string]*zip.File{}, left: maxPart * 3 / 2, links: map[string]string{},
		styles: map[string]wordStyle{}, noteNumber: map[string]int{},
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
	body := w.body("word/" + name)
	var b bytes.Buffer
	b.WriteString("<!doctype html><html")
	if w.lang != "" {
		b.WriteString(` lang="` + html.EscapeString(w.lang) + `"`)
	}
	b.WriteString("><head>")
	writeHead(&b, "title", w.title)
	writeHead(&b, "author", w.author)
	writeHead(&b, "date", w.date)
	writeHead(&b, "description", w.subject)
	b.WriteString("</head><body>" + body)
	if len(w.noteOrder) > 0 {
		b.WriteString(`<section role="doc-endnotes"><ol>`)
		for i, id := range w.noteOrder {
			fmt.Fprintf(&b, `<li id="fn%d">%s</li>`, i+1, w.noteText[id])
		}
		b.WriteString("</ol></section>")
	}
	b.WriteString("</body></html>")
	if w.damaged {
		d.warnings = append(d.warnings, WarnDamaged)
	}
	if w.cut {
		d.warnings = append(d.warnings, WarnTooLarge)
	}
	d.compose(ctx, b.Bytes())
	d.head.title = firstNonEmpty(w.title, d.head.title, fileName(d.path()))
	d.head.meta["title"] = d.head.title
}

// word reads the parts of a text document.
type word struct {
	ctx    context.Context
	files  map[string]*zip.File
	left   int // bytes that may still be unpacked
	links  map[string]string
	styles map[string]wordStyle
	lists  map[string]map[int]bool // number's id → level → is it numbered

	title, author, date, subject, lang string

	noteText   map[string]string
	noteOrder  []string
	noteNumber map[string]int // from 1, of those in noteOrder
	written    int            // bytes of text and addresses so far
	cut        bool
	damaged    bool
}

// wordStyle is what a paragraph's style says of its meaning.
type wordStyle struct {
	heading int    // 1 to 6, 0 for text
	list    string // id of its numbering
	quote   bool
	code    bool
	based   string
}

// part returns a decoder of one part, nil if there is none.
func (w *word) part(name string) *xml.Decoder {
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
	limit := min(maxPart, w.left)
	data, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err != nil {
		w.damaged = true
	}
	if len(data) > limit {
		data, w.cut = data[:limit], true
	}
	w.left -= len(data)
	return newDecoder(bytes.NewReader(data))
}

// each calls do for every start tag of a part, outside of other elements' business: for what has no order.
func (w *word) each(name string, do func(dec *xml.Decoder, t xml.StartElement)) {
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
func (w *word) main() string {
	const usual, other = "document.xml", "document2.xml"
	if w.files["word/"+usual] == nil && w.files["word/"+other] != nil {
		return other
	}
	return usual
}

func (w *word) readLinks(name string) {
	w.each("word/_rels/"+name+".rels", func(_ *xml.Decoder, t xml.StartElement) {
		if t.Name.Local == "Relationship" && strings.HasSuffix(xmlAttr(t, "Type"), "/hyperlink") && len(w.links) < 20000 {
			if target := xmlAttr(t, "Target"); len(target) <= maxTarget {
				w.links[xmlAttr(t, "Id")] = target
			}
		}
	})
}

func (w *word) readStyles() {
	var id string
	var s wordStyle
	keep := func() {
		if id != "" && len(w.styles) < 20000 {
			w.styles[id] = s
		}
	}
	w.each("word/styles.xml", func(_ *xml.Decoder, t xml.StartElement) {
		value := xmlAttr(t, "val")
		switch t.Name.Local {
		case "style":
			keep()
			id, s = xmlAttr(t, "styleId"), wordStyle{}
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
func (s *wordStyle) named(name string) {
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
func (w *word) style(id string) wordStyle {
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

func (w *word) readNumbering() {
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
				abstract[xmlAttr(t, "abstractNumId")] = open
			}
		case "lvl":
			level, _ = strconv.Atoi(xmlAttr(t, "ilvl"))
		case "numFmt":
			if v := xmlAttr(t, "val"); open != nil && level >= 0 && level < 10 {
				open[level] = v != "bullet" && v != "none"
			}
		case "num":
			number = xmlAttr(t, "numId")
		case "abstractNumId":
			if number != "" && len(w.lists) < 20000 {
				w.lists[number] = abstract[xmlAttr(t, "val")]
			}
		}
	})
}

func (w *word) readProperties() {
	w.each("docprops/core.xml", func(dec *xml.Decoder, t xml.StartElement) {
		var field *string
		switch t.Name.Local {
		case "title":
			field = &w.title
		case "creator":
			field = &w.author
		case "created":
			field = &w.date
		case "subject":
			field = &w.subject
		case "language":
			field = &w.lang
		default:
			return
		}
		if token, err := dec.RawToken(); err == nil {
			if text, ok := token.(xml.CharData); ok && *field == "" {
				*field = clip(string(text))
			}
		}
	})
}

// notes reads footnotes or endnotes, whose first two are lines that part them from the text.
func (w *word) notes(part, kind string) {
	if w.noteText == nil {
		w.noteText = map[string]string{}
	}
	w.each("word/"+part+".xml", func(dec *xml.Decoder, t xml.StartElement) {
		if t.Name.Local != kind {
			return
		}
		id, special := kind+xmlAttr(t, "id"), xmlAttr(t, "type")
		text := w.story(dec, kind)
		if (special == "" || special == "normal") && len(w.noteText) < 20000 {
			w.noteText[id] = text
		}
	})
}

func (w *word) body(name string) string {
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
