package opendocument

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/xmlread"
)

// The limits of reading the content of a document.
const (
	maxDepth    = 200 // of elements in one another
	maxRepeated = 200 // times that one cell or row with content is repeated
	maxSpaces   = 200 // in a row

	// maxCopied is how much cells and rows that are repeated may make of a document, in bytes: a kilobyte may say that
	// there are millions.
	maxCopied = 1 << 20
)

// odfReader reads the content of an OpenDocument file. It is made for one [Read]. HTML is written to out as elements
// begin and end; what turns out to be hidden is cut off again.
type odfReader struct {
	ctx      context.Context
	files    *archive.Archive
	styles   map[string]style
	numbered map[string]bool // styles of lists
	doc      archive.Document
	out      bytes.Buffer
	notes    bytes.Buffer // items of the list of notes
	note     int          // number of notes
	noteText int          // where the note that is being read begins in out

	name   [2]int // where the heading of the slide begins and ends in out; it is the slide's name until it has a title
	list   string // style of the list before
	open   []element
	blocks []string // pre and blockquote that are open
	rows   []row    // of the tables that are open, the row that is being read
	copied int      // bytes that repeated cells and rows have made
	skip   int      // depth at which what is skipped began; 0: none
	hides  bool     // what is skipped is text that the document does not show
	unseen archive.Unseen
	ground string // of the element that begins

	width, height float64               // of the largest slide, in centimetres; 0: not known
	layouts       map[string][2]float64 // widths and heights of pages
	layers        map[string]bool       // of drawings: true for those that are not shown
	blank         map[string]bool       // formats of values: true for those that show nothing
}

// element is an element that is open, with what is written when it ends. gone is known only when the paragraph has
// begun.
type element struct {
	name, end string
	described bool   // a frame whose picture has a description
	titles    bool   // a frame with the title of a slide
	begin     int    // where a paragraph begins in out
	gone      bool   // the paragraph is hidden
	ground    string // color of what stands behind its text, "" if it is not known
}

// left are elements whose content is no text of the document. They are skipped as a whole.
var left = map[string]bool{
	"tracked-changes": true, "annotation": true, "scripts": true, "font-face-decls": true, "automatic-styles": true,
	"forms": true, "sequence-decls": true, "variable-decls": true, "user-field-decls": true, "styles": true,
	"master-styles": true, "note-citation": true, "calculation-settings": true, "content-validations": true,
	"named-expressions": true, "database-ranges": true, "ruby-text": true, "object-ole": true, "event-listeners": true,
	"label-ranges": true, "table-of-content-source": true, "shapes": true, "date-time-decl": true, "script": true,
}

// beside are those of them that hold text of other kinds. It is told apart by these kinds.
var beside = map[string]string{"tracked-changes": archive.Deleted, "annotation": archive.Annotation}

// read reads the content to its end, or to the limit of the output, and closes what is then open.
func (r *odfReader) read(dec *xml.Decoder) {
	for {
		guard.Check(r.ctx)
		token, err := dec.RawToken()
		if err != nil {
			r.doc.Damaged = r.doc.Damaged || len(r.open) > 0 && !r.files.Cut
			break
		}
		if r.out.Len() > guard.MaxInput {
			r.doc.Cut = true
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			r.start(t)
		case xml.EndElement:
			r.end(t.Name.Local)
		case xml.CharData:
			switch {
			case r.skip == 0 && r.inText():
				r.out.WriteString(html.EscapeString(string(t)))
			case r.hides && (r.unseen.Kind == "" || r.inParagraph()):
				r.unseen.Join(string(t))
			}
		}
	}
	for len(r.open) > 0 {
		r.end(r.open[len(r.open)-1].name)
	}
	r.block("")
}

// inText reports whether a paragraph or a heading is open. White space elsewhere is only the file's own.
func (r *odfReader) inText() bool {
	for _, e := range slices.Backward(r.open) {
		switch e.name {
		case "p", "h", "desc", "title":
			return true
		case "note", "table-cell", "text-box":
			return false
		}
	}
	return false
}

