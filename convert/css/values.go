package css

import "strings"

// maxValue is the size in bytes of the values that are read. Longer ones hold pictures. They are left out unread.
const maxValue = 8 << 10

// properties are the properties that can keep text from a reader's eyes, and those that say it is to appear.
// Declarations of all others are passed over when a sheet is read.
var properties = wordSet(`display visibility opacity font font-size line-height letter-spacing text-indent white-space
	font-size-adjust zoom color background background-color background-image background-clip -webkit-text-fill-color
	-webkit-text-stroke text-shadow -webkit-text-security mix-blend-mode position left right top bottom inset margin
	margin-left margin-right margin-top margin-bottom transform translate scale rotate backface-visibility clip clip-path
	overflow overflow-x overflow-y width height max-width max-height min-width min-height padding padding-top
	padding-bottom padding-left padding-right content-visibility content filter mask mask-image mask-size animation
	animation-name animation-fill-mode animation-iteration-count animation-direction transition will-change z-index
	contain container container-type grid-template-rows grid-template-columns grid-column grid-area flex flex-basis
	flex-grow flex-direction isolation offset-path offset-distance anchor-name position-anchor
	animation-duration animation-delay animation-play-state color-scheme contain-intrinsic-size
	contain-intrinsic-height contain-intrinsic-block-size all`)

// aliases are the other names of properties, with the prefix of a browser or by the direction of text. Logical ones are
// read as those of text that runs from left to right, in lines from top to bottom.
var aliases = map[string]string{
	"-webkit-background-clip": "background-clip", "-webkit-mask": "mask", "-webkit-mask-image": "mask-image",
	"-webkit-mask-size": "mask-size", "-webkit-transform": "transform", "-webkit-clip-path": "clip-path",
	"-webkit-filter": "filter", "-webkit-animation": "animation", "-webkit-animation-name": "animation-name",
	"-webkit-animation-fill-mode": "animation-fill-mode", "-webkit-opacity": "opacity",
	"-webkit-backface-visibility": "backface-visibility", "inline-size": "width", "block-size": "height",
	"max-inline-size": "max-width", "max-block-size": "max-height", "min-inline-size": "min-width",
	"min-block-size": "min-height", "inset-inline-start": "left", "inset-inline-end": "right", "inset-block-start": "top",
	"inset-block-end": "bottom", "margin-inline-start": "margin-left", "margin-inline-end": "margin-right",
	"margin-block-start": "margin-top", "margin-block-end": "margin-bottom", "padding-block-start": "padding-top",
	"padding-block-end": "padding-bottom", "padding-inline-start": "padding-left", "padding-inline-end": "padding-right",
	"overflow-inline": "overflow-x", "overflow-block": "overflow-y", "-webkit-text-stroke-width": "-webkit-text-stroke",
}

// inheritedProperties are those of the properties that an element takes from its parent where nothing sets them.
var inheritedProperties = wordSet(`visibility font-size line-height letter-spacing text-indent white-space
	font-size-adjust color -webkit-text-fill-color -webkit-text-stroke text-shadow -webkit-text-security`)

// wordSet returns the set of the words of a table of names.
func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(s) {
		set[word] = true
	}
	return set
}

// The tables of values by which valid refuses what browsers refuse: keywords for every property (wide), values of
// display, keywords of single properties, the properties that are lengths, the words that stand for a length, and the
// units of lengths.
var (
	wide     = wordSet("inherit initial unset revert revert-layer")
	displays = wordSet(`none block inline inline-block flow flow-root flex inline-flex grid inline-grid table inline-table
		table-row table-cell table-row-group table-header-group table-footer-group table-column table-column-group
		table-caption list-item contents ruby ruby-text math run-in -webkit-box -webkit-inline-box -webkit-flex
		-webkit-inline-flex grid-lanes inline-grid-lanes`)
	keywords = map[string]map[string]bool{
		"visibility":          wordSet("visible hidden collapse"),
		"position":            wordSet("static relative absolute fixed sticky -webkit-sticky"),
		"overflow-x":          wordSet("visible hidden clip scroll auto overlay"),
		"overflow-y":          wordSet("visible hidden clip scroll auto overlay"),
		"content-visibility":  wordSet("visible hidden auto"),
		"backface-visibility": wordSet("visible hidden"),
		"isolation":           wordSet("auto isolate"),
	}
	lengths = wordSet(`left right top bottom margin-left margin-right margin-top margin-bottom width height max-width
		max-height min-width min-height padding-top padding-bottom padding-left padding-right text-indent letter-spacing
		font-size`)
	lengthWords = wordSet(`auto none normal min-content max-content fit-content stretch -webkit-fill-available
		-webkit-min-content -webkit-max-content -webkit-fit-content xx-small x-small small medium large x-large xx-large
		xxx-large smaller larger each-line hanging math`)
	units = wordSet(`px em rem ex rex ch rch cap rcap ic ric lh rlh vw vh vi vb vmin vmax svw svh svi svb svmin svmax lvw
		lvh lvi lvb lvmin lvmax dvw dvh dvi dvb dvmin dvmax cqw cqh cqi cqb cqmin cqmax cm mm q in pt pc %`)
)

// valid reports whether browsers take a value for a property. They pass over other declarations. Where a later
// declaration is refused, an earlier one holds: what is refused must not displace it. Values with functions are mostly
// taken; of properties without a table, everything is.
func valid(name, value string) bool {
	if value == "" {
		return false
	}
	if wide[value] {
		return true
	}
	if set := keywords[name]; set != nil {
		return set[value]
	}
	switch name {
	case "display":
		return displayed(value)
	case "opacity", "zoom":
		n, unit, ok := Number(value)
		return ok && (unit == "" || unit == "%") && (name == "opacity" || n >= 0) || Math(value) ||
			name == "zoom" && (value == "normal" || value == "reset")
	case "z-index":
		_, unit, ok := Number(value)
		return value == "auto" || ok && unit == "" || Math(value)
	case "color", "background-color", "-webkit-text-fill-color":
		_, ok := ParseColour(value)
		return ok || value == "currentcolor" || strings.Contains(value, "(")
	}
	if !lengths[name] {
		return true
	}
	some := false
	for word := range words(value) {
		if n, unit, ok := Number(word); ok && !(units[unit] || n == 0 && unit == "") ||
			!ok && !lengthWords[word] && !strings.HasSuffix(word, ")") {
			return false
		}
		some = true
	}
	return some
}

// displayed reports whether value is one of display: one keyword, or an outer and an inner one. Two keywords are the
// syntax of CSS Display Level 3, such as "inline flex"; "list-item" may be a third.
func displayed(value string) bool {
	count := 0
	for word := range strings.FieldsSeq(value) {
		if count++; !displays[word] || count > 3 || count > 1 && (word == "none" || word == "contents") {
			return false
		}
	}
	return count > 0 && (count == 1 || !strings.HasPrefix(value, "none") && !strings.HasPrefix(value, "contents"))
}

// sides are the longhands of a shorthand for four sides, in the order in which their values stand.
var sides = map[string][4]string{
	"inset":   {"top", "right", "bottom", "left"},
	"margin":  {"margin-top", "margin-right", "margin-bottom", "margin-left"},
	"padding": {"padding-top", "padding-right", "padding-bottom", "padding-left"},
}

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

// The keywords by which expandAnimation tells the parts of an animation apart.
var fillModes, animationDirections = wordSet("forwards backwards both"),
	wordSet("normal reverse alternate alternate-reverse")

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

// timings are the other words of an animation that are no names.
var timings = wordSet("ease linear ease-in ease-out ease-in-out step-start step-end running paused auto")
