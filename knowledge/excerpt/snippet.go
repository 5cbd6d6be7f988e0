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
// code points of it, and where the query's words stand in it, in code points, [start, end). What is left out shows as
// "…". Before a row of a table it repeats the header, and before an item of a list what leads up to it. The passage
// comes in parts; part is the one that the snippet is of, and nothing of those before it is shown.
//
// A passage that is longer than that shows two of its places if the second has much of the query, too: a question is
// often answered beside the place that repeats its words.
func Snippet(find func(line string) []Spot, chars int, parts ...string) (shown string, marks [][2]int, part int) {
	w := writeLine(parts)
	line := w.out.String()
	spots := find(line)
	if utf8.RuneCountInString(line) > chars {
		if ranges := w.twoPlaces(spots, chars); len(ranges) > 1 {
			shown, marks = cutOut(line, spots, "", ranges...)
			return shown, marks, w.partOf(spots, ranges[0].from, ranges[0].to)
		}
	}
	from, to := window(line, spots, w.begins, chars)
	part = w.partOf(spots, from, to)
	if at := w.partBegins(part); at > from && at < to { // what stands before it is about something else
		if to = runesAfter(line, at, chars-len("…")); to < len(line) {
			_, to = wholeWords(line, at, to)
		}
		shown, marks = cutOut(line, spots, "", span{at, to})
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
	shown, marks = cutOut(line, spots, context, span{from, to})
	return shown, marks, w.partOf(spots, from, to)
}

// Opening is snippet for a text that is to be shown from its beginning.
func Opening(find func(line string) []Spot, chars int, text string) (shown string, marks [][2]int) {
	line := writeLine([]string{text}).out.String()
	from, to := window(line, nil, nil, chars)
	return cutOut(line, find(line), "", span{from, to})
}

// span is a part of a line, in bytes.
type span struct{ from, to int }

const (
	// mainPlace is what of a snippet its first place gets, as a share, and secondPlace what the second must have of the
	// query, in words as rare as the rarest. Of .5 to .7 and 0 to 2 they were best on the first half of the questions of
	// bench/search/answers, or did not matter.
	mainPlace   = .6
	secondPlace = .6
)

// twoPlaces returns the place of a line that has most of a query, and the one that has most beside it, in the order of
// the line: together at most chars code points. It returns none if there is no second place worth it.
func (w *lineWriter) twoPlaces(spots []Spot, chars int) []span {
	line := w.out.String()
	from, to := window(line, spots, w.begins, int(mainPlace*float64(chars)))
	part := w.partBegins(w.partOf(spots, from, to)) // what stands before it is about something else
	if from < part && part < to {
		return nil
	}
	most := span{from, to}
	room := chars - utf8.RuneCountInString(line[from:to]) - 2 // for the dots of the first
	before, after := w.within(spots, span{min(part, from), from}, room), w.within(spots, span{to, len(line)}, room)
	worthBefore, worthAfter := worthOf(spots, before), worthOf(spots, after)
	switch {
	case max(worthBefore, worthAfter) < secondPlace:
		return nil
	case worthBefore > worthAfter:
		return []span{before, most}
	}
	return []span{most, after}
}

// within is window, the choice of a snippet, for a part of the line.
func (w *lineWriter) within(spots []Spot, part span, chars int) span {
	var inside []Spot
	for _, s := range spots {
		if s.Start >= part.from && s.End <= part.to {
			s.Start, s.End = s.Start-part.from, s.End-part.from
			inside = append(inside, s)
		}
	}
	var begins []int
	for _, at := range w.begins {
		if at >= part.from && at < part.to {
			begins = append(begins, at-part.from)
		}
	}
	from, to := window(w.out.String()[part.from:part.to], inside, begins, chars)
	return span{part.from + from, part.from + to}
}

// worthOf returns, to choose a snippet, what a part of a line has of a query: each word once.
func worthOf(spots []Spot, part span) (worth float64) {
	seen := map[int]bool{}
	for _, s := range spots {
		if s.Start >= part.from && s.End <= part.to && !seen[s.Term] {
			seen[s.Term] = true
			worth += s.Weight
		}
	}
	return worth
}

// cutOut returns as a snippet parts of a line, which are in order, after a context, and where the spots stand in what
// is shown.
func cutOut(line string, spots []Spot, context string, parts ...span) (shown string, marks [][2]int) {
	shown = context
	chars := utf8.RuneCountInString(context)
	end := 0 // of what is shown or known to be left out
	for _, p := range parts {
		if p.from > end {
			shown += "…"
			chars++
		}
		shown += line[p.from:p.to]
		at := p.from
		for _, s := range spots {
			if s.Start < at || s.End > p.to { // outside, or a part of what is marked already
				continue
			}
			start := chars + utf8.RuneCountInString(line[at:s.Start])
			at, chars = s.End, start+utf8.RuneCountInString(line[s.Start:s.End])
			marks = append(marks, [2]int{start, chars})
		}
		chars += utf8.RuneCountInString(line[at:p.to])
		end = p.to
	}
	if end < len(line) {
		shown += "…"
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

// window chooses what a snippet shows of a line: at most chars code points, with as much of the query as possible,
// different words before repeated ones, the earliest of equals. It begins with a sentence or a block if there is room
// for that, and else, as it ends, between words. Begins are where blocks begin in the line.
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

// beginning returns, for a snippet, where that begins in which at is (see isBeginning), or -1 if it is before from.
func beginning(line string, begins []int, from, at int) int {
	for ; at >= from; at-- {
		if isBeginning(line, begins, at) {
			return at
		}
	}
	return -1
}

// isBeginning reports whether a snippet may begin at a place of a line, because a block, a sentence, an item of a list
// or a row of a table begins at a place of a line, or what is said of a term that is defined. Begins are where blocks
// do.
func isBeginning(line string, begins []int, at int) bool {
	_, block := slices.BinarySearch(begins, at)
	return block || at == 0 || strings.HasPrefix(line[at:], "• ") || strings.HasPrefix(line[at:], "· ") ||
		strings.HasSuffix(line[:at], " : ") || beginsSentence(line, at)
}

// beginsSentence reports, for a snippet, whether a sentence ends before a place of a line, and what follows can begin
// one.
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

// runesBefore returns, to cut a snippet, the byte offset n characters before at.
func runesBefore(s string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return at
}

// runesAfter returns, to cut a snippet, the byte offset n characters after at.
func runesAfter(s string, at, n int) int {
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// wholeWords moves each end of a snippet inwards to a space if there is one nearby.
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
