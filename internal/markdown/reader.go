package markdown

import (
	"bytes"
	"iter"
	"strings"
)

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

// Fenced reports whether a line, as the reader tells its kind, belongs to fenced code, its opening and closing lines
// included.
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

// Lines yields the lines of a text, each with its line break, and what each is.
func Lines(md string) iter.Seq2[string, LineKind] {
	return func(yield func(string, LineKind) bool) {
		var r Reader
		for line := range strings.Lines(md) {
			if !yield(line, r.Line([]byte(strings.TrimSuffix(line, "\n")))) {
				return
			}
		}
	}
}

// LineAt returns the line that begins at at without its line break, and where the next begins.
func LineAt(md []byte, at int) (line []byte, next int) {
	n := bytes.IndexByte(md[at:], '\n')
	if n < 0 {
		return md[at:], len(md)
	}
	return md[at : at+n], at + n + 1
}

// Indentation returns how many bytes of white space a line begins with.
func Indentation(line []byte) int {
	for i, c := range line {
		if !isSpace(c) {
			return i
		}
	}
	return len(line)
}
