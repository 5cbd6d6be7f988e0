package docx

import (
	"cmp"
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/xmlread"
)

// style is what a paragraph's style says of its meaning.
type style struct {
	heading int    // 1 to 6, 0 for text
	list    string // id of its numbering
	quote   bool
	code    bool
	vanish  string // whether text is not shown, as that of a run
	shaded  bool   // what stands behind its text is not the page
	color   string
	size    int // of letters, as that of a run
	based   string
}

// readStyles reads what the styles of a Word document say of a paragraph's or a run's meaning and look (§17.7). There
// are 20,000 at most.
func (w *wordReader) readStyles() {
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
			s.vanish = onOff[off(t)]
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

// named takes the meaning of a Word style from its English name, which documents in all languages keep. A style of
// another name keeps the meaning of the one that it is based on.
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

// style returns the meaning of a Word style, with what it takes from those it is based on. It looks at ten of these. An
// unknown id is a style of plain text.
func (w *wordReader) style(id string) style {
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
		s.vanish, s.shaded = cmp.Or(s.vanish, below.vanish), s.shaded || below.shaded
		s.color, s.size = cmp.Or(s.color, below.color), cmp.Or(s.size, below.size)
		s.based = below.based
	}
	return s
}

// onOff names the states of a property: on (false) and off (true).
var onOff = map[bool]string{false: "on", true: "off"}

// off reports whether a property of a Word style or of a text is switched off by its value. A property that is present
// without a value is on.
func off(t xml.StartElement) bool {
	switch xmlread.Attr(t, "val") {
	case "0", "false", "off", "none":
		return true
	}
	return false
}
