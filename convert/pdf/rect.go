package pdf

import "math"

// area returns the area of the box.
func (a rect) area() float64 { return max(a.x1-a.x0, 0) * max(a.y1-a.y0, 0) }

// and returns the box that two boxes have in common.
func (a rect) and(b rect) rect {
	return rect{max(a.x0, b.x0), max(a.y0, b.y0), min(a.x1, b.x1), min(a.y1, b.y1)}
}

// holds reports whether a point lies in the box.
func (a rect) holds(x, y float64) bool { return x >= a.x0 && x <= a.x1 && y >= a.y0 && y <= a.y1 }

// unitSquare returns the box on the page around the unit square of a matrix, which every picture fills.
func unitSquare(m matrix) rect {
	box := rect{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, p := range [][2]float64{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
		x, y := m.apply(p[0], p[1])
		box = rect{min(box.x0, x), min(box.y0, y), max(box.x1, x), max(box.y1, y)}
	}
	return box
}

// bounds returns the box around corners, and whether they are its own. It is its own box if four to six corners follow
// one another level or upright.
func bounds(part []corner) (box rect, isBox bool) {
	box = rect{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	isBox = len(part) >= 4 && len(part) <= 6
	for i, p := range part {
		box = rect{min(box.x0, p.x), min(box.y0, p.y), max(box.x1, p.x), max(box.y1, p.y)}
		if p.bent || i > 0 && math.Abs(p.x-part[i-1].x) > .1 && math.Abs(p.y-part[i-1].y) > .1 {
			isBox = false
		}
	}
	return box, isBox
}

// rect is a box on the page: the smaller coordinates first. The zero rect has no area; one whose first corner is beyond
// its second has none either.
type rect struct{ x0, y0, x1, y1 float64 }

// box reads a rectangle of a PDF, its corners in order (§7.9.5). It is zero for what is none.
func (r *pdfReader) box(v any) (box [4]float64) {
	list, _ := r.resolve(v).([]any)
	if len(list) != 4 {
		return box
	}
	for i := range box {
		box[i] = r.number(list[i])
	}
	if box[0] > box[2] {
		box[0], box[2] = box[2], box[0]
	}
	if box[1] > box[3] {
		box[1], box[3] = box[3], box[1]
	}
	return box
}
