package markdown

import "bytes"

// LineKind says what a line is part of.
type LineKind uint8

// The kinds of lines.
const (
	Prose      LineKind = iota // text of any kind: a paragraph, a list item, a row of a table
	Blank                      // nothing but white space, or markers of quotes
	ATX                        // a heading that begins with #
	Underline                  // the line under a setext heading
	Rule                       // a thematic break
	FenceOpen                  // the line that opens fenced code
	FenceText                  // a line of fenced code
	FenceClose                 // the line that closes fenced code
	Indented                   // code by its indentation
	HTML                       // a line of an HTML block
)

// Fenced reports whether a line belongs to fenced code, its opening and closing lines included.
func (k LineKind) Fenced() bool { return k == FenceOpen || k == FenceText || k == FenceClose }

// A Reader tells what the lines of a text are, one after the other. It follows CommonMark's block structure: the
// indentation that belongs to a list item is not counted, and a fence ends with the list item or block quote that it
// stands in. A definition (": text", as in PHP Markdown Extra and Pandoc) is read like a list item. The zero value is
// ready to read the first line of a text.
type Reader struct {
	open  [maxContainers]container
	depth int // how many containers are open
	leaf  leaf
	fence Fence
	html  htmlKind

	definitions bool // the open paragraph has nothing but link definitions so far
	lines       int  // how many lines it has after them
	plain       bool // the first of these lines has no markers before it

	// What the last line was.
	content int  // where its content begins, after the markers and indentation of its containers
	indent  int  // columns of white space before the content, indentation of containers included
	marked  bool // it has a marker of a quote, or one that begins a list item
	begins  bool // it begins a block
	level   int  // of an ATX heading
}

// maxContainers is how deep quotes and list items are followed within each other. Deeper ones are read as text.
const maxContainers = 64

// container is a block quote, a list item or a definition that is open.
type container struct {
	width int32 // columns that the lines of a list item are indented by; 0 for a quote
	empty bool  // a list item that has nothing yet
}

// leaf is the kind of block that the next line may continue.
type leaf uint8

const (
	noLeaf leaf = iota
	inParagraph
	inFence
	inHTML
)

// special holds the bytes that the first line of a block other than a paragraph can begin with.
var special = func() (set [256]bool) {
	for _, c := range []byte(" \t>#`~<=-*_+:0123456789") {
		set[c] = true
	}
	return set
}()

// Line returns what the next line of the text is. The line comes without its line break.
func (r *Reader) Line(line []byte) LineKind {
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	if len(line) > 0 && r.depth == 0 && r.leaf <= inParagraph && !special[line[0]] {
		r.content, r.indent, r.marked, r.begins = 0, 0, false, r.leaf == noLeaf
		r.paragraph(line)
		return Prose
	}
	c := cursor{line: line}
	r.marked, r.begins = false, false
	matched := r.match(&c)
	width, at := c.space()
	r.content, r.indent = at, c.column+width
	all, blank := matched == r.depth, at == len(line)
	switch r.leaf {
	case inFence:
		if all {
			r.content = c.at
			if width <= 3 && !blank && r.fence.closes(line[at:]) {
				r.leaf = noLeaf
				return FenceClose
			}
			return FenceText
		}
		r.leaf = noLeaf
	case inHTML:
		if all && (!blank || r.html < htmlElement) {
			if r.html.ends(line[at:]) {
				r.leaf = noLeaf
			}
			return HTML
		}
		r.leaf = noLeaf
	}
	if blank {
		r.depth, r.leaf = matched, noLeaf
		return Blank
	}
	return r.start(&c, matched)
}

// Fence returns the fenced code that the last line opens or belongs to. open is false when it belongs to none.
func (r *Reader) Fence() (f Fence, open bool) { return r.fence, r.leaf == inFence }

// match follows the containers that are open and returns how many of them the line continues. The cursor stands after
// their markers and indentation.
func (r *Reader) match(c *cursor) int {
	for i := range r.depth {
		width, at := c.space()
		switch box := &r.open[i]; {
		case box.width == 0:
			if width > 3 || at == len(c.line) || c.line[at] != '>' {
				return i
			}
			c.quote(width, at)
			r.marked = true
		case at == len(c.line):
			if box.empty {
				return i
			}
		case width < int(box.width):
			return i
		default:
			c.skip(int(box.width))
			box.empty = false
		}
	}
	return r.depth
}

