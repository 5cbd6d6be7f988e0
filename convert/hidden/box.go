package hidden

import (
	"math"
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/css"
)

// ByStyle reports whether a style attribute hides its element. It is for places where no style sheet is read: signs of
// a paywall, and the text of a page that is not parsed.
func ByStyle(style string) bool {
	set := css.Declarations(style)
	kind, _ := hiddenByStyle(set, 16)
	return kind != "" || set.Get("visibility") == "hidden" || set.Get("color") == "transparent"
}

// hiddenByStyle returns the kind of hiding by which an element's box and all in it is not seen, whatever styles they
// have, or "". The property is the one that a script would change to show it; empty for kinds that pages do not use for
// text that appears later. The font of the element has em pixels. Each kind is a word of the report. It judges the
// element's own values alone; what it inherits is judged by [look.unseen].
func hiddenByStyle(style css.Values, em float64) (kind, property string) {
	if len(style) == 0 {
		return "", ""
	}
	switch display := style.Get("display"); {
	case display == "none":
		return "display", "display"
	case display == "contents": // it has no box
		return "", ""
	case strings.HasPrefix(display, "table-column"), strings.HasPrefix(style.Get("content"), "url("),
		style.Get("content-visibility") == "hidden" && display != "inline":
		return "display", ""
	}
	// A moved element that is transparent waits for its entrance: it is content.
	moved := style.Get("transform") != "" || style.Get("transition") != "" || style.Get("will-change") != ""
	if n, ok := css.Fraction(style.Get("opacity")); ok && n <= css.Faintest {
		if moved {
			return "opacity", "entrance"
		}
		return "opacity", "opacity"
	}
	switch {
	case filtered(style.Get("filter"), em), masked(style):
		return "opacity", ""
	case offScreen(style, em):
		return "off-screen", ""
	case clipped(style, em):
		return "clipped", ""
	}
	if property := collapsed(style, em); property != "" {
		return "size", property
	}
	return "", ""
}

// filtered reports whether a filter leaves nothing of an element that can be read. Of brightness, contrast and the like
// text mostly stays readable.
func filtered(filter string, em float64) bool {
	for f := range css.Words(filter) {
		name, argument, _ := strings.Cut(strings.TrimSuffix(f, ")"), "(")
		switch name {
		case "opacity":
			if n, ok := css.Fraction(argument); ok && n <= css.Faintest {
				return true
			}
		case "blur":
			if l, ok := css.ParseLength(argument, em); ok && l.Px >= blurred {
				return true
			}
		}
	}
	return false
}

// blurred is the radius in pixels from which on blurred text is a grey bar. It is the usual size of text.
const blurred = 16

// masked reports whether a mask lets nothing of an element through. That is a mask of no size, of one transparent
// colour, or of black where its luminance counts.
func masked(style css.Values) bool {
	mask := style.Get("mask-image")
	if size := style.Get("mask-size"); mask != "" && mask != "none" && size != "" {
		for part := range css.Words(size) {
			if l, ok := css.ParseLength(part, 16); ok && l.Px <= 0 && l.Share <= 0 {
				return true
			}
		}
	}
	c := ink{}
	if strings.Contains(mask, "gradient(") {
		c = gradient(mask)
	}
	return c.known && c.A <= css.Faintest
}

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

// pathAway reports whether the point of a path on which an element stands lies outside of every window. Of a path of
// straight lines that is the one at offset-distance, of others the first.
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

// pathPoints returns the points of the path that begins an argument of path(), up to the first that is not of a
// straight line. straight reports whether all are. Letters are read without case, so that relative lines count as
// absolute ones.
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

// pointAt returns the point of lines between points at a distance from the first. A share of the distance is one of the
// whole length. There must be a point.
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

// fixedAway reports whether a box that stays where it is in the window lies outside it. It never can be scrolled to, so
// that one window of distance is enough.
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

// far reports whether the length value of a style leads out of every window. across says that it leads to the side.
func far(value string, em float64, across bool) bool {
	if value == "" {
		return false
	}
	l, ok := css.ParseLength(value, em)
	return ok && distant(l, across)
}

// distant reports whether a length leads out of every window: to the side if across is true, else upwards or downwards.
func distant(l css.Length, across bool) bool {
	return l.Px <= farBack || l.Px >= farOn || l.Share <= -1.5 || l.Share >= 9 ||
		l.Window && (across && math.Abs(l.Px) >= .98*windowWide || l.Px >= 4*windowHigh)
}

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

// empty reports whether there is next to nothing between two edges of a rectangle. from is nil for the first edge, to
// for the last: auto.
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

// lengths reads lengths between spaces. A value that is not a length, such as auto, is nil. They stand in functions of
// clip-path and in clip.
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

// meet reports whether two opposite sides of a box are moved inwards until nothing is between them. The sides are the
// arguments of inset().
func meet(a, b *css.Length) bool {
	past := func(side *css.Length) bool { return side.Share >= .99 && side.Px >= 0 }
	return a != nil && b != nil && (a.Share+b.Share >= .99 && a.Px+b.Px >= 0 || a.Px+b.Px >= farOn || past(a) || past(b))
}

// flat reports whether a polygon has no area, in a box of 300 by 60 pixels. Percentages need a size; that of a line of
// text serves. Polygons that lie beyond the upper or left edge show nothing either.
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

