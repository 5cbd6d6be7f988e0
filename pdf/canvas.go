package pdf

import (
	"math"
	"strings"
	"unicode/utf8"
)

// state is the part of the graphics state that places text (§8.4, §9.3).
type state struct {
	ctm                  matrix
	font                 *font
	size                 float64
	charSpace, wordSpace float64
	scale, rise, leading float64
	mode                 int
}

// canvas draws a page's operators and keeps the glyphs.
type canvas struct {
	f         *File
	page      *Page
	invisible []Glyph // drawn in mode 3: the text behind a scanned page
}

// actual is marked content whose text the file states (§14.9.4), or which is no content (§14.8.2.2).
type actual struct {
	text    string
	stated  bool
	skip    bool // an artefact of pagination
	written bool
}

// finish decides about text that is not painted. Behind a picture it is what the picture shows; elsewhere nobody sees
// it.
func (c *canvas) finish() {
	if len(c.page.Glyphs) == 0 || c.page.Images > 0 {
		if len(c.invisible) > len(c.page.Glyphs) || len(c.page.Glyphs) == 0 {
			c.page.Glyphs = append(c.page.Glyphs, c.invisible...)
			return
		}
	}
	c.page.Hidden += len(c.invisible)
}

// links reads the annotations of a page that lead to a URL (§12.5.6.5).
func (c *canvas) links(v any, base matrix) {
	r := c.f.r
	list, _ := r.resolve(v).([]any)
	for _, item := range list {
		r.step()
		a := r.dict(item)
		if r.name(a["Subtype"]) != "Link" || len(c.page.Links) >= 2000 {
			continue
		}
		uri, _ := r.resolve(r.dict(a["A"])["URI"]).(string)
		if uri == "" || len(uri) > 4<<10 || !utf8.ValidString(uri) {
			continue
		}
		box := r.box(a["Rect"])
		x0, y0 := base.apply(box[0], box[1])
		x1, y1 := base.apply(box[2], box[3])
		c.page.Links = append(c.page.Links, Link{
			uri, float32(min(x0, x1)), float32(min(y0, y1)), float32(max(x0, x1)),
			float32(max(y0, y1)),
		})
	}
}

