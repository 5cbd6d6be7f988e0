// Package analysis turns text into the terms of an index: [Tokenise] finds its words and the parts of its identifiers,
// [Stem] gives a word the form that it is indexed by. Documents and queries go through the same functions.
package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Version is raised with every change of how text becomes terms, and of which texts are indexed: an index of
// another version is rebuilt.
const Version = 7

// maxWord is the longest word that is indexed, in bytes. Longer ones are keys, hashes and encoded data.
const maxWord = 64

// A Token is a word of a text, or a part of an identifier, as it stands there in lower case.
type Token struct {
	Surface    []byte // the word in lower case; valid until the next token
	Pos        int    // place in the text, counted in words and parts from 0
	Start, End int    // bytes of the text
	Part       bool   // it is a part of an identifier that is a token itself
}

// Tokenise calls f for each token of text, in order.
//
// A word is letters, digits and "_" between others; an apostrophe ends it. An identifier (useEffect, HTTPServer,
// foo_bar) is a token whole and in parts, at the places of its parts, so that the phrase "use effect" finds it, and so
// is a version (15.4, v1.2.3), whole without its v. Text in scripts that put no space between words becomes pairs of
// characters. A pictogram is a word. The targets of markdown links are left out: they are addresses, not text.
func Tokenise(text string, f func(Token)) {
	t := tokeniser{f: f, text: text}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			switch {
			case ASCIIWord[c]:
				i = t.word(i)
			case c == ']' && i+1 < len(text) && text[i+1] == '(':
				i = linkEnd(text, i+2)
			case c == '\'' && t.last == i && i > 0:
				i = contraction(text, i+1)
			default:
				i++
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unspaced(r):
			i = t.pairs(i)
		case wordRune(r):
			i = t.word(i)
		case r == '’' && t.last == i && i > 0:
			i = contraction(text, i+size)
		case pictogram(r):
			t.emit(i, i+size, false, false)
			t.pos++
			i += size
			i += len(text[i:]) - len(strings.TrimPrefix(text[i:], variation))
		default:
			i += size
		}
	}
}

// ASCIIWord tells which bytes belong to a word.
var ASCIIWord = func() (set [utf8.RuneSelf]bool) {
	for c := range set {
		set[c] = c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return set
}()

// wordRune reports whether a character is a part of tokens, of words that spaces divide: a letter, digit, mark or
// underscore, but of no script that is written without spaces.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return ASCIIWord[r]
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)) && !unspaced(r)
}

// unspaced reports, for the tokens, whether a character belongs to a script whose words are not divided by spaces.
func unspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar) ||
		r == 'ー' || r == '々'
}

// pictogram reports whether a character is an emoji or another picture that people search for.
func pictogram(r rune) bool { return r >= 0x2300 && r != utf8.RuneError && unicode.Is(unicode.So, r) }

// variation asks for the character before it as a picture.
const variation = "\ufe0f"

// linkEnd returns where the target of a link ends that begins at i: after its closing bracket. A target that does not
// end on its line is text.
func linkEnd(text string, i int) int {
	depth := 1
	for j := i; j < len(text) && j < i+2048; j++ {
		switch text[j] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return j + 1
			}
		case ' ', '\n': // a title follows, which is text
			return j
		}
	}
	return i
}

// contraction returns where to go on after an apostrophe: what is left of "user's" and "don't" is no word.
func contraction(text string, i int) int {
	j := i
	for j < len(text) && j < i+3 && text[j] < utf8.RuneSelf && ASCIIWord[text[j]] {
		j++
	}
	switch strings.ToLower(text[i:j]) {
	case "s", "t", "d", "m", "re", "ve", "ll":
		return j
	}
	return i
}

// tokeniser cuts a text into the words that the index and queries are made of.
type tokeniser struct {
	f    func(Token)
	text string
	pos  int
	last int // end of the word before
	buf  []byte
	cuts []int
}

// word emits the word that begins at i and returns its end.
func (t *tokeniser) word(i int) int {
	text := t.text
	j, plain, mixed := i, true, false
	for j < len(text) {
		if c := text[j]; c < utf8.RuneSelf {
			if !ASCIIWord[c] {
				break
			}
			if c == '_' || c >= 'A' && c <= 'Z' && j > i {
				mixed = true
			}
			j++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[j:])
		if !wordRune(r) {
			break
		}
		plain = false
		mixed = mixed || unicode.IsUpper(r) && j > i
		j += size
	}
	if plain && !mixed {
		if to := versionEnd(text, i, j); to > j {
			return t.version(i, to)
		}
	}
	end := j
	for i < j && text[i] == '_' {
		i++
	}
	for i < j && text[j-1] == '_' {
		j--
	}
	t.last = end
	if j == i || j-i > maxWord {
		if j > i {
			t.pos++
		}
		return end
	}
	if j-i == 1 && plain { // C++, C#, F#
		if rest := text[j:]; strings.HasPrefix(rest, "++") {
			j, end = j+2, end+2
		} else if strings.HasPrefix(rest, "#") && (len(rest) == 1 || rest[1] >= utf8.RuneSelf || !ASCIIWord[rest[1]]) &&
			text[i] > '9' {
			j, end = j+1, end+1
		}
		t.last = end
	}
	cuts := t.cuts[:0]
	if mixed {
		cuts = identifierCuts(cuts, text[i:j])
		t.cuts = cuts
	}
	t.emit(i, j, plain, false)
	if len(cuts) == 0 {
		t.pos++
		return end
	}
	from := 0
	for n := 0; n <= len(cuts); n++ {
		to := j - i
		if n < len(cuts) {
			to = cuts[n]
		}
		a, b := i+from, i+to
		from = to
		for a < b && text[a] == '_' {
			a++
		}
		for a < b && text[b-1] == '_' {
			b--
		}
		if a < b {
			t.emit(a, b, plain, true)
			t.pos++
		}
	}
	return end
}

