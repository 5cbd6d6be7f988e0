package query

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/excerpt"
)

const (
	maxQueryText  = 64 << 10 // bytes of a query that are looked at
	maxQueryWords = 256      // different words that are looked up
	maxPrefixes   = 4        // words ending in * that are prefixes
	maxPhrase     = 16       // words of a phrase that count
	maxPhrases    = 8
)

// What a word of a query counts. Each figure is the best, or lies where it hardly matters, on the four collections of
// docs/benchmarks.md together.
const (
	// FunctionWeight is that of function words: .01 to .02 more nDCG@10 on each collection than 1; leaving them out is
	// the same.
	FunctionWeight = .1
	// ExactForm is how much more a word counts in the query's own form.
	ExactForm = .1
)

// Parsed is a parsed text.
type Parsed struct {
	Terms       []Term
	Phrases     []Phrase
	OnlyPhrases bool // it is nothing but phrases: passages without them are no hits
	Corrections []Correction
	neighbours  []twoWords
	Names       []string // what it names as code does, see namesIn
	OnlyNames   bool
	language    analysis.Language // as its function words tell
}

// Term is a word of a query.
type Term struct {
	Stem   string
	Form   string  // as the query writes it; of a prefix the prefix
	Weight float64 // how much it counts; 1 for a word that is there once
	Rarity float64 // how rare it is beside the rarest word of the query, at most 1; 0: not known
	Prefix bool    // it stands for all words that begin with form
	Part   bool    // of an identifier

	Language  analysis.Language // whose stem it is, beside a term that is the word's own
	inflected bool              // there is such a stem, which passages have
	abroad    int               // how many passages have it
	Pos       int               // place in the query
	insisted  bool              // it is in quotation marks
	half      bool              // of a word that pages write as one
}

// Phrase is words that must follow one another.
type Phrase struct {
	Stems   []string
	Offsets []int // of each stem's place from the first's
}

// Parse reads a query. Nothing in it is an error: "quotes" that pair make a phrase, a word with a * at its end is
// a prefix, and everything else that is no word separates words.
func Parse(text string) Parsed {
	text = clip.Bytes(text, maxQueryText)
	var q Parsed
	q.Names, q.OnlyNames = namesIn(text)
	q.language = analysis.LanguageOf(text)
	marks := quotes(text)
	words := q.words(text, marks)
	quoted := 0
	for _, m := range marks {
		if p := parsePhrase(text[m.start:m.end]); len(p.Stems) > 1 && len(q.Phrases) < maxPhrases {
			q.Phrases = append(q.Phrases, p)
			quoted += len(p.Stems)
		}
	}
	q.OnlyPhrases = len(q.Phrases) > 0 && quoted >= words
	q.dropStopWords()
	return q
}

// span is a part of a text.
type span struct{ start, end int }

// quotes returns what stands in a query between quotation marks that pair; a last one without a partner is no mark.
func quotes(text string) (marks []span) {
	for at := 0; ; {
		open := strings.IndexByte(text[at:], '"')
		if open < 0 {
			return marks
		}
		at += open + 1
		end := strings.IndexByte(text[at:], '"')
		if end < 0 {
			return marks
		}
		marks = append(marks, span{at, at + end})
		at += end + 1
	}
}

// words adds the words of a text, some of them between quotation marks, and returns how many there are.
func (q *Parsed) words(text string, marks []span) int {
	n, prefixes := 0, 0
	at := map[string]int{}
	var before analysis.Token
	beforeForm := ""
	analysis.Tokenise(text, func(t analysis.Token) {
		for len(marks) > 0 && marks[0].end <= t.Start {
			marks = marks[1:]
		}
		insisted := len(marks) > 0 && marks[0].start <= t.Start
		if !t.Part {
			n++
		}
		form := string(t.Surface)
		end := t.End
		if !t.Part && strings.HasPrefix(text[end:], "_*") { // jsonb_*
			form, end = form+"_", end+1
		}
		prefix := end < len(text) && text[end] == '*' && (end+1 == len(text) || !wordByte(text[end+1]))
		beside := beforeForm != "" && t.Start == before.End+1 && text[before.End] == ' '
		if beside && !insisted && !prefix && len(q.neighbours) < maxPairsTried && mayBeOne(beforeForm, form) {
			q.neighbours = append(q.neighbours, twoWords{beforeForm, form, before.Pos})
		}
		before, beforeForm = t, form
		if insisted || prefix || t.Part {
			beforeForm = ""
		}
		key := form
		if prefix {
			key += "*"
		}
		if i, ok := at[key]; ok {
			q.Terms[i].Weight++
			q.Terms[i].Part = q.Terms[i].Part && t.Part
			return
		}
		if len(q.Terms) == maxQueryWords {
			return
		}
		if prefix {
			if prefixes++; prefixes > maxPrefixes {
				prefix = false
			}
		}
		at[key] = len(q.Terms)
		q.Terms = append(q.Terms, Term{
			Stem: analysis.Stem(form), Form: form, Weight: 1, Prefix: prefix, Part: t.Part,
			Pos: t.Pos, insisted: insisted,
		})
	})
	return n
}

