package pdf

import (
	"math"
	"slices"
)

// What a reader sees of a page is what was painted last. This file follows the colors of text, the areas that are
// painted below and above it, clipping and optional content, as far as text that nobody sees can be told from them:
//   - text in the color of its ground, or that is transparent,
//   - text outside of what its clipping path leaves,
//   - text below an opaque box or picture that was painted later,
//   - text of a layer that is off,
//   - text that is said to stand for a few letters and is far longer.
//
// What is not known counts as seen: grounds that are shadings, patterns and odd shapes, colors of spaces other than
// gray, RGB and CMYK.

// ground is an area that was painted. Later grounds lie above earlier ones. color is not known for pictures, shadings
// and odd shapes.
type ground struct {
	rect
	color paint
}

// maxGrounds is how many areas of one page are followed. Those beyond are of drawings; text on them is taken for seen.
const maxGrounds = 4000

// covers is how much of a page pictures must cover to be what it shows, so that text behind them is theirs.
const covers = .4

// A seen is what is known of a page that is painted. Text is compared with it when it is drawn, so that only what was
// painted before counts as its ground.
type seen struct {
	grounds  []ground
	pictures float64 // the area of all pictures
	curves   int     // drawn, as outlines of letters are
	lost     bool    // not every ground is known
}

// below returns the color that is visible at a point: the page is white. It is not known when some ground was lost.
func (s *seen) below(x, y float64) paint {
	if s.lost {
		return paint{}
	}
	for _, g := range slices.Backward(s.grounds) {
		if g.holds(x, y) {
			return g.color
		}
	}
	return white
}

// apart reports whether no two of the boxes that a path fills overlap, so that none is a hole in another. More than 16
// boxes are not compared: such a path is a drawing.
func apart(boxes []rect) bool {
	if len(boxes) > 16 {
		return false
	}
	for i, a := range boxes {
		for _, b := range boxes[:i] {
			if a.and(b).area() > 0 {
				return false
			}
		}
	}
	return true
}

// painted notes that an area was painted, so that what lies below is not visible. A box that is opaque hides the glyphs
// below it. picture says that the box is a picture: glyphs below it are kept aside, for they may be the text of a
// scanned page. Areas of less than four square points and what is nearly transparent are passed over; where the state
// blends, the color is not known and nothing is hidden.
func (c *canvas) painted(area rect, color paint, isBox, picture bool, g *state) {
	area = area.and(g.clip).and(rect{0, 0, c.page.Width, c.page.Height})
	if area.area() < 4 || g.alpha < .05 || c.off > 0 {
		return
	}
	c.f.r.spend(1 + len(c.page.Glyphs)/64)
	if g.alpha < .99 || g.blended {
		color, isBox = paint{}, false
	}
	if len(c.seen.grounds) >= maxGrounds {
		c.seen.lost = true
	} else {
		c.seen.grounds = append(c.seen.grounds, ground{area, color})
	}
	if !isBox {
		return
	}
	// The box is opaque: of the glyphs drawn so far, those whose middle it covers are no longer seen.
	kept := c.page.Glyphs[:0]
	for _, glyph := range c.page.Glyphs {
		x, y := c.middle(&glyph)
		switch {
		case !area.holds(x, y):
			kept = append(kept, glyph)
		case picture:
			glyph.Style = 0
			c.invisible = append(c.invisible, glyph)
		default:
			c.hideGlyph(&glyph)
		}
	}
	c.page.Glyphs = kept
}

// middle returns the middle of a glyph, which decides whether it is visible, on the page, whose baseline may be turned.
// A glyph that a box covers in part is hidden if its middle is.
func (c *canvas) middle(g *Glyph) (x, y float64) {
	x, y = float64(g.X+g.W/2), float64(g.Y+g.Size/3)
	switch g.Turn {
	case 1:
		return c.page.Width - y, x
	case 2:
		return c.page.Width - x, c.page.Height - y
	case 3:
		return y, c.page.Height - x
	}
	return x, y
}

// hides reports whether nothing is visible of what is written in the middle of a glyph of a size. It looks at layers
// and transparency, at the clipping path with one size of room, and at the color of the ground. Modes of text are
// fills, strokes, and both (§9.3.6); those of no paint are kept aside by add.
func (c *canvas) hides(x, y, size float64, g *state) bool {
	if c.off > 0 || g.alpha < .05 {
		return true
	}
	if clip := g.clip; !(rect{clip.x0 - size, clip.y0 - size, clip.x1 + size, clip.y1 + size}).holds(x, y) ||
		clip.x1 <= clip.x0 || clip.y1 <= clip.y0 {
		return true
	}
	c.f.r.spend(len(c.seen.grounds) / 64)
	if g.font.drawn {
		return false // its glyphs have colors of their own
	}
	switch g.mode & 3 {
	case 0:
		return g.fill.known && g.fill.like(c.seen.below(x, y))
	case 1:
		return g.stroke.known && g.stroke.like(c.seen.below(x, y))
	case 2:
		ground := c.seen.below(x, y)
		return g.fill.like(ground) && g.stroke.like(ground)
	}
	return false
}

