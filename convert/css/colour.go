package css

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert/chars"
)

// Colour is a colour of the screen; all parts are from 0 to 1. R, G and B are of sRGB, not premultiplied by A. The zero
// value is transparent.
type Colour struct{ R, G, B, A float64 }

// Over returns what is seen of c on an opaque backdrop. Package hidden lays the colours of text and of backgrounds over
// one another by it.
func (c Colour) Over(behind Colour) Colour {
	mix := func(a, b float64) float64 { return a*c.A + b*(1-c.A) }
	return Colour{mix(c.R, behind.R), mix(c.G, behind.G), mix(c.B, behind.B), 1}
}

// leastContrast is the contrast (WCAG 2, from 1 to 21) under which text cannot be read, where its hue is its backdrop's
// too. The lightest grey text of honest pages has 1.3 and more. A higher bound would hide text that people read.
const leastContrast = 1.2

// Alike reports whether two opaque colours cannot be told apart as text and its backdrop. Both must hold: that every
// channel is near, and that the contrast is low. Contrast alone would take dark blue text on black for hidden.
func Alike(a, b Colour) bool {
	far := max(math.Abs(a.R-b.R), math.Abs(a.G-b.G), math.Abs(a.B-b.B))
	x, y := a.luminance()+.05, b.luminance()+.05
	return far < .16 && max(x, y)/min(x, y) < leastContrast
}

// luminance returns the relative luminance of a colour, from 0 to 1, as WCAG 2 defines it for contrast.
func (c Colour) luminance() float64 {
	return .2126*linear(c.R) + .7152*linear(c.G) + .0722*linear(c.B)
}

// linear undoes the transfer function of sRGB. v is one channel, from 0 to 1.
func linear(v float64) float64 {
	if v <= .04045 {
		return v / 12.92
	}
	return math.Pow((v+.055)/1.055, 2.4)
}

// unlinear applies the transfer function of sRGB.
func unlinear(v float64) float64 {
	if v <= .0031308 {
		return v * 12.92
	}
	return 1.055*math.Pow(v, 1/2.4) - .055
}

// namedColours are the keywords of CSS Color Level 4, and the system colours of a light page. The values are 0xRRGGBB.
var namedColours = func() map[string]uint32 {
	m := map[string]uint32{}
	for line := range strings.FieldsSeq(`aliceblue:f0f8ff antiquewhite:faebd7 aqua:00ffff aquamarine:7fffd4 azure:f0ffff
		beige:f5f5dc bisque:ffe4c4 black:000000 blanchedalmond:ffebcd blue:0000ff blueviolet:8a2be2 brown:a52a2a
		burlywood:deb887 cadetblue:5f9ea0 chartreuse:7fff00 chocolate:d2691e coral:ff7f50 cornflowerblue:6495ed
		cornsilk:fff8dc
		crimson:dc143c cyan:00ffff darkblue:00008b darkcyan:008b8b darkgoldenrod:b8860b darkgray:a9a9a9 darkgreen:006400
		darkgrey:a9a9a9 darkkhaki:bdb76b darkmagenta:8b008b darkolivegreen:556b2f darkorange:ff8c00 darkorchid:9932cc
		darkred:8b0000 darksalmon:e9967a darkseagreen:8fbc8f darkslateblue:483d8b darkslategray:2f4f4f darkslategrey:2f4f4f
		darkturquoise:00ced1 darkviolet:9400d3 deeppink:ff1493 deepskyblue:00bfff dimgray:696969 dimgrey:696969
		dodgerblue:1e90ff firebrick:b22222 floralwhite:fffaf0 forestgreen:228b22 fuchsia:ff00ff gainsboro:dcdcdc
		ghostwhite:f8f8ff gold:ffd700 goldenrod:daa520 gray:808080 green:008000 greenyellow:adff2f grey:808080
		honeydew:f0fff0 hotpink:ff69b4 indianred:cd5c5c indigo:4b0082 ivory:fffff0 khaki:f0e68c lavender:e6e6fa
		lavenderblush:fff0f5 lawngreen:7cfc00 lemonchiffon:fffacd lightblue:add8e6 lightcoral:f08080 lightcyan:e0ffff
		lightgoldenrodyellow:fafad2 lightgray:d3d3d3 lightgreen:90ee90 lightgrey:d3d3d3 lightpink:ffb6c1 lightsalmon:ffa07a
		lightseagreen:20b2aa lightskyblue:87cefa lightslategray:778899 lightslategrey:778899 lightsteelblue:b0c4de
		lightyellow:ffffe0 lime:00ff00 limegreen:32cd32 linen:faf0e6 magenta:ff00ff maroon:800000 mediumaquamarine:66cdaa
		mediumblue:0000cd mediumorchid:ba55d3 mediumpurple:9370db mediumseagreen:3cb371 mediumslateblue:7b68ee
		mediumspringgreen:00fa9a mediumturquoise:48d1cc mediumvioletred:c71585 midnightblue:191970 mintcream:f5fffa
		mistyrose:ffe4e1 moccasin:ffe4b5 navajowhite:ffdead navy:000080 oldlace:fdf5e6 olive:808000 olivedrab:6b8e23
		orange:ffa500 orangered:ff4500 orchid:da70d6 palegoldenrod:eee8aa palegreen:98fb98 paleturquoise:afeeee
		palevioletred:db7093 papayawhip:ffefd5 peachpuff:ffdab9 peru:cd853f pink:ffc0cb plum:dda0dd powderblue:b0e0e6
		purple:800080 rebeccapurple:663399 red:ff0000 rosybrown:bc8f8f royalblue:4169e1 saddlebrown:8b4513 salmon:fa8072
		sandybrown:f4a460 seagreen:2e8b57 seashell:fff5ee sienna:a0522d silver:c0c0c0 skyblue:87ceeb slateblue:6a5acd
		slategray:708090 slategrey:708090 snow:fffafa springgreen:00ff7f steelblue:4682b4 tan:d2b48c teal:008080
		thistle:d8bfd8
		tomato:ff6347 turquoise:40e0d0 violet:ee82ee wheat:f5deb3 white:ffffff whitesmoke:f5f5f5 yellow:ffff00
		yellowgreen:9acd32 canvas:ffffff canvastext:000000 field:ffffff fieldtext:000000 linktext:0000ee visitedtext:551a8b
		buttontext:000000 buttonface:efefef graytext:808080 window:ffffff windowtext:000000 menu:ffffff menutext:000000
		background:ffffff highlighttext:ffffff accentcolortext:ffffff`) {
		name, hex, _ := strings.Cut(line, ":")
		var n uint32
		for _, c := range []byte(hex) {
			n = n<<4 | uint32(strings.IndexByte("0123456789abcdef", c))
		}
		m[name] = n
	}
	return m
}()

