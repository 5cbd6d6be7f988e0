package hidden

import (
	"math"
	"strings"

	"github.com/readthru/readthru/convert/css"
)

// transform is a transformation of space: what it does to the three axes, and where it moves things, in pixels. Boxes
// are flat, so that the third axis only tells whether one is seen from its back.
type transform struct {
	axes [3][3]float64 // rows
	move [3]css.Length
}

// identity is the transform that changes nothing.
var identity = transform{axes: [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}

// transformed returns what the properties transform, translate, rotate and scale do together. It is false when nothing
// is set. The order is that of CSS Transforms Level 2. What is not understood is passed over.
func transformed(style css.Values, em float64) (m transform, ok bool) {
	m = identity
	for _, property := range [...]string{"translate", "rotate", "scale", "transform"} {
		value := style.Get(property)
		if value == "" || value == "none" || value == "inherit" {
			continue
		}
		ok = true
		if property != "transform" {
			m.apply(property, strings.Fields(strings.ReplaceAll(value, ",", " ")), em)
			continue
		}
		for f := range css.Words(value) {
			name, arguments, _ := strings.Cut(strings.TrimSuffix(f, ")"), "(")
			var list []string
			for one := range css.List(arguments) {
				list = append(list, one)
			}
			m.apply(name, list, em)
		}
	}
	return m, ok
}

// apply multiplies m by one function of a transform. name and list are the function and its arguments. Translations are
// added without the turns before them, which is near enough to tell what is far away.
func (m *transform) apply(name string, list []string, em float64) {
	values := make([]css.Length, 0, len(list))
	numbers := make([]float64, 0, 16)
	axis := ""
	for _, one := range list {
		if one == "x" || one == "y" || one == "z" {
			axis = one
			continue
		}
		l, ok := css.ParseLength(one, em)
		if !ok {
			return
		}
		values, numbers = append(values, l), append(numbers, l.Px+l.Share)
	}
	if len(values) == 0 {
		return
	}
	if along, is := strings.CutPrefix(name, "translate"); is {
		m.translate(along, values)
		return
	}
	f, ok := function(name, axis, numbers)
	if !ok {
		return
	}
	var product [3][3]float64
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				product[i][j] += m.axes[i][k] * f[k][j]
			}
		}
	}
	m.axes = product
	if name == "matrix" && len(numbers) == 6 {
		m.translate("", values[4:])
	}
}

// translate moves by lengths along the axes from axis on: "x" or "", "y", "z", or "3d".
func (m *transform) translate(axis string, by []css.Length) {
	first := 0
	switch strings.ToLower(axis) {
	case "y":
		first = 1
	case "z":
		first = 2
	}
	for i, l := range by {
		if first+i < 3 {
			at := &m.move[first+i]
			at.Px, at.Share, at.Window = at.Px+l.Px, at.Share+l.Share, at.Window || l.Window
		}
	}
}

// function returns what a function of transform does to the axes. n are its arguments, angles in radians. There must be
// one. ok is false for a function that is not known, or with a wrong number of arguments.
func function(name, axis string, n []float64) (m [3][3]float64, ok bool) {
	m = identity.axes
	switch name = strings.ToLower(name); name {
	case "scale", "scale3d":
		m[0][0], m[1][1] = n[0], n[0]
		for i := 1; i < min(len(n), 3); i++ {
			m[i][i] = n[i]
		}
	case "scalex":
		m[0][0] = n[0]
	case "scaley":
		m[1][1] = n[0]
	case "matrix":
		if len(n) != 6 {
			return m, false
		}
		m[0][0], m[1][0], m[0][1], m[1][1] = n[0], n[1], n[2], n[3]
	case "matrix3d":
		if len(n) != 16 {
			return m, false
		}
		for i := range 3 {
			for j := range 3 {
				m[j][i] = n[i*4+j]
			}
		}
	case "skew", "skewx":
		if m[0][1] = math.Tan(n[0]); len(n) > 1 {
			m[1][0] = math.Tan(n[1])
		}
	case "skewy":
		m[1][0] = math.Tan(n[0])
	case "rotatex":
		return turned(1, 0, 0, n[0]), true
	case "rotatey":
		return turned(0, 1, 0, n[0]), true
	case "rotate", "rotatez", "rotate3d":
		switch angle := n[len(n)-1]; {
		case len(n) == 4:
			return turned(n[0], n[1], n[2], angle), true
		case axis == "x":
			return turned(1, 0, 0, angle), true
		case axis == "y":
			return turned(0, 1, 0, angle), true
		default:
			return turned(0, 0, 1, angle), true
		}
	default:
		return m, false
	}
	return m, true
}

// turned is the transform of a rotation about an axis. The angle is in radians.
func turned(x, y, z, angle float64) (m [3][3]float64) {
	length := math.Sqrt(x*x + y*y + z*z)
	if length == 0 {
		return identity.axes
	}
	x, y, z = x/length, y/length, z/length
	sin, cos := math.Sincos(angle)
	rest := 1 - cos
	return [3][3]float64{
		{cos + x*x*rest, x*y*rest - z*sin, x*z*rest + y*sin},
		{y*x*rest + z*sin, cos + y*y*rest, y*z*rest - x*sin},
		{z*x*rest - y*sin, z*y*rest + x*sin, cos + z*z*rest},
	}
}

// smallest returns the least factor by which m scales what is seen: 0 when a box is seen from its edge.
func (m *transform) smallest() float64 {
	a, b, c, d := m.axes[0][0], m.axes[0][1], m.axes[1][0], m.axes[1][1]
	sum, difference := a*a+b*b+c*c+d*d, 2*math.Abs(a*d-b*c)
	// The singular values of a matrix of two rows.
	return math.Abs(math.Sqrt(sum+difference)-math.Sqrt(max(0, sum-difference))) / 2
}

// away reports whether m shows the back of a box. With backface-visibility: hidden nothing of it is seen.
func (m *transform) away() bool { return m.axes[2][2] < 0 }
