package journal

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
)

// clue is what a line of a file tells of a request before it is decoded, which takes a hundred times as long as a look
// at the line.
type clue struct {
	parts  []string // one of these stands in the line, whose letters are in lower case; none: unknown
	number []byte   // of the term for this member, compare tells
	passes func(int64) bool
	within func(time.Time) bool // what the request's time must be
}

// looks reports whether the filter can tell by a line that its request does not match.
func (f Filter) looks() bool {
	return slices.ContainsFunc(f.terms, func(t term) bool {
		return !t.not && (t.clue.number != nil || t.clue.within != nil || len(t.clue.parts) > 0)
	})
}

// looksForText reports whether the filter looks for letters. Numbers and times are found in lines as they are.
func (f Filter) looksForText() bool {
	return slices.ContainsFunc(f.terms, func(t term) bool { return !t.not && len(t.clue.parts) > 0 })
}

// mayBeIn reports whether requests of a file can match. Lower is the file with the letters A to Z in lower case.
func (f Filter) mayBeIn(lower []byte) bool {
	return !slices.ContainsFunc(f.terms, func(t term) bool { return !t.not && !t.clue.isIn(lower) })
}

// mayMatch reports whether the request of a line can match. Lower is as in mayBeIn.
func (f Filter) mayMatch(lower []byte) bool {
	for _, t := range f.terms {
		switch {
		case t.not:
		case t.clue.number != nil && !t.clue.passes(memberOf(lower, t.clue.number)), !t.clue.isIn(lower):
			return false
		case t.clue.within != nil && !t.clue.timeIsIn(lower):
			return false
		}
	}
	return true
}

// isIn reports whether one of the parts is in a text.
func (c clue) isIn(lower []byte) bool {
	return len(c.parts) == 0 ||
		slices.ContainsFunc(c.parts, func(part string) bool { return bytes.Contains(lower, []byte(part)) })
}

// timeIsIn reports whether the time of a line may be one that the term wants.
func (c clue) timeIsIn(lower []byte) bool {
	_, rest, _ := bytes.Cut(lower, []byte(`"time":"`))
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	at, err := time.Parse(time.RFC3339Nano, strings.ToUpper(string(text)))
	return err != nil || c.within(at) // one that cannot be read is damage, which is told
}

// memberOf returns the number of a member of a line's object, 0 if it has none. No text in a line has a quotation mark
// that is not escaped, and the members of numbers stand before those whose own members have the same names.
func memberOf(line, name []byte) int64 {
	_, rest, _ := bytes.Cut(line, name)
	end := 0
	for end < len(rest) && (rest[end] == '-' || rest[end] >= '0' && rest[end] <= '9') {
		end++
	}
	n, _ := strconv.ParseInt(string(rest[:end]), 10, 64) // not a number: 0
	return n
}

// clueOf returns the clue that a text stands in the line, unless JSON may write it in several ways.
func clueOf(before, text, after string) clue {
	odd := func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }
	if text == "" || strings.ContainsFunc(text, odd) {
		return clue{}
	}
	return clue{parts: []string{before + text + after}}
}

// cluesOf returns the clue that one of some texts stands in the line, unless JSON may write one in several ways.
func cluesOf(before string, list []string, after string) (any clue) {
	for _, text := range list {
		c := clueOf(before, text, after)
		if len(c.parts) == 0 {
			return clue{}
		}
		any.parts = append(any.parts, c.parts...)
	}
	return any
}

// lowered returns a text with the letters A to Z in lower case.
func lowered(text []byte) []byte {
	lower := make([]byte, len(text))
	for i, c := range text {
		lower[i] = lowerOf[c]
	}
	return lower
}

var lowerOf = func() (table [256]byte) {
	for i := range table {
		table[i] = byte(i)
		if i >= 'A' && i <= 'Z' {
			table[i] += 'a' - 'A'
		}
	}
	return table
}()