// colourFunctions are the functions that give a colour.
var colourFunctions = chars.Set(`rgb rgba hsl hsla hwb lab lch oklab oklch color color-mix light-dark device-cmyk
	contrast-color alpha`)

// ParseColour reads a colour in lower case. It is false for what it does not know, and for currentcolor. A colour of a
// wide gamut is taken as sRGB with the same channels, which is near enough to tell text from its background.
func ParseColour(value string) (c Colour, ok bool) { return parseColour(value, 0) }

// parseColour does the work of [ParseColour]. depth counts colours within colours, as in color-mix(), of which there
// may be eight.
func parseColour(value string, depth int) (c Colour, ok bool) {
	if n, ok := namedColours[value]; ok {
		return Colour{float64(n>>16) / 255, float64(n>>8&255) / 255, float64(n&255) / 255, 1}, true
	}
	if value == "transparent" {
		return Colour{}, true
	}
	if hex, ok := strings.CutPrefix(value, "#"); ok {
		return hexColour(hex)
	}
	name, arguments, ok := call(value)
	if !ok || !colourFunctions[name] || depth > 8 {
		return c, false
	}
	switch name {
	case "light-dark":
		light, _, _ := strings.Cut(arguments, ",")
		if strings.Contains(light, "(") {
			light = arguments[:until(arguments, 0, ",")]
		}
		return parseColour(strings.TrimSpace(light), depth+1)
	case "color-mix":
		return mixed(arguments, depth+1)
	}
	if rest, ok := strings.CutPrefix(strings.TrimSpace(arguments), "from "); ok {
		return relative(name, rest, depth+1)
	}
	space := ""
	if name == "color" {
		space, arguments = cutSpace(arguments)
	}
	var parts [4]float64
	var percent [4]bool
	n := 0
	for one := range words(strings.NewReplacer(",", " ", "/", " ").Replace(arguments)) {
		if n == 4 {
			return c, false
		}
		l, ok := ParseLength(one, 0)
		if !ok && one != "none" {
			return c, false
		}
		parts[n], percent[n] = l.Px, l.Share != 0 || strings.HasSuffix(one, "%")
		if percent[n] {
			parts[n] = l.Share
		}
		n++
	}
	if n < 3 {
		return c, false
	}
	if n == 3 {
		parts[3] = 1
	}
	return ofSpace(name, space, parts, percent)
}

