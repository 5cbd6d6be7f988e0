package convert

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"html"
	"slices"
	"strconv"
	"strings"

	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/formats"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/convert/mdwrite"
	"github.com/readthru/readthru/convert/xmlread"
)

// undrawn are elements of a drawing whose content is drawn elsewhere, or never. Text in them is not seen in its place.
var undrawn = map[string]bool{
	"defs": true, "symbol": true, "clipPath": true, "mask": true, "pattern": true, "marker": true, "metadata": true,
	"script": true, "foreignObject": true, "filter": true, "linearGradient": true, "radialGradient": true,
}

// A drawing is an SVG that is being read. Its text is written as HTML, whose cleaner knows what nobody sees. Elements
// of SVG become elements that HTML does not know, with the same styles.
type drawing struct {
	title, description string
	width, height      string
	box                [4]float64 // what of its plane is drawn: x, y, width, height; of no width: not known
	moved              bool       // an element has a transformation, so that places are not known

	out    strings.Builder
	open   []string // elements around that out has; empty for those it has not
	field  string   // title, desc, text or style
	undone int      // elements around that are not drawn
	drawn  int      // svg elements around
}

// svg describes a picture by its title, description and the text that is seen. A title and a description count wherever
// they stand. Text is kept up to maxPictureText.
func (d *Document) svg(ctx context.Context, text string) {
	var p drawing
	// Titles and descriptions are texts of the drawing itself; text elements go through the cleaner, as styles may hide
	// them.
	texts := 0
	dec := xmlread.NewDecoder(strings.NewReader(text))
	for {
		guard.Check(ctx)
		token, err := dec.RawToken()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			p.start(t)
		case xml.EndElement:
			p.end()
		case xml.CharData:
			if p.field == "style" {
				p.out.WriteString("<style>" + strings.ReplaceAll(string(t), "<", " ") + "</style>")
				continue
			}
			s := chars.OneLine(string(t))
			if s == "" || p.undone > 0 && p.field != "desc" && p.field != "title" {
				continue
			}
			switch p.field {
			case "title":
				p.title = join(p.title, visible(s))
			case "desc":
				p.description = join(p.description, visible(s))
			case "text":
				if texts += len(s); texts < maxPictureText {
					p.out.WriteString(html.EscapeString(s) + " ")
				}
			}
		}
	}
	var b strings.Builder
	what := "SVG image"
	if pixels(p.width) && pixels(p.height) {
		what += ", " + strings.TrimSuffix(p.width, "px") + " × " + strings.TrimSuffix(p.height, "px") + " pixels"
	}
	d.say(&b, what, len(text))
	d.head.Title = chars.Clip(p.title)
	for _, part := range []string{p.title, p.description, d.seenIn(ctx, p.out.String())} {
		if part != "" {
			b.WriteString("\n\n")
			b.WriteString(mdwrite.Escaped(part, true, '\n'))
		}
	}
	if texts >= maxPictureText {
		d.warnings = append(d.warnings, WarnTooLarge)
	}
	d.ready = b.String()
}

// seenIn returns the text of a drawing, an SVG, that is seen, and reports the rest. markup is what drawing has written.
func (d *Document) seenIn(ctx context.Context, markup string) string {
	root, _, err := dom.Parse(ctx, []byte("<!doctype html><body>"+markup))
	guard.Check(ctx)
	body := dom.Find(root, func(n *xhtml.Node) bool { return dom.Is(n, atom.Body) })
	if err != nil || body == nil {
		return ""
	}
	w := hidden.NewFinal(root)
	w.Clean(ctx, body)
	d.reportHidden(w.Report())
	return chars.OneLine(visible(dom.Text(body)))
}

// visible returns a text of an SVG without invisible characters.
func visible(s string) string {
	s, _ = chars.Visible(s)
	return s
}

// start takes a start tag of a drawing, an SVG. Elements that may hold text are written as HTML, with their styles,
// class and id; of others only what they do to text is noted.
func (p *drawing) start(t xml.StartElement) {
	name := t.Name.Local
	p.moved = p.moved || xmlread.Attr(t, "transform") != ""
	written := ""
	switch name {
	case "svg":
		if p.drawn++; p.drawn == 1 {
			p.frame(t)
		} else {
			p.moved = true // it has a plane of its own
		}
		written = "x-svg"
	case "g", "tspan", "textPath", "switch":
		written = name
	case "a":
		written = "x-a"
	case "title", "desc", "style":
		p.field = name
	case "text":
		p.field, written = name, name
	}
	if undrawn[name] {
		p.undone++
	}
	if p.undone > 0 {
		written = ""
	}
	if written != "" {
		p.out.WriteString("<" + written + ` style="` + html.EscapeString(p.style(t)) + `"`)
		for _, key := range []string{"class", "id"} {
			if v := xmlread.Attr(t, key); v != "" {
				p.out.WriteString(" " + key + `="` + html.EscapeString(v) + `"`)
			}
		}
		p.out.WriteString(">")
	}
	p.open = append(p.open, cmp.Or(written, "/"+name))
}

