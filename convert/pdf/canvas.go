package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// state is the part of the graphics state that places text (§8.4, §9.3). It is copied for each q, and for each form.
// Colours, clipping and transparency are in it as far as they tell what is seen (visible.go).
type state struct {
	ctm                  matrix
	font                 *font
	size                 float64
	charSpace, wordSpace float64
	scale, rise, leading float64
	mode                 int

	fill, stroke           paint
	fillSpace, strokeSpace colorSpace
	alpha                  float64 // of fills
	line                   float64 // width of lines
	blended, masked        bool    // with what is below; by a mask
	clip                   rect
}

// canvas draws the operators of a page and its forms, and keeps the glyphs that a reader sees in page. It paints
// nothing: it only notes what was painted where.
type canvas struct {
	f         *File
	page      *Page
	invisible []Glyph // drawn in mode 3, or below a picture: the text of a scanned page
	seen      seen
	after     [2]float64 // where the last glyph ends that nobody sees
	added     int        // glyphs that were kept at first
	off       int        // groups of optional content around that are not shown

	// operators is the variable of that name. run does not read it itself: Do runs a form, and Go refuses a table whose
	// functions refer to the table.
	operators map[word]func(*interpreter)
}

// markedContent is a stretch of content that has an ActualText (§14.9.4), or that is a page header or footer
// (§14.8.2.2). Glyphs within one that states a text are replaced by that text, which stands at the first of them.
type markedContent struct {
	text    string
	stated  bool
	skip    bool // an artefact of pagination
	off     bool // of a group of optional content that is not shown
	written bool
	own     []byte // what its glyphs say
	glyphs  int
	at      int // index of the glyph that has text
}

// finish decides whether text that is not painted is kept. Behind a picture of the page, as scanners write it, it is
// the text of the picture; elsewhere it cannot be seen. read calls it at the end of every page, also of one that a
// limit has cut. Pages whose letters were turned into outlines count as pictures, if nothing else is written on them.
func (c *canvas) finish() {
	outlined := len(c.page.Glyphs) == 0 && c.seen.curves > len(c.invisible) // letters that are drawings
	if pictured := c.seen.pictures > covers*c.page.Width*c.page.Height; (pictured || outlined) &&
		len(c.invisible) > len(c.page.Glyphs) {
		c.page.Glyphs = append(c.page.Glyphs, c.invisible...)
		return
	}
	for i := range c.invisible {
		c.hideGlyph(&c.invisible[i])
	}
}

// The flags of an annotation that no viewer shows on a screen (§12.5.3).
const unshown = 1<<1 | 1<<5

// The limits of the annotations of a page: how many are read, of links and of others, and bytes of a text.
const (
	maxNotes = 2000
	maxNote  = 4 << 10
)

