package css

import (
	"strings"

	"github.com/readthru/readthru/convert/chars"
)

// maxValue is the size in bytes of the values that are read. Longer ones hold pictures. They are left out unread.
const maxValue = 8 << 10

// properties are the properties that can keep text from a reader's eyes, and those that say it is to appear.
// Declarations of all others are passed over when a sheet is read.
var properties = chars.Set(`display visibility opacity font font-size line-height letter-spacing text-indent white-space
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
var inheritedProperties = chars.Set(`visibility font-size line-height letter-spacing text-indent white-space
	font-size-adjust color -webkit-text-fill-color -webkit-text-stroke text-shadow -webkit-text-security`)

// The tables of values by which valid refuses what browsers refuse: keywords for every property (wide), values of
// display, keywords of single properties, the properties that are lengths, the words that stand for a length, and the
// units of lengths.
var (
	wide     = chars.Set("inherit initial unset revert revert-layer")
	displays = chars.Set(`none block inline inline-block flow flow-root flex inline-flex grid inline-grid table inline-table
		table-row table-cell table-row-group table-header-group table-footer-group table-column table-column-group
		table-caption list-item contents ruby ruby-text math run-in -webkit-box -webkit-inline-box -webkit-flex
		-webkit-inline-flex grid-lanes inline-grid-lanes`)
	keywords = map[string]map[string]bool{
		"visibility":          chars.Set("visible hidden collapse"),
		"position":            chars.Set("static relative absolute fixed sticky -webkit-sticky"),
		"overflow-x":          chars.Set("visible hidden clip scroll auto overlay"),
		"overflow-y":          chars.Set("visible hidden clip scroll auto overlay"),
		"content-visibility":  chars.Set("visible hidden auto"),
		"backface-visibility": chars.Set("visible hidden"),
		"isolation":           chars.Set("auto isolate"),
	}
	lengths = chars.Set(`left right top bottom margin-left margin-right margin-top margin-bottom width height max-width
		max-height min-width min-height padding-top padding-bottom padding-left padding-right text-indent letter-spacing
		font-size`)
	lengthWords = chars.Set(`auto none normal min-content max-content fit-content stretch -webkit-fill-available
		-webkit-min-content -webkit-max-content -webkit-fit-content xx-small x-small small medium large x-large xx-large
		xxx-large smaller larger each-line hanging math`)
	units = chars.Set(`px em rem ex rex ch rch cap rcap ic ric lh rlh vw vh vi vb vmin vmax svw svh svi svb svmin svmax lvw
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

// displayed reports whether value is valid for display: one keyword, or an outer and an inner one. Two keywords are the
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
