package docx

import (
	"encoding/xml"
	"fmt"
	"maps"
	"strconv"

	"github.com/readthru/readthru/convert/xmlread"
)

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

// readNumbering reads the kinds of lists in a Word document (§17.9). A list may begin with other numbers than its kind.
// Abstract definitions stand first in the file, so that lists find theirs.
func (w *wordReader) readNumbering() {
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

// next returns how the next item of a list is marked, at one of its levels. Items of deeper levels begin again after
// it. at is the level, from 0.
func (n *numbering) next(at int) (numbered bool, number int) {
	l := n.levels[at]
	clear(n.counts[at+1:])
	n.counts[at]++
	return l.numbered, l.before + n.counts[at]
}

// item writes a paragraph that is an item of a list, in lists opened to its level. A list that goes on after other
// text, or begins with another number than 1, says so. The item stays open for lists in it.
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
