package pptx

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/xmlread"
)

// Whether people see a text is for the converter of HTML to say. This file tells it what is beside the slide, and how
// the letters of a run look where that may be told: their size, and their color on that of their own shape. What is
// behind other shapes depends on themes.

// frame is where a shape stands (§20.1.7.6), and of a group also the box that its own coordinates name. Lengths are in
// EMU. set says that the place is stated: placeholders mostly take it from the layout.
type frame struct {
	x, y, w, h     float64
	cx, cy, cw, ch float64
	set            bool
	hidden         bool // the group is not shown
}

// within returns a box in the coordinates of what is around the group g. A group without coordinates of its own changes
// nothing.
func (f frame) within(g frame) frame {
	if !g.set || g.cw <= 0 || g.ch <= 0 {
		return f
	}
	sx, sy := g.w/g.cw, g.h/g.ch
	f.x, f.y, f.w, f.h = g.x+(f.x-g.cx)*sx, g.y+(f.y-g.cy)*sy, f.w*sx, f.h*sy
	return f
}

// look is how the letters of a run look. Looks of themes and layouts are not read.
type look struct {
	size  int    // in hundredths of a point; 0: usual
	color string // six hexadecimal digits, "" if it is not known
	none  bool   // they are transparent
}

// push notes that an element has begun. Names are known up to maxDepth; deeper ones are only counted.
func (s *shapes) push(name string) {
	if len(s.path) == maxDepth {
		s.deep++
		return
	}
	s.path = append(s.path, name)
}

// pop notes that the element that began last has ended.
func (s *shapes) pop() {
	if s.deep > 0 {
		s.deep--
		return
	}
	s.path = s.path[:max(len(s.path)-1, 0)]
}

// above returns the name of the element that began last, for 0, or of one around it.
func (s *shapes) above(i int) string {
	if len(s.path)-1-i < 0 {
		return ""
	}
	return s.path[len(s.path)-1-i]
}

// look notes where a shape stands, and how it and its text look. It goes by the names of the elements around t: a color
// may be that of letters, of a shape or of a line.
func (s *shapes) look(t xml.StartElement) {
	above := s.above
	number := func(name string) float64 {
		v, err := strconv.ParseFloat(xmlread.Attr(t, name), 64)
		if err != nil {
			return 0
		}
		return v
	}
	switch t.Name.Local {
	case "grpSp":
		if len(s.group) < maxDepth {
			s.group = append(s.group, frame{})
		}
	case "xfrm":
		s.place = frame{}
	case "off":
		s.place.x, s.place.y, s.place.set = number("x"), number("y"), true
	case "ext":
		if above(1) == "xfrm" {
			s.place.w, s.place.h = number("cx"), number("cy")
		}
	case "chOff":
		s.place.cx, s.place.cy = number("x"), number("y")
	case "chExt":
		s.place.cw, s.place.ch = number("cx"), number("cy")
	case "r", "fld":
		s.run = look{}
	case "rPr":
		s.run = look{size: int(number("sz"))}
	case "noFill":
		s.run.none = s.run.none || above(1) == "rPr"
	case "srgbClr":
		color := xmlread.Attr(t, "val")
		if _, err := strconv.ParseUint(color, 16, 32); err != nil || len(color) != 6 || above(1) != "solidFill" {
			break
		}
		switch above(2) {
		case "rPr":
			s.run.color = color
		case "spPr":
			s.fill = color
		}
	case "alpha":
		if above(2) == "solidFill" && above(3) == "rPr" {
			s.run.none = number("val") < 5000
		}
		if above(2) == "solidFill" && above(3) == "spPr" {
			s.fill = "" // what is behind the shape counts
		}
	}
}

// style returns the look of a run in HTML, "" where all can read it. Small is under eight points. In tables the color
// behind letters is not known.
func (s *shapes) style() string {
	var b strings.Builder
	if s.run.size > 0 && s.run.size < 800 {
		b.WriteString("font-size:" + strconv.FormatFloat(float64(s.run.size)/100, 'f', 2, 64) + "pt;")
	}
	switch {
	case s.run.none:
		b.WriteString("color:transparent;")
	case s.run.color != "" && s.fill != "" && !s.table:
		b.WriteString("background:#" + s.fill + ";color:#" + s.run.color + ";")
	}
	return b.String()
}

// placed judges where the shape, or the group, stands whose place was read. A shape beside the slide is written into an
// element that is not displayed, so that package hidden reports its text. Groups only note their place, for the shapes
// in them.
func (s *shapes) placed() {
	f := s.place
	isGroup := len(s.path) > 1 && s.path[len(s.path)-2] == "grpSpPr"
	around := s.group
	if isGroup && len(around) > 0 {
		around = around[:len(around)-1]
	}
	for _, each := range slices.Backward(around) {
		f = f.within(each)
	}
	if isGroup {
		if len(s.group) > 0 {
			s.place.hidden = s.group[len(s.group)-1].hidden
			s.group[len(s.group)-1] = s.place
		}
		return
	}
	// Notes and placeholders without a place of their own are not judged.
	width, height := s.p.width, s.p.height
	beside := f.x >= width || f.y >= height || f.x+f.w <= 0 || f.y+f.h <= 0
	if !s.slide || !f.set || !beside || width <= 0 || height <= 0 || s.away || s.table {
		return
	}
	s.lists(0)
	s.away = true
	s.out.WriteString(`<div style="display:none">`)
}
