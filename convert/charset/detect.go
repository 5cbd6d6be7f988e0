// Package charset detects the character encoding of a text that does not state it, or that states a false one.
//
// [Detect] asks of every encoding that pages of the web have, and of every language that is written in it, how probable
// the bytes of the text are: how frequent each of its letters is in that language (letters.go, multibyte.go). The most
// probable encoding wins. Nothing but bytes beyond ASCII counts, because all these encodings share ASCII.
//
// [Decode] decodes a body by what its response and its page declare, and by that where they declare nothing that can be
// believed.
package charset

import (
	"bytes"
	"math"
	"strings"
	"sync"

	"github.com/readthru/readthru/convert/chars"
)

// maxWindow is how much of a text is looked at, in bytes: more than the header and the menus of a page. More text tells
// no more.
const maxWindow = 256 << 10

// Costs of a character, in bits: the binary logarithm of how many others would be there in its place. They are added up
// over all characters: the encoding with the least total wins.
const (
	costMark       = 5.5 // a quotation mark, a dash, a no-break space, among the few characters that are not ASCII
	costApartMark  = 9   // the same where all letters are not ASCII
	costSign       = 9   // a degree sign, an arrow
	costForeign    = 11  // a letter of another language of the same script
	costOther      = 14  // any other character
	costControl    = 20  // a control character, or no character at all
	costUpper      = 4.5 // beyond that of the lower-case letter
	costAdjoining  = 6   // a letter of another script within a word of ASCII letters
	costSuccessive = 2.5 // a Latin letter beyond ASCII that has no ASCII letter beside it
)

// Advantages of an encoding, in bits. They decide where texts are short.
const (
	bonusUsual  = 6   // of windows-1252
	bonusSecond = -3  // of an encoding that is not the usual one of its language
	bonusMac    = -12 // of those of computers that wrote few pages of the web
	bonusStated = 10  // of an encoding of the language that the page states
)

// Guess is the result of a detection. cost has the least cost for each encoding, over all of its languages.
type Guess struct {
	Name string // of the encoding, as HTML names it; empty when there is nothing beyond ASCII
	cost map[string]float64
	high int // bytes beyond ASCII
}

// Contradicts reports whether the text is so improbable in the encoding of this name that it must be false: the best
// encoding explains each of its characters better by far. A text of a few characters contradicts nothing. Decode then
// does not believe what the page declares.
func (g Guess) Contradicts(name string) bool {
	const (
		fewest = 24 // bytes beyond ASCII
		margin = 1  // bits for each of them
	)
	if name == "gbk" {
		name = "gb18030" // which holds all of it
	}
	cost, known := g.cost[name]
	return known && name != g.Name && g.high >= fewest && cost-g.cost[g.Name] > margin*float64(g.high)
}

// Detect returns the encoding in which content is most probable. lang is the language that the page states as a tag of
// BCP 47, or empty. Content in UTF-8 is not to be asked about: its encoding is certain. It counts the bytes once, and
// multiplies the counts with the costs of each table.
func Detect(content []byte, lang string) Guess {
	content = content[:min(len(content), maxWindow)]
	h := count(content)
	g := Guess{cost: map[string]float64{}, high: h.high}
	if h.high == 0 {
		if Escapes(content) {
			g.Name = "iso-2022-jp"
		}
		return g
	}
	best := math.Inf(1)
	lang = strings.ToLower(lang)
	take := func(name, of string, cost float64) {
		if lang != "" && strings.HasPrefix(lang+"-", of+"-") {
			cost -= bonusStated
		}
		if before, known := g.cost[name]; !known || cost < before {
			g.cost[name] = cost
		}
		if cost < best {
			best, g.Name = cost, name
		}
	}
	for i, l := range tables() {
		for n, t := range l {
			cost := h.cost(t)
			switch {
			case t.name == "windows-1252":
				cost -= bonusUsual
			case strings.Contains(t.name, "mac"), t.name == "ibm866":
				cost -= bonusMac
			case n > 0:
				cost -= bonusSecond
			}
			take(t.name, languages[i].tag, cost)
		}
	}
	runs := highRuns(content)
	for _, m := range multibyte() {
		take(m.name, m.language, m.costOf(runs))
	}
	return g
}

// Escapes reports whether content has an escape sequence of ISO-2022-JP that begins Japanese characters. All of its
// bytes are ASCII, so that nothing else tells it.
func Escapes(content []byte) bool {
	return bytes.Contains(content, []byte("\x1b$B")) || bytes.Contains(content, []byte("\x1b$@"))
}

// Places of a byte beyond ASCII.
const (
	alone     = iota // between characters that are no letters
	adjoining        // beside an ASCII letter
	among            // beside other bytes beyond ASCII only
	places
)

// histogram counts the bytes beyond ASCII of a text by their place.
type histogram struct {
	n    [places][128]int
	high int
}

// count makes the histogram by which an encoding is detected: it counts the bytes beyond ASCII of a text by their
// place.
func count(content []byte) *histogram {
	h := &histogram{}
	for i, c := range content {
		if c < 0x80 {
			continue
		}
		h.high++
		place := alone
		switch {
		case i > 0 && chars.Letter(content[i-1]), i+1 < len(content) && chars.Letter(content[i+1]):
			place = adjoining
		case i > 0 && content[i-1] >= 0x80, i+1 < len(content) && content[i+1] >= 0x80:
			place = among
		}
		h.n[place][c-0x80]++
	}
	return h
}

// cost returns what the text costs in an encoding and language. It is the sum over all bytes beyond ASCII.
func (h *histogram) cost(t *table) (bits float64) {
	for place := range h.n {
		for c, n := range h.n[place] {
			if n > 0 {
				bits += float64(n) * t.cost[place][c]
			}
		}
	}
	return bits
}

// table says what each byte beyond ASCII costs in an encoding and language.
type table struct {
	name string
	cost [places][128]float64
}

// tables are those of each language, for each of its encodings. They are made at the first detection: most pages need
// none.
var tables = sync.OnceValue(func() [][]*table {
	list := make([][]*table, len(languages))
	for i := range languages {
		l := &languages[i]
		frequent := l.costs()
		for name := range strings.FieldsSeq(l.encodings) {
			list[i] = append(list[i], l.table(name, frequent))
		}
	}
	return list
})

// detected decodes content from the encoding in which it is most probable. Without a guess it is windows-1252, as
// browsers take it.
func detected(content []byte, limit int) (text []byte, guessed bool, err error) {
	name := Detect(content, pageLanguage(content)).Name
	if name == "" {
		name = "windows-1252"
	}
	text, _, err = convertFrom(name, content, limit)
	return text, true, err
}
