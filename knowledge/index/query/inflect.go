package query

import (
	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/index/segment"
)

// inflectedWeight is what the stem of a word in its language counts beside the word as it is written.
const inflectedWeight = .6

// Inflect adds to a query the stems that its words have in the language that it is in, or, for words that hardly any
// passage has, in any, and reports whether the index has one of them. Df is by term of the query.
func (q *Parsed) Inflect(view *segment.View, df []int) bool {
	if q.language == analysis.English {
		return false
	}
	var more []Term
	for i := range q.Terms {
		t := &q.Terms[i]
		if t.Prefix || t.Part || SaysLittle(t.Form) || q.language == 0 && df[i] > seldom {
			continue
		}
		tried := analysis.Others[:]
		if q.language != 0 {
			tried = []analysis.Language{q.language}
		}
		for _, l := range tried {
			stem := l.Stem(t.Form)
			if stem == "" || !view.Has(stem) {
				continue
			}
			other := *t
			other.Stem, other.Language, other.Weight = stem, l, t.Weight*inflectedWeight
			more = append(more, other)
			t.inflected = true
		}
	}
	q.Terms = append(q.Terms, more...)
	return len(more) > 0
}
