package index

import (
	"github.com/readthru/readthru/knowledge/analysis"
	"github.com/readthru/readthru/knowledge/index/segment"
)

// inflectedWeight is what the stem of a word in its language counts beside the word as it is written.
const inflectedWeight = .6

// inflect adds to a query the stems that its words have in the language that it is in, or, for words that hardly any
// passage has, in any, and reports whether the index has one of them. Df is by term of the query.
func (q *ParsedQuery) inflect(view *segment.View, df []int) bool {
	if q.language == analysis.English {
		return false
	}
	var more []queryTerm
	for i := range q.terms {
		t := &q.terms[i]
		if t.prefix || t.part || saysLittle(t.form) || q.language == 0 && df[i] > seldom {
			continue
		}
		tried := analysis.Others[:]
		if q.language != 0 {
			tried = []analysis.Language{q.language}
		}
		for _, l := range tried {
			stem := l.Stem(t.form)
			if stem == "" || !view.Has(stem) {
				continue
			}
			other := *t
			other.stem, other.language, other.weight = stem, l, t.weight*inflectedWeight
			more = append(more, other)
			t.inflected = true
		}
	}
	q.terms = append(q.terms, more...)
	return len(more) > 0
}
