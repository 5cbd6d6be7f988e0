package pdf

import (
	"math"
)

// setGray returns the operator that sets a gray color of fills, or of strokes.
func setGray(stroke bool) func(*interpreter) {
	return func(e *interpreter) { e.setPaint(stroke, e.paintOf(1)) }
}

// setRGB is [setGray] for a color of red, green and blue.
func setRGB(stroke bool) func(*interpreter) {
	return func(e *interpreter) { e.setPaint(stroke, e.paintOf(3)) }
}

// setCMYK is [setGray] for a color of cyan, magenta, yellow and black.
func setCMYK(stroke bool) func(*interpreter) {
	return func(e *interpreter) { e.setPaint(stroke, e.paintOf(4)) }
}

// setPaint sets the color of strokes, or of fills.
func (e *interpreter) setPaint(stroke bool, p paint) {
	if stroke {
		e.g.stroke = p
	} else {
		e.g.fill = p
	}
}

// paintOf returns the color that so many operands are: of gray, RGB or CMYK. CMYK is turned into RGB by the simple
// formula, without a profile: near enough to tell white from black. With too few operands the color is not known.
func (e *interpreter) paintOf(channels int) paint {
	if len(e.args) < channels {
		return paint{}
	}
	n := func(i int) float64 { return min(max(e.number(i), 0), 1) }
	switch channels {
	case 1:
		return paint{true, n(0), n(0), n(0)}
	case 3:
		return paint{true, n(0), n(1), n(2)}
	case 4:
		k := 1 - n(3)
		return paint{true, (1 - n(0)) * k, (1 - n(1)) * k, (1 - n(2)) * k}
	}
	return paint{}
}

// setSpace returns the operator that sets a color space, with its first color. Of spaces that are understood it is
// black, else it is not known.
func setSpace(stroke bool) func(*interpreter) {
	return func(e *interpreter) {
		space := e.c.f.r.colorSpace(e.operand(0), e.resources)
		first := paint{}
		if space.channels > 0 {
			first = black
		}
		if stroke {
			e.g.strokeSpace = space
		} else {
			e.g.fillSpace = space
		}
		e.setPaint(stroke, first)
	}
}

// setColor returns the operator that sets a color of the space that was set. A pattern's name is no number, and its
// color not known.
func setColor(stroke bool) func(*interpreter) {
	return func(e *interpreter) {
		space := e.g.fillSpace
		if stroke {
			space = e.g.strokeSpace
		}
		p := paint{}
		switch {
		case space.channels > 0 && len(e.args) == space.channels:
			p = e.paintOf(space.channels)
		case space.inks:
			// Amounts of inks: none of all leaves the paper white; any other color depends on the inks.
			none := true
			for i := range e.args {
				none = none && e.number(i) == 0
			}
			if none {
				p = white
			}
		}
		e.setPaint(stroke, p)
	}
}

// colorSpace reads a color space (§8.6). v is a name, of a space of devices or of the resources, or an array. A name
// that leads to a name is followed once. Indexed, Lab and Pattern are not understood.
func (r *pdfReader) colorSpace(v any, resources dict) colorSpace {
	if n := r.name(v); n != "" {
		switch n {
		case "DeviceGray", "CalGray", "G":
			return colorSpace{channels: 1}
		case "DeviceRGB", "CalRGB", "RGB":
			return colorSpace{channels: 3}
		case "DeviceCMYK", "CMYK":
			return colorSpace{channels: 4}
		}
		v = r.dict(resources["ColorSpace"])[n]
	}
	if n := r.name(v); n != "" {
		return r.colorSpace(n, nil)
	}
	list, _ := r.resolve(v).([]any)
	if len(list) == 0 {
		return colorSpace{}
	}
	switch r.name(list[0]) {
	case "CalGray":
		return colorSpace{channels: 1}
	case "CalRGB":
		return colorSpace{channels: 3}
	case "ICCBased":
		if s, ok := r.resolve(at(list, 1)).(*stream); ok {
			if n := int(r.number(s.dict["N"])); n == 1 || n == 3 || n == 4 {
				return colorSpace{channels: n}
			}
		}
	case "Separation", "DeviceN":
		return colorSpace{inks: true}
	}
	return colorSpace{}
}

// A colorSpace is one as far as it is understood.
type colorSpace struct {
	channels int  // 1: gray, 3: RGB, 4: CMYK; 0: another
	inks     bool // its colors are amounts of inks: none of all is white
}

// paint is a color, or what is not known to be one. Channels are from 0 to 1. The zero value is not known.
type paint struct {
	known   bool
	r, g, b float64
}

// like reports whether a reader does not tell two colors apart. What is not known is like nothing.
func (p paint) like(q paint) bool {
	return p.known && q.known && math.Abs(p.r-q.r) < sameColor && math.Abs(p.g-q.g) < sameColor &&
		math.Abs(p.b-q.b) < sameColor
}

// The colors with which a page begins: text is black, and the page is white.
var (
	black = paint{known: true}
	white = paint{true, 1, 1, 1}
)

// sameColor is how much the channels of two colors differ at most, of 1, if no reader tells them apart.
const sameColor = .06