// wordByte reports whether a byte of a query belongs to a word.
func wordByte(c byte) bool { return c >= 0x80 || analysis.ASCIIWord[c] }

// parsePhrase reads what stands between quotation marks in a query: stems and their distances from the first, at most
// maxPhrase.
func parsePhrase(text string) Phrase {
	var p Phrase
	first := 0
	analysis.Tokenise(text, func(t analysis.Token) {
		if len(p.Stems) == maxPhrase {
			return
		}
		if len(p.Stems) == 0 {
			first = t.Pos
		}
		// An identifier is its parts, or itself when it has none.
		if n := len(p.Stems); n > 0 && t.Part && p.Offsets[n-1] == t.Pos-first {
			p.Stems[n-1] = analysis.Stem(string(t.Surface))
			return
		}
		p.Stems = append(p.Stems, analysis.Stem(string(t.Surface)))
		p.Offsets = append(p.Offsets, t.Pos-first)
	})
	return p
}

// maxUnknown is how many words that no passage has are named.
const maxUnknown = 8

// Unknown returns the words that no passage has. Df is by term, in how many passages it is.
func (q *Parsed) Unknown(df []int) (words []string) {
	for i := range q.Terms {
		t := &q.Terms[i]
		if df[i] == 0 && !t.Prefix && !t.Part && !t.inflected && !SaysLittle(t.Form) && len(words) < maxUnknown {
			words = append(words, t.Form)
		}
	}
	return words
}

// dropStopWords leaves words out of a query that say nothing, in English or in the query's own language, unless there
// are no others.
func (q *Parsed) dropStopWords() {
	said := slices.DeleteFunc(slices.Clone(q.Terms),
		func(t Term) bool {
			return !t.Prefix && (analysis.StopWords[t.Form] || q.language > analysis.English && q.language.Has(t.Form))
		})
	if len(said) > 0 {
		q.Terms = said
	}
}

// Matches returns how many words of the query a line has, each as often as it stands there.
func (q *Parsed) Matches(line string) int { return len(q.Spots(line)) }

// Spots finds the words of a query in a line.
func (q *Parsed) Spots(line string) []excerpt.Spot {
	var begins [256]bool // what words of the query begin with; a stem may lack an accent that a form has
	for i := range q.Terms {
		for _, word := range [...]string{q.Terms[i].Stem, q.Terms[i].Form} {
			if word != "" {
				begins[word[0]] = true
			}
		}
	}
	var spots []excerpt.Spot
	at, chars := 0, 0
	analysis.Tokenise(line, func(t analysis.Token) {
		if t.Surface[0] < utf8.RuneSelf && !begins[t.Surface[0]] {
			return
		}
		weight, term := q.weightOf(string(t.Surface))
		if weight == 0 {
			return
		}
		if t.Start > at { // parts of an identifier come after the whole
			chars += utf8.RuneCountInString(line[at:t.Start])
			at = t.Start
		}
		spots = append(spots, excerpt.Spot{Start: t.Start, End: t.End, Char: chars, Term: term, Weight: weight})
	})
	return spots
}

// weightOf returns how much a word counts for the choice of a snippet, and which term of the query it is; 0 for none.
func (q *Parsed) weightOf(surface string) (weight float64, term int) {
	stem := analysis.Stem(surface)
	for i := range q.Terms {
		t := &q.Terms[i]
		switch {
		case t.Prefix && strings.HasPrefix(surface, t.Form), !t.Prefix && t.Stem == stem,
			t.Language != 0 && t.Stem == t.Language.Stem(surface):
			weight, term = cmp.Or(t.Rarity, 1), i
		default:
			continue
		}
		if analysis.FunctionWords[t.Form] {
			weight = FunctionWeight
		}
		if t.Form == surface {
			return weight * (1 + ExactForm), i
		}
	}
	return weight, term
}

// IsExact reports whether words alone must decide about a query: it quotes a phrase, names an identifier, a version or
// an option, or is an error message.
func (q *Parsed) IsExact(text string) bool {
	if len(q.Phrases) > 0 || strings.Contains(text, " --") || strings.HasPrefix(text, "-") {
		return true
	}
	for i := range q.Terms {
		t := &q.Terms[i]
		if t.Part || errorWords[t.Form] || strings.ContainsAny(t.Form, "0123456789_") {
			return true
		}
	}
	return false
}

// errorWords are what error messages are told by.
var errorWords = analysis.WordSet(`error errors exception fatal failed failure traceback cannot unexpected invalid
	denied refused undefined`)