// cutsOff reports whether a box cuts off what is too large for it. Without it a box of no size hides nothing.
func cutsOff(style css.Values) bool {
	for _, overflow := range [...]string{style.Get("overflow-x"), style.Get("overflow-y")} {
		if overflow != "" && overflow != "visible" && overflow != "inherit" {
			return true
		}
	}
	contain := style.Get("contain")
	return strings.Contains(contain, "paint") || strings.Contains(contain, "strict") ||
		strings.Contains(contain, "content")
}

// cutsOffIn is [cutsOff] for what is too high, or else too wide: where one side is clipped, the other need not be.
func cutsOffIn(style css.Values, high bool) bool {
	own, other := style.Get("overflow-x"), style.Get("overflow-y")
	if high {
		own, other = other, own
	}
	return other != "clip" || own != "" && own != "visible" && own != "inherit"
}

// thinnest is the size in pixels of a box of which no text is seen.
const thinnest = 2

// collapsed returns the property by which a box that cuts off what is too large for it has no room for text, or "". Two
// pixels count as no room: visually hidden text has one, and no letter is seen in them.
func collapsed(style css.Values, em float64) string {
	if !cutsOff(style) {
		return ""
	}
	contain := style.Get("contain")
	sized := strings.Contains(contain, "strict") || strings.HasPrefix(contain, "size") ||
		strings.Contains(contain, " size")
	height := style.Get("height")
	if sized && (height == "" || height == "auto") && !roomBelow(style, em) && !room(style, em, "contain-intrinsic-height",
		"contain-intrinsic-block-size") && style.Get("contain-intrinsic-size") == "" {
		return "contain"
	}
	for _, name := range [...]string{"height", "max-height", "width", "max-width"} {
		value := style.Get(name)
		l, ok := css.ParseLength(value, em)
		high := strings.HasSuffix(name, "height")
		if !ok || l.Px > thinnest || l.Px < 0 || l.Share > 0 || high && strings.HasSuffix(value, "%") ||
			!cutsOffIn(style, high) {
			continue
		}
		if high && !roomBelow(style, em) || !high && !roomBeside(style, em) {
			return name
		}
	}
	return ""
}

// roomBelow reports whether a box of no height shows text all the same. The padding over the text shows what is placed
// in the box.
func roomBelow(style css.Values, em float64) bool {
	return room(style, em, "min-height", "padding-bottom") || placed(style) && room(style, em, "padding-top")
}

// roomBeside is the same of a box of no width.
func roomBeside(style css.Values, em float64) bool {
	return room(style, em, "min-width", "padding-right") || placed(style) && room(style, em, "padding-left")
}

// room reports whether one of some properties makes room in a box. Lengths that are not known make room.
func room(style css.Values, em float64, names ...string) bool {
	for _, name := range names {
		if value := chars.FirstWord(style.Get(name)); value != "" {
			if l, ok := css.ParseLength(value, em); !ok && value != "auto" || l.Px > 1 || l.Share > 0 {
				return true
			}
		}
	}
	return false
}

// stacked notes whether n paints over what lies below the page's plane. An opaque box with no stacking context of its
// own hides children with a negative z-index: they are painted below its background (CSS 2.2, appendix E).
func (l *look) stacked(n *html.Node, style css.Values) {
	if stacks(style) {
		l.covered = false
		return
	}
	if n.Parent != nil && n.Parent.Type == html.ElementNode && n.Data != "body" && opaque(style) {
		l.covered = true
	}
}

// opaque reports whether a style paints over what lies behind its element. A picture as background does not count: it
// may have holes.
func opaque(style css.Values) bool {
	c := inked(style.Get("background-color"), ink{}, ink{css.Colour{A: 1}, true})
	if image := style.Get("background-image"); strings.Contains(image, "gradient(") && !strings.Contains(image, "url(") {
		for _, c = range coloursIn(image) {
			if !c.known || c.A < .95 {
				break
			}
		}
	}
	return c.known && c.A >= .95 && style.Get("display") != "inline" && style.Get("background-clip") != "text"
}

// stacks reports whether an element keeps what lies below its plane above its own background. That is a stacking
// context: positions with an order, transparency, transforms, filters and the like make one.
func stacks(style css.Values) bool {
	if len(style) == 0 {
		return false
	}
	position := style.Get("position")
	if position == "fixed" || position == "sticky" || position != "" && position != "static" && depth(style) != "" {
		return true
	}
	if n, ok := css.Fraction(style.Get("opacity")); ok && n < 1 {
		return true
	}
	for _, name := range [...]string{"transform", "translate", "scale", "rotate", "filter", "clip-path", "mask-image"} {
		if v := style.Get(name); v != "" && v != "none" {
			return true
		}
	}
	return style.Get("isolation") == "isolate" || style.Get("contain") != "" && style.Get("contain") != "none" ||
		style.Get("mix-blend-mode") != "" && style.Get("mix-blend-mode") != "normal"
}

// depth returns the z-index of a style, "" for none.
func depth(style css.Values) string {
	if z := style.Get("z-index"); z != "auto" && z != "inherit" {
		return z
	}
	return ""
}

// below reports whether a style puts its element below the page's plane.
func below(style css.Values) bool {
	z, ok := css.ParseLength(depth(style), 16)
	position := style.Get("position")
	return ok && z.Px < 0 && position != "" && position != "static"
}
