// Package docx reads text documents of Microsoft Word and others (ECMA-376) as HTML, which a converter of HTML then
// takes like any page.
//
// The meaning of a paragraph follows from the name of its style, which is English in documents of all languages, and
// from outline levels and numbering. Every file is treated as hostile: unpacked bytes, nesting and output are bounded,
// and a damaged file is read as far as possible. When its context ends, [Read] panics with a value for [guard.Run].
package docx

import (
	"context"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/xmlread"
)

// Type is the media type of a DOCX.
const Type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

const maxDepth = 200 // of elements in one another

// Read reads a DOCX (ECMA-376 part 1, §17): headings by style and outline level, lists by numbering, tables,
// emphasis, links, footnotes and the descriptions of pictures. Deleted text and comments are told apart. One part may
// unpack to maxPart bytes, all together to half as much again. Read fails if content is not a zip archive.
func Read(ctx context.Context, content []byte, maxPart int) (*archive.Document, error) {
	files, err := archive.Open(ctx, content, maxPart)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what was being done
	}
	w := &wordReader{ctx: ctx, files: files, styles: map[string]style{}, noteNumber: map[string]int{}}
	name := w.main()
	w.links = files.Relations("word/" + name)
	w.readStyles()
	w.readNumbering()
	files.Properties("docProps/core.xml", &w.doc)
	// Notes are read before the text, which numbers those that it refers to.
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
	files.Comments(w.links, &w.doc)
	w.doc.Body, w.doc.Damaged, w.doc.Cut = b.String(), w.damaged || files.Damaged, w.cut || files.Cut
	return &w.doc, nil
}

// wordReader reads the parts of a document of Word. It is made for one [Read]. Text is written as HTML, in which
// package convert finds headings, lists and notes again, and what is hidden.
type wordReader struct {
	ctx    context.Context
	files  *archive.Archive
	links  map[string]archive.Relation
	styles map[string]style
	lists  map[string]*numbering // by id

	doc archive.Document

	noteText   map[string]string
	noteOrder  []string
	noteNumber map[string]int // from 1, of those in noteOrder
	written    int            // bytes of text and addresses so far
	colored    bool           // the pages have a background
	cut        bool
	damaged    bool
}

// linkTo returns the address of a link of a Word document, "" if it has none. id is that of a relation of the text's
// part.
func (w *wordReader) linkTo(id string) string {
	if l := w.links[id]; l.Kind == "hyperlink" {
		return l.Target
	}
	return ""
}

// main returns the name of the part that holds the text of a Word document, which some programs number.
func (w *wordReader) main() string {
	const usual, other = "document.xml", "document2.xml"
	if !w.files.Has("word/"+usual) && w.files.Has("word/"+other) {
		return other
	}
	return usual
}

// notes reads the footnotes or endnotes of a Word document, whose first two are lines that part them from the text.
// part is the name of the part, kind that of its elements. They are kept until something refers to them.
func (w *wordReader) notes(part, kind string) {
	if w.noteText == nil {
		w.noteText = map[string]string{}
	}
	w.files.Each("word/"+part+".xml", func(dec *xml.Decoder, t xml.StartElement) {
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

// body returns the HTML of the text in a part of a Word document. A part that is missing or has no body makes the
// document damaged.
func (w *wordReader) body(name string) string {
	dec := w.files.Decoder(name)
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
		t, ok := token.(xml.StartElement)
		w.colored = w.colored || ok && t.Name.Local == "background"
		if ok && t.Name.Local == "body" {
			return w.story(dec, "body")
		}
	}
}
