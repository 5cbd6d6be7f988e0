package pdf

// interpreter executes one content stream of a PDF: that of a page, or of a form on it. The canvas is shared by all
// streams of a page; the graphics state, the path and the text matrices are the stream's own. fonts, objects and
// properties are parts of resources.
type interpreter struct {
	c         *canvas
	lexer     lexer
	depth     int // of forms within forms
	resources dict
	fonts     dict
	objects   dict

	properties dict // property lists of marked content, by name

	g          state
	saved      []state
	text, line matrix // of the next glyph, and of the start of its line
	path       path
	clips      bool // the path that is built becomes the clipping path when it was painted
	marks      []markedContent
	args       []any
}

// operators are the operators that matter for text and for rules (§A.2). All others are skipped with their operands.
// Those of colour are in visible.go, those of paths in path.go.
var operators = map[word]func(*interpreter){
	"q":   (*interpreter).save,
	"Q":   (*interpreter).restore,
	"cm":  (*interpreter).concatenate,
	"gs":  (*interpreter).setState,
	"BT":  func(e *interpreter) { e.text, e.line = identity, identity },
	"Tm":  (*interpreter).setMatrix,
	"Td":  func(e *interpreter) { e.newLine(e.number(0), e.number(1)) },
	"TD":  func(e *interpreter) { e.g.leading = -e.number(1); e.newLine(e.number(0), e.number(1)) },
	"T*":  (*interpreter).nextLine,
	"TL":  func(e *interpreter) { e.g.leading = e.number(0) },
	"Tc":  func(e *interpreter) { e.g.charSpace = e.number(0) },
	"Tw":  func(e *interpreter) { e.g.wordSpace = e.number(0) },
	"Tz":  func(e *interpreter) { e.g.scale = e.number(0) / 100 },
	"Ts":  func(e *interpreter) { e.g.rise = e.number(0) },
	"Tr":  func(e *interpreter) { e.g.mode = int(e.number(0)) },
	"Tf":  (*interpreter).setFont,
	"Tj":  func(e *interpreter) { e.show(e.operand(0)) },
	"'":   func(e *interpreter) { e.nextLine(); e.show(e.operand(0)) },
	"\"":  (*interpreter).nextLineSpaced,
	"TJ":  (*interpreter).showList,
	"BDC": (*interpreter).beginMarked,
	"BMC": (*interpreter).beginMarked,
	"EMC": (*interpreter).endMarked,
	"Do":  (*interpreter).drawObject,
	"BI":  (*interpreter).passImage,

	"m":  func(e *interpreter) { e.corner(e.number(0), e.number(1), true, false) },
	"l":  func(e *interpreter) { e.corner(e.number(0), e.number(1), false, false) },
	"c":  func(e *interpreter) { e.corner(e.number(4), e.number(5), false, true) },
	"v":  func(e *interpreter) { e.corner(e.number(2), e.number(3), false, true) },
	"y":  func(e *interpreter) { e.corner(e.number(2), e.number(3), false, true) },
	"h":  (*interpreter).closePath,
	"re": (*interpreter).rectangle,
	"S":  func(e *interpreter) { e.paint(true, false) },
	"s":  func(e *interpreter) { e.closePath(); e.paint(true, false) },
	"f":  func(e *interpreter) { e.paint(false, true) },
	"F":  func(e *interpreter) { e.paint(false, true) },
	"f*": func(e *interpreter) { e.paint(false, true) },
	"B":  func(e *interpreter) { e.paint(true, true) },
	"B*": func(e *interpreter) { e.paint(true, true) },
	"b":  func(e *interpreter) { e.closePath(); e.paint(true, true) },
	"b*": func(e *interpreter) { e.closePath(); e.paint(true, true) },
	"n":  func(e *interpreter) { e.paint(false, false) }, // it only clips
	"w":  func(e *interpreter) { e.g.line = e.number(0) },
	"W":  func(e *interpreter) { e.clips = true },
	"W*": func(e *interpreter) { e.clips = true },
	"sh": func(e *interpreter) { e.c.painted(e.g.clip, paint{}, false, false, &e.g) },

	"g": setGray(false), "G": setGray(true), "rg": setRGB(false), "RG": setRGB(true), "k": setCMYK(false),
	"K": setCMYK(true), "cs": setSpace(false), "CS": setSpace(true), "sc": setColor(false), "SC": setColor(true),
	"scn": setColor(false), "SCN": setColor(true),
}

