package api

import (
	"strings"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
)

// Piece is a part of a text, in code points.
type Piece struct {
	Text  string
	Next  int // where to continue; 0 at the end
	Total int // of the whole text
}

// CutPiece returns the part of a text that begins at code point start and has at most chars code points (0: any) and
// tokens tokens (0: any), as count counts them. If the tokens end the part, it ends with a whole line if possible.
// Positions are code points and not bytes, since the start_index of the reference fetch server counts the characters of
// Python.
func CutPiece(whole string, start, chars, tokens int, count func(string) int) Piece {
	p := Piece{Total: utf8.RuneCountInString(whole)}
	rest := whole[len(clip.Runes(whole, start)):]
	p.Text = rest
	if chars > 0 {
		p.Text = clip.Runes(rest, chars)
	}
	if tokens > 0 {
		p.Text = p.Text[:within(p.Text, tokens, count)]
	}
	if len(p.Text) < len(rest) {
		p.Next = start + utf8.RuneCountInString(p.Text)
	}
	return p
}

// within returns how many bytes at the beginning of a text have at most limit tokens, for CutPiece. It counts whole
// lines, or whole code points of a first line that is too long. The sum of the lines' tokens stands for those of the
// text, which keeps the work linear.
func within(text string, limit int, count func(string) int) int {
	end, left := 0, limit
	for line := range strings.Lines(text) {
		n := count(line)
		if n > left {
			if end == 0 {
				return withinLine(line, limit, count)
			}
			return end
		}
		end, left = end+len(line), left-n
	}
	return end
}

// withinLine returns how many bytes of a line have at most limit tokens, by bisection, for within. It keeps at least
// one code point, or a caller could not continue: its next start would be the same.
func withinLine(line string, limit int, count func(string) int) int {
	_, least := utf8.DecodeRuneInString(line)
	low, high := least, len(line)
	for low < high {
		// clip.Bytes ends at a code point, which may lie at low: then the rest is one code point that does not fit.
		middle := (low + high + 1) / 2
		if middle = len(clip.Bytes(line, middle)); middle <= low {
			break
		}
		if count(line[:middle]) <= limit {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}
