package docx

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/omml"
	"github.com/readthru/readthru/convert/xmlread"
)

// story is a stretch of text with blocks: the body, a note. Its HTML is in out, that of the paragraph at hand in p. A
// text box stands within a paragraph, and has paragraphs and tables of its own.
type story struct {
	w   *wordReader
	out bytes.Buffer

	p      *paragraph
	around []*paragraph // those that p stands in, within a text box
	runs   run
	lists  []bool // of the lists that are open, is each numbered
	block  string // pre or blockquote that is open
	tables []*table
	depth  int
	skip   int      // depth at which what is skipped began; 0: none
	field  []string // codes of the fields that are open
	inText bool
	last   string         // the element that began last, if none has ended since
	left   archive.Unseen // what is deleted of the paragraph
	gone   bool           // what is skipped is that
	inRun  bool           // a run of the paragraph has begun
	alone  bool           // formulas are set by themselves
	frame  int            // depth of the drawing that is open
	placed bool           // its place is being read
}

// story reads blocks to the end of the element with the name given, and returns them as HTML. Deleted text and texts
// that another form of an element replaces are passed over by depth (skip). It ends early when the output or the
// nesting is too large.
func (w *wordReader) story(dec *xml.Decoder, end string) string {
	s := &story{w: w, left: archive.Unseen{Kind: archive.Deleted}}
	for {
		guard.Check(w.ctx)
		token, err := dec.RawToken()
		if err != nil {
			w.damaged = w.damaged || !w.cut && !w.files.Cut
			break
		}
		if w.written > guard.MaxInput {
			w.cut = true
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			s.depth++
			s.last = t.Name.Local
			if s.depth > maxDepth {
				w.cut = true
				if s.skip == 0 {
					s.skip = s.depth
				}
			}
			switch {
			case s.skip > 0:
			// The formula is read to its end at once; its end tag does not come here.
			case t.Name.Local == "oMath" && s.p != nil:
				s.formula(dec)
				s.depth--
			default:
				s.start(t)
			}
		case xml.EndElement:
			s.last = ""
			if s.depth == 0 && t.Name.Local == end {
				s.finish()
				return s.out.String()
			}
			switch s.skip {
			case 0:
				s.end(t.Name.Local)
			case s.depth:
				s.skip, s.gone = 0, false
			}
			s.depth = max(0, s.depth-1)
		case xml.CharData:
			switch {
			case s.gone && (s.last == "delText" || s.last == "t"):
				s.left.Join(string(t))
			case s.skip > 0:
			case s.placed:
				s.place(string(t))
			case s.inText:
				s.text(string(t))
			}
		}
	}
	s.finish()
	return s.out.String()
}

// start takes the start tag of an element: blocks open, what is not shown is skipped, and all else says something of
// the paragraph, run or cell or stands in it.
func (s *story) start(t xml.StartElement) {
	switch t.Name.Local {
	case "p":
		if t.Name.Space != "a" { // of drawings
			if s.p != nil {
				s.around = append(s.around, s.p)
			}
			s.p = &paragraph{}
			s.runs, s.inRun = run{}, false
		}
	case "tbl":
		s.openTable()
	case "tr":
		if n := len(s.tables); n > 0 {
			s.tables[n-1].rows, s.tables[n-1].header = append(s.tables[n-1].rows, nil), append(s.tables[n-1].header, false)
		}
	case "tc":
		if n := len(s.tables); n > 0 {
			s.tables[n-1].cell = &cell{span: 1}
		}
	case "oMathPara":
		s.alone = true
	case "inline", "anchor":
		s.frame = s.depth
	case "posOffset":
		s.placed = true
	case "del", "moveFrom", "pict", "instrText", "delText", "txbxContent", "sectPr", "rPrChange", "pPrChange", "Fallback",
		"rt": // the reading of a word
		switch {
		case t.Name.Local == "instrText":
			s.inText = true
			s.field = append(s.field, "")
		case t.Name.Local != "pict" && t.Name.Local != "txbxContent":
			s.skip = s.depth
			s.gone = t.Name.Local == "del" || t.Name.Local == "moveFrom" || t.Name.Local == "delText"
		}
	default:
		s.property(t)
		if s.p != nil {
			s.inline(t)
		}
	}
}

