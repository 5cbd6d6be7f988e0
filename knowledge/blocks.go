package knowledge

import (
	"bytes"
)

// A block is what a passage is made of: a heading, a fence, a table, or any other lines up to a blank one. It is a
// range of whole lines without the line break of the last.
type block struct {
	kind       blockKind
	start, end int

	level int // of a heading, 1 to 6
	title [2]int

	fence fence
	close int // of a fence: where its closing line begins, or fenceOpen, or fenceLeft

	rows  int // of a table: where the line after its delimiter row begins
	quote int // of a table: length of the block-quote markers before its header
}

type blockKind uint8

const (
	textBlock blockKind = iota
	headingBlock
	fenceBlock
	tableBlock
)

// fence is the opening of a fenced code block.
type fence struct {
	lead   string // what stands before the marker on every line; list markers are spaces by now
	mark   byte   // ` or ~
	run    int    // how many of it
	info   string
	quoted bool
	deep   bool // so far indented that it belongs to a list or is code itself: it ends with the indentation at the latest
}

// What block.close is of a fence without closing line.
const (
	fenceOpen = -1 // the text ends within it
	fenceLeft = -2 // what it stands in ends, the block quote or the list
)

// Longer markers than these are not seen as fences: every piece of a fence that is cut repeats them. Some people draw
// fences as wide as a page.
const (
	maxFenceRun  = 80
	maxFenceLead = 24
)

// scanner finds blocks, line by line. It follows CommonMark and GitHub's tables as far as cutting between blocks needs
// it: what containers do (lists, quotes) only shows in how deep a fence may stand.
type scanner struct {
	md    []byte
	yield func(block)
	text  block // the text block that is being gathered; none when end is 0
	lines int   // in it
	last  int   // where its last line begins
}

// scanBlocks calls yield for each block of a markdown text, in order. Between blocks there is white space only.
func scanBlocks(md []byte, yield func(block)) {
	s := &scanner{md: md, yield: yield}
	for at := 0; at < len(md); {
		at = s.next(at)
	}
	s.flush()
}

// next takes the line, or the whole fence or table, that begins at at, and returns where the next line begins.
func (s *scanner) next(at int) int {
	line, after := lineAt(s.md, at)
	indent := indentation(line)
	if indent == len(line) {
		s.flush()
		return after
	}
	switch line[indent] {
	case '#':
		if level := headingLevel(line, indent); level > 0 {
			s.flush()
			end := at + trimmed(line)
			s.yield(block{kind: headingBlock, start: at, end: end, level: level, title: [2]int{at + indent + level, end}})
			return after
		}
	case '=', '-':
		if s.lines == 1 && indent <= 3 && s.underlines(line[indent:]) {
			b := s.text
			b.kind, b.level, b.title, b.end = headingBlock, 1, [2]int{b.start, b.end}, at+trimmed(line)
			if line[indent] == '-' {
				b.level = 2
			}
			s.text, s.lines = block{}, 0
			s.yield(b)
			return after
		}
		if line[indent] == '=' {
			break
		}
		fallthrough
	case '|', ':':
		if s.text.end > 0 && isDelimiterRow(line[indent:]) {
			return s.table(at, after, 0)
		}
	case '>':
		if quote := quoteLen(line); s.text.end > 0 && isDelimiterRow(line[quote:]) && quoteLen(s.md[s.last:s.text.end]) > 0 {
			return s.table(at, after, quoteLen(s.md[s.last:s.text.end]))
		}
	}
	if f, opens := openFence(line); opens {
		s.flush()
		return s.fence(at, after, f)
	}
	if s.text.end == 0 {
		s.text = block{start: at}
	}
	s.text.end = at + trimmed(line)
	s.last = at
	s.lines++
	return after
}

func (s *scanner) flush() {
	if s.text.end > 0 {
		s.yield(s.text)
	}
	s.text, s.lines = block{}, 0
}

// underlines reports whether a line makes the one line before it a heading.
func (s *scanner) underlines(line []byte) bool {
	rest := bytes.TrimLeft(line, string(line[:1]))
	if len(line)-len(rest) < 2 || len(bytes.TrimLeft(rest, " \t\r")) > 0 {
		return false
	}
	title := s.md[s.text.start:s.text.end]
	indent := indentation(title)
	return indent <= 3 && isListMarker(title[indent:]) == 0 && bytes.IndexByte([]byte(">|<#"), title[indent]) < 0
}

// table yields the table whose delimiter row begins at at; the line before is its header.
func (s *scanner) table(at, after, quote int) int {
	header := s.md[s.last:s.text.end]
	if bytes.IndexByte(header, '|') < 0 {
		s.text.end = at + trimmed(s.md[at:after])
		s.last = at
		s.lines++
		return after
	}
	b := block{kind: tableBlock, start: s.last, end: at + trimmed(s.md[at:after]), rows: after, quote: quote}
	if s.lines > 1 {
		s.text.end = s.text.start + trimmed(s.md[s.text.start:s.last])
		s.yield(s.text)
	}
	s.text, s.lines = block{}, 0
	for after < len(s.md) {
		line, next := lineAt(s.md, after)
		indent := indentation(line)
		if indent == len(line) || headingLevel(line, indent) > 0 || quote > 0 != (quoteLen(line) > 0) {
			break
		}
		if _, opens := openFence(line); opens {
			break
		}
		b.end, after = after+trimmed(line), next
	}
	s.yield(b)
	return after
}

