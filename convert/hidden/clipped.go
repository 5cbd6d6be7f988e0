package hidden

import (
	"math"
	"strings"

	"github.com/readthru/readthru/convert/css"
)

// clipped reports a box of which nothing is left to see. It reads clip-path, and the old property clip, which only
// boxes have that are placed absolutely.
func clipped(style css.Values, em float64) bool {
	if path := style.Get("clip-path"); path != "" && clippedTo(path, em) {
		return true
	}
	rect, ok := strings.CutPrefix(style.Get("clip"), "rect(")
	if !ok || style.Get("position") != "absolute" && style.Get("position") != "fixed" {
		return false
	}
	sides := lengths(strings.NewReplacer(",", " ", ")", " ").Replace(rect), em)
	return len(sides) == 4 && (empty(sides[0], sides[2]) || empty(sides[3], sides[1]))
}

// empty reports whether there is next to nothing between two edges of the rectangle to which a box is clipped. from is
// nil for the first edge, to for the last: auto.
func empty(from, to *css.Length) bool {
	if to == nil {
		return false
	}
	begin := css.Length{}
	if from != nil {
		begin = *from
	}
	return to.Px-begin.Px <= 1 && to.Share-begin.Share <= 0
}

// lengths reads the lengths between spaces to which a box is clipped. A value that is not a length, such as auto, is
// nil. They stand in functions of clip-path and in clip.
func lengths(list string, em float64) (all []*css.Length) {
	for word := range css.Words(list) {
		if l, ok := css.ParseLength(word, em); ok {
			all = append(all, &l)
		} else {
			all = append(all, nil)
		}
	}
	return all
}

// clippedTo reports whether a shape has next to no area. path is the value of clip-path. Shapes that are not known, and
// addresses, leave something.
func clippedTo(path string, em float64) bool {
	shape, arguments, _ := strings.Cut(path, "(")
	if end := strings.LastIndexByte(arguments, ')'); end >= 0 {
		arguments = arguments[:end]
	}
	switch shape {
	case "inset":
		arguments, _, _ = strings.Cut(arguments, " round ")
		four := lengths(arguments, em)
		if len(four) == 0 || len(four) > 4 {
			return false
		}
		order := [4][4]int{{0, 0, 0, 0}, {0, 1, 0, 1}, {0, 1, 2, 1}, {0, 1, 2, 3}}[len(four)-1]
		return meet(four[order[0]], four[order[2]]) || meet(four[order[1]], four[order[3]])
	case "circle", "ellipse":
		radii, center, _ := strings.Cut(arguments, "at ")
		at := lengths(center, em)
		for i, r := range lengths(radii, em) {
			if r != nil && r.Px <= 1 && r.Share <= .005 {
				return true
			}
			for j, c := range at { // it lies before the box
				if r != nil && c != nil && r.Share == 0 && c.Share <= 0 && c.Px+r.Px <= 0 && (shape == "circle" || i == j) {
					return true
				}
			}
		}
	case "polygon":
		return flat(arguments, em)
	case "rect":
		if sides := lengths(arguments, em); len(sides) == 4 {
			return empty(sides[0], sides[2]) || empty(sides[3], sides[1])
		}
	case "xywh":
		if sides := lengths(arguments, em); len(sides) >= 4 {
			return empty(nil, sides[2]) || empty(nil, sides[3])
		}
	case "path":
		return strings.Count(strings.Join(strings.FieldsFunc(arguments, func(r rune) bool {
			return r != '.' && r != '-' && (r < '0' || r > '9')
		}), " "), " ") < 4 // two points are no area
	}
	return false
}

// meet reports whether two opposite sides of a box are clipped until nothing is between them. The sides are the
// arguments of inset().
func meet(a, b *css.Length) bool {
	past := func(side *css.Length) bool { return side.Share >= .99 && side.Px >= 0 }
	return a != nil && b != nil && (a.Share+b.Share >= .99 && a.Px+b.Px >= 0 || a.Px+b.Px >= farOn || past(a) || past(b))
}

// flat reports whether a polygon to which a box is clipped has no area, in a box of 300 by 60 pixels. Percentages need
// a size; that of a line of text serves. Polygons that lie beyond the upper or left edge show nothing either.
func flat(points string, em float64) bool {
	var xs, ys []float64
	for point := range css.List(points) {
		at := lengths(point, em)
		if len(at) != 2 || at[0] == nil || at[1] == nil {
			continue // a rule of filling
		}
		xs, ys = append(xs, at[0].Px+at[0].Share*300), append(ys, at[1].Px+at[1].Share*60)
	}
	area := 0.0
	outside := len(xs) > 0
	for i := range xs {
		j := (i + 1) % len(xs)
		area += xs[i]*ys[j] - xs[j]*ys[i]
		outside = outside && (xs[i] <= 0 || ys[i] <= 0)
	}
	return len(xs) > 0 && (math.Abs(area) < 8 || outside)
}
