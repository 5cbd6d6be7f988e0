// Package pptx reads the presentations of Microsoft PowerPoint and others (ECMA-376) as HTML, which a converter of HTML
// then takes like any page: a heading, text, lists and tables for each slide, and the speaker's notes as a quotation.
// Hidden slides and shapes are left out and told apart, and so are comments.
//
// Every file is treated as hostile: unpacked bytes, nesting and output are bounded, and a damaged file is read as far
// as possible. When its context ends, [Read] panics with a value for [guard.Run].
package pptx

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
	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/omml"
	"github.com/readthru/readthru/convert/xmlread"
)

// Type is the media type of a presentation.
const Type = "application/vnd.openxmlformats-officedocument.presentationml.presentation"

// The limits of a presentation.
const (
	maxSlides = 2000
	maxLevel  = 8   // of a list
	maxDepth  = 200 // of elements whose names are known
)

// Read reads a presentation (ECMA-376 part 1, §19). One part may unpack to maxPart bytes. Read fails if content is not
// a zip archive.
func Read(ctx context.Context, content []byte, maxPart int) (*archive.Document, error) {
	files, err := archive.Open(ctx, content, maxPart)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what was being done
	}
	p := &presentation{ctx: ctx, files: files}
	files.Properties("docProps/core.xml", &p.doc)
	const part = "ppt/presentation.xml"
	if !files.Has(part) {
		p.doc.Damaged = true
	}
	relations := files.Relations(part)
	files.Each(part, func(_ *xml.Decoder, t xml.StartElement) {
		if t.Name.Local == "sldSz" {
			p.width, _ = strconv.ParseFloat(xmlread.Attr(t, "cx"), 64)
			p.height, _ = strconv.ParseFloat(xmlread.Attr(t, "cy"), 64)
		}
	})
	var slides []string
	files.Each(part, func(_ *xml.Decoder, t xml.StartElement) {
		if t.Name.Local != "sldId" {
			return
		}
		if p.slides++; p.slides > maxSlides || p.out.Len() > guard.MaxInput {
			p.doc.Cut = true
			return
		}
		slides = append(slides, relations[archive.RelationID(t)].Target)
		p.slide(slides[len(slides)-1])
	})
	for _, name := range slides {
		files.Comments(files.Relations(name), &p.doc)
	}
	p.doc.Body, p.doc.Damaged, p.doc.Cut = p.out.String(), p.doc.Damaged || files.Damaged, p.doc.Cut || files.Cut
	return &p.doc, nil
}

// presentation is a presentation that is being read. It is made for one [Read].
type presentation struct {
	ctx    context.Context
	files  *archive.Archive
	slides int
	doc    archive.Document
	out    bytes.Buffer

	width, height float64 // of slides; 0: not known
}

// slide writes a slide and its notes. name is that of its part. A slide without a title is called by its number.
func (p *presentation) slide(name string) {
	if !p.files.Has(name) {
		p.doc.Damaged = true
		return
	}
	relations := p.files.Relations(name)
	s := p.shapes(name, relations, true)
	if s.hidden {
		p.hide(s, relations)
		return
	}
	title := s.title
	if title == "" {
		title = fmt.Sprintf("Slide %d", p.slides)
	}
	p.out.WriteString("<h2>" + title + "</h2>")
	p.out.Write(s.out.Bytes())
	if notes := p.notes(relations); notes != "" {
		p.out.WriteString("<blockquote><p>Notes:</p>" + notes + "</blockquote>")
	}
}

// notes returns the notes of a slide with these relations. Their shapes are read like those of a slide.
func (p *presentation) notes(relations map[string]archive.Relation) string {
	var b strings.Builder
	for _, r := range relations {
		if r.Kind == "notesSlide" && p.files.Has(r.Target) {
			b.Write(p.shapes(r.Target, p.files.Relations(r.Target), false).out.Bytes())
		}
	}
	return b.String()
}

// hide tells of a hidden slide and its notes. They are one piece of hidden text.
func (p *presentation) hide(s *shapes, relations map[string]archive.Relation) {
	var text archive.Unseen
	text.Add(s.title)
	text.Add(s.out.String())
	text.Add(p.notes(relations))
	p.doc.Hide(&text)
}

