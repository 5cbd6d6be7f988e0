package outline

import (
	"bytes"
	"html"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/markdown"
)

// strippedText is a markdown text without what makes no difference to a quote: markup, and the kinds of spaces, dashes
// and quotation marks. It keeps where each line came from, and strips a line again to find where a byte came from: a
// table of all bytes would be larger than the text.
type strippedText struct {
	md    []byte
	text  []byte
	lines []strippedLine
}

type strippedLine struct{ text, md int } // where the line begins in each

// stripMarkup strips a markdown text in which a quote is looked for.
func stripMarkup(md []byte) *strippedText {
	b := &strippedText{md: md, text: make([]byte, 0, len(md))}
	for at := 0; at < len(md); {
		line, next := markdown.LineAt(md, at)
		b.lines = append(b.lines, strippedLine{len(b.text), at})
		w := lineStripper{text: b.text}
		w.line(line)
		w.space(len(line))
		b.text, at = w.text, next
	}
	b.text = bytes.TrimRight(b.text, " ")
	return b
}

// source returns the bytes of the markdown that a range of the text came from.
func (b *strippedText) source(start, end int) (from, to int) {
	from = b.sourceOf(start)
	to = b.sourceOf(end - 1)
	_, n := utf8.DecodeRune(b.md[to:])
	return from, to + n
}

// sourceOf returns where a place of the stripped text stands in the markdown. It strips that line again, rather than
// keep a place for every byte.
func (b *strippedText) sourceOf(at int) int {
	i := sort.Search(len(b.lines), func(i int) bool { return b.lines[i].text > at }) - 1
	l := b.lines[i]
	line, _ := markdown.LineAt(b.md, l.md)
	w := lineStripper{text: []byte(" ")[:min(l.text, 1)], from: []int{0}[:min(l.text, 1)]} // a space before, as there was
	skip := len(w.text)
	if l.text > 0 && b.text[l.text-1] != ' ' {
		w.text[0] = 'x'
	}
	w.from = append(make([]int, 0, len(line)), w.from...)
	w.line(line)
	if n := at - l.text + skip; n < len(w.from) {
		return l.md + w.from[n]
	}
	return l.md + len(bytes.TrimRightFunc(line, unicode.IsSpace))
}

// lineStripper strips lines. If from is not nil, it records there for each byte of text where in the line it came from.
type lineStripper struct {
	text []byte
	from []int
	at   int // where the current piece begins in the line
}

// put writes text that stands for the present place of the line.
func (w *lineStripper) put(s string) {
	w.text = append(w.text, s...)
	if w.from != nil {
		for range len(s) {
			w.from = append(w.from, w.at)
		}
	}
}

// space writes a space for the place at, unless the text is empty or ends with one.
func (w *lineStripper) space(at int) {
	if n := len(w.text); n > 0 && w.text[n-1] != ' ' {
		w.at = at
		w.put(" ")
	}
}

// line strips one line: the markers of headings, quotes and lists at its beginning, and the markup within it.
func (w *lineStripper) line(line []byte) {
	if markdown.OpensFence(line) || markdown.IsDelimiterRow(line) {
		return
	}
	i, _ := markdown.Markers(line)
	w.inline(line, i, len(line), 0)
}

// maxNested is the depth to which links and images within each other are read.
const maxNested = 4

// inline strips part of a line.
func (w *lineStripper) inline(line []byte, i, end, depth int) {
	for i < end {
		w.at = i
		switch c := line[i]; {
		case c == '\\' && i+1 < end && markdown.IsPunctuation(line[i+1]):
			w.put(string(line[i+1]))
			i += 2
			continue
		case c == '*' || c == '`' || c == '|' && depth == 0:
			if c == '|' {
				w.space(i)
			}
			i++
			continue
		case c == '~' && i+1 < end && line[i+1] == '~':
			i += 2
			continue
		case c == '_' && (i == 0 || !markdown.IsWord(line[i-1]) || i+1 == end || !markdown.IsWord(line[i+1])):
			i++
			continue
		case c == '!' && i+1 < end && line[i+1] == '[' && depth < maxNested:
			if text, n := markdown.LinkText(line[i+1 : end]); n > 0 {
				w.inline(line, i+2, i+2+len(text), depth+1)
				i += 1 + n
				continue
			}
		case c == '[' && depth < maxNested:
			if text, n := markdown.LinkText(line[i:end]); n > 0 {
				w.inline(line, i+1, i+1+len(text), depth+1)
				i += n
				continue
			}
		case c == '<':
			if n := markdown.TagLength(line[i:end]); n > 0 {
				i += n
				continue
			}
		case c == '&':
			if n := bytes.IndexByte(line[i:min(end, i+12)], ';'); n > 1 {
				entity := string(line[i : i+n+1])
				if plain := html.UnescapeString(entity); plain != entity {
					w.runes(plain)
					i += n + 1
					continue
				}
			}
		case c > ' ' && c < utf8.RuneSelf:
			w.put(string(c))
			i++
			continue
		}
		_, n := utf8.DecodeRune(line[i:end])
		w.runes(string(line[i : i+n]))
		i += n
	}
}