// end takes an end tag of a drawing, an SVG: it closes what start has opened last.
func (p *drawing) end() {
	if len(p.open) == 0 {
		return
	}
	name, unwritten := strings.CutPrefix(p.open[len(p.open)-1], "/")
	p.open = p.open[:len(p.open)-1]
	if unwritten {
		if undrawn[name] {
			p.undone--
		}
	} else {
		p.out.WriteString("</" + name + ">")
	}
	switch name {
	case "x-svg", "svg":
		p.drawn--
	case "title", "desc", "style", "text":
		p.field = ""
		if slices.Contains(p.open, "text") {
			p.field = "text"
		}
	}
}

// frame reads the size of a drawing, an SVG, and what of its plane it shows. Without a viewBox that is its width and
// height in pixels.
func (p *drawing) frame(t xml.StartElement) {
	p.width, p.height = xmlread.Attr(t, "width"), xmlread.Attr(t, "height")
	view := strings.FieldsFunc(xmlread.Attr(t, "viewBox"), func(r rune) bool { return r == ' ' || r == ',' })
	if len(view) != 4 && pixels(p.width) && pixels(p.height) {
		view = []string{"0", "0", strings.TrimSuffix(p.width, "px"), strings.TrimSuffix(p.height, "px")}
	}
	for i, v := range view {
		n, err := strconv.ParseFloat(v, 64)
		if len(view) != 4 || err != nil {
			p.box = [4]float64{}
			return
		}
		p.box[i] = n
	}
}

// style returns how an element of an SVG is drawn, in properties of text of HTML. Attributes of SVG go before the style
// attribute, which overrides them.
func (p *drawing) style(t xml.StartElement) string {
	stated := css.Declarations(xmlread.Attr(t, "style"))
	of := func(name string) string { return cmp.Or(stated.Get(name), strings.TrimSpace(xmlread.Attr(t, name))) }
	var b strings.Builder
	for _, name := range []string{"display", "visibility", "opacity"} {
		if v := xmlread.Attr(t, name); v != "" {
			b.WriteString(name + ":" + v + ";")
		}
	}
	if v := xmlread.Attr(t, "font-size"); v != "" {
		if _, err := strconv.ParseFloat(v, 64); err == nil {
			v += "px"
		}
		b.WriteString("font-size:" + v + ";")
	}
	alpha, err := strconv.ParseFloat(of("fill-opacity"), 64)
	unfilled := of("fill") == "none" || of("fill") == "transparent" || err == nil && alpha < .05
	switch outlined := of("stroke") != "" && of("stroke") != "none"; {
	case unfilled && !outlined:
		b.WriteString("color:transparent;")
	case of("fill") != "" || outlined:
		b.WriteString("color:black;") // or another: what is behind it is not known
	}
	if t.Name.Local == "text" && p.outside(t) {
		b.WriteString("display:none;")
	}
	return b.String() + xmlread.Attr(t, "style")
}

// outside reports whether a text of an SVG begins where nothing of it is seen. Far to the left is not enough, as long
// text may reach in from there.
func (p *drawing) outside(t xml.StartElement) bool {
	x, errX := strconv.ParseFloat(xmlread.Attr(t, "x"), 64)
	y, errY := strconv.ParseFloat(xmlread.Attr(t, "y"), 64)
	if p.moved || p.box[2] <= 0 || p.box[3] <= 0 {
		return false
	}
	left, top, right, bottom := p.box[0], p.box[1], p.box[0]+p.box[2], p.box[1]+p.box[3]
	return errX == nil && (x > right || x < left-100*p.box[2]) || errY == nil && (y < top || y > bottom+p.box[3])
}

// maxPictureText is the number of bytes of the text in a picture that are kept.
const maxPictureText = 64 << 10

// join joins two texts of a drawing by a space.
func join(a, b string) string { return strings.TrimSpace(a + " " + b) }

// pixels reports whether a size of an SVG is a number of pixels.
func pixels(s string) bool {
	s = strings.TrimSuffix(s, "px")
	return s != "" && len(s) < 10 && strings.Trim(s, "0123456789.") == ""
}

// svg reports whether content is a picture in SVG. The tag must stand in the first 4 KiB.
func svg(content []byte) bool {
	head := content[:min(len(content), 4<<10)]
	return !formats.NoText(head) && bytes.Contains(head, []byte("<svg"))
}