// run executes a content stream.
func (c *canvas) run(content []byte, resources dict, base matrix, depth int) {
	r := c.f.r
	l := lexer{b: content}
	g := state{ctm: base, scale: 1}
	var saved []state
	var tm, tlm matrix
	var args []any
	var marks []actual
	fonts, objects, properties := r.dict(resources["Font"]), r.dict(resources["XObject"]), r.dict(resources["Properties"])
	num := func(i int) float64 {
		if i < len(args) {
			n, _ := args[i].(float64)
			return n
		}
		return 0
	}
	newLine := func(x, y float64) {
		tlm = matrix{1, 0, 0, 1, x, y}.then(tlm)
		tm = tlm
	}
	show := func(v any) {
		if s, ok := v.(string); ok {
			c.show(s, &g, &tm, marks)
		}
	}
	for {
		r.step()
		v, ok := l.next()
		if !ok {
			return
		}
		op, isWord := v.(word)
		if !isWord {
			if args = append(args, v); len(args) > 512 {
				args = args[256:]
			}
			continue
		}
		switch op {
		case "q":
			if len(saved) < 512 {
				saved = append(saved, g)
			}
		case "Q":
			if n := len(saved); n > 0 {
				g, saved = saved[n-1], saved[:n-1]
			}
		case "cm":
			if m := (matrix{num(0), num(1), num(2), num(3), num(4), num(5)}.then(g.ctm)); m.finite() {
				g.ctm = m
			}
		case "BT":
			tm, tlm = matrix{1, 0, 0, 1, 0, 0}, matrix{1, 0, 0, 1, 0, 0}
		case "Tm":
			if m := (matrix{num(0), num(1), num(2), num(3), num(4), num(5)}); m.finite() {
				tm, tlm = m, m
			}
		case "Td":
			newLine(num(0), num(1))
		case "TD":
			g.leading = -num(1)
			newLine(num(0), num(1))
		case "T*":
			newLine(0, -g.leading)
		case "TL":
			g.leading = num(0)
		case "Tc":
			g.charSpace = num(0)
		case "Tw":
			g.wordSpace = num(0)
		case "Tz":
			g.scale = num(0) / 100
		case "Ts":
			g.rise = num(0)
		case "Tr":
			g.mode = int(num(0))
		case "Tf":
			if len(args) >= 2 {
				n, _ := args[0].(name)
				if v, ok := fonts[n]; ok {
					g.font = c.f.font(v)
				}
				g.size = num(1)
			}
		case "gs":
			if len(args) > 0 {
				n, _ := args[0].(name)
				if list, ok := r.resolve(r.dict(r.dict(resources["ExtGState"])[n])["Font"]).([]any); ok && len(list) == 2 {
					g.font, g.size = c.f.font(list[0]), r.number(list[1])
				}
			}
		case "Tj":
			if len(args) > 0 {
				show(args[0])
			}
		case "'":
			newLine(0, -g.leading)
			if len(args) > 0 {
				show(args[0])
			}
		case "\"":
			g.wordSpace, g.charSpace = num(0), num(1)
			newLine(0, -g.leading)
			if len(args) > 2 {
				show(args[2])
			}
		case "TJ":
			if len(args) > 0 {
				list, _ := args[0].([]any)
				for _, item := range list {
					if n, ok := item.(float64); ok {
						c.move(&g, &tm, -n/1000*g.size)
						continue
					}
					show(item)
				}
			}
		case "BDC", "BMC":
			var m actual
			if len(args) > 0 {
				tag, _ := args[0].(name)
				var p dict
				if len(args) > 1 {
					if p, ok = args[1].(dict); !ok {
						n, _ := args[1].(name)
						p = r.dict(properties[n])
					}
				}
				if text, ok := r.resolve(p["ActualText"]).(string); ok && len(text) <= maxActual {
					m.text, m.stated = r.text(text), true
				}
				m.skip = tag == "Artifact" && r.name(p["Type"]) == "Pagination"
			}
			if len(marks) < 256 {
				marks = append(marks, m)
			}
		case "EMC":
			if n := len(marks); n > 0 {
				marks = marks[:n-1]
			}
		case "Do":
			if len(args) > 0 {
				n, _ := args[0].(name)
				c.object(objects[n], resources, g.ctm, depth)
			}
		case "BI":
			c.page.Images++
			l.at = afterImage(content, l.at)
			r.spend(maxImageEntries / stepBytes)
		}
		args = args[:0]
	}
}

// object draws a form, or counts a picture.
func (c *canvas) object(v any, resources dict, ctm matrix, depth int) {
	r := c.f.r
	s, ok := r.resolve(v).(*stream)
	if !ok {
		return
	}
	if r.name(s.dict["Subtype"]) != "Form" {
		c.page.Images++
		return
	}
	if depth >= maxForms {
		c.f.cut = true
		return
	}
	if m, ok := r.resolve(s.dict["Matrix"]).([]any); ok && len(m) == 6 {
		own := matrix{r.number(m[0]), r.number(m[1]), r.number(m[2]), r.number(m[3]), r.number(m[4]), r.number(m[5])}
		if own = own.then(ctm); own.finite() {
			ctm = own
		}
	}
	if own := r.dict(s.dict["Resources"]); own != nil {
		resources = own
	}
	c.run(r.decode(s), resources, ctm, depth+1)
}

// move shifts the place of the next glyph along the line, by unscaled units of text space.
func (c *canvas) move(g *state, tm *matrix, by float64) {
	if g.font != nil && g.font.vertical {
		*tm = matrix{1, 0, 0, 1, 0, by}.then(*tm)
		return
	}
	*tm = matrix{1, 0, 0, 1, by * g.scale, 0}.then(*tm)
}

