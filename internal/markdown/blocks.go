// Package markdown reads markdown: its blocks, lines, headings, sections, links and plain text.
//
// It is the only reader of markdown in this module. Its rules are those of CommonMark 0.31 with the tables of GitHub
// (a test compares it with goldmark), read in one pass without a tree: a block is a range of whole lines, and what a
// caller needs of a block is found by byte offsets. Two differences are on purpose. The title of a setext heading is a
// paragraph of one line, underlined by at least two marks: people write "---" under a paragraph to draw a line. And a
// heading begins its line: what stands behind the marker of a block quote or a list item heads no section.
//
// Texts come without front matter. Any bytes can be read, and no text costs more than time linear in its length.
package markdown

import (
	"bytes"
	"iter"
)

// Kind says what a [Block] is.
type Kind uint8

// The kinds of blocks.
const (
	Text    Kind = iota // lines up to a blank one: paragraphs, lists, quotes, HTML, code by indentation
	Heading             // an ATX or setext heading
	Code                // a fenced code block
	Table               // a table of GitHub's kind
)

// Block is a range of whole lines, without the line break of the last.
type Block struct {
	Kind       Kind
	Start, End int // bytes of the text

	Level                int // of a heading, 1 to 6
	titleStart, titleEnd int

	Fence Fence // of a code block
	Close int   // of a code block: where its closing line begins, or Unclosed, or Left

	Rows  int // of a table: where the line after its delimiter row begins
	Quote int // of a table: length of the block-quote markers before its header
}

// What Block.Close is for a code block without a closing line.
const (
	Unclosed = -1 // the text ends within the block
	Left     = -2 // the block quote or list item that it stands in ends
)

// Title returns the title of a heading, as markdown.
func (b *Block) Title(md []byte) []byte { return md[b.titleStart:b.titleEnd] }

// Blocks yields the blocks of a text in order. Between blocks there is only white space.
func Blocks(md []byte) iter.Seq[Block] {
	return func(yield func(Block) bool) {
		s := scanner{md: md, yield: yield}
		for at := 0; at < len(md) && !s.stopped; {
			line, next := LineAt(md, at)
			s.line(at, next, line)
			at = next
		}
		s.flush()
	}
}

// scanner gathers the lines of a text into blocks, for Blocks.
type scanner struct {
	md      []byte
	yield   func(Block) bool
	stopped bool
	reader  Reader
	block   Block // that is being gathered; none when its end is 0
	last    int   // of a text block: where its last line begins
}

// line takes the next line of the text: it extends the block that is being gathered, or ends it and begins another one.
func (s *scanner) line(at, next int, line []byte) {
	kind := s.reader.Line(line)
	end := at + trimmed(line)
	if s.block.End > 0 && s.goesOn(kind, at, end, line) {
		return
	}
	switch kind {
	case Blank:
		if !s.reader.marked { // a quote goes on in a line of its marker alone
			s.flush()
			return
		}
	case ATX:
		if s.reader.marked || s.reader.indent > 3 {
			break
		}
		s.flush()
		s.emit(Block{
			Kind: Heading, Start: at, End: end, Level: s.reader.level,
			titleStart: min(at+s.reader.content+s.reader.level, end), titleEnd: end,
		})
		return
	case Underline:
		if s.reader.marked || !s.reader.plain || s.reader.lines != 1 || end-at-s.reader.content < 2 {
			break
		}
		title := s.block
		s.block = Block{}
		if s.last > title.Start {
			s.emit(Block{Start: title.Start, End: title.Start + trimmed(s.md[title.Start:s.last])})
			title.Start = s.last
		}
		b := Block{Kind: Heading, Start: title.Start, End: end, Level: 1, titleStart: title.Start, titleEnd: title.End}
		if line[s.reader.content] == '-' {
			b.Level = 2
		}
		s.emit(b)
		return
	case FenceOpen:
		s.flush()
		s.block = Block{Kind: Code, Start: at, End: end, Fence: s.reader.fence, Close: Unclosed}
		return
	case Prose, Rule:
		if s.block.End > 0 && s.table(next, end, line) {
			return
		}
	}
	if end == at {
		return // a blank line in an HTML block
	}
	if s.block.End == 0 {
		s.block.Start = at
	}
	s.block.End, s.last = end, at
}

// goesOn reports whether a line belongs to the code block or table that is being gathered, which it then extends.
func (s *scanner) goesOn(kind LineKind, at, end int, line []byte) bool {
	b := &s.block
	switch b.Kind {
	case Code:
		switch kind {
		case FenceText:
			if end > at {
				b.End = end
			}
			return true
		case FenceClose:
			b.Close, b.End = at, end
			s.flush()
			return true
		}
		b.Close = Left
		s.flush()
	case Table:
		if kind == Blank || kind == ATX || kind == FenceOpen || b.Quote > 0 != (QuoteMarkers(line) > 0) {
			s.flush()
			return false
		}
		b.End = end
		return true
	}
	return false
}

// table begins a table when the line is a delimiter row under a line with cells.
func (s *scanner) table(next, end int, line []byte) bool {
	header := s.md[s.last:s.block.End]
	quote := 0
	row := line[Indentation(line):]
	if len(row) == 0 {
		return false // a form feed, as between the pages of an RFC: white space that makes no blank line
	}
	switch row[0] {
	case '|', ':', '-':
		if !IsDelimiterRow(row) {
			return false
		}
	case '>':
		if quote = QuoteMarkers(header); quote == 0 || !IsDelimiterRow(line[QuoteMarkers(line):]) {
			return false
		}
	default:
		return false
	}
	if bytes.IndexByte(header, '|') < 0 {
		return false
	}
	b := Block{Kind: Table, Start: s.last, End: end, Rows: next, Quote: quote}
	if s.last > s.block.Start {
		s.block.End = s.block.Start + trimmed(s.md[s.block.Start:s.last])
		s.flush()
	}
	s.block = b
	return true
}

// flush yields the block that was gathered.
func (s *scanner) flush() {
	if s.block.End > 0 {
		b := s.block
		s.block = Block{}
		s.emit(b)
	}
}

// emit yields a block.
func (s *scanner) emit(b Block) { s.stopped = s.stopped || !s.yield(b) }

// trimmed returns the length of a text, such as a block, without the white space at its end.
func trimmed(text []byte) int {
	n := len(text)
	for n > 0 && isSpace(text[n-1]) {
		n--
	}
	return n
}
