package hidden

import (
	"math"
	"strings"

	"github.com/readthru/readthru/convert/css"
)

// The distances from which on a box lies outside every window. Text that is moved less far may be seen in a large
// window, or be scrolled to.
const (
	farBack    = -900.0 // pixels to the left or upwards, where nobody scrolls
	farOn      = 9000.0
	farFixed   = 4000.0 // of a box that does not scroll with the page
	windowWide = 1366.0
	windowHigh = 768.0
)

// offScreen reports whether an element's box is moved out of every window by its position, its margins, a path or a
// transform, or is seen from its edge or its back.
func offScreen(style css.Values, em float64) bool {
	switch style.Get("position") {
	case "fixed":
		if fixedAway(style, em) {
			return true
		}
	case "absolute", "relative":
		for _, side := range [...]string{"left", "right", "top", "bottom"} {
			if far(style.Get(side), em, side == "left" || side == "right") {
				return true
			}
		}
	}
	if far(style.Get("margin-left"), em, true) || far(style.Get("margin-top"), em, false) {
		return true
	}
	if pathAway(style, em) {
		return true
	}
	m, ok := transformed(style, em)
	if !ok {
		return false
	}
	return m.smallest() <= .02 || m.away() && style.Get("backface-visibility") == "hidden" || distant(m.move[0], true) ||
		distant(m.move[1], false)
}

// pathAway reports whether the point of a path on which an element stands is off the screen, outside of every window.
// Of a path of straight lines that is the one at offset-distance, of others the first.
func pathAway(style css.Values, em float64) bool {
	path, ok := strings.CutPrefix(style.Get("offset-path"), "path(")
	if !ok {
		return false
	}
	points, straight := pathPoints(path)
	if len(points) == 0 {
		return false
	}
	at := points[0]
	if along, ok := css.ParseLength(style.Get("offset-distance"), em); ok && straight {
		at = pointAt(points, along)
	}
	return distant(css.Length{Px: at[0]}, true) || distant(css.Length{Px: at[1]}, false)
}

// maxPoints is how many points of a path are read. A path with more counts as not straight.
const maxPoints = 1000

// pathPoints returns the points of the path that begins an argument of path(), and may lead off the screen, up to the
// first that is not of a straight line. straight reports whether all are. Letters are read without case, so that
// relative lines count as absolute ones.
func pathPoints(path string) (points [][2]float64, straight bool) {
	path = strings.NewReplacer(",", " ", `"`, " ", "'", " ", ")", " ", "m", " m ", "l", " l ", "h", " h ", "v", " v ").
		Replace(strings.ToLower(path))
	var at [2]float64
	var numbers []float64
	command := ""
	for word := range strings.FieldsSeq(path) {
		n, unit, ok := css.Number(word)
		if !ok || unit != "" {
			if command, numbers = word, nil; command != "m" && command != "l" && command != "h" && command != "v" {
				return points, false
			}
			continue
		}
		numbers = append(numbers, n)
		switch {
		case command == "h":
			at[0] = n
		case command == "v":
			at[1] = n
		case len(numbers) == 2:
			at = [2]float64{numbers[0], numbers[1]}
		default:
			continue
		}
		numbers = nil
		if points = append(points, at); len(points) >= maxPoints {
			return points, false
		}
	}
	return points, true
}

// pointAt returns the point of a path, by lines between its points, at a distance from the first. A share of the
// distance is one of the whole length. There must be a point.
func pointAt(points [][2]float64, along css.Length) [2]float64 {
	total := 0.0
	for i := 1; i < len(points); i++ {
		total += math.Hypot(points[i][0]-points[i-1][0], points[i][1]-points[i-1][1])
	}
	left := min(max(along.Px+along.Share*total, 0), total)
	for i := 1; i < len(points); i++ {
		from, to := points[i-1], points[i]
		length := math.Hypot(to[0]-from[0], to[1]-from[1])
		if left <= length && length > 0 {
			share := left / length
			return [2]float64{from[0] + share*(to[0]-from[0]), from[1] + share*(to[1]-from[1])}
		}
		left -= length
	}
	return points[len(points)-1]
}

// fixedAway reports whether a box that stays where it is in the window is off the screen. It never can be scrolled to,
// so that one window of distance is enough.
func fixedAway(style css.Values, em float64) bool {
	for _, side := range [...]string{"left", "right", "top", "bottom"} {
		l, ok := css.ParseLength(style.Get(side), em)
		whole := windowWide
		if side == "top" || side == "bottom" {
			whole = windowHigh
		}
		if ok && (l.Share >= 1 || l.Share <= -1 || l.Window && math.Abs(l.Px) >= .98*whole || l.Px <= farBack ||
			l.Px >= farFixed) {
			return true
		}
	}
	return false
}

// far reports whether the length value of a style leads off the screen, out of every window. across says that it leads
// to the side.
func far(value string, em float64, across bool) bool {
	if value == "" {
		return false
	}
	l, ok := css.ParseLength(value, em)
	return ok && distant(l, across)
}

// distant reports whether a length leads off the screen, out of every window: to the side if across is true, else
// upwards or downwards.
func distant(l css.Length, across bool) bool {
	return l.Px <= farBack || l.Px >= farOn || l.Share <= -1.5 || l.Share >= 9 ||
		l.Window && (across && math.Abs(l.Px) >= .98*windowWide || l.Px >= 4*windowHigh)
}