// shapes is what the shapes of a slide say. It is made for one slide, or for one page of notes.
type shapes struct {
	p         *presentation
	relations map[string]archive.Relation
	out       bytes.Buffer
	title     string // HTML
	hidden    bool

	kind   string // of the place that the shape has on the slide: title, body, ftr …
	text   strings.Builder
	level  int
	bullet bool // the paragraph has a mark, or is in a body, where it has one by default
	body   bool
	open   int // lists
	link   string
	table  bool
	cell   int  // where the cell begins in out
	merged bool // a cell before it spans this one
	inText bool
	skip   int            // elements whose content is not shown
	unseen archive.Unseen // of a shape that is hidden, or of a cell under a merged one

	slide bool       // not notes, whose pages have another size
	path  []string   // names of the open elements
	deep  int        // how many more are open than path has
	place position   // of the shape, or of the group, that is being read
	group []position // around it
	away  bool       // the shape is beside the slide
	fill  string     // color of the shape, "" if it is not known
	run   look       // of the text
}

// hiddenShape is the kind of a shape that is not shown. It takes the place of the kind of its placeholder.
const hiddenShape = "hidden"

// Places of a slide that repeat on every slide. Their text is left out: dates, footers, numbers.
var repeated = map[string]bool{"dt": true, "ftr": true, "sldNum": true, "hdr": true, "sldImg": true}

// shapes reads the shapes of a slide or of its notes. slide is false for notes, whose shapes are not judged by their
// place.
func (p *presentation) shapes(name string, relations map[string]archive.Relation, slide bool) *shapes {
	s := &shapes{p: p, relations: relations, slide: slide}
	dec := p.files.Decoder(name)
	for {
		guard.Check(p.ctx)
		token, err := dec.RawToken()
		if err != nil {
			break
		}
		if s.out.Len()+s.text.Len() > guard.MaxInput {
			p.doc.Cut = true
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			s.push(t.Name.Local)
			if t.Name.Local == "oMath" && s.skip == 0 {
				text, ok := omml.Read(p.ctx, dec, false)
				p.doc.Cut = p.doc.Cut || !ok
				if !repeated[s.kind] && s.kind != hiddenShape {
					s.text.WriteString(text)
				}
				s.pop()
				continue
			}
			s.start(t)
		case xml.EndElement:
			s.end(t.Name.Local)
			s.pop()
		case xml.CharData:
			switch {
			case !s.inText || s.skip > 0 || repeated[s.kind]:
			case s.kind == hiddenShape:
				s.unseen.Add(html.EscapeString(string(t)))
			default:
				s.text.WriteString(html.EscapeString(string(t)))
			}
		}
	}
	s.lists(0)
	return s
}

// start takes the start tag of an element of a shape.
func (s *shapes) start(t xml.StartElement) {
	s.look(t)
	switch t.Name.Local {
	case "sld":
		s.hidden = xmlread.Attr(t, "show") == "0"
	case "Fallback": // of what another element says in a newer form
		s.skip++
	case "sp", "pic", "graphicFrame":
		s.kind, s.body, s.fill = "", false, ""
		if slices.ContainsFunc(s.group, func(g position) bool { return g.hidden }) {
			s.kind = hiddenShape
		}
	case "cNvPr":
		if v := xmlread.Attr(t, "hidden"); v == "1" || v == "true" {
			if n := len(s.group); n > 0 && s.above(1) == "nvGrpSpPr" {
				s.group[n-1].hidden = true
			}
			s.kind = hiddenShape
		} else if text := strings.TrimSpace(xmlread.Attr(t, "descr")); text != "" && s.skip == 0 {
			s.lists(0)
			s.out.WriteString("<p><em>Image: " + html.EscapeString(chars.Clip(text)) + "</em></p>")
		}
	// A placeholder says what the shape is on its slide, and with it what its paragraphs are.
	case "ph":
		if s.kind == hiddenShape {
			break
		}
		s.kind = xmlread.Attr(t, "type")
		s.body = s.kind == "" || s.kind == "body" || s.kind == "obj"
	case "p":
		s.text.Reset()
		s.level, s.bullet = 0, s.body && !s.table
	case "pPr":
		if n, err := strconv.Atoi(xmlread.Attr(t, "lvl")); err == nil {
			s.level = min(max(n, 0), maxLevel)
		}
	case "buNone":
		s.bullet = false
	case "buChar", "buAutoNum", "buBlip":
		s.bullet = true
	case "hlinkClick":
		if r := s.relations[xmlread.Attr(t, "id")]; r.Kind == "hyperlink" {
			s.link = r.Target
		}
	case "t":
		if s.inText = true; s.skip > 0 {
			break
		}
		if s.link != "" {
			s.text.WriteString(`<a href="` + html.EscapeString(s.link) + `">`)
		}
		if style := s.style(); style != "" {
			s.text.WriteString(`<span style="` + style + `">`)
		}
	case "br":
		s.text.WriteString("<br>")
	case "tbl":
		s.lists(0)
		s.table = true
		s.out.WriteString("<table>")
	case "tr":
		s.out.WriteString("<tr>")
	case "tc":
		s.cell, s.merged = s.out.Len(), xmlread.Attr(t, "hMerge") == "1" || xmlread.Attr(t, "vMerge") == "1"
		s.out.WriteString("<td")
		for attr, name := range map[string]string{"gridSpan": "colspan", "rowSpan": "rowspan"} {
			if n, err := strconv.Atoi(xmlread.Attr(t, attr)); err == nil && n > 1 {
				fmt.Fprintf(&s.out, ` %s="%d"`, name, min(n, guard.MaxColspan))
			}
		}
		s.out.WriteString(">")
	}
}

