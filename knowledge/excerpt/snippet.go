// Package excerpt shows what of a passage a query is about: a snippet of plain text on one line, with the places of the
// query's words in it.
//
// [Snippet] chooses the part with most of the query, and [Opening] the beginning. [PlainLine] is a text on one line,
// without markup.
package excerpt

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Chars is the most code points of a snippet, unless its reader asks for others.
const Chars = 300

// Snippet returns what of a passage has most of a query, as one line of plain text (see [PlainLine]), at most chars
// code points of it, and where the query's words stand in it, in code points, [start, end). A cut at either end shows
// as "…". Before a row of a table it repeats the header, and before an item of a list what leads up to it. The passage
// comes in parts; part is the one that the snippet is of, and nothing of those before it is shown.
func Snippet(find func(line string) []Spot, chars int, parts ...string) (shown string, marks [][2]int, part int) {
	w := writeLine(parts)
	line := w.out.String()
	spots := find(line)
	from, to := window(line, spots, w.begins, chars)
	part = w.partOf(spots, from, to)
	if at := w.partBegins(part); at > from && at < to { // what stands before it is about something else
		if to = runesAfter(line, at, chars-len("…")); to < len(line) {
			_, to = wholeWords(line, at, to)
		}
		shown, marks = cutOut(line, spots, "", at, to)
		return shown, marks, part
	}
	context := w.contextOf(spots, from, to)
	if context != "" {
		from, to = window(line, spots, w.begins, chars-utf8.RuneCountInString(context)-len(" "))
		if from == 0 {
			context = ""
		} else {
			context += " "
		}
	}
	shown, marks = cutOut(line, spots, context, from, to)
	return shown, marks, w.partOf(spots, from, to)
}

// Opening is snippet for a text that is to be shown from its beginning.
func Opening(find func(line string) []Spot, chars int, text string) (shown string, marks [][2]int) {
	line := writeLine([]string{text}).out.String()
	from, to := window(line, nil, nil, chars)
	return cutOut(line, find(line), "", from, to)
}

// cutOut returns what stands from one place of a line to another, after a context, and where the spots stand in that.
func cutOut(line string, spots []Spot, context string, from, to int) (shown string, marks [][2]int) {
	shown = context + line[from:to]
	before := utf8.RuneCountInString(context)
	if from > 0 {
		shown = context + "…" + line[from:to]
		before++
	}
	if to < len(line) {
		shown += "…"
	}
	at, chars := from, before
	for _, s := range spots {
		if s.Start < at || s.End > to { // outside, or a part of what is marked already
			continue
		}
		start := chars + utf8.RuneCountInString(line[at:s.Start])
		at, chars = s.End, start+utf8.RuneCountInString(line[s.Start:s.End])
		marks = append(marks, [2]int{start, chars})
	}
	return shown, marks
}

// Spot is where a word of the query stands.
type Spot struct {
	Start, End int // bytes
	Char       int // of its start
	Term       int // of the query
	Weight     float64
}

// window chooses what to show of a line: at most chars code points, with as much of the query as possible, different
// words before repeated ones, the earliest of equals. It begins with a sentence or a block if there is room for that,
// and else, as it ends, between words. Begins are where blocks begin in the line.
func window(line string, spots []Spot, begins []int, chars int) (from, to int) {
	room := chars - 2 // for the dots
	if utf8.RuneCountInString(line) <= chars {
		return 0, len(line)
	}
	first, last, most := 0, 0, 0.0
	inside := map[int]int{}
	score := 0.0
	for i, j := 0, 0; i < len(spots); i++ {
		for ; j < len(spots) && spots[j].Char-spots[i].Char+(spots[j].End-spots[j].Start) <= room; j++ {
			if inside[spots[j].Term]++; inside[spots[j].Term] == 1 {
				score += spots[j].Weight
			}
			score += .05
		}
		if score > most+1e-9 {
			first, last, most = i, j-1, score
		}
		if j == i { // a word longer than the room
			j++
			continue
		}
		if inside[spots[i].Term]--; inside[spots[i].Term] == 0 {
			score -= spots[i].Weight
		}
		score -= .05
	}
	if most > 0 {
		start := spots[first].Start
		spare := max(room-(spots[last].Char-spots[first].Char)-(spots[last].End-spots[last].Start), 0)
		// A third of the room that is left goes before the words, the rest after them.
		from = runesBefore(line, start, spare/3)
		if at := beginning(line, begins, runesBefore(line, start, spare), start); at >= 0 && from > 0 {
			from = at
		}
	}
	if to = runesAfter(line, from, room); to == len(line) {
		before := from
		from = runesBefore(line, to, room)
		for at := from; at < before; at++ {
			if isBeginning(line, begins, at) {
				from = at
				break
			}
		}
	}
	return wholeWords(line, from, to)
}

// beginning returns where that begins in which at is (see isBeginning), or -1 if it is before from.
func beginning(line string, begins []int, from, at int) int {
	for ; at >= from; at-- {
		if isBeginning(line, begins, at) {
			return at
		}
	}
	return -1
}

// isBeginning reports whether a block, a sentence, an item of a list or a row of a table begins at a place of a line,
// or what is said of a term that is defined. Begins are where blocks do.
func isBeginning(line string, begins []int, at int) bool {
	_, block := slices.BinarySearch(begins, at)
	return block || at == 0 || strings.HasPrefix(line[at:], "• ") || strings.HasPrefix(line[at:], "· ") ||
		strings.HasSuffix(line[:at], " : ") || beginsSentence(line, at)
}

// beginsSentence reports whether a sentence ends before a place of a line, and what follows can begin one.
func beginsSentence(line string, at int) bool {
	switch before, _ := utf8.DecodeLastRuneInString(line[:at]); before {
	case '。', '！', '？':
		return true
	case ' ':
	default:
		return false
	}
	next, _ := utf8.DecodeRuneInString(line[at:])
	before := strings.TrimRight(line[:at-1], `)"'”’`)
	return before != "" && strings.IndexByte(".!?", before[len(before)-1]) >= 0 &&
		(unicode.In(next, unicode.Lu, unicode.Lt, unicode.Lo, unicode.Nd) || strings.ContainsRune("\"“‘(`", next))
}

// runesBefore returns the byte offset n characters before at.
func runesBefore(s string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return at
}

// runesAfter returns the byte offset n characters after at.
func runesAfter(s string, at, n int) int {
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// wholeWords moves each end of a range inwards to a space if there is one nearby.
func wholeWords(s string, from, to int) (int, int) {
	const near = 24
	if from > 0 && s[from-1] != ' ' {
		if i := strings.IndexByte(s[from:min(from+near, to)], ' '); i >= 0 {
			from += i + 1
		}
	}
	if to < len(s) && s[to] != ' ' {
		if i := strings.LastIndexByte(s[max(to-near, from):to], ' '); i >= 0 {
			to = max(to-near, from) + i
		}
	}
	return from, to
}
