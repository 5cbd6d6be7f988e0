package opendocument

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/xmlread"
)

// Whether people see a text is for the converter of HTML to say. This file tells it how letters look where that may
// hide them, and finds what is not shown at all. A color is told only with that of the ground behind it: the page of a
// text, a cell of a sheet, a shape that is filled. What else stands behind letters, such as a slide, is not known.

// letters is how the letters of a style look. What a style does not say is that of what is around.
type letters struct {
	color   string // #rrggbb
	size    string // of small letters: points
	opacity string // "none" where they are transparent, else "some"
}

// lettersOf reads how a style of an OpenDocument file has letters look, from its properties of text.
func lettersOf(t xml.StartElement) letters {
	l := letters{color: color(t), size: size(xmlread.Attr(t, "font-size"))}
	// LibreOffice writes an opacity of 0 % with its automatic color, which is never transparent.
	if v, isShare := strings.CutSuffix(xmlread.Attr(t, "opacity"), "%"); isShare && !automatic(t) {
		l.opacity = "some"
		if n, err := strconv.ParseFloat(v, 64); err == nil && n < 5 {
			l.opacity = "none"
		}
	}
	return l
}

// over returns the look of letters in a style of OpenDocument: that of l and, where l states nothing, that of m.
func (l letters) over(m letters) letters {
	return letters{cmp.Or(l.color, m.color), cmp.Or(l.size, m.size), cmp.Or(l.opacity, m.opacity)}
}

// background reads what properties of a style of OpenDocument say of what stands behind the text. A color goes before
// none.
func (s *style) background(t xml.StartElement) {
	switch c := xmlread.Attr(t, "background-color"); {
	case rgb(c) != "":
		s.fill, s.fillColor = "solid", c
	case s.fill == "":
		s.fill = c
	}
	s.fill, s.fillColor = cmp.Or(xmlread.Attr(t, "fill"), s.fill), cmp.Or(rgb(xmlread.Attr(t, "fill-color")), s.fillColor)
	if v := xmlread.Attr(t, "opacity"); t.Name.Local == "graphic-properties" && v != "" && v != "100%" {
		s.fill = "blended"
	}
}

// shapes are the elements that are drawn. They may have a text and a description.
var shapes = map[string]bool{
	"frame": true, "rect": true, "custom-shape": true, "ellipse": true, "circle": true, "polygon": true, "polyline": true,
	"regular-polygon": true, "path": true, "line": true, "connector": true, "caption": true, "measure": true, "g": true,
	"control": true,
}

// groundOf returns the color behind the text of an element, "" if it is not known. Text and paragraphs without one have
// that of what they are in.
func (r *odfReader) groundOf(t xml.StartElement) string {
	around := ""
	if n := len(r.open); n > 0 {
		around = r.open[n-1].ground
	}
	s := style{}
	switch name := t.Name.Local; {
	case name == "text" && !r.within("text"): // the document itself
		return "#ffffff"
	case name == "table-cell":
		if s = r.cellStyle(t); r.within("spreadsheet") {
			around = "#ffffff"
		} else {
			around = ""
		}
	case shapes[name]:
		s, around = r.style(xmlread.Attr(t, "style-name")), ""
	case name == "p", name == "h", name == "span":
		s = r.style(xmlread.Attr(t, "style-name"))
	}
	switch {
	case s.mapped:
		return ""
	case s.fill == "solid":
		return s.fillColor
	}
	return around
}

// cellStyle returns the style of a cell: its own, that of its row, or that of its column.
func (r *odfReader) cellStyle(t xml.StartElement) style {
	name := xmlread.Attr(t, "style-name")
	if w := r.row(); w != nil && name == "" {
		if name = w.style; name == "" && w.column < len(w.columns) {
			name = w.columns[w.column].style
		}
	}
	return r.style(name)
}

// css says how text in a style of OpenDocument looks as far as that says whether people see it. It returns "" if the
// style says nothing of that. ground is the color behind it.
func (s *style) css(ground string) string {
	css := ""
	if s.hidden {
		css = "display:none;"
	}
	if s.size != "" {
		css += "font-size:" + s.size + ";"
	}
	switch {
	case s.opacity == "none":
		css += "color:transparent;"
	case s.color == "" || ground == "":
	case ground == "#ffffff":
		css += "color:" + s.color + ";"
	default:
		css += "background:" + ground + ";color:" + s.color + ";"
	}
	return css
}

// look begins text in a style, and returns its end.
func (r *odfReader) look(s style) string {
	css := s.css(r.ground)
	if css == "" {
		return ""
	}
	r.out.WriteString(`<span style="` + css + `">`)
	return "</span>"
}

// shape begins the text of a shape on a slide, which it may give a look, and returns its end. In texts and sheets,
// shapes stand within paragraphs.
func (r *odfReader) shape(t xml.StartElement) string {
	if !r.within("presentation") {
		return ""
	}
	s := r.style(xmlread.Attr(t, "style-name"))
	s.letters = r.style(xmlread.Attr(t, "text-style-name")).over(s.letters)
	return r.look(s)
}

