package docx

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// open makes tags those of what follows in the paragraph. It writes nothing if they are open already.
func (p *paragraph) open(tags []string) {
	if slices.Equal(p.emphasis, tags) {
		return
	}
	p.close()
	for _, t := range tags {
		p.text.WriteString("<" + t + ">")
	}
	p.emphasis = tags
}

// close ends the elements that a run of the paragraph has opened.
func (p *paragraph) close() {
	for _, t := range slices.Backward(p.emphasis) {
		name, _, _ := strings.Cut(t, " ")
		p.text.WriteString("</" + name + ">")
	}
	p.emphasis = nil
}

// paragraph writes a paragraph: a heading, an item of a list, code, a quotation or text. Empty paragraphs are left out,
// except in code.
func (s *story) paragraph() {
	p := s.p
	p.close()
	s.w.doc.Hide(&s.left)
	text := p.text.String()
	list := s.w.lists[p.list]
	switch {
	case strings.TrimSpace(text) == "" && !p.style.code:
	case p.heading > 0:
		s.closeBlocks()
		fmt.Fprintf(&s.out, "<h%d>%s</h%d>", p.heading, text, p.heading)
	case p.list != "0" && list != nil:
		s.openBlock("")
		numbered, number := list.next(p.level)
		s.item(p.level, numbered, number, text)
	case p.style.code:
		s.closeLists(0)
		s.openBlock("pre")
		s.out.WriteString(strings.ReplaceAll(text, "<br>", "\n") + "\n")
	case p.style.quote:
		s.closeLists(0)
		s.openBlock("blockquote")
		s.out.WriteString("<p>" + text + "</p>")
	default:
		s.closeBlocks()
		s.out.WriteString("<p>" + text + "</p>")
	}
}

// openBlock makes the block around paragraphs the one named; "" for none. Paragraphs of code after one another are one
// pre, quotations one blockquote.
func (s *story) openBlock(name string) {
	if s.block == name {
		return
	}
	if s.block != "" {
		s.out.WriteString("</" + s.block + ">")
	}
	if name != "" {
		s.out.WriteString("<" + name + ">")
	}
	s.block = name
}

// closeBlocks closes the lists and the block around paragraphs that are open.
func (s *story) closeBlocks() {
	s.closeLists(0)
	s.openBlock("")
}

// leave goes on in the paragraph that the one before stood in. That is the paragraph around a text box or a table in
// one; there may be none.
func (s *story) leave() {
	s.p = nil
	if n := len(s.around); n > 0 {
		s.p, s.around = s.around[n-1], s.around[:n-1]
		s.runs = run{}
	}
}

// finish ends the paragraphs and tables that are still open, as a damaged file leaves them.
func (s *story) finish() {
	for {
		for s.p != nil {
			s.paragraph()
			s.leave()
		}
		if len(s.tables) == 0 {
			break
		}
		s.closeTable()
	}
	s.closeBlocks()
}

// paragraph is a paragraph in the making. It is written when it ends, since its properties decide on its element.
type paragraph struct {
	style    style
	list     string
	level    int
	heading  int
	shaded   bool // what stands behind its text is not the page
	text     bytes.Buffer
	emphasis []string // open tags of the run before
}
