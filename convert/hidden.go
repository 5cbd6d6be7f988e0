package convert

import (
	"context"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// removeHidden removes below n what a reader of the page does not see, and what is not text at all: scripts, forms' inputs,
// comments, invisible characters. It returns how many pieces of text were hidden by an attribute, a style or in characters
// nobody sees. Such text may carry orders to a language model, so it is counted, never removed in silence.
func removeHidden(ctx context.Context, body *html.Node) (count int) {
	total := 0
	tabs := map[string]bool{} // ids of the panels that a tab shows
	for d := range body.Descendants() {
		check(ctx)
		if d.Type == html.TextNode {
			total += len(d.Data)
		}
		if attr(d, "role") == "tab" {
			tabs[attr(d, "aria-controls")] = true
			tabs[strings.TrimPrefix(attr(d, "href"), "#")] = true
		}
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		check(ctx)
		for c := n.FirstChild; c != nil; {
			next := c.NextSibling
			switch {
			case c.Type == html.CommentNode || c.Type == html.DoctypeNode:
				n.RemoveChild(c)
			case c.Type == html.TextNode:
				clean, smuggled := visible(c.Data)
				c.Data = clean
				if smuggled {
					count++
				}
			case c.Type != html.ElementNode:
			case neverText[c.DataAtom] || c.Namespace == "svg":
				n.RemoveChild(c)
			case hidden(c) && !shownByTab(c, tabs) && !holdsMost(c, total):
				if !blank(plain(c)) {
					count++
				}
				n.RemoveChild(c)
			default:
				walk(c)
			}
			c = next
		}
	}
	walk(body)
	return count
}

// neverText holds the elements whose content is not the page's text.
var neverText = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Iframe: true, atom.Svg: true, atom.Button: true, atom.Input: true,
	atom.Select: true, atom.Datalist: true, atom.Textarea: true, atom.Object: true, atom.Embed: true, atom.Canvas: true, atom.Dialog: true, atom.Link: true, atom.Meta: true,
	atom.Base: true, atom.Title: true, atom.Noembed: true, atom.Noframes: true, atom.Audio: true, atom.Video: true, atom.Map: true, atom.Progress: true, atom.Meter: true,
}

func shownByTab(n *html.Node, tabs map[string]bool) bool {
	id := attr(n, "id")
	return id != "" && tabs[id] && attr(n, "role") == "tabpanel"
}

// holdsMost reports whether n holds more than 60 % of the page's text. Such an element is the page itself, waiting for a
// script to fade it in.
func holdsMost(n *html.Node, total int) bool {
	held := 0
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !neverText[d.Parent.DataAtom] {
			held += len(d.Data)
			if held*5 > total*3 {
				return true
			}
		}
	}
	return false
}

// hidden reports whether n is kept from readers by its own attributes or inline style. Rules of style sheets are not read.
func hidden(n *html.Node) bool {
	if v := attr(n, "hidden"); hasAttr(n, "hidden") && v != "until-found" && v != "false" {
		return true
	}
	if strings.EqualFold(attr(n, "aria-hidden"), "true") && !is(n, atom.Span, atom.Math, atom.Img, atom.A) {
		return true
	}
	style := attr(n, "style")
	return style != "" && hiddenByStyle(declarations(style))
}