// start reads what begins at the cursor, or continues the paragraph. The line continues the first matched containers.
func (r *Reader) start(c *cursor, matched int) LineKind {
	whole := matched == r.depth // all containers go on
	goesOn := r.leaf == inParagraph
	r.begins = true
	for {
		width, at := c.space()
		r.content, r.indent = at, c.column+width
		if at == len(c.line) {
			return Prose // nothing but the markers of containers
		}
		if width > 3 {
			if goesOn {
				break
			}
			r.content = c.at
			r.depth, r.leaf = matched, noLeaf
			return Indented
		}
		rest := c.line[at:]
		kind := Prose
		switch rest[0] {
		case '>':
			if matched == maxContainers {
				break
			}
			r.open[matched] = container{}
			matched++
			c.quote(width, at)
			r.depth, r.leaf, r.marked, goesOn, whole = matched, noLeaf, true, false, true
			continue
		case '#':
			if r.level = headingLevel(rest); r.level > 0 {
				kind = ATX
			}
		case '`', '~':
			if f, ok := fenceAt(rest); ok {
				f.place(c.line, at, r.open[:matched])
				r.depth, r.fence, r.leaf = matched, f, inFence
				return FenceOpen
			}
		case '<':
			if html := htmlStart(rest); html > noHTML && (html < htmlTag || !goesOn) {
				if r.depth, r.html, r.leaf = matched, html, inHTML; html.ends(rest) {
					r.leaf = noLeaf
				}
				return HTML
			}
		case '=', '-':
			if goesOn && whole && !r.definitions && isUnderline(rest) {
				kind = Underline
				break
			}
			fallthrough
		case '*', '_':
			if isBreak(rest) {
				kind = Rule
			}
		}
		if kind != Prose {
			r.depth, r.leaf = matched, noLeaf
			r.begins = kind != Underline
			return kind
		}
		marker := itemMarker(rest)
		if marker == 0 || matched == maxContainers || goesOn && whole && !interrupts(rest, marker) {
			break
		}
		r.open[matched] = c.item(width, at, marker)
		matched++
		r.depth, r.leaf, r.marked, goesOn, whole = matched, noLeaf, true, false, true
	}
	if !goesOn {
		r.depth, r.leaf = matched, noLeaf
	}
	r.begins = !goesOn
	r.paragraph(c.line[r.content:])
	return Prose
}

// paragraph takes a line that begins or continues a paragraph.
func (r *Reader) paragraph(content []byte) {
	if r.leaf != inParagraph {
		r.leaf, r.lines, r.definitions = inParagraph, 0, true
	}
	if r.definitions {
		if _, _, r.definitions = definition(content); r.definitions {
			return
		}
		r.plain = !r.marked && r.indent <= 3
	}
	r.lines++
}

// cursor is a place in a line. A tab may have been consumed in part: then the column is within it.
type cursor struct {
	line       []byte
	at, column int
}

// space returns how many columns of white space follow in the line, and where they end. A tab goes to the next multiple
// of four.
func (c *cursor) space() (width, end int) {
	column := c.column
	for end = c.at; end < len(c.line); end++ {
		switch c.line[end] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			return column - c.column, end
		}
	}
	return column - c.column, end
}

// skip consumes up to n columns of white space.
func (c *cursor) skip(n int) {
	for n > 0 && c.at < len(c.line) {
		step := 1
		switch c.line[c.at] {
		case ' ':
		case '\t':
			step = 4 - c.column%4
		default:
			return
		}
		if step > n {
			c.column += n
			return
		}
		c.at++
		c.column += step
		n -= step
	}
}

// quote consumes the marker of a block quote that stands at at, after width columns, and a space after it.
func (c *cursor) quote(width, at int) {
	c.at, c.column = at+1, c.column+width+1
	c.skip(1)
}

// item consumes the marker of a list item that stands at at, after width columns.
func (c *cursor) item(width, at, marker int) container {
	c.at, c.column = at+marker, c.column+width+marker
	space, end := c.space()
	empty := end == len(c.line)
	if empty || space > 4 {
		space = 1
	}
	c.skip(space)
	return container{width: int32(width + marker + space), empty: empty}
}

// headingLevel returns the level of the ATX heading that a text begins with; 0 for none.
func headingLevel(text []byte) int {
	n := 0
	for n < len(text) && text[n] == '#' {
		n++
	}
	if n > 6 || n < len(text) && text[n] != ' ' && text[n] != '\t' && text[n] != '\r' {
		return 0
	}
	return n
}

// isUnderline reports whether a text is nothing but one of = and -, and white space after it.
func isUnderline(text []byte) bool {
	rest := bytes.TrimLeft(text, string(text[:1]))
	return len(bytes.TrimLeft(rest, " \t")) == 0
}

// isBreak reports whether a text is a thematic break (CommonMark): at least three of one of * - _, with white space
// between.
func isBreak(text []byte) bool {
	n := 0
	for _, c := range text {
		switch c {
		case text[0]:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3 && text[0] != '='
}

// itemMarker returns the length of the marker of a list item or of a definition that a text begins with; 0 for none.
func itemMarker(text []byte) int {
	if text[0] == ':' && len(text) > 1 && (text[1] == ' ' || text[1] == '\t') {
		return 1
	}
	return listMarker(text)
}

// listMarker returns the length of the marker of a list item that a text begins with; 0 for none. A number has nine
// digits at most (CommonMark, "List items").
func listMarker(text []byte) int {
	n := 0
	switch c := text[0]; {
	case c == '-' || c == '*' || c == '+':
		n = 1
	case c >= '0' && c <= '9':
		for n < len(text) && n < 9 && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		if n == len(text) || text[n] != '.' && text[n] != ')' {
			return 0
		}
		n++
	default:
		return 0
	}
	if n < len(text) && text[n] != ' ' && text[n] != '\t' && text[n] != '\r' {
		return 0
	}
	return n
}

// interrupts reports whether a list item may begin in the middle of a paragraph: one with text, and of an ordered list
// only the first.
func interrupts(text []byte, marker int) bool {
	if len(bytes.TrimLeft(text[marker:], " \t\r")) == 0 {
		return false
	}
	return text[0] < '0' || text[0] > '9' || marker == 2 && text[0] == '1'
}