// InDark returns a value as it counts where colours are those of a dark scheme: the second of light-dark().
func InDark(value string) string {
	switch value {
	case "canvas":
		return DarkCanvas
	case "canvastext":
		return "white"
	}
	for range 8 {
		at := strings.Index(value, "light-dark(")
		if at < 0 {
			break
		}
		open := at + len("light-dark(")
		end := min(until(value, open, ")"), len(value))
		comma := min(until(value, open, ","), end)
		value = value[:at] + strings.TrimSpace(strings.TrimPrefix(value[comma:end], ",")) + value[min(end+1, len(value)):]
	}
	return value
}

// DarkCanvas is what lies behind a page of a dark scheme.
const DarkCanvas = "#121212"

// channels are the names of the parts of a colour in each function, by which a relative colour takes those of another.
// They stand in the order of the function's arguments. Those of hwb, lab and lch are not read.
var channels = map[string]string{
	"rgb": "r g b", "rgba": "r g b", "hsl": "h s l", "hsla": "h s l", "oklab": "l a b", "oklch": "l c h", "color": "r g b",
}

// relative reads a colour that is made of another (CSS Color 5, §4): of its channels, of others, or of computed ones.
// It is false for channels of a colour that is not known, unless next to nothing shows of them. name is the function,
// arguments is what stands behind "from". Channels are put in as numbers, and the result is read again as an ordinary
// colour.
func relative(name, arguments string, depth int) (c Colour, ok bool) {
	list := slices.Collect(words(strings.NewReplacer(",", " ", "/", " ").Replace(arguments)))
	space := ""
	if name == "color" && len(list) > 1 { // the space stands after the other colour
		space = list[1]
		list = slices.Delete(list, 1, 2)
	}
	if len(list) == 4 {
		list = append(list, "alpha")
	}
	if len(list) != 5 || channels[name] == "" {
		return c, false
	}
	base, known := parseColour(list[0], depth)
	if !known {
		base.A = 1
	}
	parts := partsIn(name, base)
	for i, one := range strings.Fields(channels[name]) {
		for j := 1; j < 4; j++ {
			value := spell(list[j], one, parts[i])
			ok, list[j] = ok || value != list[j], value
		}
	}
	known = known || !ok // no channel of the unknown colour is used
	list[4] = spell(list[4], "alpha", base.A)
	c, ok = parseColour(name+"("+space+" "+strings.Join(list[1:4], " ")+" / "+list[4]+")", depth)
	return c, ok && (known || c.A <= Faintest)
}

// spell puts a number in the place of the name of a channel in a colour that is made of another. A name within a longer
// name or before a parenthesis is left: the "r" of "round(" is no channel.
func spell(value, name string, n float64) string {
	number := strconv.FormatFloat(n, 'f', 6, 64)
	for i := 0; i+len(name) <= len(value); i++ {
		if !strings.HasPrefix(value[i:], name) || i > 0 && nameByte(value[i-1]) ||
			i+len(name) < len(value) && (nameByte(value[i+len(name)]) || value[i+len(name)] == '(') {
			continue
		}
		value = value[:i] + number + value[i+len(name):]
		i += len(number)
	}
	return value
}

// partsIn returns the parts of a colour as a function takes them: ofSpace the other way round. Hues are rounded to
// whole degrees, because ofSpace takes a small number with a fraction for radians. The matrix leads from linear sRGB to
// Oklab.
func partsIn(name string, c Colour) (p [3]float64) {
	switch name {
	case "rgb", "rgba":
		return [3]float64{c.R * 255, c.G * 255, c.B * 255}
	case "hsl", "hsla":
		most, least := max(c.R, c.G, c.B), min(c.R, c.G, c.B)
		hue, spread := 0.0, most-least
		switch {
		case spread == 0:
		case most == c.R:
			hue = 60 * (c.G - c.B) / spread
		case most == c.G:
			hue = 120 + 60*(c.B-c.R)/spread
		default:
			hue = 240 + 60*(c.R-c.G)/spread
		}
		hue = math.Round(math.Mod(hue+360, 360)) // a whole number, which is one of degrees
		saturation, light := 0.0, (most+least)/2
		if light > 0 && light < 1 {
			saturation = spread / (1 - math.Abs(2*light-1))
		}
		return [3]float64{hue, 100 * saturation, 100 * light}
	case "oklab", "oklch":
		r, g, b := linear(c.R), linear(c.G), linear(c.B)
		long := math.Cbrt(.4122214708*r + .5363325363*g + .0514459929*b)
		medium := math.Cbrt(.2119034982*r + .6806995451*g + .1073969566*b)
		short := math.Cbrt(.0883024619*r + .2817188376*g + .6299787005*b)
		p = [3]float64{
			.2104542553*long + .793617785*medium - .0040720468*short,
			1.9779984951*long - 2.428592205*medium + .4505937099*short,
			.0259040371*long + .7827717662*medium - .808675766*short,
		}
	default:
		return [3]float64{c.R, c.G, c.B}
	}
	if name == "oklch" {
		return [3]float64{p[0], math.Hypot(p[1], p[2]), math.Round(math.Atan2(p[2], p[1]) * 180 / math.Pi)}
	}
	return p
}

