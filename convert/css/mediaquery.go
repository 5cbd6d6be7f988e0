package css

import "strings"

// windows is a set of the kinds of windows in which a rule holds. Text that is seen in one of them has a reader. A rule
// with no window in its set is not read.
type windows uint8

// The kinds of windows. They are bits in the order of kinds.
const (
	phone windows = 1 << iota
	tablet
	laptop
	desktop
	everywhere = phone | tablet | laptop | desktop
)

// window is what a media query asks for. Sizes are in CSS pixels; density is in pixels of the screen for each.
type window struct {
	width, height float64
	touch, dark   bool
	density       float64
}

// kinds are the windows for which the conditions of style sheets are judged. They differ in all that pages commonly ask
// for: width, height, pointer, colour scheme and density, so that text which is shown by some usual query is shown in
// one of them.
var kinds = [...]window{
	{width: 360, height: 740, touch: true, dark: true, density: 3},
	{width: 820, height: 1180, touch: true, density: 2},
	{width: windowWidth, height: windowHeight, density: 1},
	{width: 1920, height: 1080, dark: true, density: 2},
}

// media returns the windows in which a list of media queries holds, as of @media or of a media attribute. An empty list
// holds everywhere. A query that browsers refuse holds nowhere, and leaves the others of its list as they are.
func media(list string) windows {
	list = strings.ToLower(strings.TrimSpace(withoutComments(list)))
	if list == "" {
		return everywhere
	}
	var yes windows
	for query := range split(list, ",") {
		yes |= mediaQuery(query)
	}
	return yes
}

// mediaQuery returns the windows in which one media query holds: a type such as "screen", with "not" or "only" before
// it and conditions after it, or conditions alone. Printers and screen readers are not among the windows.
func mediaQuery(query string) windows {
	kind, rest := cutName(query)
	not := false
	if kind == "only" || kind == "not" && !strings.HasPrefix(strings.TrimSpace(rest), "(") {
		not = kind == "not"
		kind, rest = cutName(strings.TrimSpace(rest))
	}
	if kind == "" || kind == "not" {
		return conditions(query, mediaFeature, 0).yes
	}
	t := always(kind == "screen" || kind == "all")
	if rest = strings.TrimSpace(rest); rest != "" {
		condition, ok := strings.CutPrefix(rest, "and")
		if !ok {
			return 0
		}
		c := conditions(condition, mediaFeature, 0)
		t = truth{t.yes & c.yes, t.no | c.no}
	}
	if not {
		return t.no
	}
	return t.yes
}

// mediaFeature evaluates one feature of a media query, which stands between parentheses, in all kinds of windows.
// A function, which has a name, is unknown.
func mediaFeature(name, inside string) truth {
	if name != "" {
		return truth{}
	}
	var t truth
	for i, w := range kinds {
		is, known := w.has(inside)
		switch {
		case known && is:
			t.yes |= 1 << i
		case known:
			t.no |= 1 << i
		}
	}
	return t
}