// pictured notes a picture, behind which nothing is visible, that fills the unit square of a matrix. One with
// transparent parts hides nothing. d is its dictionary, nil for an inline image, of which nothing is known. One that is
// turned by an angle covers less than its box.
func (c *canvas) pictured(ctm matrix, d dict, g *state) {
	c.page.Images++
	area := unitSquare(ctm).and(g.clip).and(rect{0, 0, c.page.Width, c.page.Height})
	c.seen.pictures += area.area()
	upright := math.Abs(ctm[1])+math.Abs(ctm[2]) < .01 || math.Abs(ctm[0])+math.Abs(ctm[3]) < .01
	mask, _ := c.f.r.resolve(d["ImageMask"]).(bool)
	opaque := d != nil && !mask && d["SMask"] == nil && d["Mask"] == nil && d["SMaskInData"] == nil
	c.painted(unitSquare(ctm), paint{}, opaque && upright, true, g)
}

// fill notes the areas that a path fills, on which text may be visible. A path of several boxes that do not overlap is
// filled in all of them; of anything else only the box around it is known, and no color. Too many corners make every
// ground unknown.
func (e *interpreter) fill(corners []corner) {
	if len(corners) >= maxCorners {
		e.c.seen.lost = true
		return
	}
	var boxes []rect
	allBoxes := !e.g.masked
	for from := 0; from < len(corners); {
		end := from + 1
		for end < len(corners) && !corners[end].first {
			end++
		}
		box, isBox := bounds(corners[from:end])
		boxes, allBoxes = append(boxes, box), allBoxes && isBox
		from = end
	}
	color := e.g.fill
	if allBoxes = allBoxes && apart(boxes); !allBoxes {
		color = paint{}
	}
	for _, box := range boxes {
		e.c.painted(box, color, allBoxes, false, &e.g)
	}
}

// thicken notes, as a ground on which text is visible, the area round a line that is as thick as letters are high: text
// may stand on it. Titles on a bar of color are made so; a ground of unknown color keeps them.
func (e *interpreter) thicken(corners []corner) {
	width := e.g.line * math.Sqrt(math.Abs(e.g.ctm[0]*e.g.ctm[3]-e.g.ctm[1]*e.g.ctm[2]))
	if width < 4 || len(corners) == 0 || len(corners) >= maxCorners {
		return
	}
	box, _ := bounds(corners)
	e.c.painted(rect{box.x0 - width/2, box.y0 - width/2, box.x1 + width/2, box.y1 + width/2}, paint{}, false, false, &e.g)
}

// clipTo narrows what is visible, the clipping path, to the one that was built, if W asked for it. It happens when the
// path is painted, as §8.5.4 has it. The box around the path stands for it, which is larger, so that text is rather
// kept than lost.
func (e *interpreter) clipTo(corners []corner) {
	if e.clips && len(corners) < maxCorners {
		box, _ := bounds(corners)
		e.g.clip = e.g.clip.and(box)
	}
	e.clips = false
}

// judge takes back an ActualText that says far more than the glyphs in its place, which is not visible. A few letters
// more are honest: ligatures, abbreviations and hyphens have such texts. A hidden instruction is longer.
func (c *canvas) judge(m *markedContent) {
	if !m.written || len(m.text) <= 4*m.glyphs+8 || m.at >= len(c.page.Glyphs) || c.page.Glyphs[m.at].Text != m.text {
		return
	}
	c.page.Glyphs[m.at].Text = string(m.own)
	c.page.Hidden++
	c.unsee(" " + m.text)
}

// setTransparency takes, for what is visible, what a dictionary of graphics state says of opacity (§11.6). BM other
// than Normal blends with what is below, and SMask lets parts of it through; then colors are not known.
func (e *interpreter) setTransparency(d dict) {
	r := e.c.f.r
	if v, ok := r.resolve(d["LW"]).(float64); ok {
		e.g.line = v
	}
	if v, ok := r.resolve(d["ca"]).(float64); ok {
		e.g.alpha = v
	}
	if v, ok := d["BM"]; ok {
		n := r.name(v)
		e.g.blended = n != "Normal" && n != "Compatible"
	}
	if v, ok := d["SMask"]; ok {
		e.g.masked = r.name(v) != "None"
	}
}