// fence yields the fence that f opens at at.
func (s *scanner) fence(at, after int, f fence) int {
	b := block{kind: fenceBlock, start: at, end: at + trimmed(s.md[at:after]), fence: f, close: fenceOpen}
	for after < len(s.md) {
		line, next := lineAt(s.md, after)
		indent := indentation(line)
		blank := indent == len(line)
		if f.quoted && quoteLen(line) == 0 || f.deep && !blank && indent == 0 {
			b.close = fenceLeft
			break
		}
		if f.closedBy(line) {
			b.close, b.end = after, after+trimmed(line)
			after = next
			break
		}
		if !blank {
			b.end = after + trimmed(line)
		}
		after = next
	}
	s.yield(b)
	return after
}

// closedBy reports whether a line closes the fence: at least as many of its marker and nothing else, at most three
// columns deeper than the opening.
func (f *fence) closedBy(line []byte) bool {
	if f.quoted {
		line = line[quoteLen(line):]
	}
	indent := indentation(line)
	if indent == len(line) || line[indent] != f.mark || !f.quoted && indent > len(f.lead)+3 {
		return false
	}
	rest := bytes.TrimLeft(line[indent:], string(rune(f.mark)))
	return len(line)-indent-len(rest) >= f.run && indentation(rest) == len(rest)
}

// reopen returns the line that opens the fence again, at most limit characters of info with it.
func (f *fence) reopen(limit int) string {
	return f.lead + string(bytes.Repeat([]byte{f.mark}, f.run)) + cutRunes(f.info, limit) + "\n"
}

// closing returns the line that closes the fence, without a line break.
func (f *fence) closing() string { return f.lead + string(bytes.Repeat([]byte{f.mark}, f.run)) }

// openFence reads the line that opens a fence, be it in a block quote or the first thing of a list item.
func openFence(line []byte) (fence, bool) {
	f, i := fence{}, 0
	for {
		i += indentation(line[i:])
		if i >= len(line) || i > maxFenceLead {
			return f, false
		}
		if line[i] == '>' {
			f.quoted = true
			i++
		} else if n := isListMarker(line[i:]); n > 0 {
			i += n
		} else {
			break
		}
	}
	f.mark = line[i]
	if f.mark != '`' && f.mark != '~' {
		return f, false
	}
	info := bytes.TrimLeft(line[i:], string(rune(f.mark)))
	f.run = len(line) - i - len(info)
	if f.run < 3 || f.run > maxFenceRun || f.mark == '`' && bytes.IndexByte(info, '`') >= 0 {
		return f, false
	}
	f.info = string(bytes.TrimSpace(bytes.ToValidUTF8(info[:min(len(info), 4<<10)], nil)))
	f.deep = !f.quoted && indentation(line) >= 4
	lead := bytes.Clone(line[:i])
	for j, c := range lead {
		if c != '>' && c != '\t' {
			lead[j] = ' '
		}
	}
	f.lead = string(lead)
	return f, true
}

// lineAt returns the line that begins at at without its line break, and where the next begins.
func lineAt(md []byte, at int) (line []byte, next int) {
	n := bytes.IndexByte(md[at:], '\n')
	if n < 0 {
		return md[at:], len(md)
	}
	return md[at : at+n], at + n + 1
}

// indentation returns how many bytes of white space a line begins with.
func indentation(line []byte) int {
	for i, c := range line {
		if c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v' && c != '\n' {
			return i
		}
	}
	return len(line)
}

// trimmed returns the length of text without the white space at its end.
func trimmed(text []byte) int {
	n := len(text)
	for n > 0 && (text[n-1] == ' ' || text[n-1] >= '\t' && text[n-1] <= '\r') {
		n--
	}
	return n
}

// headingLevel returns 1 to 6 for a heading that begins with #, else 0.
func headingLevel(line []byte, indent int) int {
	if indent > 3 {
		return 0
	}
	n := 0
	for n < 7 && indent+n < len(line) && line[indent+n] == '#' {
		n++
	}
	if n == 0 || n > 6 || indent+n < len(line) && line[indent+n] != ' ' && line[indent+n] != '\t' &&
		line[indent+n] != '\r' {
		return 0
	}
	return n
}

// isListMarker returns how many bytes the marker that a line begins with takes, with one white space after it; else 0.
func isListMarker(line []byte) int {
	n := 0
	switch c := line[0]; {
	case c == '-' || c == '*' || c == '+':
		n = 1
	case c >= '0' && c <= '9':
		for n < len(line) && n < 9 && line[n] >= '0' && line[n] <= '9' {
			n++
		}
		if n == len(line) || line[n] != '.' && line[n] != ')' {
			return 0
		}
		n++
	default:
		return 0
	}
	if n < len(line) && line[n] != ' ' && line[n] != '\t' && line[n] != '\r' {
		return 0
	}
	return min(n+1, len(line))
}

// quoteLen returns how many bytes the block-quote markers take that a line begins with.
func quoteLen(line []byte) int {
	n := 0
	for {
		i := n + indentation(line[n:])
		if i == len(line) || line[i] != '>' || i-n > 3 {
			return n
		}
		n = i + 1
		if n < len(line) && line[n] == ' ' {
			n++
		}
	}
}

// isDelimiterRow reports whether a line is the rule under a table's header.
func isDelimiterRow(line []byte) bool {
	dash, pipe := false, false
	for _, c := range line {
		switch c {
		case '-':
			dash = true
		case '|':
			pipe = true
		case ':', ' ', '\t', '\r':
		default:
			return false
		}
	}
	return dash && pipe
}
