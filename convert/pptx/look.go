package pptx

import (
	"encoding/xml"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/xmlread"
)

// Whether people see a text is for the converter of HTML to say. This file tells it what is beside the slide, and how
// the letters of a run look where that may be told: their size, and their color on that of their own shape. What is
// behind other shapes depends on themes.

// look is how the letters of a run on a slide look. Looks of themes and layouts are not read.
type look struct {
	size  int    // in hundredths of a point; 0: usual
	color string // six hexadecimal digits, "" if it is not known
	none  bool   // they are transparent
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
			s.group = append(s.group, position{})
		}
	case "xfrm":
		s.place = position{}
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

// style returns the look of a run of a slide in HTML, "" where all can read it. Small is under eight points. In tables
// the color behind letters is not known.
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