// Faintest is the share of a colour, or of an element's opacity, up to which nothing is seen of it. Opacity of text and
// transparency of colours are judged by the same bound.
const Faintest = .05

// cutSpace splits the name of a colour space, the first word in color(), from what follows it.
func cutSpace(s string) (space, rest string) {
	space, rest, _ = strings.Cut(strings.TrimSpace(s), " ")
	return space, rest
}

// ofSpace makes a colour of its parts. name is the function, space the first word of color(), p its four numbers and
// percent which of them were percentages. Parts beyond 0 and 1 are cut off, as screens do. ok is false for a space that
// is not known.
func ofSpace(name, space string, p [4]float64, percent [4]bool) (c Colour, ok bool) {
	scaled := func(i int, whole float64) float64 { // percentages are shares of whole
		if percent[i] {
			return p[i] * whole
		}
		return p[i]
	}
	shared := func(i int) float64 { // 50 and 50% are alike
		if percent[i] {
			return p[i]
		}
		return p[i] / 100
	}
	degrees := func(i int) float64 {
		if math.Abs(p[i]) <= 2*math.Pi && p[i] != math.Trunc(p[i]) {
			return p[i] // the unit has been read
		}
		return p[i] * math.Pi / 180
	}
	switch name {
	case "rgb", "rgba":
		c = Colour{R: scaled(0, 255) / 255, G: scaled(1, 255) / 255, B: scaled(2, 255) / 255}
	case "hsl", "hsla":
		c = ofHue(degrees(0), shared(1), shared(2))
	case "hwb":
		white, black := shared(1), shared(2)
		if white+black >= 1 {
			grey := white / (white + black)
			c = Colour{R: grey, G: grey, B: grey}
			break
		}
		c = ofHue(degrees(0), 1, .5)
		c.R, c.G, c.B = c.R*(1-white-black)+white, c.G*(1-white-black)+white, c.B*(1-white-black)+white
	case "oklab":
		c = ofOklab(scaled(0, 1), scaled(1, .4), scaled(2, .4))
	case "oklch":
		chroma, hue := scaled(1, .4), degrees(2)
		c = ofOklab(scaled(0, 1), chroma*math.Cos(hue), chroma*math.Sin(hue))
	case "lab":
		c = ofLab(scaled(0, 100), scaled(1, 125), scaled(2, 125))
	case "lch":
		chroma, hue := scaled(1, 150), degrees(2)
		c = ofLab(scaled(0, 100), chroma*math.Cos(hue), chroma*math.Sin(hue))
	case "color":
		c = Colour{R: p[0], G: p[1], B: p[2]}
		switch space {
		case "srgb-linear":
			c.R, c.G, c.B = unlinear(c.R), unlinear(c.G), unlinear(c.B)
		case "xyz", "xyz-d65":
			c = Colour{
				R: unlinear(3.2409699*p[0] - 1.5373832*p[1] - .4986108*p[2]),
				G: unlinear(-.9692436*p[0] + 1.8759675*p[1] + .0415551*p[2]),
				B: unlinear(.0556301*p[0] - .203977*p[1] + 1.0569715*p[2]),
			}
		case "srgb", "display-p3", "a98-rgb", "prophoto-rgb", "rec2020":
		default:
			return c, false
		}
	default:
		return c, false
	}
	c.A = p[3]
	for _, part := range []*float64{&c.R, &c.G, &c.B, &c.A} {
		*part = min(1, max(0, *part))
	}
	return c, true
}

// ofHue makes a colour of hue, saturation and lightness. hue is in radians; the others are from 0 to 1.
func ofHue(hue, saturation, lightness float64) Colour {
	turn := math.Mod(math.Mod(hue/(2*math.Pi), 1)+1, 1) * 12
	part := func(n float64) float64 {
		k := math.Mod(n+turn, 12)
		return lightness - saturation*min(lightness, 1-lightness)*max(-1, min(k-3, 9-k, 1))
	}
	return Colour{R: part(0), G: part(8), B: part(4)}
}

