package markdown

import (
	"bytes"
)

// emphasisMarks pairs the marks of emphasis in a line, roughly: a mark that may open is one when a mark that may close
// follows, and a mark that may close is one when something is open.
type emphasisMarks struct {
	mark byte
	last int // where the last run that may close begins; -1 when there is none
	open int // how many marks are open
}

// newEmphasis looks in a line for the last run of a mark that may close emphasis: an opening one after that marks
// nothing.
func newEmphasis(line []byte, mark byte) emphasisMarks {
	e := emphasisMarks{mark: mark, last: -1}
	for at := bytes.LastIndexByte(line, mark); at >= 0; at = bytes.LastIndexByte(line[:at], mark) {
		for at > 0 && line[at-1] == mark {
			at--
		}
		if _, closes, _ := e.run(line, at); closes {
			e.last = at
			break
		}
	}
	return e
}

// run tells whether the run of marks of emphasis that begins at at may open or close it, and how long it is.
func (e *emphasisMarks) run(line []byte, at int) (opens, closes bool, n int) {
	for at+n < len(line) && line[at+n] == e.mark {
		n++
	}
	before, after := byte(' '), byte(' ')
	if at > 0 {
		before = line[at-1]
	}
	if at+n < len(line) {
		after = line[at+n]
	}
	opens, closes = !isSpace(after), !isSpace(before)
	if e.mark == '_' {
		opens, closes = opens && !IsWord(before), closes && !IsWord(after)
	}
	return opens, closes, n
}

// take returns the length of the run of marks that begins at at, and whether it marks emphasis or is text.
func (e *emphasisMarks) take(line []byte, at int) (n int, mark bool) {
	opens, closes, n := e.run(line, at)
	switch {
	case closes && e.open > 0:
		e.open = max(0, e.open-n)
	case opens && e.last > at:
		e.open += n
	default:
		return n, false
	}
	return n, true
}
