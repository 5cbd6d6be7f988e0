// Package docx reads text documents of Microsoft Word and others (ECMA-376) as HTML, which a converter of HTML then
// takes like any page.
//
// The meaning of a paragraph follows from the name of its style, which is English in documents of all languages, and
// from outline levels and numbering. Every file is treated as hostile: unpacked bytes, nesting and output are bounded,
// and a damaged file is read as far as possible. When its context ends, [Read] panics with a value for [guard.Run].
package docx

import (
	"cmp"
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/xmlread"

	"github.com/readthru/readthru/convert/omml"
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
	w := &reader{ctx: ctx, files: files, styles: map[string]style{}, noteNumber: map[string]int{}}
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

// reader reads the parts of a text document. It is made for one [Read]. Text is written as HTML, in which package
// convert finds headings, lists and notes again, and what is hidden.
type reader struct {
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

// numbering is how the items of lists of one id are marked. Paragraphs refer to it by numId.
type numbering struct {
	levels map[int]level
	counts [9]int // items so far, by level
}

// level is how the items of a level are marked.
type level struct {
	numbered bool
	before   int // number of the first, less one
}

// style is what a paragraph's style says of its meaning.
type style struct {
	heading int    // 1 to 6, 0 for text
	list    string // id of its numbering
	quote   bool
	code    bool
	vanish  bool // text that is not shown
	shaded  bool // what stands behind its text is not the page
	color   string
	size    int // of letters, as that of a run
	based   string
}

// linkTo returns the address of a link, "" if it has none. id is that of a relation of the text's part.
func (w *reader) linkTo(id string) string {
	if l := w.links[id]; l.Kind == "hyperlink" {
		return l.Target
	}
	return ""
}

// main returns the name of the part that holds the text, which some programs number.
func (w *reader) main() string {
	const usual, other = "document.xml", "document2.xml"
	if !w.files.Has("word/"+usual) && w.files.Has("word/"+other) {
		return other
	}
	return usual
}

// readStyles reads what the styles of the document say of a paragraph's or a run's meaning and look (§17.7). There are
// 20,000 at most.
func (w *reader) readStyles() {
	var id string
	var s style
	ofText := false
	keep := func() {
		if id != "" && len(w.styles) < 20000 {
			w.styles[id] = s
		}
	}
	w.files.Each("word/styles.xml", func(_ *xml.Decoder, t xml.StartElement) {
		value := xmlread.Attr(t, "val")
		switch t.Name.Local {
		case "style":
			keep()
			id, s = xmlread.Attr(t, "styleId"), style{}
			kind := xmlread.Attr(t, "type")
			ofText = kind == "" || kind == "paragraph" || kind == "character"
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
		case "vanish":
			s.vanish = !off(t)
		case "color":
			if ofText {
				s.color = colorOf(t)
			}
		case "sz":
			if size, small := sizeOf(value); ofText && small {
				s.size = size
			}
		case "shd":
			s.shaded = s.shaded || isShade(t)
		}
	})
	keep()
}

// named takes the meaning of a style from its English name, which documents in all languages keep. A style of another
// name keeps the meaning of the one that it is based on.
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

// style returns the meaning of a style, with what it takes from those it is based on. It looks at ten of these. An
// unknown id is a style of plain text.
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
		s.vanish, s.shaded = s.vanish || below.vanish, s.shaded || below.shaded
		s.color, s.size = cmp.Or(s.color, below.color), cmp.Or(s.size, below.size)
		s.based = below.based
	}
	return s
}

// readNumbering reads the kinds of lists (§17.9). A list may begin with other numbers than its kind. Abstract
// definitions stand first in the file, so that lists find theirs.
func (w *reader) readNumbering() {
	const maxKinds, maxLists = 5000, 20_000
	kinds := map[string]map[int]level{}
	w.lists = map[string]*numbering{}
	var open map[int]level // of the kind or the list that is being read
	at := 0
	set := func(t xml.StartElement, do func(l *level, value string)) {
		if open != nil && at >= 0 && at < 9 {
			l := open[at]
			do(&l, xmlread.Attr(t, "val"))
			open[at] = l
		}
	}
	start := func(l *level, value string) {
		if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 1e6 {
			l.before = n - 1
		}
	}
	w.files.Each("word/numbering.xml", func(_ *xml.Decoder, t xml.StartElement) {
		switch t.Name.Local {
		case "abstractNum":
			open = map[int]level{}
			if len(kinds) < maxKinds {
				kinds[xmlread.Attr(t, "abstractNumId")] = open
			}
		case "lvl", "lvlOverride":
			at, _ = strconv.Atoi(xmlread.Attr(t, "ilvl"))
		case "numFmt":
			set(t, func(l *level, value string) { l.numbered = value != "bullet" && value != "none" })
		case "start", "startOverride":
			set(t, start)
		case "num":
			open = nil
			if len(w.lists) < maxLists {
				open = map[int]level{}
				w.lists[xmlread.Attr(t, "numId")] = &numbering{levels: open}
			}
		case "abstractNumId":
			if open != nil {
				maps.Copy(open, kinds[xmlread.Attr(t, "val")])
			}
		}
	})
}

// notes reads footnotes or endnotes, whose first two are lines that part them from the text. part is the name of the
// part, kind that of its elements. They are kept until something refers to them.
func (w *reader) notes(part, kind string) {
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

// body returns the HTML of the text in a part. A part that is missing or has no body makes the document damaged.
func (w *reader) body(name string) string {
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

// formula reads a formula up to its end. Word sets one that is a paragraph's child by itself, in an element oMathPara.
// It becomes MathML in the text of the paragraph.
func (s *story) formula(dec *xml.Decoder) {
	text, ok := omml.Read(s.w.ctx, dec, s.alone)
	s.w.cut = s.w.cut || !ok
	s.w.written += len(text)
	s.p.close()
	s.p.text.WriteString(text)
}