// ofOklab makes a colour of its parts in Oklab (CSS Color Level 4): lightness from 0 to 1, a and b around 0.
func ofOklab(l, a, b float64) Colour {
	cube := func(x, y float64) float64 { v := l + x*a + y*b; return v * v * v }
	long, medium, short := cube(.3963377774, .2158037573), cube(-.1055613458, -.0638541728),
		cube(-.0894841775, -1.291485548)
	return Colour{
		R: unlinear(4.0767416621*long - 3.3077115913*medium + .2309699292*short),
		G: unlinear(-1.2684380046*long + 2.6097574011*medium - .3413193965*short),
		B: unlinear(-.0041960863*long - .7034186147*medium + 1.707614701*short),
	}
}

// ofLab makes a colour of its parts in CIE Lab with the white D50 (CSS Color Level 4): lightness from 0 to 100, a and b
// around 0. The matrix leads from D50 straight to linear sRGB.
func ofLab(l, a, b float64) Colour {
	y := (l + 16) / 116
	cube := func(v float64) float64 {
		if v > 6.0/29 {
			return v * v * v
		}
		return 3 * 36.0 / 841 * (v - 4.0/29)
	}
	x, z := .9643*cube(y+a/500), .8251*cube(y-b/200)
	y = cube(y)
	return Colour{
		R: unlinear(3.1341359*x - 1.6172206*y - .4906634*z),
		G: unlinear(-.9787684*x + 1.9161415*y + .0334540*z),
		B: unlinear(.0719425*x - .2289914*y + 1.4052427*z),
	}
}

// mixed mixes two colours in equal parts or by their shares. arguments are those of color-mix(). Whatever space they
// are to be mixed in, they are mixed in sRGB, premultiplied by their alpha.
func mixed(arguments string, depth int) (c Colour, ok bool) {
	var all []Colour
	var shares []float64
	i := -1
	for one := range split(arguments, ",") {
		if i++; i == 0 && strings.HasPrefix(one, "in ") {
			continue
		}
		share := -1.0
		for word := range words(one) {
			if l, ok := ParseLength(word, 0); ok {
				share = l.Share
			} else if c, ok := parseColour(word, depth); ok {
				all = append(all, c)
			}
		}
		shares = append(shares, share)
	}
	if len(all) != 2 || len(shares) != 2 {
		return c, false
	}
	switch {
	case shares[0] < 0 && shares[1] < 0:
		shares[0] = .5
	case shares[0] < 0:
		shares[0] = 1 - shares[1]
	case shares[1] >= 0 && shares[0]+shares[1] > 0:
		shares[0] /= shares[0] + shares[1]
	}
	mix := func(a, b float64) float64 { return a*shares[0] + b*(1-shares[0]) }
	a := mix(all[0].A, all[1].A)
	if a == 0 {
		return Colour{}, true
	}
	premixed := func(x, y float64) float64 { return mix(x*all[0].A, y*all[1].A) / a }
	return Colour{premixed(all[0].R, all[1].R), premixed(all[0].G, all[1].G), premixed(all[0].B, all[1].B), a}, true
}

// hexColour reads the digits behind the # of a colour: three, four, six or eight, in lower case, those of the alpha
// last.
func hexColour(hex string) (c Colour, ok bool) {
	var digits [8]float64
	if len(hex) > 8 {
		return c, false
	}
	for i := range len(hex) {
		d := strings.IndexByte("0123456789abcdef", hex[i])
		if d < 0 {
			return c, false
		}
		digits[i] = float64(d)
	}
	switch len(hex) {
	case 3:
		return Colour{digits[0] / 15, digits[1] / 15, digits[2] / 15, 1}, true
	case 4:
		return Colour{digits[0] / 15, digits[1] / 15, digits[2] / 15, digits[3] / 15}, true
	case 6, 8:
		a := 1.0
		if len(hex) == 8 {
			a = (digits[6]*16 + digits[7]) / 255
		}
		return Colour{
			(digits[0]*16 + digits[1]) / 255, (digits[2]*16 + digits[3]) / 255, (digits[4]*16 + digits[5]) / 255, a,
		}, true
	}
	return c, false
}

// legacyColour reads a colour of an attribute, whose digits need no #. The attributes are bgcolor, text and color. What
// the HTML standard's rules for legacy colours make of other values is not known here.
func legacyColour(value string) string {
	value = strings.TrimSpace(value)
	if len(value) == 6 || len(value) == 3 {
		if _, ok := hexColour(strings.ToLower(value)); ok {
			return "#" + value
		}
	}
	return value
}