// show draws one string.
func (c *canvas) show(s string, g *state, tm *matrix, marks []actual) {
	if g.font == nil || g.size == 0 {
		return
	}
	p := c.page
	g.font.chars(s, func(ch char) {
		c.f.r.step()
		width := ch.width * g.size
		m := matrix{g.size * g.scale, 0, 0, g.size, 0, g.rise}.then(*tm).then(g.ctm)
		text := ch.text
		for i := range marks {
			if marks[i].skip {
				text = ""
			} else if marks[i].stated {
				if text = marks[i].text; marks[i].written {
					text = ""
				}
				marks[i].written = true
			}
		}
		if text != "" && m.finite() {
			c.add(text, m, ch.width, g)
		}
		advance := width + g.charSpace
		if ch.size == 1 && ch.code == ' ' {
			advance += g.wordSpace
		}
		if g.font.vertical {
			*tm = matrix{1, 0, 0, 1, 0, -g.size + g.charSpace}.then(*tm)
			return
		}
		*tm = matrix{1, 0, 0, 1, advance * g.scale, 0}.then(*tm)
	})
	if len(p.Glyphs)+len(c.invisible) > maxGlyphs {
		c.f.cut = true
		panic(halt{})
	}
}

// add keeps a glyph whose baseline and size m gives, if a reader can see it.
func (c *canvas) add(text string, m matrix, width float64, g *state) {
	p := c.page
	size := math.Hypot(m[2], m[3])
	x, y := m[4], m[5]
	if strings.TrimSpace(text) != "" && (size < 1 || x < -size || y < -size || x > p.Width+size || y > p.Height+size) {
		p.Hidden++
		return
	}
	w := width * math.Hypot(m[0], m[1])
	glyph := Glyph{Text: text, W: float32(w), Size: float32(size), Style: g.font.style}
	switch a, b := m[0], m[1]; { // how the baseline runs
	case math.Abs(a) >= math.Abs(b) && a >= 0:
	case math.Abs(a) < math.Abs(b) && b > 0:
		glyph.Turn = 1
		x, y = y, p.Width-x
	case math.Abs(a) >= math.Abs(b):
		glyph.Turn = 2
		x, y = p.Width-x, p.Height-y
	default:
		glyph.Turn = 3
		x, y = p.Height-y, x
	}
	glyph.X, glyph.Y = float32(x), float32(y)
	if g.mode == 3 || g.mode == 7 {
		c.invisible = append(c.invisible, glyph)
		return
	}
	p.Glyphs = append(p.Glyphs, glyph)
}

// maxImageEntries is within how many bytes the data of a picture in the content begin: its entries are few.
const maxImageEntries = 1 << 10

// afterImage returns where the operators go on after a picture in the content itself: behind the word EI that stands
// alone.
func afterImage(b []byte, at int) int {
	for i := at; i+2 < min(len(b), at+maxImageEntries); i++ {
		if b[i] == 'I' && b[i+1] == 'D' && classes[b[i+2]] == space {
			at = i + 3
			break
		}
	}
	for i := at; i+1 < len(b); i++ {
		if b[i] == 'E' && b[i+1] == 'I' && (i == 0 || classes[b[i-1]] == space) &&
			(i+2 >= len(b) || classes[b[i+2]] == space) {
			rest := lexer{b: b[:min(len(b), i+40)], at: i + 2}
			if v, ok := rest.next(); ok {
				if w, isWord := v.(word); isWord && !plainWord(string(w)) {
					continue // bytes of the picture that look so
				}
			}
			return i + 2
		}
	}
	return len(b)
}

// plainWord reports whether w can be an operator.
func plainWord(w string) bool {
	if len(w) > 3 {
		return false
	}
	for _, c := range []byte(w) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && c != '*' && c != '\'' && c != '"' && c != '0' && c != '1' {
			return false
		}
	}
	return true
}