// unshown reports whether a shape, a layer or a field of an OpenDocument file is not displayed. One that is only
// printed is not.
func unshown(display string) bool { return display == "none" || display == "printer" }

// beside reports whether a shape stands beside its slide. Sizes are those of the largest slide, as masters are not told
// apart. One that is turned has its place from a transformation, and reaches as far as its diagonal.
func (r *odfReader) beside(t xml.StartElement) bool {
	if r.width == 0 || r.height == 0 || !shapes[t.Name.Local] || !r.within("presentation") || r.within("notes") {
		return false
	}
	x, y := length(xmlread.Attr(t, "x")), length(xmlread.Attr(t, "y"))
	right, down := length(xmlread.Attr(t, "width")), length(xmlread.Attr(t, "height"))
	left, up := 0.0, 0.0
	_, moved, turned := strings.Cut(xmlread.Attr(t, "transform"), "translate")
	switch at := strings.FieldsFunc(moved, func(c rune) bool { return strings.ContainsRune(" (),", c) }); {
	case turned && len(at) >= 2:
		x, y = length(at[0]), length(at[1])
		reach := math.Hypot(right, down)
		left, up, right, down = reach, reach, reach, reach
	case turned || xmlread.Attr(t, "x") == "":
		return false
	}
	return x-left >= r.width || y-up >= r.height || x+right < 0 || y+down < 0
}

// flat reports whether the style of a row or a column of an OpenDocument table gives it no size.
func flat(v string) bool {
	return v != "" && length(v) < .03 && strings.Trim(v, "0.abcdefghijklmnopqrstuvwxyz") == ""
}

// empty reports whether an element of OpenDocument, such as a part of a format of cells, has no text. Its start tag was
// read last.
func empty(dec *xml.Decoder) bool {
	token, err := dec.RawToken()
	text, isText := token.(xml.CharData)
	return err == nil && (!isText || len(strings.TrimSpace(string(text))) == 0)
}

// units are the lengths of points, inches and the like, in centimetres.
var units = map[string]float64{"cm": 1, "mm": .1, "in": 2.54, "pt": 2.54 / 72, "pc": 2.54 / 6}

// length returns a length in a style of OpenDocument in centimetres, 0 if it is none. Units are two letters.
func length(v string) float64 {
	if len(v) < 3 {
		return 0
	}
	n, err := strconv.ParseFloat(v[:len(v)-2], 64)
	if err != nil {
		return 0
	}
	return n * units[v[len(v)-2:]]
}

// color returns the color of text that a style of OpenDocument states, for HTML; "" if it is not known. "auto" and
// colors of the window are not known.
func color(t xml.StartElement) string {
	if automatic(t) {
		return ""
	}
	return rgb(xmlread.Attr(t, "color"))
}

// automatic reports whether properties of text leave its color to the program that shows it.
func automatic(t xml.StartElement) bool { return xmlread.Attr(t, "use-window-font-color") == "true" }

// rgb returns a color of a style of OpenDocument in the form #rrggbb, "" for every other text: colors become a part of
// HTML.
func rgb(v string) string {
	digits, ok := strings.CutPrefix(v, "#")
	if _, err := strconv.ParseUint(digits, 16, 32); !ok || err != nil || len(digits) != 6 {
		return ""
	}
	return v
}

// size returns the size of small letters that a style of OpenDocument states, for HTML; "" of others: all can read
// them. Small is under eight points, or under half of the text around.
func size(v string) string {
	points, isPoints := strings.CutSuffix(v, "pt")
	if n, err := strconv.ParseFloat(points, 64); isPoints && err == nil && n < 8 {
		return v
	}
	share, isShare := strings.CutSuffix(v, "%")
	if n, err := strconv.ParseFloat(share, 64); isShare && err == nil && n < 50 {
		return fmt.Sprintf("%.1fpt", n/100*12) // browsers let no share become as small as a length
	}
	return ""
}

// style is what a style says of the meaning of its text. The zero value is of plain text.
type style struct {
	parent             string
	bold, italic, code bool
	strike             bool
	raised             string // sup or sub
	quote, pre         bool   // of paragraphs
	hidden             bool   // of text, tables, rows, columns and slides
	letters
	fill, fillColor string // what stands behind its text: "solid", with a color, or anything else; "" if it does not say
	mapped          bool   // of cells: a condition may say otherwise
	format          string // of cells: the name of the form in which they show values
}

