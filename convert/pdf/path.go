package pdf

import "math"

// Rule is a straight line on a page, level or upright, that was drawn or is a thin filled box. The coordinates are
// those of its ends, in points, the smaller ones first. Package pdflayout finds the cells of tables by them.
type Rule struct{ X0, Y0, X1, Y1 float32 }

// Level reports whether the rule that a path has drawn runs from left to right. The others are upright.
func (r Rule) Level() bool { return r.X1-r.X0 >= r.Y1-r.Y0 }

// The limits of rules, in points. A thicker box is an area, and a shorter line part of a sign or of a dotted line.
const (
	maxRuleWidth  = 3
	minRuleLength = 4
)

// The most rules of one page, and corners of one path. Those beyond belong to drawings and are left out.
const (
	maxRules   = 20_000
	maxCorners = 4096
)

// path is the path that a content stream builds (§8.5.2), on the page: the corners of its parts. It is cleared when it
// is painted.
type path struct {
	corners []corner
	start   corner // of the part that is built
	at      corner // its end
}

// corner is a point of a path. A line leads to it from the corner before it, except to the first of a part. Curves are
// known by their ends alone.
type corner struct {
	x, y  float64
	first bool // of a part
	bent  bool // no straight line leads here
}

// corner adds a point to the path of a page, given in the units of the content stream: by m, first; by l; by a curve,
// bent.
func (e *interpreter) corner(x, y float64, first, bent bool) {
	p := &e.path
	if bent {
		e.c.seen.curves++
	}
	px, py := e.g.ctm.apply(x, y)
	p.at = corner{px, py, first, bent}
	if first {
		p.start = p.at
	}
	if len(p.corners) < maxCorners {
		p.corners = append(p.corners, p.at)
	}
}

// closePath leads the path back to where its part began (h).
func (e *interpreter) closePath() {
	if p := &e.path; len(p.corners) > 0 && len(p.corners) < maxCorners {
		p.corners = append(p.corners, corner{x: p.start.x, y: p.start.y})
		p.at = p.start
	}
}

// rectangle adds a box to the path, by its corner, width and height (re).
func (e *interpreter) rectangle() {
	x, y, w, h := e.number(0), e.number(1), e.number(2), e.number(3)
	e.corner(x, y, true, false)
	e.corner(x+w, y, false, false)
	e.corner(x+w, y+h, false, false)
	e.corner(x, y+h, false, false)
	e.closePath()
}

// paint keeps the rules of the path, and begins a new one. It is called by every operator that ends a path, with what
// it does to it: strokes, fills, both, or only clips.
func (e *interpreter) paint(stroke, fill bool) {
	corners, page := e.path.corners, e.c.page
	e.path.corners = corners[:0]
	defer e.clipTo(corners)
	if fill {
		e.fill(corners)
	}
	if stroke {
		e.thicken(corners)
	}
	// Each part of the path is looked at on its own: its lines if it is stroked, itself if it is filled and thin.
	for from := 0; from < len(corners); {
		end := from + 1
		for end < len(corners) && !corners[end].first {
			end++
		}
		if stroke {
			for i := from + 1; i < end; i++ {
				if !corners[i].bent {
					page.addRule(corners[i-1], corners[i])
				}
			}
		}
		if fill {
			page.addThin(corners[from:end])
		}
		from = end
	}
}

// addThin keeps the rule that a filled part of a path is, if it is a thin box. Many programs draw lines of tables as
// boxes. The rule runs in its middle.
func (p *Page) addThin(part []corner) {
	if len(part) < 4 || len(part) > 6 {
		return
	}
	low, high := part[0], part[0]
	for i, c := range part {
		if c.bent || i > 0 && math.Abs(c.x-part[i-1].x) > .1 && math.Abs(c.y-part[i-1].y) > .1 {
			return
		}
		low.x, low.y = min(low.x, c.x), min(low.y, c.y)
		high.x, high.y = max(high.x, c.x), max(high.y, c.y)
	}
	switch {
	case high.y-low.y <= maxRuleWidth && high.x-low.x > 2*(high.y-low.y):
		low.y = (low.y + high.y) / 2
		high.y = low.y
	case high.x-low.x <= maxRuleWidth && high.y-low.y > 2*(high.x-low.x):
		low.x = (low.x + high.x) / 2
		high.x = low.x
	default:
		return
	}
	p.addRule(low, high)
}

// addRule keeps a line of a path as a rule, if it is level or upright, long enough and on the page. Lines that lean by
// half a point or less count as straight.
func (p *Page) addRule(a, b corner) {
	r := Rule{float32(min(a.x, b.x)), float32(min(a.y, b.y)), float32(max(a.x, b.x)), float32(max(a.y, b.y))}
	w, h := r.X1-r.X0, r.Y1-r.Y0
	straight := min(w, h) < .5 && max(w, h) >= minRuleLength // false of what is not a number
	if !straight || len(p.Rules) >= maxRules || r.X1 < 0 || r.Y1 < 0 || r.X0 > float32(p.Width) ||
		r.Y0 > float32(p.Height) {
		return
	}
	p.Rules = append(p.Rules, r)
}
