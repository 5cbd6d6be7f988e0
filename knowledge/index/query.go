package index

import (
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

// ParsedQuery is a parsed text.
type ParsedQuery struct {
	terms       []queryTerm
	phrases     []phrase
	onlyPhrases bool // it is nothing but phrases: passages without them are no hits
	corrections []Correction
	neighbours  []twoWords
	names       []string // what it names as code does, see namesIn
	onlyNames   bool
	language    analysis.Language // as its function words tell
}

// queryTerm is a word of a query.
type queryTerm struct {
	stem   string
	form   string  // as the query writes it; of a prefix the prefix
	weight float64 // how much it counts; 1 for a word that is there once
	prefix bool    // it stands for all words that begin with form
	part   bool    // of an identifier

	language  analysis.Language // whose stem it is, beside a term that is the word's own
	inflected bool              // there is such a stem, which passages have
	abroad    int               // how many passages have it
	pos       int               // place in the query
	insisted  bool              // it is in quotation marks
	half      bool              // of a word that pages write as one
}

// phrase is words that must follow one another.
type phrase struct {
	stems   []string
	offsets []int // of each stem's place from the first's
}

// ParseQuery reads a query. Nothing in it is an error: "quotes" that pair make a phrase, a word with a * at its end is
// a prefix, and everything else that is no word separates words.
func ParseQuery(text string) ParsedQuery {
	text = clip.Bytes(text, maxQueryText)
	var q ParsedQuery
	q.names, q.onlyNames = namesIn(text)
	q.language = analysis.LanguageOf(text)
	marks := quotes(text)
	words := q.words(text, marks)
	quoted := 0
	for _, m := range marks {
		if p := parsePhrase(text[m.start:m.end]); len(p.stems) > 1 && len(q.phrases) < maxPhrases {
			q.phrases = append(q.phrases, p)
			quoted += len(p.stems)
		}
	}
	q.onlyPhrases = len(q.phrases) > 0 && quoted >= words
	q.dropStopWords()
	return q
}

// span is a part of a text.
type span struct{ start, end int }

// quotes returns what stands between quotation marks that pair.
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
func (q *ParsedQuery) words(text string, marks []span) int {
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
			q.terms[i].weight++
			q.terms[i].part = q.terms[i].part && t.Part
			return
		}
		if len(q.terms) == maxQueryWords {
			return
		}
		if prefix {
			if prefixes++; prefixes > maxPrefixes {
				prefix = false
			}
		}
		at[key] = len(q.terms)
		q.terms = append(q.terms, queryTerm{
			stem: analysis.Stem(form), form: form, weight: 1, prefix: prefix, part: t.Part,
			pos: t.Pos, insisted: insisted,
		})
	})
	return n
}

func wordByte(c byte) bool { return c >= 0x80 || analysis.ASCIIWord[c] }

func parsePhrase(text string) phrase {
	var p phrase
	first := 0
	analysis.Tokenise(text, func(t analysis.Token) {
		if len(p.stems) == maxPhrase {
			return
		}
		if len(p.stems) == 0 {
			first = t.Pos
		}
		// An identifier is its parts, or itself when it has none.
		if n := len(p.stems); n > 0 && t.Part && p.offsets[n-1] == t.Pos-first {
			p.stems[n-1] = analysis.Stem(string(t.Surface))
			return
		}
		p.stems = append(p.stems, analysis.Stem(string(t.Surface)))
		p.offsets = append(p.offsets, t.Pos-first)
	})
	return p
}

// maxUnknown is how many words that no passage has are named.
const maxUnknown = 8

// unknown returns the words that no passage has. Df is by term, in how many passages it is.
func (q *ParsedQuery) unknown(df []int) (words []string) {
	for i := range q.terms {
		t := &q.terms[i]
		if df[i] == 0 && !t.prefix && !t.part && !t.inflected && !saysLittle(t.form) && len(words) < maxUnknown {
			words = append(words, t.form)
		}
	}
	return words
}

// dropStopWords leaves out words that say nothing, unless there are no others.
func (q *ParsedQuery) dropStopWords() {
	said := slices.DeleteFunc(slices.Clone(q.terms),
		func(t queryTerm) bool {
			return !t.prefix && (analysis.StopWords[t.form] || q.language > analysis.English && q.language.Has(t.form))
		})
	if len(said) > 0 {
		q.terms = said
	}
}

// Matches returns how many words of the query a line has, each as often as it stands there.
func (q *ParsedQuery) Matches(line string) int { return len(q.spots(line)) }

// spots finds the words of a query in a line.
func (q *ParsedQuery) spots(line string) []excerpt.Spot {
	var begins [256]bool // what words of the query begin with; a stem may lack an accent that a form has
	for i := range q.terms {
		for _, word := range [...]string{q.terms[i].stem, q.terms[i].form} {
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
func (q *ParsedQuery) weightOf(surface string) (weight float64, term int) {
	stem := analysis.Stem(surface)
	for i := range q.terms {
		t := &q.terms[i]
		switch {
		case t.prefix && strings.HasPrefix(surface, t.form), !t.prefix && t.stem == stem,
			t.language != 0 && t.stem == t.language.Stem(surface):
			weight, term = 1, i
		default:
			continue
		}
		if analysis.FunctionWords[t.form] {
			weight = FunctionWeight
		}
		if t.form == surface {
			return weight * (1 + ExactForm), i
		}
	}
	return weight, term
}

// isExact reports whether words alone must decide about a query: it quotes a phrase, names an identifier, a version or
// an option, or is an error message.
func (q *ParsedQuery) isExact(text string) bool {
	if len(q.phrases) > 0 || strings.Contains(text, " --") || strings.HasPrefix(text, "-") {
		return true
	}
	for i := range q.terms {
		t := &q.terms[i]
		if t.part || errorWords[t.form] || strings.ContainsAny(t.form, "0123456789_") {
			return true
		}
	}
	return false
}

// errorWords are what error messages are told by.
var errorWords = analysis.WordSet(`error errors exception fatal failed failure traceback cannot unexpected invalid
	denied refused undefined`)