// identity is the matrix that changes nothing, with which BT begins a text object.
var identity = matrix{1, 0, 0, 1, 0, 0}

// operand returns an operand of the operator, nil when it is missing.
func (e *interpreter) operand(i int) any {
	if i < len(e.args) {
		return e.args[i]
	}
	return nil
}

// number returns an operand of an operator that is a number, else 0.
func (e *interpreter) number(i int) float64 {
	n, _ := e.operand(i).(float64)
	return n
}

// name returns an operand of an operator that is a name, else "".
func (e *interpreter) name(i int) name {
	n, _ := e.operand(i).(name)
	return n
}

// matrix returns the operands of an operator as a matrix.
func (e *interpreter) matrix() matrix {
	return matrix{e.number(0), e.number(1), e.number(2), e.number(3), e.number(4), e.number(5)}
}

// save keeps the graphics state (operator q). 512 may be kept; more would only take memory.
func (e *interpreter) save() {
	if len(e.saved) < 512 {
		e.saved = append(e.saved, e.g)
	}
}

// restore brings back the graphics state that was kept last (operator Q). Without one it does nothing.
func (e *interpreter) restore() {
	if n := len(e.saved); n > 0 {
		e.g, e.saved = e.saved[n-1], e.saved[:n-1]
	}
}

// concatenate puts a matrix before that of the page (operator cm).
func (e *interpreter) concatenate() {
	if m := e.matrix().then(e.g.ctm); m.finite() {
		e.g.ctm = m
	}
}

// setState takes, for the operator gs, the font and the opacity of a dictionary of graphics state. It is gs, which
// names an entry of ExtGState.
func (e *interpreter) setState() {
	r := e.c.f.r
	if len(e.args) == 0 {
		return
	}
	d := r.dict(r.dict(e.resources["ExtGState"])[e.name(0)])
	e.setTransparency(d)
	list, _ := r.resolve(d["Font"]).([]any)
	if len(list) == 2 {
		e.g.font, e.g.size = e.c.f.font(list[0]), r.number(list[1])
	}
}

// setMatrix sets where the line of text begins, and how it is turned and scaled (operator Tm).
func (e *interpreter) setMatrix() {
	if m := e.matrix(); m.finite() {
		e.text, e.line = m, m
	}
}

// newLine begins a line of text that is shifted from the start of the line before by x and y (operator Td).
func (e *interpreter) newLine(x, y float64) {
	e.line = matrix{1, 0, 0, 1, x, y}.then(e.line)
	e.text = e.line
}

// nextLine begins a line of text below the one before, by the leading (operator T*).
func (e *interpreter) nextLine() { e.newLine(0, -e.g.leading) }

// setFont sets the font of a text and its size (operator Tf). A name that is not among the resources leaves the font as
// it is.
func (e *interpreter) setFont() {
	if len(e.args) < 2 {
		return
	}
	if v, ok := e.fonts[e.name(0)]; ok {
		e.g.font = e.c.f.font(v)
	}
	e.g.size = e.number(1)
}

// nextLineSpaced sets the spacing of words and characters, and shows a string on the next line (operator ").
func (e *interpreter) nextLineSpaced() {
	e.g.wordSpace, e.g.charSpace = e.number(0), e.number(1)
	e.nextLine()
	e.show(e.operand(2))
}

// showList draws strings (operator TJ), with the shifts between them in thousandths of the font's size. It is TJ. Wide
// gaps between words are mostly such shifts, and no spaces.
func (e *interpreter) showList() {
	list, _ := e.operand(0).([]any)
	for _, item := range list {
		if n, ok := item.(float64); ok {
			e.move(-n / 1000 * e.g.size)
			continue
		}
		e.show(item)
	}
}

// beginMarked begins marked content (operators BDC, BMC): a text that stands for the glyphs in it, a header or footer
// of the page, or a group of optional content. Its property list stands in the stream or is named there.
func (e *interpreter) beginMarked() {
	r := e.c.f.r
	var m markedContent
	if len(e.args) > 0 {
		p, ok := e.operand(1).(dict)
		if !ok && len(e.args) > 1 {
			p = r.dict(e.properties[e.name(1)])
		}
		if text, ok := r.resolve(p["ActualText"]).(string); ok && len(text) <= maxActual {
			m.text, m.stated = r.text(text), true
		}
		m.skip = e.name(0) == "Artifact" && r.name(p["Type"]) == "Pagination"
		m.off = e.name(0) == "OC" && len(e.args) > 1 && e.c.f.hidden(e.properties[e.name(1)])
	}
	if len(e.marks) < 256 {
		e.marks = append(e.marks, m)
		if m.off {
			e.c.off++
		}
	}
}

