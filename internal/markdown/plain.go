package markdown

import (
	"bytes"
	"html"
	"strings"
)

// PieceKind says what a piece of a line is; see [Pieces].
type PieceKind uint8

// The kinds of pieces.
const (
	Words    PieceKind = iota // text; it may hold character references, as in "&amp;"
	AltText                   // the text that stands for an image; likewise
	CodeSpan                  // the content of a code span
	Address                   // a URL or mail address between < and >
	Tag                       // an HTML tag or comment
)

// maxMark is how long a link or a comment within a line may be, in bytes. It bounds what hostile text costs.
const maxMark = 2000

// maxNested is how deep links and images within each other are read.
const maxNested = 4

// Plain returns the text of one line of markdown: no marks, no tags, and of links and images only their text. White
// space stays as it is.
func Plain(line []byte) string {
	if !bytes.ContainsAny(line, "\\`*_~![<&") {
		return string(bytes.ToValidUTF8(line, nil))
	}
	var b strings.Builder
	Pieces(line, func(kind PieceKind, text []byte) {
		if kind != Tag {
			b.WriteString(kind.Decode(text))
		}
	})
	return strings.ToValidUTF8(b.String(), "")
}

// Decode returns the text of a piece, its character references decoded where the kind has any.
func (k PieceKind) Decode(text []byte) string {
	if k <= AltText {
		return decoded(text)
	}
	return string(text)
}

// decoded returns a text of markdown with its character references decoded. One without a semicolon is none in
// markdown, although HTML has some.
func decoded(text []byte) string {
	const longest = 34 // "&CounterClockwiseContourIntegral;" and a byte
	var b strings.Builder
	for {
		at := bytes.IndexByte(text, '&')
		if at < 0 {
			break
		}
		b.Write(text[:at])
		text = text[at:]
		end := bytes.IndexByte(text[:min(len(text), longest)], ';') + 1
		if end < 3 || bytes.LastIndexByte(text[:end], '&') > 0 {
			end = 1
			b.WriteByte('&')
		} else {
			b.WriteString(html.UnescapeString(string(text[:end])))
		}
		text = text[end:]
	}
	if b.Len() == 0 {
		return string(text)
	}
	b.Write(text)
	return b.String()
}

// Pieces calls yield for the pieces of one line of markdown, in order. Marks of emphasis and code and the addresses of
// links are left out.
func Pieces(line []byte, yield func(kind PieceKind, text []byte)) { pieces(line, Words, 0, yield) }

// pieces is Pieces for a line or for the text of a link or an image in it, whose words are of the kind that words
// names. Depth counts such texts inside each other: what is nested deeper than maxNested stays text.
func pieces(line []byte, words PieceKind, depth int, yield func(kind PieceKind, text []byte)) {
	emphasis := [2]emphasisMarks{newEmphasis(line, '*'), newEmphasis(line, '_')}
	from := 0 // words that were not yielded yet begin here
	put := func(kind PieceKind, text []byte) {
		if len(text) > 0 {
			yield(kind, text)
		}
	}
	for at := 0; at < len(line); {
		rest := line[at:]
		var kind PieceKind
		var text []byte
		n := 0 // bytes of rest that the piece or the mark takes
		switch c := line[at]; c {
		case '\\':
			if len(rest) > 1 && IsPunctuation(rest[1]) {
				kind, text, n = words, rest[1:2], 2
			}
		case '`':
			kind = CodeSpan
			text, n = InlineCode(rest)
		case '*', '_':
			marks := &emphasis[0]
			if c == '_' {
				marks = &emphasis[1]
			}
			run, mark := marks.take(line, at)
			if !mark {
				at += run
				continue
			}
			n = run
		case '~':
			if len(rest) > 1 && rest[1] == '~' {
				n = 2
			}
		case '!', '[':
			inner, taken := LinkText(rest)
			if taken > 0 && depth < maxNested {
				put(words, line[from:at])
				if c == '!' {
					pieces(inner, AltText, depth+1, yield)
				} else {
					pieces(inner, words, depth+1, yield)
				}
				at += taken
				from = at
				continue
			}
		case '<':
			if text = address(rest); len(text) > 0 {
				kind, n = Address, len(text)+2
			} else {
				n = TagLength(rest)
				kind, text = Tag, rest[:n]
			}
		}
		if n == 0 {
			at++
			continue
		}
		put(words, line[from:at])
		put(kind, text)
		at += n
		from = at
	}
	put(words, line[from:])
}

// InlineCode returns the content of the code span that a text begins with, and how many bytes it takes; the run of
// backticks alone when it opens none.
func InlineCode(text []byte) (content []byte, n int) {
	run := 0
	for run < len(text) && text[run] == '`' {
		run++
	}
	for at := run; ; {
		i := bytes.IndexByte(text[at:], '`')
		if i < 0 || at > maxMark {
			return text[:run], run
		}
		start := at + i
		at = start
		for at < len(text) && text[at] == '`' {
			at++
		}
		if at-start == run {
			return text[run:start], at
		}
	}
}

// IsWord reports whether a byte belongs to a word: a letter, a digit, an underscore or part of any other character.
func IsWord(c byte) bool { return c >= 0x80 || c == '_' || isLetter(c) || isDigit(c) }
