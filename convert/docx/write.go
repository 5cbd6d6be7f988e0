package docx

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/xmlread"
)

// usualSize is the size of letters, in half points, from which on it is not written: all can read them. It is eight
// points.
const usualSize = 16

// tags are the elements for how a run looks. A heading is bold anyway. Whether people see text of a look is for the
// converter of HTML to say: what Word does not show is not displayed, small letters have their size, and letters that
// stand on the page itself have their color. onPage says that nothing else than the page is behind the text.
func (r run) tags(p *paragraph, onPage bool) []string {
	var list []string
	if !r.sized {
		r.size = cmp.Or(r.size, p.style.size)
	}
	if p.heading == 0 { // a title often stands on a picture
		r.color = cmp.Or(r.color, p.style.color)
	}
	for _, t := range []struct {
		on   bool
		name string
	}{
		{r.vanish || p.style.vanish, `span style="display:none"`},
		{r.size > 0, fmt.Sprintf(`span style="font-size:%.1fpt"`, float64(r.size)/2)},
		{onPage && !r.shaded && !p.shaded && isColor(r.color), `span style="color:#` + r.color + `"`},
		{r.bold && p.heading == 0, "strong"},
		{r.italic, "em"},
		{r.strike, "del"},
		{r.code && !p.style.code, "code"},
		{r.raised != "", r.raised},
	} {
		if t.on {
			list = append(list, t.name)
		}
	}
	return list
}

// colorOf returns the color that an element states for letters. That of the page has no value of its own. It is the
// background's for a theme color of that name, six digits, "auto", or "".
func colorOf(t xml.StartElement) string {
	value := xmlread.Attr(t, "val")
	if theme := xmlread.Attr(t, "themeColor"); (value == "" || value == "auto") &&
		(theme == "background1" || theme == "light1") && xmlread.Attr(t, "themeShade") == "" {
		return "FFFFFF"
	}
	return value
}

// sizeOf returns a size of letters in half points, and whether it is smaller than usual.
func sizeOf(value string) (size int, small bool) {
	size, err := strconv.Atoi(value)
	return size, err == nil && size > 0 && size < usualSize
}

// isColor reports whether a value is a color: six hexadecimal digits. It may be "auto".
func isColor(value string) bool {
	_, err := strconv.ParseUint(value, 16, 32)
	return err == nil && len(value) == 6
}

// isShade reports whether an element puts a color behind text.
func isShade(t xml.StartElement) bool {
	fill := strings.ToLower(xmlread.Attr(t, "fill"))
	return fill != "" && fill != "auto" && fill != "ffffff" || xmlread.Attr(t, "themeFill") != ""
}

// open makes tags those of what follows. It writes nothing if they are open already.
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

// close ends the elements of the run before.
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

// next returns how the next item of a level is marked. Items of deeper levels begin again after it. at is the level,
// from 0.
func (n *numbering) next(at int) (numbered bool, number int) {
	l := n.levels[at]
	clear(n.counts[at+1:])
	n.counts[at]++
	return l.numbered, l.before + n.counts[at]
}

// item writes an item of a list, in lists opened to its level. A list that goes on after other text, or begins with
// another number than 1, says so. The item stays open for lists in it.
func (s *story) item(level int, numbered bool, number int, text string) {
	if len(s.lists) == level+1 && s.lists[level] != numbered {
		s.closeLists(level)
	}
	s.closeLists(level + 1)
	if len(s.lists) == level+1 {
		s.out.WriteString("</li>")
	}
	for len(s.lists) <= level {
		tag := "<ul>"
		if numbered {
			tag = "<ol>"
			if number != 1 && len(s.lists) == level {
				tag = fmt.Sprintf(`<ol start="%d">`, number)
			}
		}
		if len(s.lists) < level { // a level that was left out
			tag += "<li>"
		}
		s.out.WriteString(tag)
		s.lists = append(s.lists, numbered)
	}
	s.out.WriteString("<li>" + text)
}

// closeLists closes the lists that are deeper than depth. Zero closes all.
func (s *story) closeLists(depth int) {
	for n := len(s.lists); n > depth; n-- {
		tag := "</li></ul>"
		if s.lists[n-1] {
			tag = "</li></ol>"
		}
		s.out.WriteString(tag)
		s.lists = s.lists[:n-1]
	}
}

// openBlock makes the block that is open the one named; "" for none. Paragraphs of code after one another are one pre,
// quotations one blockquote.
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

// closeBlocks closes the lists and the block that are open.
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