// endMarked ends the marked content that was begun last (operator EMC).
func (e *interpreter) endMarked() {
	if n := len(e.marks); n > 0 {
		if e.marks[n-1].off {
			e.c.off--
		}
		e.c.judge(&e.marks[n-1])
		e.marks = e.marks[:n-1]
	}
}

// drawObject draws a form or a picture that the resources name (operator Do).
func (e *interpreter) drawObject() {
	if len(e.args) > 0 {
		e.c.object(e.objects[e.name(0)], e.resources, e.g, e.depth)
	}
}

// passImage notes an inline image (operator BI) and goes on behind its data. Its data are bytes of any value, which
// must not be read as operators.
func (e *interpreter) passImage() {
	e.c.pictured(e.g.ctm, nil, &e.g)
	e.lexer.at = afterImage(e.lexer.b, e.lexer.at)
	e.c.f.r.spend(maxImageEntries / stepBytes)
}

// move shifts, between operators, the place of the next glyph along the line, by unscaled units of text space. A font
// that runs downwards is moved downwards.
func (e *interpreter) move(by float64) {
	if g := &e.g; g.font != nil && g.font.vertical {
		e.text = matrix{1, 0, 0, 1, 0, by}.then(e.text)
		return
	}
	e.text = matrix{1, 0, 0, 1, by * e.g.scale, 0}.then(e.text)
}

// show draws v, an operand, if it is a string. Each of its codes becomes a glyph at its place: the text matrix is that
// of the font's size, of the line and of the page, one after the other (§9.4.4). Within marked content that states a
// text, the first glyph has all of it and the others none. Too many glyphs on the page end the reading of it.
func (e *interpreter) show(v any) {
	s, ok := v.(string)
	g := &e.g
	if !ok || g.font == nil || g.size == 0 {
		return
	}
	c := e.c
	g.font.chars(s, func(ch char) {
		c.f.r.step()
		width := ch.width * g.size
		// From the unit square of the font to the page: size and rise, the line of text, the page.
		m := matrix{g.size * g.scale, 0, 0, g.size, 0, g.rise}.then(e.text).then(g.ctm)
		text, replaced := ch.text, false
		// The innermost text that is stated counts.
		for i := range e.marks {
			if e.marks[i].skip {
				text, replaced = "", true
			} else if e.marks[i].stated {
				m := &e.marks[i]
				replaced = true
				m.own = append(m.own, ch.text...)
				m.glyphs++
				if text = m.text; m.written {
					text = ""
				} else {
					m.at = len(c.page.Glyphs)
				}
				m.written = true
			}
		}
		switch {
		case text != "" && m.finite():
			c.add(text, m, ch.width, g)
		case ch.unmapped && !replaced && ch.width > 0:
			c.page.Unmapped++
		}
		// Word space is added to single-byte codes 32 alone (§9.3.3).
		advance := width + g.charSpace
		if ch.size == 1 && ch.code == ' ' {
			advance += g.wordSpace
		}
		if g.font.vertical {
			e.text = matrix{1, 0, 0, 1, 0, -g.size + g.charSpace}.then(e.text)
			return
		}
		e.text = matrix{1, 0, 0, 1, advance * g.scale, 0}.then(e.text)
	})
	if len(c.page.Glyphs)+len(c.invisible) > maxGlyphs {
		c.f.cut = true
		panic(halt{})
	}
}

// afterImage returns the offset behind an inline image, whose entries begin at at: behind the operator EI between white
// space. The data may hold this word, too, so that a word behind it must look like an operator.
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
					continue // bytes of the picture that look like EI
				}
			}
			return i + 2
		}
	}
	return len(b)
}

// plainWord reports whether w can be an operator. Operators have three letters or signs at most, such as BDC, f* and
// d0.
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

// maxImageEntries is how far behind BI the data of an inline image may begin, in bytes.
const maxImageEntries = 1 << 10
