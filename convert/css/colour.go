package css

import (
	"strconv"
	"strings"
)

// Backdrop returns what lies behind text in an element with this background, where behind is what lies behind the
// element.
func Backdrop(value, behind string) string {
	switch value {
	case "none", "transparent", "inherit", "initial", "unset":
		return behind
	}
	if strings.Contains(value, "url(") || strings.Contains(value, "gradient(") {
		return ""
	}
	if c := Colour(value); c == "transparent" {
		return behind
	} else if c != "" {
		return c
	}
	for part := range strings.FieldsSeq(value) {
		if c := Colour(part); c != "" && c != "transparent" {
			return c
		}
	}
	return ""
}

// Alike reports whether two colours cannot be told apart: no part of one differs by more than 8 of 255 from the
// other's.
func Alike(a, b string) bool {
	if len(a) != 6 || len(b) != 6 {
		return false
	}
	for i := 0; i < 6; i += 2 {
		x, _ := strconv.ParseUint(a[i:i+2], 16, 8)
		y, _ := strconv.ParseUint(b[i:i+2], 16, 8)
		if x > y+8 || y > x+8 {
			return false
		}
	}
	return true
}

// namedColours are those that pages hide text with.
var namedColours = map[string]string{
	"white": "ffffff", "black": "000000", "red": "ff0000", "green": "008000", "blue": "0000ff", "yellow": "ffff00",
	"gray": "808080", "grey": "808080", "silver": "c0c0c0",
	"whitesmoke": "f5f5f5", "snow": "fffafa", "ivory": "fffff0", "transparent": "transparent", "navy": "000080",
	"orange": "ffa500", "purple": "800080", "lightgray": "d3d3d3",
	"lightgrey": "d3d3d3", "darkgray": "a9a9a9", "darkgrey": "a9a9a9", "floralwhite": "fffaf0", "ghostwhite": "f8f8ff",
	"azure": "f0ffff", "beige": "f5f5dc", "gainsboro": "dcdcdc",
}

// Colour returns a comparable form of a CSS colour: six hex digits, "transparent", or "" for what it cannot read.
func Colour(value string) string {
	value = strings.TrimSpace(value)
	if c, ok := namedColours[value]; ok {
		return c
	}
	if hex, ok := strings.CutPrefix(value, "#"); ok {
		return hexColour(hex)
	}
	name, args, ok := strings.Cut(strings.TrimSuffix(value, ")"), "(")
	if !ok || !strings.HasPrefix(name, "rgb") && !strings.HasPrefix(name, "hsl") {
		return ""
	}
	parts := strings.FieldsFunc(args, func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
	if len(parts) == 4 {
		if alpha, unit, ok := Number(parts[3]); ok && (alpha <= .02 || unit == "%" && alpha <= 2) {
			return "transparent"
		} else if !ok || alpha < .9 && unit != "%" {
			return "" // a mixture with what lies behind
		}
	}
	if len(parts) < 3 {
		return ""
	}
	if strings.HasPrefix(name, "hsl") {
		return hsl(parts)
	}
	var digits strings.Builder
	for _, p := range parts[:3] {
		n, unit, ok := Number(p)
		if unit == "%" {
			n *= 2.55
		}
		if !ok || n < 0 || n > 255 {
			return ""
		}
		digits.WriteString(strconv.FormatInt(256+int64(n+.5), 16)[1:])
	}
	return digits.String()
}

func hexColour(hex string) string {
	for _, r := range hex {
		if !strings.ContainsRune("0123456789abcdef", r) {
			return ""
		}
	}
	switch len(hex) {
	case 4, 8:
		if strings.Trim(hex[len(hex)*3/4:], "0") == "" {
			return "transparent"
		}
		return hexColour(hex[:len(hex)*3/4])
	case 3:
		return string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	case 6:
		return hex
	}
	return ""
}

// hsl reads hue, saturation and lightness where the colour is a grey or nearly so; other hues are not told apart.
func hsl(parts []string) string {
	saturation, _, ok := Number(parts[1])
	lightness, _, ok2 := Number(parts[2])
	if !ok || !ok2 || lightness < 0 || lightness > 100 || saturation > 3 && lightness > 1 && lightness < 99 {
		return ""
	}
	return strings.Repeat(strconv.FormatInt(256+int64(lightness*2.55+.5), 16)[1:], 3)
}