// property reads what an element says of the paragraph, run or cell that it stands in. Units are those of ECMA-376:
// half points for sizes, percent for widths.
func (s *story) property(t xml.StartElement) {
	value := xmlread.Attr(t, "val")
	switch t.Name.Local {
	case "gridSpan":
		if n := len(s.tables); n > 0 && s.tables[n-1].cell != nil {
			if v, err := strconv.Atoi(value); err == nil {
				s.tables[n-1].cell.span = min(max(v, 1), guard.MaxColspan)
			}
		}
	case "vMerge":
		if n := len(s.tables); n > 0 && s.tables[n-1].cell != nil {
			s.tables[n-1].cell.restarts, s.tables[n-1].cell.merged = value == "restart", value != "restart"
		}
	case "tblHeader":
		if n := len(s.tables); n > 0 && len(s.tables[n-1].header) > 0 {
			s.tables[n-1].header[len(s.tables[n-1].header)-1] = !off(t)
		}
	}
	if s.p == nil {
		return
	}
	switch t.Name.Local {
	case "pStyle":
		s.p.style = s.w.style(value)
		if s.p.heading == 0 {
			s.p.heading = s.p.style.heading
		}
		if s.p.list == "" {
			s.p.list = s.p.style.list
		}
		s.p.shaded = s.p.shaded || s.p.style.shaded
	case "outlineLvl":
		if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 9 {
			s.p.heading = min(n+1, 6)
		}
	case "numId":
		s.p.list = value
	case "ilvl":
		if n, err := strconv.Atoi(value); err == nil {
			s.p.level = min(max(n, 0), 8)
		}
	case "r":
		s.runs, s.inRun = run{}, true
	case "vanish":
		s.runs.vanish = onOff[off(t)]
	case "color":
		s.runs.color = colorOf(t)
	case "sz":
		size, small := sizeOf(value)
		if s.runs.size, s.runs.sized = 0, true; small {
			s.runs.size = size
		}
	// Letters of less than a tenth of their width cannot be read.
	case "w": // how wide letters are, in percent
		if n, err := strconv.Atoi(strings.TrimSuffix(value, "%")); err == nil && n > 0 && n < 10 {
			s.runs.thin = true
		}
	case "highlight":
		s.runs.shaded = !off(t)
	case "shd":
		s.shade(t)
	case "b":
		s.runs.bold = !off(t)
	case "i":
		s.runs.italic = !off(t)
	case "strike", "dstrike":
		s.runs.strike = !off(t)
	case "vertAlign":
		s.runs.raised = map[string]string{"superscript": "sup", "subscript": "sub"}[value]
	case "rStyle":
		lower := strings.ToLower(value)
		s.runs.code = s.runs.code || strings.Contains(lower, "code") || strings.Contains(lower, "verbatim")
		s.runs.bold = s.runs.bold || lower == "strong"
		s.runs.italic = s.runs.italic || lower == "emphasis"
		style := s.w.style(value)
		s.runs.vanish = cmp.Or(s.runs.vanish, style.vanish)
		s.runs.shaded = s.runs.shaded || style.shaded
		s.runs.color, s.runs.size = cmp.Or(s.runs.color, style.color), cmp.Or(s.runs.size, style.size)
	case "rFonts":
		name := strings.ToLower(xmlread.Attr(t, "ascii"))
		s.runs.code = s.runs.code || strings.Contains(name, "courier") || strings.Contains(name, "consolas") ||
			strings.Contains(name, "mono") || strings.Contains(name, "menlo")
	}
}