// inParagraph reports whether a paragraph or a heading is open within what is skipped. Beside them stand who wrote a
// comment, and when.
func (r *odfReader) inParagraph() bool {
	return slices.ContainsFunc(r.open[r.skip-1:], func(e element) bool { return e.name == "p" || e.name == "h" })
}

// start takes a start tag: what is no text or is hidden is skipped, all else begins an element.
func (r *odfReader) start(t xml.StartElement) {
	name := t.Name.Local
	e := element{name: name}
	if r.skip == 0 && (left[name] || len(r.open) >= maxDepth) {
		r.doc.Cut = r.doc.Cut || !left[name]
		r.skip = len(r.open) + 1
		r.unseen.Kind, r.hides = beside[name], beside[name] != ""
	}
	if r.skip == 0 && (name != "section" && unshown(xmlread.Attr(t, "display")) || r.layers[xmlread.Attr(t, "layer")] ||
		r.beside(t)) { // a field, or a shape
		r.hide()
	}
	e.begin = r.out.Len()
	switch {
	case r.skip == 0:
		r.ground = r.groundOf(t)
		e.titles = xmlread.Attr(t, "class") == "title" && !r.within("notes")
		e.ground, e.end = r.ground, r.begin(t)
	case r.hides && (name == "s" || name == "tab" || name == "line-break"):
		r.unseen.Part()
	}
	r.open = append(r.open, e)
}

// end takes an end tag, writes what ends the element, and tells of text that was skipped because the document does not
// show it.
func (r *odfReader) end(name string) {
	n := len(r.open)
	if n == 0 || r.open[n-1].name != name { // of a damaged file
		return
	}
	e := r.open[n-1]
	r.open = r.open[:n-1]
	switch {
	case r.skip == n:
		if r.skip = 0; r.hides {
			r.hides = false
			r.doc.Hide(&r.unseen)
		}
		return
	case r.skip > 0:
		if r.unseen.Part(); r.unseen.Kind == archive.Deleted && n == r.skip+1 { // each change is one text
			r.doc.Hide(&r.unseen)
		}
		return
	}
	switch name {
	case "table-cell", "covered-table-cell":
		r.endCell()
	case "table-row":
		r.endRow()
	case "table":
		r.endTable()
		r.rows = r.rows[:max(0, len(r.rows)-1)]
	case "list", "text-box", "frame":
		if r.block(""); e.titles {
			r.title(e.begin)
		}
	case "note":
		r.endNote()
		return
	}
	r.out.WriteString(e.end)
	if e.gone && e.begin < r.out.Len() {
		written := bytes.Clone(r.out.Bytes()[e.begin:])
		r.out.Truncate(e.begin)
		r.out.WriteString(`<div style="display:none">` + string(written) + "</div>")
	}
}

// hide has the element that begins left out, and its text told as hidden. It is called before the element is put on the
// list of open ones.
func (r *odfReader) hide() { r.skip, r.hides, r.unseen.Kind = len(r.open)+1, true, "" }