// has reports whether a window has a feature that a media query asks for, as in "min-width: 600px" or "width >= 600px".
// The prefix -webkit- before min- and max- is passed over. A name alone asks whether the feature is there at all.
func (w window) has(feature string) (is, known bool) {
	if i := strings.IndexAny(feature, "<>="); i >= 0 {
		return w.hasRange(feature)
	}
	name, value, hasValue := strings.Cut(feature, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	name = strings.Replace(name, "-webkit-m", "m", 1)
	bare := strings.TrimPrefix(strings.TrimPrefix(name, "min-"), "max-")
	if has, ok := w.measure(bare); ok {
		want, ok := quantity(value)
		switch {
		case !hasValue:
			return has > 0, true
		case !ok:
			return false, false
		case strings.HasPrefix(name, "min-"):
			return has >= want, true
		case strings.HasPrefix(name, "max-"):
			return has <= want, true
		}
		return has == want, true
	}
	is, known = w.is(name, value)
	return is, known
}

// hasRange reads a feature of a media query that is a range: "width >= 600px", "600px <= width" and "300px < width <
// 600px". It is unknown if one side is no measure and no quantity (Media Queries Level 4, range context).
func (w window) hasRange(feature string) (is, known bool) {
	var parts []string
	var operators []string
	begun := 0
	for i := 0; i < len(feature); i++ {
		if strings.IndexByte("<>=", feature[i]) < 0 {
			continue
		}
		parts = append(parts, strings.TrimSpace(feature[begun:i]))
		operator := feature[i : i+1]
		if i+1 < len(feature) && feature[i+1] == '=' {
			i++
			operator += "="
		}
		operators = append(operators, operator)
		begun = i + 1
	}
	parts = append(parts, strings.TrimSpace(feature[begun:]))
	is = true
	for i, operator := range operators {
		a, ok := w.value(parts[i])
		b, ok2 := w.value(parts[i+1])
		if !ok || !ok2 {
			return false, false
		}
		switch operator {
		case "<":
			is = is && a < b
		case "<=":
			is = is && a <= b
		case ">":
			is = is && a > b
		case ">=":
			is = is && a >= b
		default:
			is = is && a == b
		}
	}
	return is, true
}

// value returns what stands on one side of a comparison in a media query: a measure of the window, or a quantity.
func (w window) value(s string) (float64, bool) {
	if has, ok := w.measure(s); ok {
		return has, true
	}
	return quantity(s)
}

// measure returns the media feature of the window that is a quantity; false for other names. Lengths are in pixels,
// colour depth in bits.
func (w window) measure(name string) (float64, bool) {
	switch name {
	case "width", "device-width", "inline-size":
		return w.width, true
	case "height", "device-height", "block-size":
		return w.height, true
	case "aspect-ratio", "device-aspect-ratio":
		return w.width / w.height, true
	case "resolution", "device-pixel-ratio", "-webkit-device-pixel-ratio":
		return w.density, true
	case "color":
		return 8, true
	case "color-index", "monochrome", "grid":
		return 0, true
	}
	return 0, false
}

// quantity reads a length in pixels, a ratio, a resolution or a number. Lengths in em are of the browser's own size, 16
// pixels, whatever the page sets (Media Queries Level 4, units). Percentages are refused.
func quantity(s string) (float64, bool) {
	if a, b, ok := strings.Cut(s, "/"); ok && !strings.Contains(s, "(") {
		x, ok := quantity(a)
		y, ok2 := quantity(b)
		return x / max(y, 1e-9), ok && ok2
	}
	s = strings.TrimSpace(s)
	if n, unit, ok := Number(s); ok {
		switch unit {
		case "dppx", "x":
			return n, true
		case "dpi":
			return n / 96, true
		case "dpcm":
			return n / 37.8, true
		}
	}
	l, ok := ParseLength(s, 16)
	return l.Px, ok && l.Share == 0
}

// is reports whether the window has a feature of a media query that is a word; without a value, whether it has any but
// "none". known is false for features that this package does not know.
func (w window) is(name, value string) (is, known bool) {
	var has string
	switch name {
	case "orientation":
		has = map[bool]string{true: "landscape", false: "portrait"}[w.width >= w.height]
	case "hover", "any-hover":
		has = map[bool]string{true: "none", false: "hover"}[w.touch]
	case "pointer", "any-pointer":
		has = map[bool]string{true: "coarse", false: "fine"}[w.touch]
	case "prefers-color-scheme":
		has = map[bool]string{true: "dark", false: "light"}[w.dark]
	case "prefers-reduced-motion":
		has = map[bool]string{true: "reduce", false: "no-preference"}[w.touch && w.dark]
	default:
		if has = usual[name]; has == "" {
			return false, false
		}
	}
	if value == "" {
		return has != "none" && has != "no-preference", true
	}
	return value == has, true
}

// usual are the features that are words and the same in all windows.
var usual = map[string]string{
	"prefers-contrast": "no-preference", "prefers-reduced-transparency": "no-preference", "scripting": "enabled",
	"update": "fast", "display-mode": "browser", "forced-colors": "none", "overflow-inline": "none",
	"overflow-block": "scroll", "color-gamut": "srgb", "video-color-gamut": "srgb", "dynamic-range": "standard",
}