// end takes the end tag of an element of a shape, and writes what it ends.
func (s *shapes) end(name string) {
	switch name {
	case "Fallback":
		s.skip = max(0, s.skip-1)
	case "t":
		if s.inText && s.skip == 0 {
			if s.style() != "" {
				s.text.WriteString("</span>")
			}
			if s.link != "" {
				s.text.WriteString("</a>")
			}
		}
		s.inText = false
	case "r", "fld":
		s.link = ""
	case "p":
		s.paragraph()
	case "tc":
		if s.merged { // with the cell that spans it
			s.unseen.Add(s.out.String()[s.cell:])
			s.p.doc.Hide(&s.unseen)
			s.out.Truncate(s.cell)
			break
		}
		s.out.WriteString("</td>")
	case "tr":
		s.out.WriteString("</tr>")
	case "tbl":
		s.out.WriteString("</table>")
		s.table = false
	case "xfrm":
		s.placed()
	case "grpSp":
		s.group = s.group[:max(len(s.group)-1, 0)]
	case "sp", "pic", "graphicFrame":
		s.lists(0)
		if s.away {
			s.out.WriteString("</div>")
		}
		s.away = false
		s.p.doc.Hide(&s.unseen)
	}
}

// paragraph writes a paragraph: the title, an item of a list, or text. Titles may have several paragraphs. In tables
// there are no lists.
func (s *shapes) paragraph() {
	text := strings.TrimSpace(s.text.String())
	s.text.Reset()
	switch {
	case text == "" || text == "<br>":
	case (s.kind == "title" || s.kind == "ctrTitle") && !s.away:
		s.title = strings.TrimSpace(s.title + " " + strings.ReplaceAll(text, "<br>", " "))
	case s.bullet && !s.table:
		s.lists(s.level + 1)
		s.out.WriteString("<li>" + text)
	default:
		s.lists(0)
		s.out.WriteString("<p>" + text + "</p>")
	}
}

// lists opens or closes lists until depth are open. Items close with the next one of their list.
func (s *shapes) lists(depth int) {
	for ; s.open > depth; s.open-- {
		s.out.WriteString("</li></ul>")
	}
	if depth > 0 && s.open == depth {
		s.out.WriteString("</li>")
	}
	for ; s.open < depth; s.open++ {
		s.out.WriteString("<ul>")
		if s.open+1 < depth { // a level that was left out
			s.out.WriteString("<li>")
		}
	}
}

// push notes that an element of a slide's shapes has begun. Names are known up to maxDepth; deeper ones are only
// counted.
func (s *shapes) push(name string) {
	if len(s.path) == maxDepth {
		s.deep++
		return
	}
	s.path = append(s.path, name)
}

// pop notes that the element of a slide's shapes that began last has ended.
func (s *shapes) pop() {
	if s.deep > 0 {
		s.deep--
		return
	}
	s.path = s.path[:max(len(s.path)-1, 0)]
}

// above returns the name of the element of a slide that began last, for 0, or of one around it.
func (s *shapes) above(i int) string {
	if len(s.path)-1-i < 0 {
		return ""
	}
	return s.path[len(s.path)-1-i]
}