// begin writes the begin of an element and returns its end. Elements that are not known are what they hold.
func (r *odfReader) begin(t xml.StartElement) string {
	switch t.Name.Local {
	case "h":
		r.block("")
		level, _ := strconv.Atoi(xmlread.Attr(t, "outline-level"))
		end := r.tag(fmt.Sprintf("h%d", min(max(level, 1), 6)))
		return r.look(r.style(xmlread.Attr(t, "style-name"))) + end
	case "p":
		s := r.style(xmlread.Attr(t, "style-name"))
		end := r.paragraph(s, xmlread.Attr(t, "style-name"))
		return r.look(s) + end
	case "section":
		if xmlread.Attr(t, "display") == "none" || xmlread.Attr(t, "is-hidden") == "true" {
			r.block("")
			r.out.WriteString(`<div style="display:none">`)
			return "</div>"
		}
	case "hidden-text":
		if xmlread.Attr(t, "is-hidden") == "true" {
			r.out.WriteString(`<span style="display:none">`)
			return "</span>"
		}
	case "hidden-paragraph":
		for i, e := range slices.Backward(r.open) {
			if e.name == "p" || e.name == "h" {
				r.open[i].gone = xmlread.Attr(t, "is-hidden") == "true"
				break
			}
		}
	case "span":
		return r.span(r.style(xmlread.Attr(t, "style-name")))
	case "a":
		target := xmlread.Attr(t, "href")
		if len(target) > archive.MaxTarget || strings.HasPrefix(target, "#") {
			return ""
		}
		r.out.WriteString(`<a href="` + html.EscapeString(target) + `">`)
		return "</a>"
	case "line-break":
		r.out.WriteString("<br>")
	case "tab":
		r.out.WriteString("\t")
	case "s":
		n, err := strconv.Atoi(xmlread.Attr(t, "c"))
		if err != nil {
			n = 1
		}
		r.out.WriteString(strings.Repeat(" ", min(max(n, 1), maxSpaces)))
	case "list":
		r.block("")
		if end := r.continued(t); end != "" {
			return end
		}
		if r.numbered[xmlread.Attr(t, "style-name")] || r.inNumbered(t) {
			return r.tag("ol")
		}
		return r.tag("ul")
	case "list-item", "list-header":
		return r.tag("li")
	case "table":
		return r.table(t)
	case "table-row":
		r.beginRow(t)
	case "table-cell", "covered-table-cell":
		r.beginCell(t)
	case "table-column":
		r.tableColumn(t)
	case "page": // of a presentation
		r.block("")
		if r.style(xmlread.Attr(t, "style-name")).hidden {
			r.hide()
			return ""
		}
		r.name[0] = r.out.Len()
		r.out.WriteString("<h2>" + html.EscapeString(xmlread.Attr(t, "name")) + "</h2>")
		r.name[1] = r.out.Len()
	case "notes":
		r.block("")
		return r.tag("blockquote")
	case "note":
		r.beginNote()
	case "desc", "title":
		return r.describe()
	case "object":
		r.formula(t)
	default:
		if shapes[t.Name.Local] {
			return r.shape(t)
		}
	}
	return ""
}

// describe begins the title or the description of a picture or a shape, whichever comes first, and returns its end.
// That of anything else, such as a table, is left out.
func (r *odfReader) describe() string {
	n := len(r.open)
	if n == 0 || r.inText() && !shapes[r.open[n-1].name] { // a field in a text
		return ""
	}
	if r.open[n-1].described || !shapes[r.open[n-1].name] {
		r.skip = n + 1
		return ""
	}
	r.open[n-1].described = true
	r.out.WriteString("<em>Image: ")
	return "</em> "
}

// title makes the text of a frame, which begins in out at an offset, the heading of its slide instead of the slide's
// name. The first frame with a text counts.
func (r *odfReader) title(begin int) {
	written := r.out.String()
	if begin < r.name[1] || r.name[1] == 0 || blank(r.out.Bytes()[begin:]) {
		return
	}
	text := strings.NewReplacer("<p>", "", "<ul>", "", "<ol>", "", "<li>", "", "<br>", " ",
		"</p>", " ", "</ul>", "", "</ol>", "", "</li>", "").Replace(written[begin:])
	r.out.Truncate(r.name[0])
	r.out.WriteString("<h2>" + text + "</h2>" + written[r.name[1]:begin])
	r.name = [2]int{}
}

// tag writes the start tag of an element of HTML and returns its end tag.
func (r *odfReader) tag(name string) string {
	r.out.WriteString("<" + name + ">")
	return "</" + name + ">"
}