// declarations reads an inline style: property to value, both lower-case; of two values for one property the last counts.
func declarations(style string) map[string]string {
	set := map[string]string{}
	for declaration := range strings.SplitSeq(style, ";") {
		name, value, ok := strings.Cut(declaration, ":")
		if ok {
			value = strings.ToLower(strings.TrimSpace(value))
			set[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(strings.TrimSuffix(value, "!important"))
		}
	}
	return set
}

func hiddenByStyle(style map[string]string) bool {
	if style["display"] == "none" {
		return true
	}
	if v := style["visibility"]; (v == "hidden" || v == "collapse") && style["animation-name"] == "" {
		return true
	}
	// A moved element that is transparent waits for its entrance: it is content.
	if n, _, ok := number(style["opacity"]); ok && n <= .05 && style["transform"] == "" && style["transition"] == "" && style["will-change"] == "" && style["animation"] == "" {
		return true
	}
	return tiny(style) || unpainted(style) || offScreen(style) || clipped(style)
}

func tiny(style map[string]string) bool {
	size := style["font-size"]
	if font := style["font"]; size == "" && font != "" {
		for part := range strings.FieldsSeq(font) {
			part, _, _ = strings.Cut(part, "/") // size/line-height
			if n, unit, ok := number(part); ok && unit != "" && n <= 1 {
				size = part
			}
		}
	}
	n, unit, ok := number(size)
	if !ok {
		return false
	}
	switch unit {
	case "", "px", "pt":
		return n <= 1
	case "em", "rem":
		return n <= .1
	case "%":
		return n <= 10
	}
	return false
}

// unpainted reports text that has no colour, or that of its own background.
func unpainted(style map[string]string) bool {
	color := colour(style["color"])
	if color == "" || strings.Contains(style["background-clip"]+style["-webkit-background-clip"], "text") {
		return false
	}
	background := style["background-color"]
	if background == "" {
		background = style["background"]
	}
	return color == "transparent" || color == colour(background)
}

// namedColours are those that pages hide text with.
var namedColours = map[string]string{
	"white": "ffffff", "black": "000000", "red": "ff0000", "green": "008000", "blue": "0000ff", "yellow": "ffff00", "gray": "808080", "grey": "808080", "silver": "c0c0c0",
	"whitesmoke": "f5f5f5", "snow": "fffafa", "ivory": "fffff0", "transparent": "transparent",
}

// colour returns a comparable form of a CSS colour: six hex digits, "transparent", or "" for what it cannot read.
func colour(value string) string {
	value = strings.TrimSpace(value)
	if c, ok := namedColours[value]; ok {
		return c
	}
	if hex, ok := strings.CutPrefix(value, "#"); ok {
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
			return colour("#" + hex[:len(hex)*3/4])
		case 3:
			return string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
		case 6:
			return hex
		}
		return ""
	}
	name, args, ok := strings.Cut(strings.TrimSuffix(value, ")"), "(")
	if !ok || !strings.HasPrefix(name, "rgb") && !strings.HasPrefix(name, "hsl") {
		return ""
	}
	parts := strings.FieldsFunc(args, func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
	if len(parts) == 4 {
		if alpha, _, ok := number(parts[3]); ok && alpha <= .02 {
			return "transparent"
		}
	}
	if len(parts) < 3 || !strings.HasPrefix(name, "rgb") {
		return ""
	}
	var digits strings.Builder
	for _, p := range parts[:3] {
		n, _, ok := number(p)
		if !ok || n < 0 || n > 255 {
			return ""
		}
		digits.WriteString(strconv.FormatInt(256+int64(n), 16)[1:])
	}
	return digits.String()
}

// offScreen reports an element moved out of every window.
func offScreen(style map[string]string) bool {
	far := func(value string) bool {
		n, unit, ok := number(value)
		if !ok {
			return false
		}
		switch unit {
		case "em", "rem", "vw", "vh", "%":
			return n <= -90 || n >= 900
		}
		return n <= -900 || n >= 9000
	}
	if position := style["position"]; position == "absolute" || position == "fixed" || position == "relative" {
		if far(style["left"]) || far(style["top"]) || far(style["right"]) || far(style["bottom"]) {
			return true
		}
	}
	if far(style["text-indent"]) || far(style["margin-left"]) || far(style["margin-top"]) {
		return true
	}
	if args, ok := strings.CutPrefix(style["transform"], "translate"); ok {
		for part := range strings.FieldsFuncSeq(args, func(r rune) bool { return strings.ContainsRune("xyXY3d(), ", r) }) {
			if far(part) {
				return true
			}
		}
	}
	return strings.HasPrefix(style["transform"], "scale(0)")
}

// clipped reports an element of which nothing is left to see.
func clipped(style map[string]string) bool {
	if path := style["clip-path"]; path != "" {
		if args, ok := strings.CutPrefix(path, "inset("); ok {
			if n, unit, ok := number(strings.TrimSuffix(firstField(args), ")")); ok && unit == "%" && n >= 50 {
				return true
			}
		}
		if args, ok := strings.CutPrefix(path, "circle("); ok {
			if n, _, ok := number(strings.TrimSuffix(firstField(args), ")")); ok && n == 0 {
				return true
			}
		}
	}
	if rect, ok := strings.CutPrefix(style["clip"], "rect("); ok {
		visible := false
		for part := range strings.FieldsFuncSeq(rect, func(r rune) bool { return r == ',' || r == ' ' || r == ')' }) {
			if n, _, ok := number(part); !ok || n > 1 {
				visible = true
			}
		}
		if !visible {
			return true
		}
	}
	small := func(value string) bool { n, _, ok := number(value); return ok && n <= 1 }
	return strings.HasPrefix(style["overflow"], "hidden") && small(style["width"]) && small(style["height"])
}

// number reads a CSS number with its unit.
func number(value string) (n float64, unit string, ok bool) {
	end := 0
	for end < len(value) && (value[end] >= '0' && value[end] <= '9' || value[end] == '.' || end == 0 && (value[end] == '-' || value[end] == '+')) {
		end++
	}
	n, err := strconv.ParseFloat(value[:end], 64)
	return n, value[end:], err == nil
}

func firstField(s string) string {
	for field := range strings.FieldsSeq(s) {
		return field
	}
	return ""
}
