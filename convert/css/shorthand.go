package css

import (
	"strings"

	"github.com/readthru/readthru/convert/chars"
)

// longhands returns the properties that a property sets: itself, or those for which it stands. Only longhands that
// matter to this package are among them.
func longhands(name string) []string {
	switch name {
	case "inset", "margin", "padding":
		four := sides[name]
		return four[:]
	case "font":
		return []string{"font-size", "line-height"}
	case "background":
		return []string{"background-color", "background-image", "background-clip"}
	case "overflow":
		return []string{"overflow-x", "overflow-y"}
	case "animation":
		return []string{
			"animation-name", "animation-fill-mode", "animation-iteration-count", "animation-direction",
			"animation-duration", "animation-delay", "animation-play-state",
		}
	case "flex":
		return []string{"flex-grow", "flex-basis"}
	case "mask":
		return []string{"mask-image", "mask-size"}
	case "container":
		return []string{"container-type"}
	}
	return []string{name}
}

// expand gives put what a declaration sets, in lower case. It gives nothing when browsers refuse the value. put is
// called for each longhand, with the initial value for those that the shorthand does not state. A value with var() is
// not expanded before its variables are known.
func expand(name, value string, put func(name, value string)) {
	switch {
	case name == "all":
		if wide[value] {
			for property := range properties {
				if len(longhands(property)) == 1 && property != "all" && property != "container" {
					put(property, value)
				}
			}
		}
	case wide[value]:
		for _, long := range longhands(name) {
			put(long, value)
		}
	case sides[name] != [4]string{}:
		expandSides(name, value, put)
	case name == "font":
		expandFont(value, put)
	case name == "background":
		expandBackground(value, put)
	case name == "overflow":
		x, y, two := strings.Cut(value, " ")
		if y = strings.TrimSpace(y); !two {
			y = x
		}
		if valid("overflow-x", x) && valid("overflow-y", y) {
			put("overflow-x", x)
			put("overflow-y", y)
		}
	case name == "animation":
		expandAnimation(value, put)
	case name == "flex":
		expandFlex(value, put)
	case name == "mask":
		put("mask-image", value)
		put("mask-size", "auto")
		if _, size, ok := strings.Cut(value, "/"); ok && !strings.Contains(value, "url(") {
			put("mask-size", strings.TrimSpace(size))
		}
	case name == "container":
		_, kind, _ := strings.Cut(value, "/")
		put("container-type", strings.TrimSpace(kind))
	case valid(name, value):
		put(name, value)
	}
}

// expandSides reads the shorthand of a margin, of a padding or of inset: one to four values, those that are missing
// taken from the opposite side. One bad value makes browsers drop all.
func expandSides(name, value string, put func(name, value string)) {
	var all []string
	for word := range words(value) {
		all = append(all, word)
	}
	if len(all) == 0 || len(all) > 4 {
		return
	}
	for _, word := range all {
		if !valid(sides[name][0], word) {
			return
		}
	}
	from := [4][4]int{{0, 0, 0, 0}, {0, 1, 0, 1}, {0, 1, 2, 1}, {0, 1, 2, 3}}[len(all)-1]
	for i, side := range sides[name] {
		put(side, all[from[i]])
	}
}

// expandFont finds the size in the shorthand of a font: the first word that is a length. A family must follow. The line
// height may stand behind a slash. Without a family browsers refuse the declaration, and nothing is put.
func expandFont(value string, put func(name, value string)) {
	size := ""
	for word := range words(value) {
		if size != "" {
			size, height, _ := strings.Cut(size, "/")
			if !valid("font-size", size) {
				return
			}
			put("font-size", size)
			if height == "" {
				height = "normal"
			}
			put("line-height", height)
			return
		}
		bare, _, _ := strings.Cut(word, "/")
		n, unit, ok := Number(bare)
		if ok && (units[unit] || n == 0 && unit == "") || Math(bare) || !ok && lengthWords[bare] && bare != "normal" &&
			bare != "none" && bare != "auto" {
			size = word
		}
	}
}

// expandBackground takes the colour, the pictures and the part that is painted from the shorthand of a background. Of
// several layers the last colour and picture count; positions, sizes and repetitions are passed over.
func expandBackground(value string, put func(name, value string)) {
	colour, images, clip := "transparent", "none", "border-box"
	for layer := range split(value, ",") {
		for word := range words(layer) {
			name, _, isCall := strings.Cut(word, "(")
			_, isColour := ParseColour(word)
			switch {
			case isColour, isCall && colourFunctions[name], word == "currentcolor":
				colour = word
			case word == "text":
				clip = word
			case isCall && !mathFunctions[name]:
				images = word
			}
		}
	}
	put("background-color", colour)
	put("background-image", images)
	put("background-clip", clip)
}

// expandFlex reads the shorthand of a flexible item: its growth, its shrinking and its size. The size is kept because a
// flexible item of no size hides what it holds; shrinking is not.
func expandFlex(value string, put func(name, value string)) {
	grow, basis, numbers := "1", "0", 0
	switch value {
	case "none":
		grow, basis = "0", "auto"
	case "auto":
		basis = "auto"
	default:
		for word := range words(value) {
			if _, unit, ok := Number(word); ok && unit == "" && numbers < 2 {
				if numbers++; numbers == 1 {
					grow = word
				}
			} else {
				basis = word
			}
		}
	}
	put("flex-grow", grow)
	put("flex-basis", basis)
}

// expandAnimation reads the shorthand of animations, whose parts stand in any order: what is no time, number or keyword
// is the name of an animation. The first time is the duration, the second the delay. Names of several animations are
// kept; of their other parts, those of the last.
func expandAnimation(value string, put func(name, value string)) {
	var names []string
	fill, count, direction, state := "none", "1", "normal", "running"
	times := [2]string{"0s", "0s"}
	for one := range split(value, ",") {
		stated := 0 // times
		for word := range words(one) {
			_, unit, number := Number(word)
			switch {
			case word == "paused" || word == "running":
				state = word
			case number && (unit == "s" || unit == "ms") && stated < 2:
				times[stated] = word
				stated++
			case fillModes[word]:
				fill = word
			case animationDirections[word]:
				direction = word
			case word == "infinite", number && unit == "":
				count = word
			case number, strings.Contains(word, "("), timings[word]:
			default:
				names = append(names, strings.Trim(word, `"'`))
			}
		}
	}
	if len(names) == 0 {
		names = []string{"none"}
	}
	put("animation-name", strings.Join(names, ","))
	put("animation-fill-mode", fill)
	put("animation-iteration-count", count)
	put("animation-direction", direction)
	put("animation-duration", times[0])
	put("animation-delay", times[1])
	put("animation-play-state", state)
}

// sides are the longhands of a shorthand for four sides, in the order in which their values stand.
var sides = map[string][4]string{
	"inset":   {"top", "right", "bottom", "left"},
	"margin":  {"margin-top", "margin-right", "margin-bottom", "margin-left"},
	"padding": {"padding-top", "padding-right", "padding-bottom", "padding-left"},
}

// The keywords by which expandAnimation tells the parts of an animation apart.
var fillModes, animationDirections = chars.Set("forwards backwards both"),
	chars.Set("normal reverse alternate alternate-reverse")

// timings are the other words of an animation that are no names.
var timings = chars.Set("ease linear ease-in ease-out ease-in-out step-start step-end running paused auto")
