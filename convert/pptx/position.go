package pptx

import "slices"

// position is where a shape of a slide stands (§20.1.7.6), and of a group also the box that its own coordinates name.
// Lengths are in EMU. set says that the place is stated: placeholders mostly take it from the layout.
type position struct {
	x, y, w, h     float64
	cx, cy, cw, ch float64
	set            bool
	hidden         bool // the group is not shown
}

// within returns a shape's box in the coordinates of what is around the group g. A group without coordinates of its own
// changes nothing.
func (p position) within(g position) position {
	if !g.set || g.cw <= 0 || g.ch <= 0 {
		return p
	}
	sx, sy := g.w/g.cw, g.h/g.ch
	p.x, p.y, p.w, p.h = g.x+(p.x-g.cx)*sx, g.y+(p.y-g.cy)*sy, p.w*sx, p.h*sy
	return p
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