// annotations reads those of a page: links that lead to a URL (§12.5.6.5), and the texts and values of others. base is
// the matrix of the page, by which the areas of links are turned with it. There are maxNotes of either at most;
// addresses that are longer than 4 KiB, or no UTF-8, are left out.
func (c *canvas) annotations(v any, base matrix) {
	r := c.f.r
	list, _ := r.resolve(v).([]any)
	for _, item := range list {
		r.step()
		a := r.dict(item)
		if r.name(a["Subtype"]) != "Link" {
			c.note(a)
			continue
		}
		if len(c.page.Links) >= maxNotes {
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

// note notes the text of an annotation, and the value of a field of a form that is not shown. Values that are shown are
// what somebody filled in.
func (c *canvas) note(a dict) {
	r := c.f.r
	hidden := int(r.number(a["F"]))&unshown != 0
	if c.drawn(a) != nil { // on the page
		return
	}
	values := []any{a["Contents"]}
	if hidden {
		values = append(values, a["V"], r.dict(a["Parent"])["V"])
	}
	for _, v := range values {
		if text := r.text(v); text != "" && len(c.page.Notes) < maxNotes {
			c.page.Notes = append(c.page.Notes, Note{strings.ToValidUTF8(text[:min(len(text), maxNote)], ""), hidden})
		}
	}
}

// appearances draws, over the page, the fields of forms and the texts that somebody set on it (§12.5.5), with what they
// hold. Other annotations mark text or stand beside it. g is the state in which the page is drawn.
func (c *canvas) appearances(v any, g state) {
	r := c.f.r
	list, _ := r.resolve(v).([]any)
	for _, item := range list[:min(len(list), maxNotes)] {
		r.step()
		a := r.dict(item)
		s := c.drawn(a)
		if s == nil {
			continue
		}
		// The box of the form, as its own matrix turns it, fills the place of the annotation.
		b, place := r.box(s.dict["BBox"]), r.box(a["Rect"])
		turned := unitSquare(matrix{b[2] - b[0], 0, 0, b[3] - b[1], b[0], b[1]}.then(r.matrix(s.dict)))
		wide, high := (place[2]-place[0])/(turned.x1-turned.x0), (place[3]-place[1])/(turned.y1-turned.y0)
		own := g
		own.ctm = matrix{wide, 0, 0, high, place[0] - turned.x0*wide, place[1] - turned.y0*high}.then(g.ctm)
		if own.ctm.finite() {
			before := c.added
			c.object(s, nil, own, 0)
			c.place(c.added - before)
		}
	}
}

// place puts the last n glyphs of the page, which fill in a field, behind the one that stands left of them on their
// line, which is mostly its label: pages are read in the order in which they are drawn.
func (c *canvas) place(n int) {
	all := c.page.Glyphs
	from, label := max(len(all)-n, 0), -1
	if from == len(all) {
		return
	}
	c.f.r.spend(1 + len(all)/64)
	first := all[from]
	for i, g := range all[:from] {
		if g.Turn == first.Turn && g.X < first.X && max(g.Y-first.Y, first.Y-g.Y) < first.Size/2 &&
			(label < 0 || g.X >= all[label].X) {
			label = i
		}
	}
	if label >= 0 {
		value := slices.Clone(all[from:])
		copy(all[label+1+len(value):], all[label+1:from])
		copy(all[label+1:], value)
	}
}

// drawn returns the form that viewers draw for an annotation that is a field or a text on the page; nil for others.
// Buttons (§12.7.4.2.2) are no fields that somebody fills in.
func (c *canvas) drawn(a dict) *stream {
	const button = 1 << 16
	r := c.f.r
	for _, field := range []dict{a, r.dict(a["Parent"])} {
		if r.name(field["FT"]) == "Btn" && int(r.number(field["Ff"]))&button != 0 {
			return nil
		}
	}
	look := r.resolve(r.dict(a["AP"])["N"])
	if states, ok := look.(dict); ok {
		look = r.resolve(states[r.name(a["AS"])])
	}
	s, ok := look.(*stream)
	if kind := r.name(a["Subtype"]); !ok || kind != "Widget" && kind != "FreeText" ||
		r.name(s.dict["Subtype"]) != "Form" || int(r.number(a["F"]))&unshown != 0 {
		return nil
	}
	return s
}

// run executes a content stream, which begins with the state g. resources are the dictionary in which it finds fonts
// and objects by name, depth the forms around it. Operands are gathered until an operator comes; those that pile up
// without one are dropped. What is off by marked content within the stream is on again behind it.
func (c *canvas) run(content []byte, resources dict, g state, depth int) {
	r := c.f.r
	e := &interpreter{
		c: c, lexer: lexer{b: content}, depth: depth, resources: resources, fonts: r.dict(resources["Font"]),
		objects: r.dict(resources["XObject"]), properties: r.dict(resources["Properties"]), g: g,
	}
	defer func(off int) { c.off = off }(c.off)
	for {
		r.step()
		v, ok := e.lexer.next()
		if !ok {
			return
		}
		op, isWord := v.(word)
		if !isWord {
			if e.args = append(e.args, v); len(e.args) > 512 {
				e.args = e.args[256:]
			}
			continue
		}
		if execute := c.operators[op]; execute != nil {
			execute(e)
		}
		e.args = e.args[:0]
	}
}

// object draws a form, or a picture. A form is a content stream of its own, with its own matrix and box, which clips
// it; its resources are those of the stream that draws it if it has none. A picture is only noted, as something that
// may hide what is below it.
func (c *canvas) object(v any, resources dict, g state, depth int) {
	r := c.f.r
	s, ok := r.resolve(v).(*stream)
	if !ok {
		return
	}
	if c.f.hidden(s.dict["OC"]) {
		c.off++
		defer func() { c.off-- }()
	}
	if r.name(s.dict["Subtype"]) != "Form" {
		c.pictured(g.ctm, s.dict, &g)
		return
	}
	if depth >= maxForms {
		c.f.cut = true
		return
	}
	if own := r.matrix(s.dict).then(g.ctm); own.finite() {
		g.ctm = own
	}
	// Nothing of a form is seen outside of its box.
	if b := r.box(s.dict["BBox"]); b[2] > b[0] && b[3] > b[1] {
		inForm := matrix{b[2] - b[0], 0, 0, b[3] - b[1], b[0], b[1]}
		g.clip = g.clip.and(unitSquare(inForm.then(g.ctm)))
	}
	if own := r.dict(s.dict["Resources"]); own != nil {
		resources = own
	}
	c.run(r.decode(s), resources, g, depth+1)
}

// matrix returns the matrix of a form, the one that changes nothing where it states none.
func (r *pdfReader) matrix(form dict) matrix {
	m, _ := r.resolve(form["Matrix"]).([]any)
	if len(m) != 6 {
		return identity
	}
	return matrix{r.number(m[0]), r.number(m[1]), r.number(m[2]), r.number(m[3]), r.number(m[4]), r.number(m[5])}
}

// add keeps a glyph of a page whose baseline and size m gives, if a reader can see it: of at least one point, on the
// page, and not hidden by colour or clipping. width is of a size of 1. The coordinates are turned for text that does
// not run from left to right, so that every glyph's baseline runs from left to right and words are made alike of all.
func (c *canvas) add(text string, m matrix, width float64, g *state) {
	p := c.page
	// What is too small to be read, or lies outside of the page, is hidden text.
	size := math.Hypot(m[2], m[3]) * g.font.height
	x, y := m[4], m[5]
	if strings.TrimSpace(text) != "" && (size < 1 || x < -size || y < -size || x > p.Width+size || y > p.Height+size) {
		c.hide(text, m[4], m[5], m[4]+width*m[0], m[5]+width*m[1], size)
		return
	}
	if strings.TrimSpace(text) != "" && c.hides(m[4]+width*m[0]/2+m[2]/3, m[5]+width*m[1]/2+m[3]/3, size, g) {
		c.hide(text, m[4], m[5], m[4]+width*m[0], m[5]+width*m[1], size)
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
		glyph.Style = 0 // fonts that are never seen state anything
		c.invisible = append(c.invisible, glyph)
		return
	}
	p.Glyphs = append(p.Glyphs, glyph)
	c.added++
}

// hide notes a glyph that nobody sees. Its baseline leads from one point to another; words are told apart by the room
// between glyphs.
func (c *canvas) hide(text string, x0, y0, x1, y1, size float64) {
	if math.Hypot(x0-c.after[0], y0-c.after[1]) > size/6 {
		c.unsee(" ")
	}
	c.page.Hidden++
	c.unsee(text)
	c.after = [2]float64{x1, y1}
}

// unsee appends to what nobody sees of the page, up to maxNote bytes.
func (c *canvas) unsee(text string) {
	p := c.page
	p.Unseen = append(p.Unseen, text[:min(len(text), max(0, maxNote-len(p.Unseen)))]...)
}

// hideGlyph is hide for a glyph that was kept at first.
func (c *canvas) hideGlyph(g *Glyph) {
	c.hide(g.Text, float64(g.X), float64(g.Y), float64(g.X+g.W), float64(g.Y), float64(g.Size))
}