// readStyles reads the styles of a part, and which lists are numbered. It also takes the size of slides, the layers
// that are not shown and the formats that show nothing. Styles of the content go before those of the document.
func (r *odfReader) readStyles(part string) {
	const maxStyles = 20_000
	var name, layout, format string
	var s style
	list := ""
	// A style is kept when the next one begins, as its properties are elements within it.
	keep := func() {
		if name != "" && len(r.styles) < maxStyles {
			r.styles[name] = s
		}
		name, format, s = "", "", style{}
	}
	r.files.Each(part, func(dec *xml.Decoder, t xml.StartElement) {
		switch t.Name.Local {
		case "style":
			keep()
			name = xmlread.Attr(t, "name")
			s = named(name)
			s.parent, s.format = xmlread.Attr(t, "parent-style-name"), xmlread.Attr(t, "data-style-name")
		case "default-style":
			keep()
		case "text-properties":
			s.bold = s.bold || xmlread.Attr(t, "font-weight") == "bold"
			s.italic = s.italic || xmlread.Attr(t, "font-style") == "italic"
			s.strike = s.strike || strikes(xmlread.Attr(t, "text-line-through-style"))
			s.hidden = s.hidden || xmlread.Attr(t, "display") == "none"
			s.letters = lettersOf(t)
			s.background(t)
			font := strings.ToLower(xmlread.Attr(t, "font-name"))
			s.code = s.code || strings.Contains(font, "mono") || strings.Contains(font, "courier") ||
				strings.Contains(font, "consolas")
			switch position := xmlread.Attr(t, "text-position"); {
			case strings.HasPrefix(position, "super"):
				s.raised = "sup"
			case strings.HasPrefix(position, "sub"):
				s.raised = "sub"
			}
		case "paragraph-properties", "table-cell-properties", "graphic-properties":
			s.background(t)
		case "table-properties":
			s.hidden = s.hidden || xmlread.Attr(t, "display") == "false"
		case "table-row-properties":
			s.hidden = s.hidden || flat(xmlread.Attr(t, "row-height"))
		case "table-column-properties":
			s.hidden = s.hidden || flat(xmlread.Attr(t, "column-width"))
		case "drawing-page-properties":
			s.hidden = s.hidden || xmlread.Attr(t, "visibility") == "hidden"
		case "map":
			s.mapped = true
		case "page-layout":
			layout = xmlread.Attr(t, "name")
		case "page-layout-properties":
			if len(r.layouts) < maxStyles {
				r.layouts[layout] = [2]float64{length(xmlread.Attr(t, "page-width")), length(xmlread.Attr(t, "page-height"))}
			}
		case "master-page": // of slides; their notes and handouts have layouts of their own
			size := r.layouts[xmlread.Attr(t, "page-layout-name")]
			r.width, r.height = max(r.width, size[0]), max(r.height, size[1])
		case "layer":
			if unshown(xmlread.Attr(t, "display")) && len(r.layers) < maxStyles {
				r.layers[xmlread.Attr(t, "name")] = true
			}
		case "number-style", "text-style", "percentage-style", "currency-style", "date-style", "time-style",
			"boolean-style":
			keep()
			if len(r.blank) < maxStyles {
				format = xmlread.Attr(t, "name")
				r.blank[format] = true
			}
		case "list-style":
			keep()
			list = xmlread.Attr(t, "name")
		case "list-level-style-number":
			if xmlread.Attr(t, "level") == "1" && len(r.numbered) < maxStyles {
				r.numbered[list] = true
			}
		default:
			if t.Name.Space == "number" && format != "" {
				r.blank[format] = r.blank[format] && t.Name.Local == "text" && empty(dec)
			}
		}
	})
	keep()
}

// named returns the meaning of a style of OpenDocument by its name, which is English in documents of all languages.
// Spaces in it are written as _20_.
func named(name string) (s style) {
	switch lower := strings.ToLower(name); {
	case strings.Contains(lower, "preformatted"), strings.Contains(lower, "source_20_code"), lower == "sourcecode":
		s.pre = true
	case strings.Contains(lower, "quotation"):
		s.quote = true
	case strings.HasPrefix(lower, "source_20_text"):
		s.code = true
	}
	return s
}

// strikes reports whether the style of lines through text that a style of OpenDocument names draws one.
func strikes(style string) bool { return style != "" && style != "none" }

// style returns the meaning of a style, with what it takes from those it is based on. An unknown style means what its
// name says. It looks at ten of those.
func (r *odfReader) style(name string) style {
	s, known := r.styles[name]
	if !known {
		s = named(name)
	}
	for range 10 {
		if s.parent == "" {
			break
		}
		p := r.styles[s.parent]
		s.bold, s.italic, s.code = s.bold || p.bold, s.italic || p.italic, s.code || p.code
		s.quote, s.pre, s.parent = s.quote || p.quote, s.pre || p.pre, p.parent
		s.hidden, s.mapped, s.format = s.hidden || p.hidden, s.mapped || p.mapped, cmp.Or(s.format, p.format)
		s.fill, s.fillColor, s.letters = cmp.Or(s.fill, p.fill), cmp.Or(s.fillColor, p.fillColor), s.over(p.letters)
	}
	return s
}