// inline takes what stands in a paragraph. Tabs, breaks, symbols, links, notes and pictures are such.
func (s *story) inline(t xml.StartElement) {
	switch t.Name.Local {
	case "t":
		s.inText = true
	case "tab":
		if s.p.text.Len() > 0 {
			s.text("\t")
		}
	case "br", "cr":
		if kind := xmlread.Attr(t, "type"); kind == "" || kind == "textWrapping" {
			s.p.close()
			s.p.text.WriteString("<br>")
		}
	case "noBreakHyphen":
		s.text("-")
	case "sym":
		if v, err := strconv.ParseUint(xmlread.Attr(t, "char"), 16, 32); err == nil && v < 0xd800 {
			s.text(string(rune(v)))
		}
	case "hyperlink":
		s.p.close()
		target := s.w.linkTo(xmlread.Attr(t, "id"))
		s.w.written += len(target)
		s.p.text.WriteString(`<a href="` + html.EscapeString(target) + `">`)
	case "fldSimple":
		s.p.close()
		s.p.text.WriteString(`<a href="` + html.EscapeString(fieldTarget(xmlread.Attr(t, "instr"))) + `">`)
	case "fldChar":
		s.fieldChar(xmlread.Attr(t, "fldCharType"))
	case "footnoteReference":
		s.note("footnote" + xmlread.Attr(t, "id"))
	case "endnoteReference":
		s.note("endnote" + xmlread.Attr(t, "id"))
	case "docPr":
		if v := xmlread.Attr(t, "hidden"); (v == "1" || v == "true") && s.frame > 0 {
			s.skip = s.frame
			return
		}
		if text := strings.TrimSpace(cmp.Or(xmlread.Attr(t, "descr"), xmlread.Attr(t, "title"))); text != "" {
			s.p.close()
			s.p.text.WriteString("<em>Image: " + html.EscapeString(chars.Clip(text)) + "</em>")
		}
	}
}

// place leaves out a drawing that stands farther from its text than any page is large, in EMU. The text of such a
// drawing is on no page.
func (s *story) place(offset string) {
	const farthest = 20_000_000 // 55 cm
	s.placed = false
	if n, err := strconv.Atoi(strings.TrimSpace(offset)); err == nil && max(n, -n) > farthest && s.frame > 0 {
		s.skip = s.frame
	}
}

// note writes the mark of a footnote or endnote, numbered in the order in which notes are referred to. A note that does
// not exist has none.
func (s *story) note(id string) {
	if _, known := s.w.noteText[id]; !known {
		return
	}
	n := s.w.noteNumber[id]
	if n == 0 { // of a note that is referred to again there is still one
		s.w.noteOrder = append(s.w.noteOrder, id)
		n = len(s.w.noteOrder)
		s.w.noteNumber[id] = n
	}
	s.p.close()
	fmt.Fprintf(&s.p.text, `<sup id="fnref%d"><a href="#fn%d" role="doc-noteref">%d</a></sup>`, n, n, n)
}

// text adds text as the run says that it looks. In the code of a field it belongs to that.
func (s *story) text(text string) {
	if s.p == nil {
		return
	}
	if n := len(s.field); n > 0 && s.field[n-1] != "\x00" {
		if len(s.field[n-1]) < 4<<10 {
			s.field[n-1] += text
		}
		return
	}
	s.w.written += len(text)
	s.left.Part()
	s.p.open(s.runs.tags(s.p, len(s.tables) == 0 && len(s.around) == 0 && !s.w.colored))
	s.p.text.WriteString(html.EscapeString(text))
}

// end takes the end tag of an element, and writes the block that it ends.
func (s *story) end(name string) {
	switch name {
	case "posOffset":
		s.placed = false
	case "t", "instrText":
		s.inText = false
		if n := len(s.field); name == "instrText" && n > 0 { // opened when it began
			code := s.field[n-1]
			if s.field = s.field[:n-1]; n > 1 && len(s.field[n-2]) <= archive.MaxTarget {
				s.field[n-2] += code
			}
		}
	case "hyperlink", "fldSimple":
		if s.p != nil {
			s.p.close()
			s.p.text.WriteString("</a>")
		}
	case "p":
		if s.p != nil {
			s.paragraph()
			s.leave()
		}
		if s.p == nil { // the code of a field ends with its paragraph at the latest
			s.field = slices.DeleteFunc(s.field, func(code string) bool { return code != "\x00" })
		}
	case "tc":
		if n := len(s.tables); n > 0 && s.tables[n-1].cell != nil && len(s.tables[n-1].rows) > 0 {
			t := s.tables[n-1]
			s.closeBlocks()
			t.cell.text = s.out.String()
			s.out.Reset()
			t.rows[len(t.rows)-1] = append(t.rows[len(t.rows)-1], *t.cell)
			t.cell = nil
		}
	case "tbl":
		s.closeTable()
	case "oMathPara":
		s.alone = false
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