// versionEnd returns where the version ends that begins with the word text[i:j], or j if none does.
func versionEnd(text string, i, j int) int {
	digits := i
	if text[i] == 'v' || text[i] == 'V' {
		digits++
	}
	for k := digits; k < j; k++ {
		if text[k] < '0' || text[k] > '9' {
			return j
		}
	}
	if digits == j {
		return j
	}
	for j+1 < len(text) && text[j] == '.' && text[j+1] >= '0' && text[j+1] <= '9' && j-i <= maxWord {
		for j++; j < len(text) && text[j] < utf8.RuneSelf && ASCIIWord[text[j]]; j++ {
		}
	}
	return j
}

// version emits the version text[i:end] whole, without its v, and in parts, and returns its end.
func (t *tokeniser) version(i, end int) int {
	number := i
	if c := t.text[i]; c == 'v' || c == 'V' {
		number++
	}
	t.last = end
	if end-number <= maxWord {
		t.emit(number, end, true, false)
	}
	for i < end {
		to := end
		if dot := strings.IndexByte(t.text[i:end], '.'); dot >= 0 {
			to = i + dot
		}
		if to-i <= maxWord {
			t.emit(i, to, true, true)
		}
		t.pos++
		i = to + 1
	}
	return end
}

// emit gives the token text[i:j] out.
func (t *tokeniser) emit(i, j int, plain, part bool) {
	t.buf = t.buf[:0]
	if plain {
		for k := i; k < j; k++ {
			c := t.text[k]
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			t.buf = append(t.buf, c)
		}
	} else {
		t.buf = append(t.buf, norm.NFKC.String(strings.ToLower(t.text[i:j]))...)
		if len(t.buf) > maxWord {
			return
		}
	}
	t.f(Token{Surface: t.buf, Pos: t.pos, Start: i, End: j, Part: part})
}

// identifierCuts returns where an identifier's parts after the first begin: after "_", before a capital that follows a
// small letter or digit, and before the last of several capitals when a small letter follows it (HTTP|Server). An
// all-capital word has none.
func identifierCuts(cuts []int, word string) []int {
	small := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
	big := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	for i := 1; i < len(word); i++ {
		switch {
		case word[i-1] == '_' && word[i] != '_':
			cuts = append(cuts, i)
		case big(word[i]) && small(word[i-1]),
			big(word[i]) && big(word[i-1]) && i+1 < len(word) && word[i+1] >= 'a' && word[i+1] <= 'z' && i+2 < len(word):
			cuts = append(cuts, i)
		}
	}
	return cuts
}

// pairs emits a run of characters without spaces as pairs, a single one alone, and returns the run's end.
func (t *tokeniser) pairs(i int) int {
	prev, n := -1, 0
	for i < len(t.text) {
		r, size := utf8.DecodeRuneInString(t.text[i:])
		if !unspaced(r) {
			break
		}
		if prev >= 0 {
			t.emit(prev, i+size, false, false)
			t.pos++
		}
		prev = i
		i += size
		n++
	}
	if n == 1 {
		t.emit(prev, i, false, false)
	}
	t.pos++
	t.last = i
	return i
}

// StopWords are words that a query leaves out when it has others: Lucene's list for English.
var StopWords = WordSet(`a an and are as at be but by for if in into is it no not of on or such that the their then
	there these they this to was will with`)

// FunctionWords are words that say little in a question; they count for less.
var FunctionWords = WordSet(`about after all also am any because been before being between both can could did do does doing done
	during each from get give given had has have he her him his how i its just like made make many may
	me might more most much must my need one only other our out over own same shall she should so some
	than them those through too under up us use used using versus very vs was we were what when where
	whether which while who whom whose why would you your`)

// SameName holds what else the things are called that a word names.
var SameName = func() map[string]string {
	names := map[string]string{}
	for _, pair := range [...][2]string{
		{"postgres", "postgresql"},
		{"nodejs", "node"},
		{"golang", "go"},
		{"k8s", "kubernetes"},
		{"regex", "regexp"},
		{"js", "javascript"},
		{"ts", "typescript"},
	} {
		names[pair[0]], names[pair[1]] = pair[1], pair[0]
	}
	return names
}()

// WordSet returns the words of a text, which white space parts.
func WordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}