// continued reopens the list before if this one goes on with it, and returns its end. There are programs that write
// each item as a list of its own, and nest lists in items that are otherwise empty. It returns "" for a list of its
// own.
func (r *odfReader) continued(t xml.StartElement) string {
	written := r.out.Bytes()
	if bytes.HasSuffix(written, []byte("</li><li>")) {
		r.out.Truncate(len(written) - len("</li><li>"))
		written = r.out.Bytes()
	}
	style := xmlread.Attr(t, "style-name")
	again := style != "" && style == r.list || xmlread.Attr(t, "continue-numbering") == "true" ||
		xmlread.Attr(t, "continue-list") != ""
	if style != "" {
		r.list = style
	}
	for _, end := range []string{"</ol>", "</ul>"} {
		if (again || style == "") && bytes.HasSuffix(written, []byte(end)) {
			r.out.Truncate(len(written) - len(end))
			return end
		}
	}
	return ""
}

// inNumbered reports whether a list without a style of its own stands in one that is numbered. Such a list is numbered,
// too.
func (r *odfReader) inNumbered(t xml.StartElement) bool {
	if xmlread.Attr(t, "style-name") != "" {
		return false
	}
	for _, e := range slices.Backward(r.open) {
		if e.name == "list" {
			return e.end == "</ol>"
		}
	}
	return false
}

// block makes the block that is open the one named, pre or blockquote; "" for none. Paragraphs of one kind after one
// another share it.
func (r *odfReader) block(name string) {
	current := ""
	if n := len(r.blocks); n > 0 {
		current = r.blocks[n-1]
	}
	if current == name {
		return
	}
	if current != "" {
		r.out.WriteString("</" + current + ">")
		r.blocks = r.blocks[:len(r.blocks)-1]
	}
	if name != "" {
		r.out.WriteString("<" + name + ">")
		r.blocks = append(r.blocks, name)
	}
}

// paragraph begins a paragraph, and returns its end. name is that of the style s. Within lists, cells and notes it is a
// plain paragraph.
func (r *odfReader) paragraph(s style, name string) string {
	switch {
	case r.within("list", "table-cell", "note", "p", "h"):
		r.out.WriteString("<p>")
		return "</p>"
	case s.pre:
		r.block("pre")
		return "\n"
	case s.quote:
		r.block("blockquote")
		return r.tag("p")
	}
	r.block("")
	if name == "Title" || r.styles[name].parent == "Title" {
		return r.tag("h1")
	}
	return r.tag("p")
}

// within reports whether an element with one of the names is open. Names are those of OpenDocument, without prefix.
func (r *odfReader) within(names ...string) bool {
	return slices.ContainsFunc(r.open, func(e element) bool { return slices.Contains(names, e.name) })
}

// span begins text that looks otherwise, and returns its end. Emphasis, strikes, code and raised text are such.
func (r *odfReader) span(s style) (end string) {
	end = r.look(s)
	for _, t := range []struct {
		on   bool
		name string
	}{
		{s.bold, "strong"},
		{s.italic, "em"},
		{s.strike, "del"},
		{s.code && len(r.blocks) == 0, "code"},
		{s.raised != "", s.raised},
	} {
		if t.on {
			end = r.tag(t.name) + end
		}
	}
	return end
}

// beginNote begins a footnote or an endnote, which stands in the text at its mark. Notes in notes are skipped.
func (r *odfReader) beginNote() {
	if r.within("note") {
		r.skip = len(r.open) + 1
		return
	}
	r.note++
	fmt.Fprintf(&r.out, `<sup id="fnref%d"><a href="#fn%d" role="doc-noteref">%d</a></sup>`, r.note, r.note, r.note)
	r.noteText = r.out.Len()
}

// endNote moves what the note has written from the text into the list of notes.
func (r *odfReader) endNote() {
	fmt.Fprintf(&r.notes, `<li id="fn%d">%s</li>`, r.note, r.out.Bytes()[r.noteText:])
	r.out.Truncate(r.noteText)
}
