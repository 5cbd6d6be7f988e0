package mcp

import (
	"strings"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
)

// Budgets of one result, in tokens as [Options.Tokens] counts them. Clients warn of results over 10,000 tokens and
// refuse those over 25,000; the count is off by up to a tenth.
const (
	usualTokens = 8_000  // of a result by default
	mostTokens  = 20_000 // of a result whose caller asks for more
)

// window is a part of a text, in code points.
type window struct {
	text  string
	start int  // where the part begins
	next  int  // where to continue; 0 at the end
	total int  // of the whole text
	spent bool // the budget of tokens ended it, not the number of characters
}

// cut returns the part of a page's text that one result of a tool holds: it begins at code point start and has at most
// chars code points (0: any) and tokens tokens. If the tokens end the part, it ends with a whole line if possible.
// Positions are code points and not bytes, since the reference server's start_index counts the characters of Python.
func (s *Server) cut(whole string, start, chars, tokens int) window {
	w := window{start: start, total: utf8.RuneCountInString(whole)}
	rest := whole[len(clip.Runes(whole, start)):]
	part := rest
	if chars > 0 {
		part = clip.Runes(rest, chars)
	}
	if kept := s.within(part, tokens); kept < len(part) {
		part, w.spent = part[:kept], true
	}
	w.text = part
	if len(part) < len(rest) {
		w.next = start + utf8.RuneCountInString(part)
	}
	return w
}

// within returns how many bytes at the beginning of a text have at most limit tokens, for cut. It counts whole lines,
// or whole code points of a first line that is too long. The sum of the lines' tokens stands for those of the text,
// which keeps the work linear.
func (s *Server) within(text string, limit int) int {
	end, left := 0, limit
	for line := range strings.Lines(text) {
		n := s.o.Tokens(line)
		if n > left {
			if end == 0 {
				return s.withinLine(line, limit)
			}
			return end
		}
		end, left = end+len(line), left-n
	}
	return end
}

// withinLine returns how many bytes of a line have at most limit tokens, by bisection, for within. It keeps at least
// one code point, or a caller could not continue: its next start would be the same.
func (s *Server) withinLine(line string, limit int) int {
	_, least := utf8.DecodeRuneInString(line)
	low, high := least, len(line)
	for low < high {
		// clip.Bytes ends at a code point, which may lie at low: then the rest is one code point that does not fit.
		middle := (low + high + 1) / 2
		if middle = len(clip.Bytes(line, middle)); middle <= low {
			break
		}
		if s.o.Tokens(line[:middle]) <= limit {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}