// runes writes characters in their plain form.
func (w *lineStripper) runes(s string) {
	for _, r := range s {
		switch plain, ok := plainForms[r]; {
		case ok:
			w.put(plain)
		case unicode.IsSpace(r):
			w.space(w.at)
		case !unicode.In(r, unicode.Cc, unicode.Cf):
			w.put(string(r))
		}
	}
}

// plainForms maps typographic characters to plain ones.
var plainForms = map[rune]string{
	'‘': "'", '’': "'", '‚': "'", '‛': "'", '′': "'", '‹': "'", '›': "'",
	'“': `"`, '”': `"`, '„': `"`, '‟': `"`, '″': `"`, '«': `"`, '»': `"`,
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '―': "-", '−': "-", '…': "...",
	'ﬀ': "ff", 'ﬁ': "fi", 'ﬂ': "fl", 'ﬃ': "ffi", 'ﬄ': "ffl",
}

// find returns where a stripped quote stands.
func (b *strippedText) find(quote []byte) (q Quote, ok bool) {
	for at := 0; q.Count < maxOccurrences; {
		n := bytes.Index(b.text[at:], quote)
		if n < 0 {
			break
		}
		start := at + n
		end := start + len(quote)
		at = start + 1
		begun := start > 0 && markdown.IsWord(quote[0]) && markdown.IsWord(b.text[start-1])
		if begun || end < len(b.text) && markdown.IsWord(quote[len(quote)-1]) && markdown.IsWord(b.text[end]) {
			continue // within a word: "3" is not in "30"
		}
		if q.Count++; q.Count == 1 {
			q.Start, q.End = b.source(start, end)
		}
	}
	q.Found, q.Likeness = q.Count > 0, min(float64(q.Count), 1)
	return q, q.Found
}

// nearest returns the run of words that shares the most words with a stripped quote.
func (b *strippedText) nearest(quote []byte) (q Quote) {
	need := map[string]int{}
	words := 0
	for word := range bytes.FieldsFuncSeq(bytes.ToLower(quote), notWord) {
		need[string(word)]++
		words++
	}
	if words == 0 {
		return q
	}
	type place struct {
		word       string // as in need; empty if it is not wanted
		start, end int
	}
	window := make([]place, 0, words)
	have := map[string]int{}
	matched, best, first := 0, 0, 0
	eachWord(b.text, func(start, end int) {
		lower := string(bytes.ToLower(b.text[start:end]))
		p := place{start: start, end: end}
		if need[lower] > 0 {
			p.word = lower
			if have[lower]++; have[lower] <= need[lower] {
				matched++
			}
		}
		if len(window) < words {
			window = append(window, p)
		} else {
			if old := window[first].word; old != "" {
				if have[old]--; have[old] < need[old] {
					matched--
				}
			}
			window[first] = p
			first = (first + 1) % words
		}
		if matched > best {
			best = matched
			q.Start, q.End = window[first%len(window)].start, end
		}
	})
	q.Likeness = min(float64(best)/float64(words), 0.99)
	if q.Likeness < minLikeness {
		return Quote{Likeness: q.Likeness}
	}
	q.Nearest = clip.Runes(string(b.text[q.Start:q.End]), maxQuote)
	q.Start, q.End = b.source(q.Start, q.End)
	return q
}

// notWord reports whether a character divides the words of a quote.
func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }

// eachWord calls f for the words of a stripped text, with which a quote is compared.
func eachWord(text []byte, f func(start, end int)) {
	start := -1
	for i := 0; i <= len(text); {
		r, n := utf8.DecodeRune(text[i:])
		in := i < len(text) && !notWord(r)
		if in && start < 0 {
			start = i
		} else if !in && start >= 0 {
			f(start, i)
			start = -1
		}
		i += max(n, 1)
	}
}

// trimQuote removes from a stripped quote what its author added: quotation marks around it, and dots that stand for
// omitted text.
func trimQuote(quote []byte) []byte {
	s := strings.TrimSpace(string(quote))
	for _, mark := range []string{`"`, `'`} {
		if inner, ok := strings.CutPrefix(s, mark); ok && strings.HasSuffix(inner, mark) && len(inner) > 1 {
			s = strings.TrimSuffix(inner, mark)
		}
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "..."), "...")
	return []byte(strings.TrimSpace(s))
}
